#include "core.h"

/* ---- unique persons, for any known columns ----------------------------------------------------------------- */

/* Rows that agree in the columns so far form a group; the last row of each is marked. Another column splits groups. A
 * holder that is unique in a group remains unique with any further columns known, and is removed: most groups soon
 * disappear. */
typedef struct {
    const uint32_t *const *codes; /* [columns][rows] */
    const uint32_t *holders;      /* the holder of each row */
    const uint8_t *single;        /* whether a holder is a single person, and not several with the same rows */
    uint8_t *alone;               /* whether a holder has a unique row; all 0 */
    uint32_t *undo;               /* room for each holder: the holders found unique, to be reverted */
    uint32_t *tally, *places;     /* one zero per code of a column; as many integers of any value */
    int64_t rows, found;          /* found: the number of unique holders */
    int32_t columns;
    int32_t split;                /* whether holders can have several rows */
} Table;

#define LAST ((uint32_t)1 << 30) /* marks the last row of a group */

static inline uint32_t row_of(uint32_t marked) { return marked & ~LAST; }

/* Records that a holder is unique. */
static void note(Table *table, uint32_t holder)
{
    if (!table->single[holder] || table->alone[holder]) return;
    table->alone[holder] = 1;
    table->undo[table->found++] = holder;
}

static void take_back(Table *table, int64_t found)
{
    while (table->found > found) table->alone[table->undo[--table->found]] = 0;
}

/* Returns whether all rows belong to one holder. */
static int is_one(const Table *table, const uint32_t *rows, int64_t count)
{
    if (!table->split) return count == 1;
    for (int64_t i = 1; i < count; i++)
        if (table->holders[row_of(rows[i])] != table->holders[row_of(rows[0])]) return 0;
    return 1;
}

/* Splits one group by a column; writes the groups of several rows, and returns their total number of rows. */
static int64_t split_group(Table *table, const uint32_t *restrict in, int64_t count, const uint32_t *restrict codes,
                           uint32_t *restrict out)
{
    uint32_t *restrict tally = table->tally, *restrict places = table->places;
    int64_t made = 0;
    for (int64_t i = 0; i < count; i++) tally[codes[row_of(in[i])]]++;
    for (int64_t i = 0; i < count; i++) {
        const uint32_t row = row_of(in[i]), code = codes[row], size = tally[code];
        if (size == 1) {
            note(table, table->holders[row]);
            continue;
        }
        if (size & LAST) { /* an earlier row has this code */
            out[places[code]++] = row;
            continue;
        }
        tally[code] = size | LAST;
        places[code] = (uint32_t)made + 1;
        out[made] = row;
        made += size;
    }
    for (int64_t i = 0; i < count; i++) tally[codes[row_of(in[i])]] = 0;
    return made;
}

/* Marks the ends of groups, whose rows are adjacent and share a code; removes groups that belong to one holder. */
static int64_t settle(Table *table, uint32_t *rows, int64_t count, const uint32_t *codes)
{
    int64_t made = 0;
    for (int64_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && codes[rows[to]] == codes[rows[from]]; to++) {}
        if (is_one(table, rows + from, to - from)) {
            note(table, table->holders[rows[from]]);
            continue;
        }
        if (made != from) memmove(rows + made, rows + from, (size_t)(to - from) * sizeof *rows);
        made += to - from;
        rows[made - 1] |= LAST;
    }
    return made;
}

/* Splits all groups by a column. Returns the number of rows in groups of several holders. */
static int64_t refine(Table *table, const uint32_t *in, int64_t count, int32_t column, uint32_t *out)
{
    const uint32_t *codes = table->codes[column];
    int64_t made = 0;
    for (int64_t from = 0, to; from < count; from = to) {
        for (to = from; !(in[to] & LAST); to++) {}
        to++;
        const int64_t more = split_group(table, in + from, to - from, codes, out + made);
        made += settle(table, out + made, more, codes);
    }
    return made;
}

/* Creates one group of all rows, unless all belong to one holder. */
static int64_t begin(Table *table, uint32_t *rows)
{
    take_back(table, 0);
    for (int64_t i = 0; i < table->rows; i++) rows[i] = (uint32_t)i;
    if (is_one(table, rows, table->rows)) {
        note(table, table->holders[0]);
        return 0;
    }
    rows[table->rows - 1] |= LAST;
    return table->rows;
}

static void descend(Table *table, const uint32_t *rows, int64_t count, uint64_t subset, int32_t from, uint32_t *room,
                    int64_t *counts)
{
    for (int32_t column = from; column < table->columns; column++) {
        const int64_t found = table->found;
        const uint64_t more = subset | (uint64_t)1 << column;
        const int64_t left = refine(table, rows, count, column, room);
        counts[more] = table->found;
        descend(table, room, left, more, column + 1, room + left, counts);
        take_back(table, found);
    }
}

/* Counts the unique holders for every subset of the columns, as a bit mask. `room`: for the rows, once per column and
 * once more. */
API void shoal_uniques(Table *table, uint32_t *room, int64_t *counts)
{
    const int64_t left = begin(table, room);
    counts[0] = table->found;
    descend(table, room, left, 0, 0, room + left, counts);
}

/* Counts the unique holders for columns in a given order: counts[i] with the first i of them known. `room`: for the
 * rows, twice. */
API void shoal_uniques_in_order(Table *table, const int32_t *order, int32_t number, uint32_t *room, int64_t *counts)
{
    uint32_t *here = room, *there = room + table->rows;
    int64_t left = begin(table, here);
    counts[0] = table->found;
    for (int32_t i = 0; i < number; i++) {
        left = refine(table, here, left, order[i], there);
        counts[i + 1] = table->found;
        uint32_t *const other = here;
        here = there;
        there = other;
    }
}
