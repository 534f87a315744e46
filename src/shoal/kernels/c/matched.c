#include "core.h"

/* ---- Tuples of a sliced table, and the buckets that match them ---------------------------------------------------- */

typedef struct {
    const int64_t *starts;   /* of the cells of each sub-tuple; one more than there are sub-tuples */
    const uint32_t *buckets; /* of each cell, ascending within a sub-tuple */
    const int64_t *counts;   /* of each cell */
} Part;

/* Return the first place from `low` on whose bucket is not smaller, by steps of increasing length. */
static int64_t reached(const uint32_t *buckets, int64_t low, int64_t end, uint32_t bucket)
{
    int64_t step = 1;
    while (low + step < end && buckets[low + step] < bucket) {
        low += step;
        step *= 2;
    }
    int64_t high = low + step < end ? low + step : end;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (buckets[middle] < bucket) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* For each tuple, add up over the buckets that hold all its sub-tuples: `total`, the product of the shares of the
 * sub-tuples; and the same with the share of each value beside the last one instead, whose largest sum is `largest`, that
 * of `value`. `risky`: whether a matching cell of the last part is `uneven`.
 *
 * sizes: those of the buckets; firsts, values, times: the values beside each cell of the last part; tuples: the sub-tuple
 * of each tuple, part by part; sums: a zero for each value; seen: one place per value; at: one per part. */
API void shoal_matched(const Part *parts, int64_t number, const int64_t *sizes, const int64_t *firsts,
                       const uint32_t *values, const int64_t *times, const uint8_t *uneven, const uint32_t *tuples,
                       int64_t count, double *sums, uint32_t *seen, int64_t *at, double *total, double *largest,
                       uint32_t *value, uint8_t *risky)
{
    const Part *last = parts + number - 1;
    for (int64_t t = 0; t < count; t++) {
        int64_t shortest = 0, length = INT64_MAX, distinct = 0;
        for (int64_t p = 0; p < number; p++) {
            const int64_t *starts = parts[p].starts + tuples[p * count + t];
            at[p] = starts[0];
            if (starts[1] - starts[0] < length) {
                length = starts[1] - starts[0];
                shortest = p;
            }
        }
        total[t] = 0;
        risky[t] = 0;
        for (int64_t left = length, place = at[shortest]; left > 0; left--, place++) {
            const uint32_t bucket = parts[shortest].buckets[place];
            int matches = 1;
            for (int64_t p = 0; p < number && matches; p++) {
                const int64_t end = parts[p].starts[tuples[p * count + t] + 1];
                at[p] = reached(parts[p].buckets, at[p], end, bucket);
                matches = at[p] < end && parts[p].buckets[at[p]] == bucket;
            }
            if (!matches) continue;
            const double size = (double)sizes[bucket];
            const int64_t cell = at[number - 1];
            double share = 1;
            for (int64_t p = 0; p < number - 1; p++) share *= (double)parts[p].counts[at[p]] / size;
            total[t] += share * ((double)last->counts[cell] / size);
            risky[t] |= uneven[cell];
            for (int64_t i = firsts[cell]; i < firsts[cell + 1]; i++) {
                if (sums[values[i]] == 0) seen[distinct++] = values[i];
                sums[values[i]] += share * ((double)times[i] / size);
            }
        }
        largest[t] = 0;
        value[t] = 0;
        for (int64_t i = 0; i < distinct; i++) {
            if (sums[seen[i]] > largest[t] || (sums[seen[i]] == largest[t] && seen[i] < value[t])) {
                largest[t] = sums[seen[i]];
                value[t] = seen[i];
            }
            sums[seen[i]] = 0;
        }
    }
}
