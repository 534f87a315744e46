#include "walk.h"

/* ---- schemes whose classes are counted -------------------------------------------------------------------- */

/* Classes are counted in bands of class size. */
enum { CLASSES, PERSONS, RECORDS, SQUARES, FIGURES };

typedef struct {
    int32_t bands;            /* the last one takes all sizes without an entry in `band` */
    uint64_t limit;           /* with more persons in the first band, nodes are not counted */
    int64_t sizes, width;     /* entries of `band`; nodes of all columns on their lowest levels */
    const uint8_t *band;
    const int64_t *offsets;   /* the first node of each column among those of all columns */
    const uint32_t *totals;   /* the records of each node, by column and level */
    const int64_t *totals_at; /* [columns][most levels]: the start of each in `totals` */
    uint32_t *counts;         /* [bands][width] */
    uint64_t *figures;        /* [schemes][bands][FIGURES] */
    uint32_t *marginals;      /* [schemes][bands − 1][width]: the records of each node in all bands but the last */
} Tally;

static inline int32_t band_of(const Tally *tally, uint32_t size)
{
    return size < tally->sizes ? tally->band[size] : tally->bands - 1;
}

/* The band with the most classes is skipped: the records of its nodes are the totals minus those of the other bands. */
static void remainder_of(const Walk *walk, const Tally *tally, int32_t skipped)
{
    const Lattice *lattice = &walk->lattice;
    uint32_t *rest = tally->counts + skipped * tally->width;
    for (int32_t column = 0; column < lattice->columns; column++) {
        const int64_t place = column * lattice->most + walk->path[column];
        memcpy(rest + tally->offsets[column], tally->totals + tally->totals_at[place], (size_t)lattice->nodes[place] * sizeof *rest);
    }
    for (int32_t band = 0; band < tally->bands; band++) {
        const uint32_t *other = tally->counts + band * tally->width;
        if (band != skipped)
            for (int64_t i = 0; i < tally->width; i++) rest[i] -= other[i];
    }
}

static inline void count_class(const Tally *tally, uint32_t persons, uint64_t records, uint64_t *figures)
{
    uint64_t *mine = figures + band_of(tally, persons) * FIGURES;
    mine[CLASSES]++;
    mine[PERSONS] += persons;
    mine[RECORDS] += records;
    mine[SQUARES] += records * records;
}

/* Adds the records of all classes, except those of one band, to each of their nodes. */
static void spread(const Walk *walk, const Tally *tally, const Made *made, int32_t skipped)
{
    const Lattice *lattice = &walk->lattice;
    const int32_t last = lattice->columns - 1, last_shift = lattice->shifts[last];
    const int64_t width = tally->width, last_offset = tally->offsets[last];
    const uint64_t last_mask = ones(lattice->bits[last]);
    uint32_t *restrict counts = tally->counts, *restrict listed = walk->room.runs;
    int32_t shifts[MOST_COLUMNS], used = 0;
    uint64_t masks[MOST_COLUMNS];
    int64_t offsets[MOST_COLUMNS], number = 0;
    for (int32_t column = 0; column < last; column++) {
        if (lattice->nodes[column * lattice->most + walk->path[column]] == 1) continue; /* contains all records */
        shifts[used] = lattice->shifts[column];
        masks[used] = ones(lattice->bits[column]);
        offsets[used++] = tally->offsets[column];
    }
    for (int64_t i = 0; i < made->count; i++) { /* listed first, because a branch here would often be mispredicted */
        listed[number] = (uint32_t)i;
        number += band_of(tally, made->classes[i].persons) != skipped;
    }
    for (int64_t i = 0; i < number; i++) {
        const Row class = made->classes[listed[i]];
        uint32_t *mine = counts + band_of(tally, class.persons) * width;
        for (int32_t column = 0; column < used; column++)
            mine[offsets[column] + (int64_t)(class.key >> shifts[column] & masks[column])] += class.records;
        mine[last_offset + made->top[class.key >> last_shift & last_mask]] += class.records;
    }
}

/* Counts the records in each node for every band but the last. */
static void tally_nodes(const Walk *walk, const Made *made, const uint64_t *figures)
{
    const Tally *tally = walk->out;
    const Lattice *lattice = &walk->lattice;
    int32_t skipped = 0;
    for (int32_t band = 1; band < tally->bands; band++)
        if (figures[band * FIGURES + CLASSES] > figures[skipped * FIGURES + CLASSES]) skipped = band;
    memset(tally->counts, 0, (size_t)(tally->bands * tally->width) * sizeof *tally->counts);
    spread(walk, tally, made, skipped);
    for (int32_t column = 0; column < lattice->columns - 1; column++)
        if (lattice->nodes[column * lattice->most + walk->path[column]] == 1)
            for (int32_t band = 0; band < tally->bands; band++)
                tally->counts[band * tally->width + tally->offsets[column]] = (uint32_t)figures[band * FIGURES + RECORDS];
    if (skipped < tally->bands - 1) remainder_of(walk, tally, skipped);
    const size_t part = (size_t)((tally->bands - 1) * tally->width);
    memcpy(tally->marginals + made->scheme * (int64_t)part, tally->counts, part * sizeof *tally->counts);
}

static void tally_classes(Walk *walk, const Made *made)
{
    const Tally *tally = walk->out;
    uint64_t *figures = tally->figures + made->scheme * tally->bands * FIGURES;
    for (int64_t i = 0; i < made->count; i++) count_class(tally, made->classes[i].persons, made->classes[i].records, figures);
    if (figures[PERSONS] <= tally->limit) tally_nodes(walk, made, figures);
}

/* Counts the classes of schemes in bands of class size; `figures` is zeroed. */
API void shoal_lattice_tally(const Lattice *lattice, const Row *rows, const Room *room, Memo *memo,
                             const uint8_t *schemes, int64_t count, Tally *tally)
{
    Walk walk = {.lattice = *lattice, .room = *room, .memo = memo, .schemes = schemes, .visit = tally_classes,
                 .out = tally};
    walk_schemes(&walk, rows, 0, count);
}
