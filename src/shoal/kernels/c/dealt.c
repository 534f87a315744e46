#include "core.h"

/* ---- Buckets of different values ------------------------------------------------------------------------------- */

static void exchange(int64_t *order, int64_t one, int64_t other)
{
    const int64_t value = order[one];
    order[one] = order[other];
    order[other] = value;
}

/* Deal `size` different values into each bucket, always the most frequent ones that are left, random ones among equally
 * frequent ones. order: the values by descending counts; counts: those of the values, which become those that are left;
 * draws: a random word for each value that is dealt. Returns the number of buckets.
 *
 * The order stays descending: of the values with the count of the last one that is taken, those that are taken are moved
 * behind the others, where they belong once their count is reduced. `end` is the end of the values with this count. */
API int64_t shoal_dealt(const uint64_t *draws, int64_t values, int64_t size, int64_t *order, int64_t *counts,
                        uint32_t *dealt)
{
    int64_t buckets = 0, end = size, drawn = 0;
    while (counts[order[size - 1]] > 0) {
        const int64_t count = counts[order[size - 1]];
        int64_t start = size - 1;
        while (start > 0 && counts[order[start - 1]] == count) start--;
        while (end < values && counts[order[end]] == count) end++;
        const int64_t taken = size - start;
        for (int64_t i = 0; i < taken; i++) {
            const int64_t last = end - 1 - i;
            exchange(order, start + (int64_t)(draws[drawn++] % (uint64_t)(last - start + 1)), last);
        }
        uint32_t *bucket = dealt + buckets++ * size;
        for (int64_t i = 0; i < start; i++) bucket[i] = (uint32_t)order[i];
        for (int64_t i = 0; i < taken; i++) bucket[start + i] = (uint32_t)order[end - taken + i];
        for (int64_t i = 0; i < size; i++) counts[bucket[i]]--;
        end -= taken;
    }
    return buckets;
}
