#include "core.h"

/* ---- the most disclosive subset, in tables too wide to count all subsets -------------------------------- */

/* Arrays of [rows][columns] store each row contiguously, because groups of rows are small and scattered. */
typedef struct {
    const uint32_t *codes;    /* [rows][columns] */
    const uint32_t *weights;  /* [rows] */
    const uint32_t *fewest;   /* [rows][columns]: protective peers if all remaining columns are known */
    uint32_t *same, *peers;   /* [rows][columns]: the largest share so far */
    uint64_t *best;           /* [rows][columns]: the subset that attains it */
    uint64_t *open;           /* [rows]: the sensitive columns that are not yet fully disclosed */
    uint32_t *order;          /* [columns + 1][rows] */
    uint32_t *tally;          /* one zero per code of a column */
    uint32_t *places;         /* one integer per code of a column */
    const volatile int32_t *stop;
    int64_t rows, visited;
    uint64_t known; /* the columns that may be known */
    int32_t columns, most, capped;
} Wide;

/* Updates the best share of a row if same/peers is larger. */
static inline void offer(Wide *all, int64_t at, uint32_t same, uint32_t peers, uint64_t subset)
{
    if ((uint64_t)same * all->peers[at] <= (uint64_t)all->same[at] * peers) return;
    all->same[at] = same;
    all->peers[at] = peers;
    all->best[at] = subset;
}

/* Evaluates one sensitive column in a group of rows that agree in the known columns; returns whether further columns
 * may disclose more.
 *
 * With any further columns known, at least `fewest` protective peers and at most `same` peers with the same value
 * remain: the share of protective peers is at least fewest / (fewest + same). */
static int look(Wide *all, const uint32_t *rows, int64_t size, uint32_t peers, int32_t sensitive, uint64_t subset)
{
    const int64_t width = all->columns;
    const uint32_t *codes = all->codes + sensitive;
    int open = 0;
    for (int64_t i = 0; i < size; i++) all->tally[codes[rows[i] * width]] += all->weights[rows[i]];
    for (int64_t i = 0; i < size; i++) {
        if (!(all->open[rows[i]] >> sensitive & 1)) continue;
        const int64_t at = rows[i] * width + sensitive;
        const uint32_t same = all->tally[all->codes[at]];
        offer(all, at, same, peers, subset);
        const uint64_t left = all->fewest[at], protective = all->peers[at] - all->same[at];
        open |= (unsigned __int128)left * all->peers[at] < (unsigned __int128)protective * (left + same);
        if (!protective) all->open[rows[i]] &= ~((uint64_t)1 << sensitive);
    }
    for (int64_t i = 0; i < size; i++) all->tally[codes[rows[i] * width]] = 0;
    return open;
}

/* Returns the columns in which all rows of a group agree. */
static uint64_t agreeing_columns(const Wide *all, const uint32_t *rows, int64_t size, uint64_t subset)
{
    const int64_t width = all->columns;
    const uint32_t *first = all->codes + rows[0] * width;
    uint64_t agree = all->known;
    for (int64_t i = 1; i < size && agree != subset; i++) {
        const uint32_t *other = all->codes + rows[i] * width;
        for (uint64_t left = agree & ~subset; left; left &= left - 1) {
            const int32_t column = __builtin_ctzll(left);
            if (first[column] != other[column]) agree &= ~((uint64_t)1 << column);
        }
    }
    return agree;
}

/* Sorts the rows of a group by a column into the next depth. */
static void take_apart(Wide *all, const uint32_t *rows, int64_t size, int32_t column, uint32_t *out)
{
    const int64_t width = all->columns;
    const uint32_t *codes = all->codes + column;
    uint32_t place = 0;
    for (int64_t i = 0; i < size; i++) all->tally[codes[rows[i] * width]]++;
    for (int64_t i = 0; i < size; i++) {
        const uint32_t code = codes[rows[i] * width];
        if (all->tally[code]) {
            all->places[code] = place;
            place += all->tally[code];
            all->tally[code] = 0;
        }
    }
    for (int64_t i = 0; i < size; i++) out[all->places[codes[rows[i] * width]]++] = rows[i];
}

static void explore(Wide *all, const uint32_t *rows, int64_t size, int32_t depth, int32_t last, uint64_t subset,
                    uint64_t above, uint64_t live);

