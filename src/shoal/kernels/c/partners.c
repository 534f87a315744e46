#include "siphash.h"

/* ---- Random partners within a window of ranks --------------------------------------------------------------- */

enum { ALONE = -1, PAIRED = -2 };

/* Draw a proposal for each free rank that has others within its window; return whether there is one. */
static int propose(const uint64_t *words, int64_t window, uint64_t turn, const int64_t *ranks, int64_t count,
                   int64_t *chosen, uint64_t *drawn, uint64_t *smallest)
{
    const uint64_t key[2] = {turn, 1};
    int64_t first = 0, last = 0;
    int some = 0;
    for (int64_t i = 0; i < count; i++) smallest[i] = UINT64_MAX;
    for (int64_t i = 0; i < count; i++) {
        while (ranks[first] < ranks[i] - window) first++;
        while (last < count && ranks[last] <= ranks[i] + window) last++;
        if (last - first < 2) {
            chosen[i] = ALONE;
            continue;
        }
        uint64_t v[4];
        start(v, key);
        add(v, words[ranks[i]]);
        drawn[i] = finish(v, 1);
        int64_t other = first + (int64_t)(drawn[i] % (uint64_t)(last - first - 1));
        other += other >= i;
        chosen[i] = other;
        if (drawn[i] < smallest[i]) smallest[i] = drawn[i];
        if (drawn[i] < smallest[other]) smallest[other] = drawn[i];
        some = 1;
    }
    return some;
}

/* pairs[i]: the partner of rank i, at most window ranks away, or i itself. The last four buffers have count elements. */
API void shoal_partners(const uint64_t *words, int64_t count, int64_t window, int64_t *pairs, int64_t *ranks,
                        int64_t *chosen, uint64_t *drawn, uint64_t *smallest)
{
    for (int64_t i = 0; i < count; i++) pairs[i] = ranks[i] = i;
    for (uint64_t turn = 0; propose(words, window, turn, ranks, count, chosen, drawn, smallest); turn++) {
        for (int64_t i = 0; i < count; i++) {
            const int64_t other = chosen[i];
            if (other < 0 || smallest[i] != drawn[i] || smallest[other] != drawn[i]) continue;
            pairs[ranks[i]] = ranks[other];
            pairs[ranks[other]] = ranks[i];
            chosen[i] = chosen[other] = PAIRED;
        }
        int64_t left = 0;
        for (int64_t i = 0; i < count; i++)
            if (chosen[i] != PAIRED) ranks[left++] = ranks[i];
        count = left;
    }
}
