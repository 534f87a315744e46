#include "core.h"

/* ---- the order of keys ------------------------------------------------------------------------------------ */

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static void by_digit(const uint64_t *keys, const uint32_t *places, int64_t count, int32_t shift, uint64_t *keys_out, uint32_t *places_out)
{
    uint32_t starts[DIGITS] = {0}, begin = 0;
    for (int64_t i = 0; i < count; i++) starts[keys[i] >> shift & (DIGITS - 1)]++;
    for (int32_t digit = 0; digit < DIGITS; digit++) {
        const uint32_t number = starts[digit];
        starts[digit] = begin;
        begin += number;
    }
    for (int64_t i = 0; i < count; i++) {
        const uint32_t at = starts[keys[i] >> shift & (DIGITS - 1)]++;
        keys_out[at] = keys[i];
        places_out[at] = places[i];
    }
}

/* Stable radix sort of keys, lowest digit first. places[i]: the original place of the i-th key in sorted order.
 * `more_keys` and `more_places`: buffers of the same size. */
API void shoal_order_keys(uint64_t *keys, int64_t count, uint32_t *places, uint64_t *more_keys, uint32_t *more_places)
{
    uint64_t different = 0;
    for (int64_t i = 0; i < count; i++) {
        different |= keys[i] ^ keys[0];
        places[i] = (uint32_t)i;
    }
    for (int32_t shift = 0; shift < 64 && different >> shift; shift += DIGIT_BITS) {
        if ((different >> shift & (DIGITS - 1)) == 0) continue; /* all keys have the same digit */
        by_digit(keys, places, count, shift, more_keys, more_places);
        memcpy(keys, more_keys, (size_t)count * sizeof *keys);
        memcpy(places, more_places, (size_t)count * sizeof *places);
    }
}
