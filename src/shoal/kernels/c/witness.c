#include "scan.h"

/* ---- witnesses: rows in small classes, and the schemes that they rule out --------------------------------- */

/* Two rows belong to the same class in all schemes at or above the one at which they meet, given by the lowest level of
 * each column on which both have the same node. One pass over the rows therefore gives the class size of a row in every
 * scheme. */
typedef struct {
    const int64_t *levels;    /* [columns]: the number of levels; schemes are numbered by their levels in mixed radix */
    const uint32_t *order;    /* [schemes]: from the most generalised to the most specific, and */
    const int64_t *ends;      /* the end of each height */
    const double *prices;     /* [schemes] */
    uint8_t *known;           /* [schemes]: the state of each */
    uint32_t *persons;        /* [schemes + 1]: room for the persons in the class of a row, part by part */
    uint8_t *company;         /* [schemes]: the class size of the row, at most 255 */
    int64_t schemes, looked_at; /* the number of schemes, and of those whose classes were counted */
    int64_t begin, height;    /* the first scheme of the current height, and the place of its end */
    uint32_t least;           /* the minimum class size, at most 255 */
} Search;

enum { OPEN, HOLDS, FAILS, UNKNOWN };

/* Columns whose levels combine to an 8-bit number, sixteen of which a processor adds at a time. */
typedef struct {
    int32_t begin, end;
    uint32_t schemes;
} Part;

static Part part_of(const Table *table, const Search *search, int32_t begin)
{
    Part part = {begin, begin, 1};
    while (part.end < table->columns && part.schemes * search->levels[part.end] <= 1 << 8)
        part.schemes *= (uint32_t)search->levels[part.end++];
    return part;
}

/* A block of consecutive rows, and the witness with which they are compared. */
typedef struct {
    const Table *table;
    const Search *search;
    int64_t witness, begin, size;
} Compared;

/* Adds `worth` for each row whose code differs from that of the witness. */
static void add_differing(const Compared *rows, int64_t at, uint8_t worth, uint8_t *restrict sums)
{
    const uint8_t *restrict narrow = rows->table->codes[at];
    const uint16_t *restrict wide = rows->table->codes[at];
    const int64_t nodes = rows->table->nodes[at], begin = rows->begin, size = rows->size;
    if (nodes == 1) return;
    if (is_narrow(nodes)) {
        const uint8_t mine = narrow[rows->witness];
        for (int64_t i = 0; i < size; i++) sums[i] = (uint8_t)(sums[i] + (narrow[begin + i] != mine ? worth : 0));
    } else {
        const uint16_t mine = wide[rows->witness];
        for (int64_t i = 0; i < size; i++) sums[i] = (uint8_t)(sums[i] + (wide[begin + i] != mine ? worth : 0));
    }
}

/* Numbers the levels of a part at which rows meet the witness. `apart`: the number of columns in which they never do.
 * Returns whether there may be such columns. */
static int meet(const Compared *rows, const Part *part, uint8_t *restrict sums, uint8_t *restrict apart)
{
    const Table *table = rows->table;
    uint8_t worth = 1;
    int is_apart = 0;
    memset(sums, 0, (size_t)rows->size);
    for (int32_t column = part->end; column-- > part->begin; worth = (uint8_t)(worth * rows->search->levels[column])) {
        const int64_t first = column * table->most, last = first + rows->search->levels[column] - 1;
        for (int64_t at = first; at < last; at++) add_differing(rows, at, worth, sums);
        add_differing(rows, last, 1, apart);
        is_apart |= table->nodes[last] > 1;
    }
    return is_apart;
}

/* Returns the part that follows; after the last one, the first. */
static Part next_part(const Compared *rows, Part part)
{
    return part_of(rows->table, rows->search, part.end < rows->table->columns ? part.end : 0);
}

/* Numbers the schemes at which rows meet the witness, with the first part least significant, so that its levels are
 * contiguous. Rows that never meet the witness receive a number that no scheme has. */
static void number_schemes(const Compared *rows, uint16_t *restrict schemes)
{
    uint8_t sums[BLOCK], apart[BLOCK] = {0}; /* cannot overflow: at most 64 columns */
    Part part = next_part(rows, part_of(rows->table, rows->search, 0));
    int is_apart = meet(rows, &part, sums, apart);
    for (int64_t i = 0; i < rows->size; i++) schemes[i] = sums[i];
    while (part.begin > 0) {
        part = next_part(rows, part);
        is_apart |= meet(rows, &part, sums, apart);
        for (int64_t i = 0; i < rows->size; i++) schemes[i] = (uint16_t)(schemes[i] * (uint16_t)part.schemes + sums[i]);
    }
    if (is_apart)
        for (int64_t i = 0; i < rows->size; i++) schemes[i] = apart[i] ? (uint16_t)rows->search->schemes : schemes[i];
}

