#include "core.h"

#if defined(_WIN32)
/* The entry point of the library, which a C runtime would provide. The core needs no runtime: zig's compiler-rt
 * contains the functions that the compiler calls, and compiling a whole runtime for Windows takes zig two minutes. */
int __stdcall DllMainCRTStartup(void *library, unsigned long reason, void *reserved)
{
    (void)library, (void)reason, (void)reserved;
    return 1;
}
#endif
