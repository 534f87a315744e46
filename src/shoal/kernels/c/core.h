/* The C core of shoal: a few primitives on arrays that return integers.
 *
 * No dependencies, no allocation, no state: every buffer belongs to the caller (numpy). If a buffer is too small, the
 * function stops, returns its progress, and is called again with larger buffers. Each primitive has a numpy
 * implementation in the Python file that wraps it; both give the same results.
 */
#ifndef SHOAL_CORE_H
#define SHOAL_CORE_H

#include <stdint.h>

#if defined(_WIN32) /* built without a C runtime, which would be needed for these four functions only: see windows.c */
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
