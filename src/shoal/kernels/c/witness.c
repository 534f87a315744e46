#include "scan.h"

/* ---- witnesses: rows that few others are like, and the schemes that they rule out ------------------------- */

/* Two rows are alike in all schemes that are no finer than the one at which they meet: the lowest level of each column
 * on which both have the same node. So one pass over the rows tells how many persons are like a row in every scheme. */
typedef struct {
    const int64_t *levels;    /* [columns]: how many there are; schemes are numbered by their levels in mixed radix */
    const uint32_t *order;    /* [schemes]: from coarse to fine, and */
    const int64_t *ends;      /* where those of one height end */
    const double *prices;     /* [schemes] */
    uint8_t *known;           /* [schemes]: what is known of them */
    uint32_t *persons;        /* [schemes]: room for those who are like a row */
    int64_t schemes, looked_at; /* how many there are, and of how many the classes were counted */
    int64_t begin, height;    /* where the schemes begin that are looked at, and the place of their end */
    uint32_t least;           /* persons that every class must have */
} Search;

enum { OPEN, HOLDS, FAILS, UNKNOWN };

/* Numbers the levels at which rows meet the witness in some columns; `apart`: they never do. */
static void meet(const Table *table, const Search *search, int64_t witness, int32_t from, int32_t to, int64_t begin, int64_t size,
                 uint16_t *restrict numbers, uint16_t *restrict apart)
{
    uint16_t worth = 1;
    memset(numbers, 0, (size_t)size * sizeof *numbers);
    for (int32_t column = to; column-- > from; worth = (uint16_t)(worth * search->levels[column]))
        for (int32_t level = 0; level < search->levels[column]; level++) {
            if (table->nodes[column * table->most + level] == 1) continue; /* all meet there */
            const uint16_t *restrict codes = table->codes[column * table->most + level] + begin;
            const uint16_t mine = table->codes[column * table->most + level][witness];
            if (level + 1 < search->levels[column])
                for (int64_t i = 0; i < size; i++) numbers[i] = (uint16_t)(numbers[i] + (codes[i] != mine ? worth : 0));
            else
                for (int64_t i = 0; i < size; i++) apart[i] |= codes[i] != mine;
        }
}

/* Adds the persons of every scheme to all that are coarser in one column: `inner` combinations of those after it. */
static void accumulate(uint32_t *restrict persons, int64_t combinations, int64_t levels, int64_t inner)
{
    enum { FEW = 8 };
    const int64_t outer = levels * inner;
    if (inner < FEW) { /* too few in a row: all rows at once */
        for (int64_t first = inner; first < outer; first++)
            for (int64_t i = first; i < combinations; i += outer) persons[i] += persons[i - inner];
        return;
    }
    for (int64_t block = 0; block < combinations; block += outer)
        for (int64_t i = block + inner; i < block + outer; i += inner)
            for (int64_t j = i; j < i + inner; j++) persons[j] += persons[j - inner];
}

/* Counts who is like the witness in every scheme. */
static void count_company(const Table *table, const Search *search, int64_t witness)
{
    uint16_t first[BLOCK], second[BLOCK], apart[BLOCK];
    uint32_t *restrict persons = search->persons;
    int64_t half = 1, inner = 1;
    int32_t split = 0;
    while (split < table->columns && half * search->levels[split] <= HALF) half *= search->levels[split++];
    const int64_t rest = search->schemes / half;
    memset(persons, 0, (size_t)search->schemes * sizeof *persons);
    for (int64_t begin = 0; begin < table->count; begin += BLOCK) {
        const int64_t size = table->count - begin < BLOCK ? table->count - begin : BLOCK;
        memset(apart, 0, sizeof apart);
        meet(table, search, witness, 0, split, begin, size, first, apart);
        meet(table, search, witness, split, table->columns, begin, size, second, apart);
        for (int64_t i = 0; i < size; i++) persons[first[i] * rest + second[i]] += apart[i] ? 0 : table->persons[begin + i];
    }
    for (int32_t column = table->columns; column-- > 0; inner *= search->levels[column])
        accumulate(persons, search->schemes, search->levels[column], inner);
}

/* Returns the persons of the smallest class of a scheme. */
static uint32_t smallest_of(const Table *table, uint64_t combinations)
{
    uint32_t less = UINT32_MAX; /* by one: so a slot without persons counts as the largest */
    if (is_dense(table, combinations))
        for (uint64_t slot = 0; slot < combinations; slot++) less = table->slots[slot] - 1 < less ? table->slots[slot] - 1 : less;
    else
        for (int64_t i = 0; i < table->count; i++) less = table->slots[table->keys[i]] - 1 < less ? table->slots[table->keys[i]] - 1 : less;
    return less + 1;
}

/* Returns a row of the smallest class of a scheme, if it is too small; else −1. */
static int64_t witness_of(const Table *table, const Search *search, const uint8_t *levels, const Radix *radix)
{
    const uint64_t combinations = (uint64_t)radix->first * radix->second;
    int64_t found = -1;
    fill(table, levels, radix);
    const uint32_t smallest = smallest_of(table, combinations);
    if (smallest < search->least) {
        found = 0;
        while (table->slots[table->keys[found]] != smallest) found++;
    }
    clear(table, combinations);
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

/* Returns the coarsest scheme, the cheapest of several, of which nothing is known and that costs no more than `ceiling`;
 * −1 if there is none. What is known remains so, and a ceiling never rises: heights that are done are not looked at again. */
static int64_t next_of(Search *search, double ceiling)
{
    for (; search->begin < search->schemes; search->begin = search->ends[search->height++]) {
        int64_t found = -1;
        for (int64_t i = search->begin; i < search->ends[search->height]; i++) {
            const uint32_t scheme = search->order[i];
            if (search->known[scheme] != OPEN || search->prices[scheme] > ceiling) continue;
            if (found < 0 || search->prices[scheme] < search->prices[found]) found = scheme;
        }
        if (found >= 0) return found;
    }
    return -1;
}

static void rule_out(const Search *search)
{
    for (int64_t i = 0; i < search->schemes; i++) search->known[i] = search->persons[i] < search->least ? FAILS : search->known[i];
}

static void levels_of(const Table *table, const Search *search, int64_t scheme, uint8_t *levels)
{
    for (int32_t column = table->columns; column-- > 0; scheme /= search->levels[column])
        levels[column] = (uint8_t)(scheme % search->levels[column]);
}

/* Looks at a scheme. One that fails has a row with too little company, and this one rules out many others. */
static int judge(const Table *table, Search *search, int64_t scheme)
{
    uint8_t levels[256];
    Radix radix;
    levels_of(table, search, scheme, levels);
    const int is_coarser = climb(table, search, levels, &radix);
    if (is_coarser < 0) return UNKNOWN;
    const int64_t witness = witness_of(table, search, levels, &radix);
    search->looked_at++;
    if (witness < 0) return is_coarser ? UNKNOWN : HOLDS;
    count_company(table, search, witness);
    rule_out(search);
    return FAILS;
}

/* Looks at schemes that cost no more than `ceiling`, the coarsest first, as long as they fail, and at no more than
 * `most`. Returns the one that does not, of which now is known that it holds, or that it cannot be told here; −1: none. */
API int64_t shoal_witness(const Table *table, Search *search, double ceiling, int64_t most)
{
    for (; most > 0; most--) {
        const int64_t scheme = next_of(search, ceiling);
        if (scheme < 0) return scheme;
        search->known[scheme] = (uint8_t)judge(table, search, scheme);
        if (search->known[scheme] != FAILS) return scheme;
    }
    return -1;
}
