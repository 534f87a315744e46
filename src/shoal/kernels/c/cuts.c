#include "core.h"

/* ---- partitions of rows, and cuts through them at the median --------------------------------------------- */

/* Row r has the place places[r·columns + j] in column j. A part is a range of `order`, a list of rows. */
typedef struct {
    const uint32_t *places;
    int64_t columns;
    const uint32_t *persons;
    uint32_t *order;
} Parts;

/* Writes the lowest and the highest place of each part in each column, and its number of persons. */
API void shoal_spans(const Parts *parts, const int64_t *starts, const int64_t *ends, int64_t count, uint32_t *low,
                     uint32_t *high, uint64_t *sizes)
{
    const int64_t columns = parts->columns;
    for (int64_t part = 0; part < count; part++) {
        uint32_t *restrict least = low + part * columns, *restrict most = high + part * columns;
        memset(least, 0xff, (size_t)columns * sizeof *least);
        memset(most, 0, (size_t)columns * sizeof *most);
        sizes[part] = 0;
        for (int64_t i = starts[part]; i < ends[part]; i++) {
            const uint32_t *row = parts->places + (int64_t)parts->order[i] * columns;
            for (int64_t column = 0; column < columns; column++) {
                least[column] = row[column] < least[column] ? row[column] : least[column];
                most[column] = row[column] > most[column] ? row[column] : most[column];
            }
            sizes[part] += parts->persons[parts->order[i]];
        }
    }
}

/* A range of rows, with `before` persons before it and `inside` persons in it. */
typedef struct {
    int64_t start, end;
    uint64_t before, inside;
} Stretch;

static inline uint32_t group_of(const Parts *parts, int64_t column, const uint32_t *groups, uint32_t row)
{
    return groups[parts->places[(int64_t)row * parts->columns + column]];
}

static inline void swap(uint32_t *order, int64_t a, int64_t b)
{
    const uint32_t kept = order[a];
    order[a] = order[b];
    order[b] = kept;
}

/* Moves rows of groups below the pivot to the front of a range, and those above it to the back; returns the range of
 * the pivot's group. */
static Stretch sift(const Parts *parts, int64_t column, const uint32_t *groups, Stretch in, uint32_t pivot)
{
    int64_t below = in.start, at = in.start, above = in.end;
    uint64_t left = 0, same = 0;
    while (at < above) {
        const uint32_t row = parts->order[at], group = group_of(parts, column, groups, row);
        if (group < pivot) {
            left += parts->persons[row];
            swap(parts->order, below++, at++);
        } else if (group > pivot) swap(parts->order, at, --above);
        else {
            same += parts->persons[row];
            at++;
        }
    }
    return (Stretch){below, above, in.before + left, same};
}

static inline uint32_t median(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Returns the median of three rows. The rows vary with each attempt, so that no order of rows is consistently bad. */
static uint32_t pivot_of(const Parts *parts, int64_t column, const uint32_t *groups, const Stretch *in, uint64_t try)
{
    const uint64_t size = (uint64_t)(in->end - in->start);
    uint32_t found[3];
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t at = ((3 * try + i + 1) * 0x9e3779b97f4a7c15u >> 32) % size;
        found[i] = group_of(parts, column, groups, parts->order[in->start + (int64_t)at]);
    }
    return median(found[0], found[1], found[2]);
}

/* Finds the group in which half of the persons is reached, and moves it to its sorted position. */
static Stretch find_middle(const Parts *parts, int64_t column, const uint32_t *groups, Stretch in, uint64_t persons)
{
    for (uint64_t try = 0;; try++) {
        const Stretch same = sift(parts, column, groups, in, pivot_of(parts, column, groups, &in, try));
        if (2 * same.before >= persons) in = (Stretch){in.start, same.start, in.before, same.before - in.before};
        else if (2 * (same.before + same.inside) < persons)
            in = (Stretch){same.end, in.end, same.before + same.inside, in.before + in.inside - same.before - same.inside};
        else return same;
    }
}

static inline uint64_t off_half(uint64_t left, uint64_t persons)
{
    return 2 * left > persons ? 2 * left - persons : persons - 2 * left;
}

/* Merge sort in ascending order, for few rows or rows that are mostly sorted. */
static void sort_rows(uint32_t *rows, int64_t count, uint32_t *scratch)
{
    if (count < 2) return;
    const int64_t half = count / 2;
    sort_rows(rows, half, scratch);
    sort_rows(rows + half, count - half, scratch);
    if (rows[half - 1] < rows[half]) return;
    memcpy(scratch, rows, (size_t)half * sizeof *rows);
    for (int64_t a = 0, b = half, out = 0; a < half; out++) rows[out] = b < count && rows[b] < scratch[a] ? rows[b++] : scratch[a++];
}

/* Cuts each part in two in the column given for it, as close to the median as possible. Rows of one group stay
 * together; the group of a place is groups[at[part] + place], ascending. If `scratch` is given, with one integer per
 * row, the rows of the middle group are divided between both sides. Writes the start of the second half (or of the
 * part, if it has a single group), and the number of persons in the first half. */
API void shoal_cut(const Parts *parts, const int64_t *starts, const int64_t *ends, const uint64_t *sizes, int64_t count,
                   const int64_t *columns, const uint32_t *groups, const int64_t *at, uint32_t *scratch, int64_t *middles,
                   uint64_t *left)
{
    for (int64_t part = 0; part < count; part++) {
        const Stretch whole = {starts[part], ends[part], 0, sizes[part]};
        const Stretch same = find_middle(parts, columns[part], groups + at[part], whole, sizes[part]);
        const uint64_t after = same.before + same.inside;
        middles[part] = starts[part];
        left[part] = 0;
        if (scratch) {
            sort_rows(parts->order + same.start, same.end - same.start, scratch);
            middles[part] = same.start;
            left[part] = same.before;
            while (2 * left[part] < sizes[part]) left[part] += parts->persons[parts->order[middles[part]++]];
        } else if (same.before && (after == sizes[part] || off_half(same.before, sizes[part]) <= off_half(after, sizes[part]))) {
            middles[part] = same.start;
            left[part] = same.before;
        } else if (after < sizes[part]) {
            middles[part] = same.end;
            left[part] = after;
        }
    }
}
