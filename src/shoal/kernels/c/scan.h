/* The rows of a table, and the number of persons of each combination of nodes in a scheme. */
#ifndef SHOAL_SCAN_H
#define SHOAL_SCAN_H

#include "core.h"

/* `codes[column][level]`: the node of each row, of 8 bits if there are few nodes, otherwise of 16. If a scheme has few
 * combinations of nodes, each has a slot; a combination is numbered in mixed radix, in two halves of 16 bits, eight of
 * which a processor multiplies at a time. */
typedef struct {
    int32_t columns;
    int64_t count, most, width; /* rows; maximum number of levels; nodes of all columns on their lowest levels */
    const void *const *codes;
    const int64_t *nodes;       /* [columns][most]: the number of nodes; −1: more than codes can represent */
    const int64_t *offsets;     /* the first node of each column among those of all columns */
    const uint32_t *persons, *records;
    uint32_t *keys, *rows;      /* working memory: two integers per row */
    uint32_t *slots;            /* all 0 */
    uint64_t slot_count;
} Table;

enum { BLOCK = 1024, HALF = 1 << 16 };

/* The number of columns in the first half, and the number of combinations in each half. */
typedef struct {
    int32_t split;
    uint32_t first, second;
} Radix;

/* Whether codes for this number of nodes have 8 bits. */
static inline int is_narrow(int64_t nodes) { return nodes <= 1 << 8; }

static inline int64_t nodes_of(const Table *table, const uint8_t *levels, int32_t column)
{
    return table->nodes[column * table->most + levels[column]];
}

/* Takes columns while their combinations fit into a half; returns the number of combinations. */
static inline uint32_t half_of(const Table *table, const uint8_t *levels, int32_t *column)
{
    int64_t made = 1;
    for (; *column < table->columns; ++*column) {
        const int64_t nodes = nodes_of(table, levels, *column);
        if (nodes < 0 || made * nodes > HALF) break;
        made *= nodes;
    }
    return (uint32_t)made;
}

/* Returns whether there is a slot for each combination. */
static inline int radix_of(const Table *table, const uint8_t *levels, Radix *radix)
{
    int32_t column = 0;
    radix->first = half_of(table, levels, &column);
    radix->split = column;
    radix->second = half_of(table, levels, &column);
    return column == table->columns && (uint64_t)radix->first * radix->second <= table->slot_count;
}

static inline const void *codes_of(const Table *table, const uint8_t *levels, int32_t column)
{
    return table->codes[column * table->most + levels[column]];
}

static inline void number_half(const Table *table, const uint8_t *levels, int32_t from, int32_t to, int64_t begin, int64_t size,
                               uint16_t *restrict numbers)
{
    memset(numbers, 0, (size_t)size * sizeof *numbers);
    for (int32_t column = from; column < to; column++) {
        const int64_t nodes = nodes_of(table, levels, column);
        const uint8_t *restrict narrow = codes_of(table, levels, column);
        const uint16_t *restrict wide = codes_of(table, levels, column);
        if (nodes == 1) continue;
        if (is_narrow(nodes))
            for (int64_t i = 0; i < size; i++) numbers[i] = (uint16_t)(numbers[i] * (uint16_t)nodes + narrow[begin + i]);
        else
            for (int64_t i = 0; i < size; i++) numbers[i] = (uint16_t)(numbers[i] * (uint16_t)nodes + wide[begin + i]);
    }
}

/* Stores the combination of each row, and adds its persons to its slot. */
static inline void fill(const Table *table, const uint8_t *levels, const Radix *radix)
{
    uint16_t first[BLOCK], second[BLOCK];
    uint32_t *restrict slots = table->slots;
    for (int64_t begin = 0; begin < table->count; begin += BLOCK) {
        const int64_t size = table->count - begin < BLOCK ? table->count - begin : BLOCK;
        uint32_t *restrict keys = table->keys + begin;
        number_half(table, levels, 0, radix->split, begin, size, first);
        if (radix->second == 1)
            for (int64_t i = 0; i < size; i++) keys[i] = first[i];
        else {
            number_half(table, levels, radix->split, table->columns, begin, size, second);
            for (int64_t i = 0; i < size; i++) keys[i] = first[i] * radix->second + second[i];
        }
        for (int64_t i = 0; i < size; i++) slots[keys[i]] += table->persons[begin + i];
    }
}

/* Whether visiting all slots is faster than visiting those of the rows. */
static inline int is_dense(const Table *table, uint64_t combinations) { return combinations <= 8 * (uint64_t)table->count; }

static inline void clear(const Table *table, uint64_t combinations)
{
    if (is_dense(table, combinations)) memset(table->slots, 0, (size_t)combinations * sizeof *table->slots);
    else
        for (int64_t i = 0; i < table->count; i++) table->slots[table->keys[i]] = 0;
}

#endif
