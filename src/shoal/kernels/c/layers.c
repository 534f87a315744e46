#include "core.h"

/* ---- the layers of a lattice: schemes of equal height ----------------------------------------------------- */

enum { MOST_COLUMNS = 64 };

/* Schemes in ascending order, their levels, and the bounds that hold for each scheme and all more specific ones. */
typedef struct {
    int64_t *schemes, *levels, *at_least;
    double *extra;
} Layer;

/* Finds the schemes one level lower in one column, provided that all schemes directly above them are in the layer,
 * whose bounds they inherit. Lowering a column by a level subtracts its stride from the number of a scheme, so each
 * column yields schemes in ascending order, and these sequences are merged. finer[i][j]: the place of the scheme below
 * scheme i in column j; −1 if there is none. `below` has sufficient room; returns its number of schemes. */
API int64_t shoal_layer_below(int32_t columns, const int64_t *shape, const int64_t *strides, int64_t count, const Layer *layer,
                              const Layer *below, int64_t *finer)
{
    int64_t heads[MOST_COLUMNS] = {0}, next[MOST_COLUMNS], made = 0;
    for (int64_t i = 0; i < count * columns; i++) finer[i] = -1;
    for (;;) {
        int64_t least = INT64_MAX, parents = 0, coarsest = 0;
        for (int32_t j = 0; j < columns; j++) {
            while (heads[j] < count && layer->levels[heads[j] * columns + j] == 0) heads[j]++;
            next[j] = heads[j] < count ? layer->schemes[heads[j]] - strides[j] : INT64_MAX;
            if (next[j] < least) least = next[j];
        }
        if (least == INT64_MAX) return made;
        int64_t *levels = below->levels + made * columns;
        double *extra = below->extra + made * columns;
        for (int32_t j = 0; j < columns; j++) {
            if (next[j] != least) continue;
            const int64_t parent = heads[j]++;
            const double *known = layer->extra + parent * columns;
            if (parents++ == 0) {
                memcpy(levels, layer->levels + parent * columns, (size_t)columns * sizeof *levels);
                levels[j]--;
                memcpy(extra, known, (size_t)columns * sizeof *extra);
                below->at_least[made] = layer->at_least[parent];
            }
            for (int32_t c = 0; c < columns; c++) extra[c] = known[c] > extra[c] ? known[c] : extra[c];
            if (layer->at_least[parent] > below->at_least[made]) below->at_least[made] = layer->at_least[parent];
            finer[parent * columns + j] = made;
        }
        for (int32_t j = 0; j < columns; j++) coarsest += levels[j] == shape[j] - 1;
        if (parents == columns - coarsest) below->schemes[made++] = least;
        else
            for (int32_t j = 0; j < columns; j++)
                if (next[j] == least) finer[(heads[j] - 1) * columns + j] = -1;
    }
}
