#include "core.h"

/* ---- subsets of columns ------------------------------------------------------------------------------- */

typedef struct {
    const uint32_t *codes;   /* [columns][rows] */
    const uint32_t *apart;   /* [columns]: the code that matches nothing, not even itself; or one that no row has */
    const uint32_t *holders; /* [rows]: the holder of each row */
    const uint32_t *weights; /* [holders]: the number of persons that a holder stands for */
    uint32_t *counts;        /* [2^columns][rows] */
    uint32_t *levels;        /* [columns + 1][2][rows + 1]: rows ordered by group, and the starts of the groups */
    uint32_t *tally, *seen;  /* one zero per code of a column; room for as many codes */
    uint32_t *counted;       /* [holders]: the group in which a holder was last counted */
    uint32_t groups_so_far;
    int64_t rows;
    int32_t columns;
} Subsets;

static inline uint32_t *order_at(const Subsets *all, int32_t depth) { return all->levels + 2 * depth * (all->rows + 1); }
static inline uint32_t *starts_at(const Subsets *all, int32_t depth) { return order_at(all, depth) + all->rows + 1; }

/* Splits one group, rows[0 … size), by a column; returns the number of resulting groups. */
static int64_t split(const Subsets *all, const uint32_t *rows, int64_t size, int32_t column, uint32_t *out,
                     uint32_t *starts, uint32_t base)
{
    const uint32_t *codes = all->codes + (int64_t)column * all->rows, apart = all->apart[column];
    int64_t found = 0, alone = 0;
    for (int64_t i = 0; i < size; i++) {
        const uint32_t code = codes[rows[i]];
        if (code == apart) out[size - ++alone] = rows[i]; /* from the end */
        else if (all->tally[code]++ == 0) all->seen[found++] = code;
    }
    uint32_t place = 0;
    for (int64_t g = 0; g < found; g++) {
        const uint32_t members = all->tally[all->seen[g]];
        starts[g] = base + place;
        all->tally[all->seen[g]] = place;
        place += members;
    }
    for (int64_t i = 0; i < size; i++)
        if (codes[rows[i]] != apart) out[all->tally[codes[rows[i]]]++] = rows[i];
    for (int64_t g = 0; g < found; g++) all->tally[all->seen[g]] = 0;
    for (int64_t i = 0; i < alone; i++) starts[found + i] = base + place + (uint32_t)i;
    return found + alone;
}

/* Sums the persons to whom the rows of a group belong, each holder once. */
static uint32_t persons_in(Subsets *all, const uint32_t *rows, int64_t size)
{
    if (size == 1) return all->weights[all->holders[rows[0]]];
    const uint32_t group = ++all->groups_so_far;
    uint32_t persons = 0;
    for (int64_t i = 0; i < size; i++) {
        const uint32_t holder = all->holders[rows[i]];
        if (all->counted[holder] == group) continue;
        all->counted[holder] = group;
        persons += all->weights[holder];
    }
    if (group == UINT32_MAX) { /* restart the numbering of groups */
        for (int64_t i = 0; i < all->rows; i++) all->counted[all->holders[i]] = 0;
        all->groups_so_far = 0;
    }
    return persons;
}

/* Splits all groups of one depth by a column; writes the number of persons in the new group of each row. */
static int64_t refine(Subsets *all, int32_t depth, int64_t groups, int32_t column, uint32_t subset)
{
    const uint32_t *rows = order_at(all, depth), *starts = starts_at(all, depth);
    uint32_t *out = order_at(all, depth + 1), *out_starts = starts_at(all, depth + 1);
    uint32_t *counts = all->counts + (int64_t)subset * all->rows;
    int64_t made = 0;
    for (int64_t g = 0; g < groups; g++) {
        const uint32_t begin = starts[g], end = starts[g + 1];
        if (end - begin > 1) {
            made += split(all, rows + begin, end - begin, column, out + begin, out_starts + made, begin);
            continue;
        }
        out[begin] = rows[begin];
        out_starts[made++] = begin;
    }
    out_starts[made] = (uint32_t)all->rows;
    for (int64_t g = 0; g < made; g++) {
        const uint32_t begin = out_starts[g], end = out_starts[g + 1];
        const uint32_t persons = persons_in(all, out + begin, end - begin);
        for (uint32_t i = begin; i < end; i++) counts[out[i]] = persons;
    }
    return made;
}