static inline uint32_t added(uint32_t a, uint32_t b) { return a + b; }

static inline uint8_t added_few(uint8_t a, uint8_t b)
{
    const uint8_t sum = (uint8_t)(a + b);
    return sum < a ? UINT8_MAX : sum;
}

/* Adds the persons of every scheme to all schemes above it in one of the columns. `inner`: the number of schemes that
 * differ only in the columns after these. */
#define ACCUMULATE(NAME, NUMBER, ADDED)                                                                       \
    static void NAME(NUMBER *restrict persons, const Search *search, int32_t from, int32_t to, int64_t inner) \
    {                                                                                                         \
        for (int32_t column = to; column-- > from; inner *= search->levels[column]) {                         \
            const int64_t outer = inner * search->levels[column], schemes = search->schemes;                  \
            for (int64_t block = 0; block < schemes; block += outer)                                          \
                for (int64_t i = block + inner; i < block + outer; i += inner)                                \
                    for (int64_t j = i; j < i + inner; j++) persons[j] = ADDED(persons[j], persons[j - inner]); \
        }                                                                                                     \
    }

ACCUMULATE(accumulate, uint32_t, added)
ACCUMULATE(accumulate_few, uint8_t, added_few)

static void transpose(const uint32_t *restrict in, int64_t rows, int64_t columns, uint8_t *restrict out)
{
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++) {
            const uint32_t persons = in[row * columns + column];
            out[column * rows + row] = persons < UINT8_MAX ? (uint8_t)persons : UINT8_MAX;
        }
}

/* Computes the class size of the witness in every scheme. */
static void count_company(const Table *table, const Search *search, int64_t witness)
{
    uint16_t schemes[BLOCK];
    uint32_t *restrict persons = search->persons;
    const Part first = part_of(table, search, 0);
    const int64_t rest = search->schemes / first.schemes;
    memset(persons, 0, (size_t)search->schemes * sizeof *persons);
    for (int64_t begin = 0; begin < table->count; begin += BLOCK) {
        const int64_t size = table->count - begin < BLOCK ? table->count - begin : BLOCK;
        number_schemes(&(Compared){table, search, witness, begin, size}, schemes);
        for (int64_t i = 0; i < size; i++) persons[schemes[i]] += table->persons[begin + i];
    }
    accumulate(persons, search, first.end, table->columns, first.schemes);
    transpose(persons, rest, first.schemes, search->company);
    accumulate_few(search->company, search, 0, first.end, rest);
}

/* Returns the size of the smallest class of a scheme. */
static uint32_t smallest_of(const Table *table, uint64_t combinations)
{
    uint32_t less = UINT32_MAX; /* minus one, so that an empty slot counts as the largest */
    if (is_dense(table, combinations))
        for (uint64_t slot = 0; slot < combinations; slot++) less = table->slots[slot] - 1 < less ? table->slots[slot] - 1 : less;
    else
        for (int64_t i = 0; i < table->count; i++) less = table->slots[table->keys[i]] - 1 < less ? table->slots[table->keys[i]] - 1 : less;
    return less + 1;
}

/* Returns a row of the smallest class of a scheme, if the class is too small; otherwise −1. */
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

/* Generalises a scheme, the column with the most nodes first, until there is a slot for each combination. Returns
 * whether it did, or −1 if that is impossible. */
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

/* Returns the open scheme of the greatest height, the cheapest of several, whose cost is at most `ceiling`; −1 if there
 * is none. States are final and the ceiling never rises, so completed heights are not visited again. */
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
    const uint8_t *restrict company = search->company, least = (uint8_t)search->least;
    uint8_t *restrict known = search->known;
    const int64_t schemes = search->schemes;
    for (int64_t i = 0; i < schemes; i++) {
        const uint8_t before = known[i]; /* read unconditionally, to avoid a branch */
        known[i] = company[i] < least ? FAILS : before;
    }
}

static void levels_of(const Table *table, const Search *search, int64_t scheme, uint8_t *levels)
{
    for (int32_t column = table->columns; column-- > 0; scheme /= search->levels[column])
        levels[column] = (uint8_t)(scheme % search->levels[column]);
}

/* Evaluates a scheme. A scheme that fails has a row whose class is too small, and that row rules out many others. */
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

/* Evaluates schemes whose cost is at most `ceiling`, the most generalised first, as long as they fail, at most `most`
 * schemes. Returns the first that does not fail, which holds or cannot be decided here; −1 if there is none. */
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
