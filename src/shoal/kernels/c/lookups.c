#include "core.h"

/* ---- sums of table entries, for all pairs ------------------------------------------------------------------- */

/* For item i and row r, the sum over all columns of the entry nodes[column][r] in line lines[column][i] of the column's
 * table, whose lines have widths[column] entries. */
typedef struct {
    int32_t columns;
    const float *const *tables;
    const int64_t *widths;
    const uint32_t *const *lines;
    const uint32_t *const *nodes;
    int64_t rows;
} Lookups;

static void add_up(const Lookups *given, int64_t thing, float *restrict sums)
{
    for (int32_t column = 0; column < given->columns; column++) {
        const float *restrict line = given->tables[column] + (int64_t)given->lines[column][thing] * given->widths[column];
        const uint32_t *restrict held = given->nodes[column];
        if (!column)
            for (int64_t r = 0; r < given->rows; r++) sums[r] = line[held[r]];
        else
            for (int64_t r = 0; r < given->rows; r++) sums[r] += line[held[r]];
    }
}

/* Computes all sums: sums[i][r]. */
API void shoal_lookups(int32_t columns, const float *const *tables, const int64_t *widths, const uint32_t *const *lines,
                       const uint32_t *const *nodes, int64_t number, int64_t rows, float *sums)
{
    const Lookups given = {columns, tables, widths, lines, nodes, rows};
    for (int64_t i = 0; i < number; i++) add_up(&given, i, sums + i * rows);
}

/* Finds the rows whose sum exceeds the smallest by at most `close`, for each item from `first` on: found[ends[i − 1]]
 * to found[ends[i] − 1], beginning at `used`. `sums`: room for one item. Returns the number of items completed, which
 * is less than `number` if `room` does not suffice. */
API int64_t shoal_nearest(int32_t columns, const float *const *tables, const int64_t *widths,
                          const uint32_t *const *lines, const uint32_t *const *nodes, int64_t number, int64_t rows,
                          float close, int64_t first, int64_t used, int64_t room, float *sums, float *least,
                          int64_t *ends, uint32_t *found)
{
    const Lookups given = {columns, tables, widths, lines, nodes, rows};
    for (int64_t i = first; i < number; i++) {
        if (room - used < rows) return i;
        add_up(&given, i, sums);
        float lowest = sums[0];
        for (int64_t r = 1; r < rows; r++)
            if (sums[r] < lowest) lowest = sums[r];
        for (int64_t r = 0; r < rows; r++)
            if (sums[r] <= lowest + close) found[used++] = (uint32_t)r;
        least[i] = lowest;
        ends[i] = used;
    }
    return number;
}