static void descend(Subsets *all, int32_t depth, int64_t groups, int32_t begin, int32_t end, uint32_t subset)
{
    for (int32_t column = begin; column < end; column++) {
        const uint32_t larger = subset | (uint32_t)1 << column;
        const int64_t made = refine(all, depth, groups, column, larger);
        descend(all, depth + 1, made, column + 1, all->columns, larger);
    }
}

/* counts[A][i] = persons with a row that agrees with row i in all columns of A, for every subset A whose first column
 * is in [begin, end). `levels` holds 2·(columns + 1)·(rows + 1) integers; `tally` and `counted` are zeroed, and
 * `counted` has at least as many entries as there are rows. */
API void shoal_subset_counts(const uint32_t *codes, const uint32_t *apart, const uint32_t *holders,
                             const uint32_t *weights, int64_t rows, int32_t columns, int32_t begin, int32_t end,
                             uint32_t *counts, uint32_t *levels, uint32_t *tally, uint32_t *seen, uint32_t *counted)
{
    Subsets all = {codes, apart, holders, weights, counts, levels, tally, seen, counted, 0, rows, columns};
    uint32_t *order = order_at(&all, 0), *starts = starts_at(&all, 0);
    for (int64_t i = 0; i < rows; i++) order[i] = (uint32_t)i;
    starts[0] = 0;
    starts[1] = (uint32_t)rows;
    descend(&all, 0, 1, begin, end, 0);
}

/* Finds, per chosen row, the listed subset A with the largest counts[A | sensitive] / counts[A]; the first of
 * several. */
API void shoal_subset_largest(const uint32_t *counts, int64_t rows, const uint32_t *chosen, int64_t number,
                              const uint32_t *subsets, int64_t listed, uint32_t sensitive, uint32_t *best)
{
    enum { BLOCK = 1024 };
    uint32_t same[BLOCK], peers[BLOCK];
    for (int64_t start = 0; start < number; start += BLOCK) {
        const int64_t length = number - start < BLOCK ? number - start : BLOCK;
        const uint32_t *row = chosen + start;
        for (int64_t i = 0; i < length; i++) {
            same[i] = 0;
            peers[i] = 1;
        }
        for (int64_t a = 0; a < listed; a++) {
            const uint32_t *all = counts + (int64_t)subsets[a] * rows;
            const uint32_t *with = counts + (int64_t)(subsets[a] | sensitive) * rows;
            for (int64_t i = 0; i < length; i++) {
                const uint32_t here = with[row[i]], there = all[row[i]];
                if ((uint64_t)here * peers[i] > (uint64_t)same[i] * there) {
                    same[i] = here;
                    peers[i] = there;
                    best[start + i] = subsets[a];
                }
            }
        }
    }
}

/* Rows are processed in blocks of SPAN words, one bit per row. */
enum { SPAN = 8, BLOCK_ROWS = 64 * SPAN, PLANES = 33 };

/* Packs eight bytes, each 0 or 1, into eight bits. */
static inline uint64_t pack_bits(const uint8_t *bytes) { return (load8(bytes) * 0x0102040810204080u) >> 56; }

/* Determines the rows in which a subset breaches: (peers - same) / peers is at most p = above / below. */
static void breaching(const uint32_t *all, const uint32_t *with, int64_t length, uint32_t above, uint32_t below,
                      uint64_t *words)
{
    uint8_t bytes[BLOCK_ROWS];
    if (above == 0)
        for (int64_t i = 0; i < length; i++) bytes[i] = all[i] == with[i];
    else
        for (int64_t i = 0; i < length; i++)
            bytes[i] = (uint64_t)(all[i] - with[i]) * below <= (uint64_t)all[i] * above;
    if (length < BLOCK_ROWS) memset(bytes + length, 0, (size_t)(BLOCK_ROWS - length));
    for (int w = 0; w < SPAN; w++) {
        words[w] = 0;
        for (int byte = 0; byte < 8; byte++) words[w] |= pack_bits(bytes + 64 * w + 8 * byte) << (8 * byte);
    }
}

/* Increments the counters whose bits are set. Plane n contains the n-th binary digit of all counters. */
static inline void count_up(uint64_t planes[PLANES][SPAN], int word, uint64_t bits)
{
    for (int plane = 0; bits; plane++) {
        const uint64_t carry = planes[plane][word] & bits;
        planes[plane][word] ^= bits;
        bits = carry;
    }
}

