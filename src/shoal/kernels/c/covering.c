#include "core.h"

/* ---- rows of sets that contain given values ---------------------------------------------------------------- */

/* One column of a table of sets. */
typedef struct {
    const uint32_t *of_row;     /* the set of each row */
    const int64_t *set_starts;  /* the sets that contain value v: sets[set_starts[v]] to sets[set_starts[v + 1] - 1] */
    const uint32_t *sets;
    const int64_t *row_starts;  /* the rows with set s, in the same format */
    const uint32_t *rows;
} Column;

/* Returns the number of rows that may cover a person with the given value in a column. */
static int64_t rows_with(const Column *column, uint32_t value)
{
    int64_t count = 0;
    for (int64_t i = column->set_starts[value]; i < column->set_starts[value + 1]; i++) {
        const uint32_t set = column->sets[i];
        count += column->row_starts[set + 1] - column->row_starts[set];
    }
    return count;
}

/* Iterator over the rows that cover a person. The candidates are the rows of the most selective column, ordered by
 * their sets; the other columns are then checked. `marks`: one integer per column and set, initially 0; the sets that
 * contain the person's value are marked with `mark`, which is incremented for each person. */
typedef struct {
    int32_t columns;
    const Column *table;
    const uint32_t *const *people;
    uint32_t *const *marks;
    uint32_t mark;
    const Column *first;
    int64_t set, sets, row, rows;
} Walk;

/* Returns the column in which the fewest rows may cover a person; −1 if there are none in some column. */
static int32_t narrowest(const Walk *walk, int64_t person)
{
    int32_t best = 0;
    int64_t fewest = INT64_MAX;
    for (int32_t j = 0; j < walk->columns && fewest; j++) {
        const int64_t rows = rows_with(&walk->table[j], walk->people[j][person]);
        if (rows < fewest) fewest = rows, best = j;
    }
    return fewest ? best : -1;
}

static void begin(Walk *walk, int64_t person)
{
    const int32_t best = narrowest(walk, person);
    walk->set = walk->sets = walk->row = walk->rows = 0;
    if (best < 0) return;
    walk->mark++;
    for (int32_t j = 0; j < walk->columns; j++) {
        const Column *column = &walk->table[j];
        const uint32_t value = walk->people[j][person];
        for (int64_t i = column->set_starts[value]; i < column->set_starts[value + 1]; i++)
            walk->marks[j][column->sets[i]] = walk->mark;
    }
    walk->first = &walk->table[best];
    walk->set = walk->first->set_starts[walk->people[best][person]];
    walk->sets = walk->first->set_starts[walk->people[best][person] + 1];
}

static int is_covered(const Walk *walk, uint32_t row)
{
    for (int32_t j = 0; j < walk->columns; j++)
        if (walk->marks[j][walk->table[j].of_row[row]] != walk->mark) return 0;
    return 1;
}

/* Returns the next row; −1 after the last. */
static int64_t next(Walk *walk)
{
    for (;;) {
        while (walk->row < walk->rows) {
            const uint32_t row = walk->first->rows[walk->row++];
            if (is_covered(walk, row)) return row;
        }
        if (walk->set >= walk->sets) return -1;
        const uint32_t set = walk->first->sets[walk->set++];
        walk->row = walk->first->row_starts[set];
        walk->rows = walk->first->row_starts[set + 1];
    }
}

/* Sums, per person and value of `said`, the weights of the rows that cover the person: counts[person][said]. */
API void shoal_covering(int32_t columns, const Column *table, int64_t number, const uint32_t *const *people,
                        uint32_t *const *marks, const int64_t *weights, const uint32_t *said, int64_t width,
                        int64_t *counts)
{
    Walk walk = {columns, table, people, marks, 0, table, 0, 0, 0, 0};
    for (int64_t person = 0; person < number; person++) {
        begin(&walk, person);
        for (int64_t row; (row = next(&walk)) >= 0;) counts[person * width + said[row]] += weights[row];
    }
}

/* Counts, per row, the persons whom it covers. */
API void shoal_covered(int32_t columns, const Column *table, int64_t number, const uint32_t *const *people,
                       uint32_t *const *marks, int64_t *counts)
{
    Walk walk = {columns, table, people, marks, 0, table, 0, 0, 0, 0};
    for (int64_t person = 0; person < number; person++) {
        begin(&walk, person);
        for (int64_t row; (row = next(&walk)) >= 0;) counts[row]++;
    }
}

/* Finds, per person, the highest rank among the rows that cover them, −1 if there are none, and sums the weights of the
 * rows with that rank. */
API void shoal_covering_best(int32_t columns, const Column *table, int64_t number, const uint32_t *const *people,
                             uint32_t *const *marks, const int64_t *weights, const int64_t *ranks, int64_t *best,
                             int64_t *counts)
{
    Walk walk = {columns, table, people, marks, 0, table, 0, 0, 0, 0};
    for (int64_t person = 0; person < number; person++) {
        best[person] = -1, counts[person] = 0;
        begin(&walk, person);
        for (int64_t row; (row = next(&walk)) >= 0;) {
            if (ranks[row] > best[person]) best[person] = ranks[row], counts[person] = 0;
            if (ranks[row] == best[person]) counts[person] += weights[row];
        }
    }
}