/* Explores every part into which a column splits a group. */
static void explore_parts(Wide *all, const uint32_t *rows, int64_t size, int32_t depth, int32_t column, uint64_t subset,
                          uint64_t above, uint64_t live)
{
    const int64_t width = all->columns;
    const uint32_t *codes = all->codes + column;
    for (int64_t begin = 0, end; begin < size; begin = end) {
        const uint32_t code = codes[rows[begin] * width];
        for (end = begin + 1; end < size && codes[rows[end] * width] == code;) end++;
        explore(all, rows + begin, end - begin, depth, column, subset, above, live);
    }
}

/* Removes the sensitive columns for which the same rows are explored elsewhere. If the rows agree in a column before
 * the last one, the same rows, with everything that follows, occur in the subset that also contains that column: since
 * it splits the group above, that subset has been explored. This does not apply to the sensitive column itself.
 * `above`: the columns in which the rows of the group above agree. */
static uint64_t met_only_here(uint64_t agree, uint64_t above, int32_t last, uint64_t live)
{
    const uint64_t before = agree & ~above & (((uint64_t)1 << last) - 1);
    if (before == 0) return live;
    return before & (before - 1) ? 0 : live & before;
}

static void explore(Wide *all, const uint32_t *rows, int64_t size, int32_t depth, int32_t last, uint64_t subset,
                    uint64_t above, uint64_t live)
{
    if (*all->stop) return;
    uint64_t open = 0;
    for (int64_t i = 0; i < size && (open & live) != live; i++) open |= all->open[rows[i]];
    live &= open;
    if (live == 0) return;
    all->visited++;
    const uint64_t agree = agreeing_columns(all, rows, size, subset);
    if (!all->capped) live = met_only_here(agree, above, last, live);
    if (live == 0) return;
    uint32_t peers = 0;
    for (int64_t i = 0; i < size; i++) peers += all->weights[rows[i]];
    for (uint64_t left = live; left; left &= left - 1) {
        const int32_t sensitive = __builtin_ctzll(left);
        if (size == 1) {
            offer(all, rows[0] * (int64_t)all->columns + sensitive, peers, peers, subset);
            all->open[rows[0]] &= ~((uint64_t)1 << sensitive);
        } else if (!look(all, rows, size, peers, sensitive, subset)) live &= ~((uint64_t)1 << sensitive);
    }
    if (size == 1 || live == 0 || depth == all->most) return;
    uint32_t *out = all->order + (int64_t)depth * all->rows;
    for (int32_t column = last + 1; column < all->columns; column++) {
        const uint64_t bit = (uint64_t)1 << column, others = live & ~bit;
        if (!others || !(all->known & bit) || agree & bit) continue;
        take_apart(all, rows, size, column, out);
        explore_parts(all, out, size, depth + 1, column, subset | bit, agree, others);
    }
}

/* Explores all subsets whose first column is `first`, as far as they may disclose more than the best subset so far.
 * `fewest` refers to the columns from `first` on; `open` contains, per row, the bits of the requested columns of `live`
 * that are not yet fully disclosed; `room` holds (columns + 1)·rows integers. Returns the number of groups explored. */
API int64_t shoal_subset_search(const uint32_t *codes, const uint32_t *weights, const uint32_t *fewest, int64_t rows,
                                int32_t columns, int32_t first, int32_t most, uint64_t live, uint64_t known,
                                uint32_t *same, uint32_t *peers, uint64_t *best, uint64_t *open, uint32_t *room,
                                uint32_t *tally, uint32_t *places, const int32_t *stop)
{
    const int capped = most < __builtin_popcountll(known);
    Wide all = {codes,  weights, fewest, same, peers, best,  open,    room, tally,
                places, stop,    rows,   0,    known, columns, most, capped};
    uint32_t *everybody = room + (int64_t)columns * rows, *out = room;
    const uint64_t bit = (uint64_t)1 << first;
    if (rows == 0 || !(live & ~bit)) return 0;
    for (int64_t i = 0; i < rows; i++) everybody[i] = (uint32_t)i;
    const uint64_t above = agreeing_columns(&all, everybody, rows, 0);
    take_apart(&all, everybody, rows, first, out);
    explore_parts(&all, out, rows, 1, first, bit, above, live & ~bit);
    return all.visited;
}
