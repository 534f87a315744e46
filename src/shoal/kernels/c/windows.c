#include "core.h"

#if defined(_WIN32)
/* The library's entry, which a C runtime would provide. The core needs no runtime: zig's compiler-rt has the functions
 * that the compiler calls, and compiling a whole runtime for Windows would take zig two minutes. */
int __stdcall DllMainCRTStartup(void *library, unsigned long reason, void *reserved)
{
    (void)library, (void)reason, (void)reserved;
    return 1;
}
#endif