/* Lists the rows that cover each person from `first` on: rows[ends[i − 1]] to rows[ends[i] − 1], beginning at `used`.
 * Returns the number of persons completed, which is less than `number` if `room` does not suffice. */
API int64_t shoal_covering_rows(int32_t columns, const Column *table, int64_t number, const uint32_t *const *people,
                                uint32_t *const *marks, int64_t first, int64_t used, int64_t room, int64_t *ends,
                                uint32_t *rows)
{
    Walk walk = {columns, table, people, marks, 0, table, 0, 0, 0, 0};
    for (int64_t person = first; person < number; person++) {
        begin(&walk, person);
        for (int64_t row; (row = next(&walk)) >= 0;) {
            if (used == room) return person;
            rows[used++] = (uint32_t)row;
        }
        ends[person] = used;
    }
    return number;
}

/* ---- assignment of rows to persons --------------------------------------------------------------------------- */

/* `left`: the remaining capacity of each row. `taken`: the row of each person, −1 if there is none. `holders`: the
 * person who took each row last; `others`: for each person, the one who took the same row before. `seen`, `by`: for the
 * search for an augmenting path, the last search that visited each row, and the person who could take it. `queue`: rows
 * to visit. */
typedef struct {
    int64_t *left, *taken, *holders, *others, *seen, *by, *queue;
} Hands;

enum { DEAD = -2 }; /* value of `seen`: no available row can be reached from here any more */

static void take(Hands *hands, int64_t person, int64_t row)
{
    const int64_t before = hands->taken[person];
    if (before >= 0) {
        int64_t *link = &hands->holders[before];
        while (*link != person) link = &hands->others[*link];
        *link = hands->others[person];
    }
    hands->taken[person] = row;
    hands->others[person] = hands->holders[row];
    hands->holders[row] = person;
}

/* Reassigns rows along an augmenting path: each person on it takes the row that the previous one releases. */
static void pass_on(Hands *hands, int64_t person, int64_t row)
{
    hands->left[row]--;
    for (int64_t who = -1; who != person;) {
        who = hands->by[row];
        const int64_t freed = hands->taken[who];
        take(hands, who, row);
        row = freed;
    }
}

/* Searches breadth-first, from rows to their holders, for a row that is still available, visiting at most `most` rows.
 * Returns whether the person now has a row. */
static int free_one(Walk *walk, Hands *hands, int64_t person, int64_t search, int64_t most)
{
    int64_t who = person, queued = 0;
    for (int64_t at = 0;;) {
        begin(walk, who);
        for (int64_t row; (row = next(walk)) >= 0;) {
            if (hands->seen[row] == search || hands->seen[row] == DEAD) continue;
            hands->seen[row] = search;
            hands->by[row] = who;
            if (hands->left[row]) {
                pass_on(hands, person, row);
                return 1;
            }
            if (queued == most) return 0;
            hands->queue[queued++] = row;
        }
        who = who == person ? -1 : hands->others[who];
        while (who < 0) {
            if (at == queued) { /* all reachable rows are taken, and will remain so */
                while (queued) hands->seen[hands->queue[--queued]] = DEAD;
                return 0;
            }
            who = hands->holders[hands->queue[at++]];
        }
    }
}

/* Assigns to each person, in the given order, the available row with the highest rank that covers them, the first of
 * several; then, for persons without a row, one that an augmenting path frees. All arrays of `hands` except `left` are
 * initially −1. */
API void shoal_assign(int32_t columns, const Column *table, int64_t number, const uint32_t *const *people,
                      uint32_t *const *marks, int64_t rows, const int64_t *order, const int64_t *ranks, int64_t most,
                      int64_t *const *hands)
{
    Walk walk = {columns, table, people, marks, 0, table, 0, 0, 0, 0};
    Hands held = {hands[0], hands[1], hands[2], hands[3], hands[4], hands[5], hands[6]};
    int64_t spare = 0;
    for (int64_t row = 0; row < rows; row++) spare += held.left[row];
    for (int64_t at = 0; at < number; at++) {
        int64_t best = -1;
        begin(&walk, order[at]);
        for (int64_t row; (row = next(&walk)) >= 0;)
            if (held.left[row] && (best < 0 || ranks[row] > ranks[best] || (ranks[row] == ranks[best] && row < best)))
                best = row;
        if (best < 0) continue;
        held.left[best]--, spare--;
        take(&held, order[at], best);
    }
    for (int64_t at = 0; at < number && spare; at++)
        if (held.taken[order[at]] < 0) spare -= free_one(&walk, &held, order[at], at, most);
}
