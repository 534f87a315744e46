/* The C core of shoal: a few primitives that take arrays and return integers.
 *
 * No dependency, no allocation, no state: every buffer belongs to the caller (numpy). A function that needs
 * more room than it was given stops, says how far it came, and is called again with larger buffers.
 * Each primitive has a numpy twin in the Python file that wraps it; both give the same answers.
 */
#ifndef SHOAL_CORE_H
#define SHOAL_CORE_H

#include <stdint.h>

#if defined(_WIN32) /* built without a C runtime, of which these four would be all that is needed: see windows.c */
#include <stddef.h>
int memcmp(const void *, const void *, size_t);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
#define API __declspec(dllexport)
#else
#include <string.h>
#define API __attribute__((visibility("default")))
#endif

static inline uint64_t load8(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, 8);
    return value;
}

#endif
