#include "core.h"

/* ---- sums of what tables say, for all pairs ---------------------------------------------------------------- */

/* sums[i][r]: over all columns, what the line lines[column][i] of its table says about nodes[column][r]; the table of a
 * column has lines of widths[column] numbers. */
API void shoal_lookups(int32_t columns, const float *const *tables, const int64_t *widths, const uint32_t *const *lines,
                       const uint32_t *const *nodes, int64_t number, int64_t rows, float *sums)
{
    for (int64_t i = 0; i < number; i++) {
        float *restrict mine = sums + i * rows;
        for (int32_t column = 0; column < columns; column++) {
            const float *restrict line = tables[column] + (int64_t)lines[column][i] * widths[column];
            const uint32_t *restrict held = nodes[column];
            if (!column)
                for (int64_t r = 0; r < rows; r++) mine[r] = line[held[r]];
            else
                for (int64_t r = 0; r < rows; r++) mine[r] += line[held[r]];
        }
    }
}
