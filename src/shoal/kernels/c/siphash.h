/* SipHash-2-4, in parts that several kernels use. */
#ifndef SHOAL_SIPHASH_H
#define SHOAL_SIPHASH_H

#include "core.h"

static inline uint64_t rotated(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

static inline void mix(uint64_t v[4], int rounds)
{
    for (int round = 0; round < rounds; round++) {
        v[0] += v[1];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[0] = rotated(v[0], 32);
        v[2] += v[3];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[2] = rotated(v[2], 32);
    }
}

static inline void add(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, 2);
    v[0] ^= word;
}

static inline void start(uint64_t v[4], const uint64_t key[2])
{
    v[0] = key[0] ^ 0x736F6D6570736575u;
    v[1] = key[1] ^ 0x646F72616E646F6Du;
    v[2] = key[0] ^ 0x6C7967656E657261u;
    v[3] = key[1] ^ 0x7465646279746573u;
}

/* The hash of a message of so many words, all of which were added. */
static inline uint64_t finish(uint64_t v[4], int64_t length)
{
    add(v, (uint64_t)(8 * length) << 56);
    v[2] ^= 0xFF;
    mix(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
