#include "scan.h"

/* ---- schemes counted one by one, directly from the rows --------------------------------------------------- */

enum { CLASSES, PERSONS, RECORDS, SQUARES, FIGURES };
enum { SMALL, LARGE, BANDS };

static uint64_t persons_in_small(const Table *table, uint64_t combinations, uint32_t least)
{
    const uint32_t *restrict slots = table->slots;
    uint64_t found = 0;
    if (is_dense(table, combinations)) {
        const uint64_t together = UINT32_MAX / least; /* slots whose sum fits into 32 bits */
        for (uint64_t from = 0; from < combinations; from += together) {
            const uint64_t to = combinations - from < together ? combinations : from + together;
            uint32_t part = 0;
            for (uint64_t slot = from; slot < to; slot++) part += slots[slot] < least ? slots[slot] : 0;
            found += part;
        }
    } else
        for (int64_t i = 0; i < table->count; i++) found += slots[table->keys[i]] < least ? table->persons[i] : 0;
    return found;
}

/* Adds the records of the rows in small classes to each of their nodes; lists these rows first, without a branch that
 * could be mispredicted. */
static void spread(const Table *table, const uint8_t *levels, uint32_t least, uint32_t *marginals)
{
    int64_t number = 0;
    for (int64_t i = 0; i < table->count; i++) {
        table->rows[number] = (uint32_t)i;
        number += table->slots[table->keys[i]] < least;
    }
    for (int32_t column = 0; column < table->columns; column++) {
        const uint8_t *narrow = codes_of(table, levels, column);
        const uint16_t *wide = codes_of(table, levels, column);
        uint32_t *mine = marginals + table->offsets[column];
        if (is_narrow(nodes_of(table, levels, column)))
            for (int64_t i = 0; i < number; i++) mine[narrow[table->rows[i]]] += table->records[table->rows[i]];
        else
            for (int64_t i = 0; i < number; i++) mine[wide[table->rows[i]]] += table->records[table->rows[i]];
    }
}

static inline void count_class(uint64_t *figures, uint64_t persons, uint64_t records)
{
    figures[CLASSES] += persons != 0;
    figures[PERSONS] += persons;
    figures[RECORDS] += records;
    figures[SQUARES] += records * records;
}

/* Counts the classes from all slots, where each class has as many records as persons; then clears the slots. */
static void count_slots(const Table *table, uint64_t combinations, uint32_t least, uint64_t figures[BANDS][FIGURES])
{
    const uint32_t *restrict slots = table->slots;
    uint64_t small[FIGURES] = {0}, all[FIGURES] = {0};
    for (uint64_t slot = 0; slot < combinations; slot++) {
        const uint32_t here = slots[slot];
        count_class(small, here < least ? here : 0, here < least ? here : 0);
        count_class(all, here, here);
    }
    for (int32_t figure = 0; figure < FIGURES; figure++) {
        figures[SMALL][figure] = small[figure];
        figures[LARGE][figure] = all[figure] - small[figure];
    }
    clear(table, combinations);
}

/* Counts the classes for arbitrary numbers of records, visiting only the slots of rows: a class is counted at the first
 * of its rows, whose slot is then cleared. */
static void count_rows(const Table *table, uint32_t least, uint64_t figures[BANDS][FIGURES])
{
    uint32_t *restrict band = table->rows, *restrict slots = table->slots;
    for (int64_t i = 0; i < table->count; i++) band[i] = slots[table->keys[i]] >= least;
    for (int64_t i = 0; i < table->count; i++) {
        count_class(figures[band[i]], slots[table->keys[i]], 0);
        slots[table->keys[i]] = 0;
    }
    for (int64_t i = 0; i < table->count; i++) slots[table->keys[i]] += table->records[i];
    for (int64_t i = 0; i < table->count; i++) {
        count_class(figures[band[i]], 0, slots[table->keys[i]]);
        slots[table->keys[i]] = 0;
    }
}

/* Counts the classes of a scheme; returns whether there was a slot for each combination. */
static int count_scheme(const Table *table, const uint8_t *levels, uint32_t least, uint64_t limit, uint64_t figures[BANDS][FIGURES],
                        uint32_t *marginals)
{
    Radix radix;
    if (!radix_of(table, levels, &radix)) return 0;
    const uint64_t combinations = (uint64_t)radix.first * radix.second;
    fill(table, levels, &radix);
    const uint64_t small = persons_in_small(table, combinations, least);
    if (small > limit) {
        figures[SMALL][PERSONS] = small;
        clear(table, combinations);
        return 1;
    }
    spread(table, levels, least, marginals);
    if (table->records == table->persons && is_dense(table, combinations)) count_slots(table, combinations, least, figures);
    else count_rows(table, least, figures);
    return 1;
}

/* Counts the classes with fewer than `least` persons, and the others. `tables`: the rows for each level of the first
 * column. For schemes with more than `limit` persons in small classes, only these persons are counted. A scheme with
 * more combinations than slots is skipped, and its `done` is 0. `figures` and `marginals` are zeroed. */
API void shoal_scan(const Table *const *tables, const uint8_t *schemes, int64_t count, uint32_t least, uint64_t limit, uint8_t *done,
                    uint64_t *figures, uint32_t *marginals)
{
    for (int64_t scheme = 0; scheme < count; scheme++) {
        const Table *table = tables[*schemes];
        uint64_t(*mine)[FIGURES] = (uint64_t(*)[FIGURES])(figures + scheme * BANDS * FIGURES);
        done[scheme] = (uint8_t)count_scheme(table, schemes, least, limit, mine, marginals + scheme * table->width);
        schemes += table->columns;
    }
}
