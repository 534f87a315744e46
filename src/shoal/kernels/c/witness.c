#include "scan.h"

/* ---- witnesses: rows that few others are like, and the schemes that they rule out ------------------------- */

/* Two rows are alike in all schemes that are no finer than the one at which they meet: the lowest level of each column
 * on which both have the same node. So one pass over the rows tells how many persons are like a row in every scheme. */
typedef struct {
    const int64_t *levels;    /* [columns]: how many there are, and */
    const int64_t *shape;     /* how many to meet at: one more if some rows never do */
    const uint32_t *rarity;   /* [rows]: how many persons share the nodes of a row; less: it is like fewer */
    uint32_t *persons;        /* [combinations of `shape`]: room for those who are like a row */
    const uint8_t *schemes;   /* [schemes][columns]: levels, in the order in which they are looked at */
    const uint32_t *cells;    /* [schemes]: where a scheme is among the combinations of `shape` */
    int64_t count;
    uint32_t least;           /* persons that every class must have */
    uint8_t *ruled_out;       /* [schemes] */
    int64_t looked_at;        /* schemes whose classes were counted */
} Search;

enum { HOLDS, UNKNOWN, GO_ON };

static void weigh(const Table *table, int32_t column, int32_t level, uint32_t *restrict rarity)
{
    const uint16_t *restrict codes = table->codes[column * table->most + level];
    const int64_t nodes = table->nodes[column * table->most + level];
    uint32_t *restrict weights = table->slots;
    for (int64_t i = 0; i < table->count; i++) weights[codes[i]] += table->persons[i];
    for (int64_t node = 0; node < nodes; node++) { /* four times the logarithm: its whole part, and two bits of the rest */
        const uint64_t counted = (uint64_t)weights[node] << 2;
        uint32_t whole = 0;
        while (counted >> whole > 7) whole++;
        weights[node] = 4 * whole + (uint32_t)(counted >> whole);
    }
    for (int64_t i = 0; i < table->count; i++) rarity[i] += weights[codes[i]];
    memset(weights, 0, (size_t)nodes * sizeof *weights);
}

/* Adds up for each row how many persons share its node, as a logarithm, in every column and on every level; `rarity`
 * holds zeros. */
API void shoal_rarity(const Table *table, const int64_t *levels, uint32_t *rarity)
{
    for (int32_t column = 0; column < table->columns; column++)
        for (int32_t level = 0; level < levels[column]; level++)
            if (table->nodes[column * table->most + level] > 1) weigh(table, column, level, rarity);
}

/* Numbers the levels at which rows meet the witness in some columns. */
static void meet(const Table *table, const Search *search, int64_t witness, int32_t from, int32_t to, int64_t begin, int64_t size,
                 uint16_t *restrict numbers)
{
    uint16_t worth = 1;
    memset(numbers, 0, (size_t)size * sizeof *numbers);
    for (int32_t column = to; column-- > from; worth = (uint16_t)(worth * search->shape[column]))
        for (int32_t level = 0; level < search->levels[column]; level++) {
            if (table->nodes[column * table->most + level] == 1) continue; /* all meet there */
            const uint16_t *restrict codes = table->codes[column * table->most + level];
            const uint16_t mine = codes[witness];
            for (int64_t i = 0; i < size; i++) numbers[i] = (uint16_t)(numbers[i] + (codes[begin + i] != mine ? worth : 0));
        }
}

/* Adds the persons of every scheme to all that are coarser in one column: `inner` combinations of those after it. */
static void accumulate(uint32_t *restrict persons, int64_t combinations, int64_t levels, int64_t inner)
{
    for (int64_t block = 0; block < combinations; block += levels * inner)
        for (int64_t i = block + inner; i < block + levels * inner; i++) persons[i] += persons[i - inner];
}

/* Counts who is like the witness in every scheme. */
static void count_company(const Table *table, const Search *search, int64_t witness)
{
    uint16_t first[BLOCK], second[BLOCK];
    uint32_t *restrict persons = search->persons;
    int64_t halves[2] = {1, 1}, inner = 1;
    int32_t split = 0;
    while (split < table->columns && halves[0] * search->shape[split] <= HALF) halves[0] *= search->shape[split++];
    for (int32_t column = split; column < table->columns; column++) halves[1] *= search->shape[column];
    const int64_t combinations = halves[0] * halves[1];
    memset(persons, 0, (size_t)combinations * sizeof *persons);
    for (int64_t begin = 0; begin < table->count; begin += BLOCK) {
        const int64_t size = table->count - begin < BLOCK ? table->count - begin : BLOCK;
        meet(table, search, witness, 0, split, begin, size, first);
        meet(table, search, witness, split, table->columns, begin, size, second);
        for (int64_t i = 0; i < size; i++) persons[first[i] * halves[1] + second[i]] += table->persons[begin + i];
    }
    for (int32_t column = table->columns; column-- > 0; inner *= search->shape[column])
        accumulate(persons, combinations, search->shape[column], inner);
}

/* Returns the rarest of the rows that have too little company in a scheme; −1 if all have enough. */
static int64_t witness_of(const Table *table, const Search *search, const uint8_t *levels, const Radix *radix)
{
    int64_t found = -1;
    uint32_t lowest = UINT32_MAX;
    fill(table, levels, radix);
    for (int64_t i = 0; i < table->count; i++) {
        const uint32_t rarity = table->slots[table->keys[i]] < search->least ? search->rarity[i] : UINT32_MAX;
        if (rarity < lowest) {
            lowest = rarity;
            found = i;
        }
    }
    clear(table, (uint64_t)radix->first * radix->second);
    return found;
}

/* Makes a scheme coarser, the column with most nodes first, until there is a slot for each combination. */
static int climb(const Table *table, const Search *search, uint8_t *levels, Radix *radix)
{
    int is_coarser = 0;
    while (!radix_of(table, levels, radix)) {
        int32_t widest = 0;
        for (int32_t column = 1; column < table->columns; column++)
            if (nodes_of(table, levels, column) > nodes_of(table, levels, widest)) widest = column;
        if (levels[widest] + 1 == search->levels[widest]) return -1;
        levels[widest]++;
        is_coarser = 1;
    }
    return is_coarser;
}

static void rule_out(const Search *search, int64_t from)
{
    for (int64_t i = from; i < search->count; i++) search->ruled_out[i] |= search->persons[search->cells[i]] < search->least;
}

/* Goes through schemes until it comes to one that holds, or of which it cannot be told here; `most`: schemes that are
 * counted at most. Returns which one it is, or from which to go on. A scheme that fails has a row with too little
 * company, and this one rules out many others. */
API int64_t shoal_witness(const Table *table, Search *search, int64_t from, int64_t most, int32_t *verdict)
{
    uint8_t levels[256];
    Radix radix;
    for (; from < search->count; from++) {
        if (search->ruled_out[from]) continue;
        *verdict = GO_ON;
        if (most-- == 0) return from;
        memcpy(levels, search->schemes + from * table->columns, (size_t)table->columns);
        *verdict = UNKNOWN;
        const int is_coarser = climb(table, search, levels, &radix);
        if (is_coarser < 0) return from;
        const int64_t witness = witness_of(table, search, levels, &radix);
        search->looked_at++;
        if (witness < 0) {
            if (!is_coarser) *verdict = HOLDS;
            return from;
        }
        count_company(table, search, witness);
        rule_out(search, from);
    }
    return from;
}
