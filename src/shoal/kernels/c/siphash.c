#include "core.h"

/* ---- SipHash-2-4 of many messages --------------------------------------------------------------------------- */

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

/* Message i consists of the words[0][i], …, words[length - 1][i]. */
API void shoal_siphash(const uint64_t *key, const uint64_t *const *words, int64_t length, int64_t count, uint64_t *hashes)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t v[4] = {
            key[0] ^ 0x736F6D6570736575u,
            key[1] ^ 0x646F72616E646F6Du,
            key[0] ^ 0x6C7967656E657261u,
            key[1] ^ 0x7465646279746573u,
        };
        for (int64_t j = 0; j < length; j++) add(v, words[j][i]);
        add(v, (uint64_t)(8 * length) << 56);
        v[2] ^= 0xFF;
        mix(v, 4);
        hashes[i] = v[0] ^ v[1] ^ v[2] ^ v[3];
    }
}