static void read_counters(uint64_t planes[PLANES][SPAN], int64_t length, uint32_t *counters)
{
    for (int64_t i = 0; i < length; i++) {
        uint32_t number = 0;
        for (int plane = 0; plane < 32; plane++) number |= (uint32_t)(planes[plane][i / 64] >> (i % 64) & 1) << plane;
        counters[i] = number;
    }
}

/* Determines, for the rows in [begin, end) and every subset A of `known` with at most `most` columns, whether knowledge
 * of A breaches. `breached` receives the number of such subsets, `minimal` the number of those without a breaching
 * proper subset. `smallest`, initially NONE, receives the size of the smallest. `inside` holds SPAN·2^columns integers.
 * The empty subset is included only if `empty`. */
API void shoal_subset_breaches(const uint32_t *counts, int64_t rows, int64_t begin, int64_t end, uint32_t sensitive,
                               uint32_t known, int32_t most, int32_t empty, uint32_t above, uint32_t below,
                               uint64_t *inside, uint32_t *breached, uint32_t *minimal, uint8_t *smallest)
{
    for (int64_t start = begin; start < end; start += BLOCK_ROWS) {
        const int64_t length = end - start < BLOCK_ROWS ? end - start : BLOCK_ROWS;
        uint64_t all[PLANES][SPAN] = {{0}}, least[PLANES][SPAN] = {{0}};
        for (uint32_t subset = 0;; subset = (subset - known) & known) {
            const int size = __builtin_popcount(subset);
            uint64_t here[SPAN] = {0}, lower[SPAN] = {0};
            if (size <= most && (size || empty))
                breaching(counts + (int64_t)subset * rows + start, counts + (int64_t)(subset | sensitive) * rows + start,
                          length, above, below, here);
            for (uint32_t rest = subset; rest; rest &= rest - 1) {
                const uint64_t *smaller = inside + (int64_t)(subset & ~(rest & -rest)) * SPAN;
                for (int w = 0; w < SPAN; w++) lower[w] |= smaller[w];
            }
            for (int w = 0; w < SPAN; w++) {
                inside[(int64_t)subset * SPAN + w] = here[w] | lower[w];
                count_up(all, w, here[w]);
                count_up(least, w, here[w] & ~lower[w]);
                for (uint64_t left = here[w] & ~lower[w]; left; left &= left - 1) {
                    const int64_t row = start + 64 * w + __builtin_ctzll(left);
                    if (size < smallest[row]) smallest[row] = (uint8_t)size;
                }
            }
            if (subset == known) break;
        }
        read_counters(all, length, breached + start);
        read_counters(least, length, minimal + start);
    }
}

/* ---- rows that agree within windows --------------------------------------------------------------------- */

enum { PAIRS = 2048 };

/* counts[A][i] = persons whose row agrees with row i in all columns of A, for the rows in [begin, end). Row j agrees
 * with row i in a column if its code is one of the `spans` + 1 codes from `lows` on, both given for row i. Both are
 * [columns][rows]; `sums` holds 2^columns integers. */
API void shoal_pair_counts(const uint32_t *codes, const uint32_t *lows, const uint32_t *spans, const uint32_t *weights,
                           int64_t rows, int32_t columns, int64_t begin, int64_t end, uint32_t *sums, uint32_t *counts)
{
    const int64_t subsets = (int64_t)1 << columns;
    uint32_t masks[PAIRS];
    for (int64_t i = begin; i < end; i++) {
        memset(sums, 0, (size_t)subsets * sizeof(uint32_t));
        for (int64_t from = 0; from < rows; from += PAIRS) {
            const int64_t size = rows - from < PAIRS ? rows - from : PAIRS;
            memset(masks, 0, sizeof masks);
            for (int32_t column = 0; column < columns; column++) {
                const uint32_t *others = codes + column * rows + from;
                const uint32_t low = lows[column * rows + i], span = spans[column * rows + i];
                for (int64_t j = 0; j < size; j++) masks[j] |= (uint32_t)(others[j] - low <= span) << column;
            }
            for (int64_t j = 0; j < size; j++) sums[masks[j]] += weights[from + j];
        }
        for (int64_t bit = 1; bit < subsets; bit <<= 1) /* rows that agree in a superset agree in the subset */
            for (int64_t subset = 0; subset < subsets; subset++)
                if (!(subset & bit)) sums[subset] += sums[subset | bit];
        for (int64_t subset = 0; subset < subsets; subset++) counts[subset * rows + i] = sums[subset];
    }
}
