#include "core.h"

/* ---- which rows of sets hold given values ------------------------------------------------------------------ */

/* One column of a table of sets. */
typedef struct {
    const uint32_t *of_row;     /* the set that each row shows */
    const int64_t *set_starts;  /* the sets with value v: sets[set_starts[v]] to sets[set_starts[v + 1] - 1] */
    const uint32_t *sets;
    const int64_t *row_starts;  /* the rows that show set s, in the same way */
    const uint32_t *rows;
} Column;

/* How many rows may cover a person with a value in a column. */
static int64_t rows_with(const Column *column, uint32_t value)
{
    int64_t count = 0;
    for (int64_t i = column->set_starts[value]; i < column->set_starts[value + 1]; i++) {
        const uint32_t set = column->sets[i];
        count += column->row_starts[set + 1] - column->row_starts[set];
    }
    return count;
}

/* Marks the sets of each column that hold a person's value, with the person's number. */
static void mark(int32_t columns, const Column *table, const uint32_t *const *people, int64_t person, uint32_t *const *marks)
{
    for (int32_t j = 0; j < columns; j++)
        for (int64_t i = table[j].set_starts[people[j][person]]; i < table[j].set_starts[people[j][person] + 1]; i++)
            marks[j][table[j].sets[i]] = (uint32_t)person + 1;
}

static int is_covered(int32_t columns, const Column *table, uint32_t row, uint32_t *const *marks, uint32_t number)
{
    for (int32_t j = 0; j < columns; j++)
        if (marks[j][table[j].of_row[row]] != number) return 0;
    return 1;
}

/* The column in which fewest rows may cover a person; −1 if in one of them none may. */
static int32_t narrowest(int32_t columns, const Column *table, const uint32_t *const *people, int64_t person)
{
    int32_t best = 0;
    int64_t fewest = INT64_MAX;
    for (int32_t j = 0; j < columns && fewest; j++) {
        const int64_t rows = rows_with(&table[j], people[j][person]);
        if (rows < fewest) fewest = rows, best = j;
    }
    return fewest ? best : -1;
}

/* Adds up the weights of the rows that cover each of some people, apart for what the rows say: counts[person][said].
 * `marks`: for each column as many zeros as it has sets. */
API void shoal_covering(int32_t columns, const Column *table, int64_t number, const uint32_t *const *people,
                        uint32_t *const *marks, const int64_t *weights, const uint32_t *said, int64_t width,
                        int64_t *counts)
{
    for (int64_t person = 0; person < number; person++) {
        const int32_t best = narrowest(columns, table, people, person);
        if (best < 0) continue;
        mark(columns, table, people, person, marks);
        const Column *first = &table[best];
        const uint32_t value = people[best][person];
        for (int64_t i = first->set_starts[value]; i < first->set_starts[value + 1]; i++)
            for (int64_t k = first->row_starts[first->sets[i]]; k < first->row_starts[first->sets[i] + 1]; k++) {
                const uint32_t row = first->rows[k];
                if (is_covered(columns, table, row, marks, (uint32_t)person + 1))
                    counts[person * width + said[row]] += weights[row];
            }
    }
}

/* Counts the people whom each row covers. */
API void shoal_covered(int32_t columns, const Column *table, int64_t number, const uint32_t *const *people,
                       uint32_t *const *marks, int64_t *counts)
{
    for (int64_t person = 0; person < number; person++) {
        const int32_t best = narrowest(columns, table, people, person);
        if (best < 0) continue;
        mark(columns, table, people, person, marks);
        const Column *first = &table[best];
        const uint32_t value = people[best][person];
        for (int64_t i = first->set_starts[value]; i < first->set_starts[value + 1]; i++)
            for (int64_t k = first->row_starts[first->sets[i]]; k < first->row_starts[first->sets[i] + 1]; k++)
                counts[first->rows[k]] += is_covered(columns, table, first->rows[k], marks, (uint32_t)person + 1);
    }
}

/* Gives each of some people, in some order, a row that covers them and is not taken yet: the first there is. `left`: how
 * many times each row can be taken. `taken`: the row of each person, −1 if there is none. */
API void shoal_assign(int32_t columns, const Column *table, int64_t number, const uint32_t *const *people,
                      uint32_t *const *marks, const int64_t *order, int64_t *left, int64_t *taken)
{
    for (int64_t at = 0; at < number; at++) {
        const int64_t person = order[at];
        const int32_t best = narrowest(columns, table, people, person);
        taken[person] = -1;
        if (best < 0) continue;
        mark(columns, table, people, person, marks);
        const Column *first = &table[best];
        const uint32_t value = people[best][person];
        for (int64_t i = first->set_starts[value]; taken[person] < 0 && i < first->set_starts[value + 1]; i++)
            for (int64_t k = first->row_starts[first->sets[i]]; k < first->row_starts[first->sets[i] + 1]; k++) {
                const uint32_t row = first->rows[k];
                if (!left[row] || !is_covered(columns, table, row, marks, (uint32_t)person + 1)) continue;
                left[row]--;
                taken[person] = row;
                break;
            }
    }
}
