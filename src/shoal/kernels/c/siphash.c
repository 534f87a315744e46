#include "siphash.h"

/* ---- SipHash-2-4 of many messages --------------------------------------------------------------------------- */

/* Message i consists of the words[0][i], …, words[length - 1][i]. */
API void shoal_siphash(const uint64_t *key, const uint64_t *const *words, int64_t length, int64_t count, uint64_t *hashes)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t v[4];
        start(v, key);
        for (int64_t j = 0; j < length; j++) add(v, words[j][i]);
        hashes[i] = finish(v, length);
    }
}
