#include "walk.h"

/* ---- roll-up: generalisation of tables of rows ------------------------------------------------------------ */

static void insert(Row *rows, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        const Row row = rows[i];
        int64_t at = i;
        for (; at > 0 && rows[at - 1].key > row.key; at--) rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

/* Merges the sorted runs[first … last) of rows; the last run ends at runs[last]. */
static void merge(Row *rows, const uint32_t *runs, int64_t first, int64_t last, Row *scratch)
{
    if (last - first < 2) return;
    const int64_t middle = (first + last) / 2;
    merge(rows, runs, first, middle, scratch);
    merge(rows, runs, middle, last, scratch);
    const int64_t left = runs[middle] - runs[first];
    const Row *b = rows + runs[middle], *b_end = rows + runs[last], *a = scratch, *a_end = scratch + left;
    Row *out = rows + runs[first];
    memcpy(scratch, out, (size_t)left * sizeof(Row));
    while (a < a_end && b < b_end) *out++ = b->key < a->key ? *b++ : *a++;
    memcpy(out, a, (size_t)(a_end - a) * sizeof(Row)); /* the rest of b is already in place */
}

/* Merges adjacent rows with equal keys; returns the number of rows. */
static int64_t unite(Row *rows, int64_t count)
{
    int64_t made = 0;
    for (int64_t i = 1; i < count; i++) {
        if (rows[i].key == rows[made].key) {
            rows[made].persons += rows[i].persons;
            rows[made].records += rows[i].records;
        } else rows[++made] = rows[i];
    }
    return made + 1;
}

/* Sorts a block of several ascending runs, and merges rows with equal keys; returns the number of rows. */
static int64_t settle(const Walk *walk, Row *block, int64_t count, int64_t runs)
{
    enum { FEW = 24 };
    walk->room.runs[runs] = (uint32_t)count;
    if (count <= FEW) insert(block, count);
    else merge(block, walk->room.runs, 0, runs, walk->room.rows + (int64_t)walk->lattice.columns * walk->room.count);
    return unite(block, count);
}

/* Generalises one column by one level; `out` may be `in`. Returns the number of rows. Rows that agree in the columns
 * before and in the new node form a block; those among them with the same old node form a run. */
static int64_t coarsen(const Walk *walk, const Row *in, int64_t count, int32_t column, int32_t level, Row *out)
{
    const int32_t shift = walk->lattice.shifts[column], bits = walk->lattice.bits[column];
    const uint32_t *up = step(&walk->lattice, column, level);
    const uint64_t suffix = ones(shift), mask = ones(bits);
    uint32_t *runs = walk->room.runs;
    uint64_t here = ~(uint64_t)0, block = ~(uint64_t)0; /* the columns before, with the old and with the new node */
    int64_t made = 0, begin = 0, number = 0;
    for (int64_t i = 0; i < count; i++) {
        Row row = in[i];
        const uint64_t old = row.key >> shift;
        if (old != here) {
            const uint64_t now = (old & ~mask) | up[old & mask];
            here = old;
            if (now != block) {
                if (number > 1) made = begin + settle(walk, out + begin, made - begin, number);
                block = now;
                begin = made;
                number = 0;
            }
            runs[number++] = (uint32_t)(made - begin);
        }
        row.key = block << shift | (row.key & suffix);
        out[made++] = row;
    }
    return number > 1 ? begin + settle(walk, out + begin, made - begin, number) : made;
}

static inline uint64_t scatter(uint64_t key)
{
    key *= 0x9e3779b97f4a7c15u;
    return key ^ key >> 32;
}

/* Generalisation of one column in a lift: its node on the target level by its node on the source level, also as a digit
 * in mixed radix. */
typedef struct {
    int32_t shift, bits;
    const uint32_t *map, *digit;
    uint32_t nodes, above, radix; /* the numbers of nodes before and after, and the place value of a node */
} Change;

enum { CHUNK_BITS = 10, CHUNK = 1 << CHUNK_BITS };

/* Fields of adjacent columns that are looked up together, with the sums of their digits. */
typedef struct {
    int32_t shift, bits;
    const uint32_t *digits;
} Chunk;

/* A lift: the `changes` of all columns with more than one node on the target level, and the number of possible
 * combinations; 0 if they are too many for one slot each. */
typedef struct {
    Change changes[MOST_COLUMNS];
    Chunk chunks[MOST_COLUMNS];
    int32_t count, chunk_count;
    uint64_t space;
} Lift;

static Lift lift_of(const Walk *walk, const uint8_t *from, const uint8_t *to)
{
    const Lattice *lattice = &walk->lattice;
    uint32_t *map = walk->room.maps;
    Lift lift = {.count = 0, .space = 1};
    for (int32_t column = lattice->columns - 1; column >= 0; column--) { /* the last one is least significant */
        const int64_t nodes = lattice->nodes[column * lattice->most + from[column]];
        const int64_t above = lattice->nodes[column * lattice->most + to[column]];
        if (above == 1) continue; /* the only node is 0 */
        uint32_t *digit = map + nodes;
        for (int64_t node = 0; node < nodes; node++) {
            map[node] = (uint32_t)node;
            for (int32_t level = from[column]; level < to[column]; level++) map[node] = step(lattice, column, level)[map[node]];
            digit[node] = map[node] * (uint32_t)lift.space;
        }
        lift.changes[lift.count++] = (Change){lattice->shifts[column], lattice->bits[column], map, digit, (uint32_t)nodes,
                                              (uint32_t)above, (uint32_t)lift.space};
        map += 2 * nodes;
        lift.space = lift.space && lift.space * (uint64_t)above <= (uint64_t)walk->room.slot_count ? lift.space * (uint64_t)above : 0;
    }
    if (lattice->below) lift.space = 0; /* the sensitive value is not a column */
    return lift;
}

/* Combines adjacent columns as long as their fields are narrow. */
static void make_chunks(const Walk *walk, Lift *lift)
{
    uint32_t *digits = walk->room.digits;
    Chunk *chunk = NULL;
    for (int32_t c = 0; c < lift->count; c++) { /* from the last column to the first */
        const Change *change = lift->changes + c;
        if (!chunk || change->shift + change->bits - chunk->shift > CHUNK_BITS) {
            if (chunk) digits += (int64_t)1 << chunk->bits;
            chunk = lift->chunks + lift->chunk_count++;
            *chunk = (Chunk){change->shift, change->bits, digits};
            memset(digits, 0, sizeof *digits << change->bits);
            memcpy(digits, change->digit, change->nodes * sizeof *digits);
            continue;
        }
        const uint32_t below = (uint32_t)(change->shift - chunk->shift), lower = (uint32_t)1 << chunk->bits;
        for (uint32_t i = lower; i < (uint32_t)1 << below; i++) digits[i] = digits[i & (lower - 1)]; /* skipped columns */
        memset(digits + ((size_t)change->nodes << below), 0, (((size_t)1 << change->bits) - change->nodes) * sizeof *digits << below);
        for (uint32_t node = change->nodes; node-- > 1;)
            for (uint32_t i = 0; i < (uint32_t)1 << below; i++) digits[node << below | i] = change->digit[node] + digits[i];
        chunk->bits = (int32_t)below + change->bits;
    }
}

enum { BLOCK = 512 }; /* rows that are looked up column by column, so that shift and mask stay in registers */

static void lift_keys(const Lift *lift, const Row *rows, int64_t count, uint64_t low, uint64_t *keys)
{
    for (int64_t i = 0; i < count; i++) keys[i] = rows[i].key & low;
    for (int32_t c = 0; c < lift->count; c++) {
        const Change change = lift->changes[c];
        for (int64_t i = 0; i < count; i++)
            keys[i] |= (uint64_t)change.map[field(rows[i].key, change.shift, change.bits)] << change.shift;
    }
}

static void lift_digits(const Lift *lift, const Row *rows, int64_t count, uint32_t *at)
{
    memset(at, 0, (size_t)count * sizeof *at);
    for (int32_t c = 0; c < lift->chunk_count; c++) {
        const Chunk chunk = lift->chunks[c];
        for (int64_t i = 0; i < count; i++) at[i] += chunk.digits[field(rows[i].key, chunk.shift, chunk.bits)];
    }
}

/* Adds to the row that a slot refers to, or creates a row if the slot is free; returns the number of rows created. Free
 * of branches, because it cannot be predicted whether a row is new. */
static inline int64_t add(Row *rows, uint32_t *slot, int64_t count, uint64_t key, uint32_t persons, uint32_t records)
{
    const uint32_t old = *slot, is_new = old == 0, keep = is_new - 1;
    const uint32_t number = is_new ? (uint32_t)count + 1 : old;
    Row *row = rows + number - 1;
    *slot = number;
    row->key = key;
    row->persons = (row->persons & keep) + persons;
    row->records = (row->records & keep) + records;
    return is_new;
}

/* If there are few possible combinations, each has a slot, and the slots are in order. `scratch`: room for the rows. */
static int64_t lift_directly(const Walk *walk, Lift *lift, const Row *in, int64_t count, Row *scratch, Row *out)
{
    uint32_t *slots = walk->room.slots, at[BLOCK];
    int64_t made = 0, sorted = 0;
    make_chunks(walk, lift);
    memset(slots, 0, (size_t)lift->space * sizeof *slots);
    for (int64_t from = 0; from < count; from += BLOCK) {
        const int64_t size = count - from < BLOCK ? count - from : BLOCK;
        lift_digits(lift, in + from, size, at);
        for (int64_t i = 0; i < size; i++) {
            const Row *row = in + from + i;
            made += add(scratch, slots + at[i], made, row->key, row->persons, row->records);
        }
    }
    for (uint64_t slot = 0; slot < lift->space; slot++)
        if (slots[slot]) out[sorted++] = scratch[slots[slot] - 1];
    for (int64_t from = 0; from < sorted; from += BLOCK) {
        uint64_t keys[BLOCK];
        const int64_t size = sorted - from < BLOCK ? sorted - from : BLOCK;
        lift_keys(lift, out + from, size, 0, keys);
        for (int64_t i = 0; i < size; i++) out[from + i].key = keys[i];
    }
    return sorted;
}

/* Generalises several columns by any number of levels; `out` may be `in`. Returns the number of rows. If they are the
 * classes of a single scheme, their order is irrelevant. */
static int64_t lift(const Walk *walk, const Row *in, int64_t count, const uint8_t *from, const uint8_t *to, int single,
                    Row *out)
{
    Row *scratch = walk->room.rows + (int64_t)walk->lattice.columns * walk->room.count;
    uint32_t *slots = walk->room.slots, *runs = walk->room.runs;
    uint64_t mask = 1, keys[BLOCK];
    int64_t made = 0, number = 0;
    Lift lift = lift_of(walk, from, to);
    if (lift.space && lift.space <= 4 * (uint64_t)count + BLOCK) return lift_directly(walk, &lift, in, count, scratch, out);
    while (mask < 2 * (uint64_t)count) mask <<= 1;
    memset(slots, 0, (size_t)mask * sizeof *slots);
    mask--;
    for (int64_t begin = 0; begin < count; begin += BLOCK) {
        const int64_t size = count - begin < BLOCK ? count - begin : BLOCK;
        lift_keys(&lift, in + begin, size, ones(walk->lattice.below), keys);
        for (int64_t i = 0; i < size; i++) {
            const uint64_t key = keys[i];
            const uint32_t persons = in[begin + i].persons, records = in[begin + i].records;
            uint64_t at = scatter(key) & mask;
            while (slots[at] && out[slots[at] - 1].key != key) at = (at + 1) & mask;
            made += add(out, slots + at, made, key, persons, records);
        }
    }
    if (single && !walk->lattice.below) return made;
    for (int64_t i = 0; i < made; i++)
        if (i == 0 || out[i].key < out[i - 1].key) runs[number++] = (uint32_t)i;
    runs[number] = (uint32_t)made;
    merge(out, runs, 0, number, scratch);
    return made;
}

int64_t make_coarser(const Walk *walk, const Row *in, int64_t count, const uint8_t *from, const uint8_t *to, int single,
                     Row *out)
{
    int32_t column = -1, steps = 0;
    for (int32_t c = 0; c < walk->lattice.columns; c++)
        if (from[c] != to[c]) {
            column = c;
            steps += to[c] - from[c];
        }
    if (steps == 1) return coarsen(walk, in, count, column, from[column], out);
    return lift(walk, in, count, from, to, single, out);
}
