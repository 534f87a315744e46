#include "core.h"

/* ---- the classes of all schemes of a lattice, by roll-up -------------------------------------------------- */

enum { MOST_COLUMNS = 64, MOST_LEVELS = 64 };

/* Rows are sorted by their key. A key holds one field of bits for each column, the first in the highest bits, and in
 * the lowest `below` bits a sensitive value. Nodes of a hierarchy are numbered such that they ascend where the nodes
 * below them do, so making the last column coarser keeps the order, and making another one coarser only mixes rows
 * that agree in the columns before it. */
typedef struct {
    uint64_t key;
    uint32_t persons, records;
} Row;

typedef struct {
    int32_t columns, below;
    const int32_t *shifts, *bits; /* where the field of a column begins, and how wide it is */
    const int32_t *levels;        /* how many levels a column has, and */
    const int64_t *nodes;         /* [columns][most levels]: how many nodes on each */
    const uint32_t *steps;        /* the node on the next level of each node, for each column and level */
    const int64_t *steps_at;      /* [columns][most levels]: where these begin */
    const int64_t *tops_at;       /* [most][most]: where, among them, the nodes of the last column on one level begin
                                   * that belong to those on a lower one */
    int64_t most;                 /* the most levels that a column has */
} Lattice;

/* What a walk needs room for: [columns + 1][count] rows, count + 1 numbers, slots, at least four times as many as rows, and [levels][count + 1] classes, of each of which it also notes with which row it
 * begins. */
typedef struct {
    Row *rows;
    uint32_t *runs, *slots;
    uint32_t *maps, *digits; /* two numbers for each node on the lowest levels; CHUNK for each column and two for each node */
    Row *classes;
    uint32_t *firsts;
    int64_t slot_count, count; /* of rows, at the start */
} Room;

/* Tables that a walk keeps for the next one: that of each prefix of levels, with the columns after it on their lowest
 * level. `starts` and `counts`: where a table is among the kept rows, and how large; −1: not there. A prefix of one
 * level for each of the first d columns has the number firsts[d] + (…(l₀·n₁ + l₁)·n₂ + …). */
typedef struct {
    Row *rows;
    int64_t room, used;
    int64_t *starts, *counts;
    const int64_t *firsts;
} Memo;

/* The classes of a scheme, and where each begins among the rows; `top`: the node of each lowest one of the last column,
 * of which the key of a class has one. */
typedef struct {
    const Row *classes, *rows;
    const uint32_t *firsts, *top;
    int64_t count, scheme; /* which of those asked for it is */
} Made;

typedef struct Walk Walk;
struct Walk {
    Lattice lattice;
    Room room;
    Memo *memo; /* or none */
    const uint8_t *schemes; /* [schemes][columns]: levels, in lexicographic order */
    void (*visit)(Walk *, const Made *);
    int (*fits)(const Walk *, int64_t rows); /* whether there is room for what so many rows can make; none: always */
    void *out;
    int64_t stopped; /* at which scheme, for lack of room; −1: not at all */
    uint8_t path[MOST_COLUMNS]; /* the level of each column */
};

static inline uint64_t ones(int32_t bits) { return ((uint64_t)1 << bits) - 1; }

static inline uint32_t field(uint64_t key, int32_t shift, int32_t bits) { return (uint32_t)(key >> shift & ones(bits)); }

static const uint32_t *step(const Lattice *lattice, int32_t column, int32_t level)
{
    return lattice->steps + lattice->steps_at[column * lattice->most + level];
}

static void insert(Row *rows, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        const Row row = rows[i];
        int64_t at = i;
        for (; at > 0 && rows[at - 1].key > row.key; at--) rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

/* Merges runs[first … last) of ascending rows; the last one ends where the next run would start. */
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
    memcpy(out, a, (size_t)(a_end - a) * sizeof(Row)); /* what is left of b is in its place */
}

/* Puts equal neighbours together. */
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

/* Sorts a block that consists of several ascending runs, and puts equal rows together; returns how many there are. */
static int64_t settle(const Walk *walk, Row *block, int64_t count, int64_t runs)
{
    enum { FEW = 24 };
    walk->room.runs[runs] = (uint32_t)count;
    if (count <= FEW) insert(block, count);
    else merge(block, walk->room.runs, 0, runs, walk->room.rows + (int64_t)walk->lattice.columns * walk->room.count);
    return unite(block, count);
}

/* Makes one column coarser by a level; `out` may be `in`. Returns how many rows there are then. Rows that agree in the
 * columns before and in the new node are a block, and those among them that had the same node are a run. */
static int64_t coarsen(const Walk *walk, const Row *in, int64_t count, int32_t column, int32_t level, Row *out)
{
    const int32_t shift = walk->lattice.shifts[column], bits = walk->lattice.bits[column];
    const uint32_t *up = step(&walk->lattice, column, level);
    const uint64_t suffix = ones(shift), mask = ones(bits);
    uint32_t *runs = walk->room.runs;
    uint64_t here = ~(uint64_t)0, block = ~(uint64_t)0; /* the columns before, with the old node and with the new one */
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

/* What becomes of one column when rows are lifted: its node there, by its node here; and the same in mixed radix. */
typedef struct {
    int32_t shift, bits;
    const uint32_t *map, *digit;
    uint32_t nodes, above, radix; /* how many nodes there are here and there, and what one of them is worth */
} Change;

enum { CHUNK_BITS = 10, CHUNK = 1 << CHUNK_BITS };

/* Fields of neighbouring columns that are looked up at once; what they are worth together. */
typedef struct {
    int32_t shift, bits;
    const uint32_t *digits;
} Chunk;

/* A lift: `changes` of all columns that can have more than one node then, and the number of combinations there can be;
 * 0 if they are too many to have a slot each. */
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
    for (int32_t column = lattice->columns - 1; column >= 0; column--) { /* the last one counts least */
        const int64_t nodes = lattice->nodes[column * lattice->most + from[column]];
        const int64_t above = lattice->nodes[column * lattice->most + to[column]];
        if (above == 1) continue; /* which is 0 */
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
    if (lattice->below) lift.space = 0; /* the sensitive value is no column */
    return lift;
}

/* Puts neighbouring columns together as long as their fields have few bits. */
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
        for (uint32_t i = lower; i < (uint32_t)1 << below; i++) digits[i] = digits[i & (lower - 1)]; /* columns left out */
        memset(digits + ((size_t)change->nodes << below), 0, (((size_t)1 << change->bits) - change->nodes) * sizeof *digits << below);
        for (uint32_t node = change->nodes; node-- > 1;)
            for (uint32_t i = 0; i < (uint32_t)1 << below; i++) digits[node << below | i] = change->digit[node] + digits[i];
        chunk->bits = (int32_t)below + change->bits;
    }
}

enum { BLOCK = 512 }; /* rows that are looked up column by column: shift and mask stay where they are */

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

/* Adds to the row that a slot names or, if it names none, to a new one, of which it returns how many that makes. There is
 * no branch in it: whether a row is new cannot be guessed. */
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

/* Where there can be few combinations, each has a slot, and the slots are in order. `scratch`: room for the rows. */
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

/* Makes several columns coarser by any number of levels; `out` may be `in`. Returns how many rows there are then. If
 * they are the classes of a single scheme, their order does not matter. */
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

/* The class of each level that is still growing; field by field, for what was just written in parts is slow to read as
 * a whole. */
typedef struct {
    uint64_t keys[MOST_LEVELS];
    uint32_t persons[MOST_LEVELS + 1], records[MOST_LEVELS + 1], nodes[MOST_LEVELS];
    Row *classes[MOST_LEVELS];    /* where it will be written, and */
    uint32_t *firsts[MOST_LEVELS]; /* where the next one's first row will be */
} Open;

/* Ends the open class of a level, whose persons go into that of the next; a new one begins with row `first`. */
static inline void close(Open *open, int32_t level, int64_t first, uint64_t key)
{
    const uint32_t persons = open->persons[level], records = open->records[level];
    Row *class = open->classes[level]++;
    class->key = open->keys[level];
    class->persons = persons;
    class->records = records;
    *open->firsts[level]++ = (uint32_t)first;
    open->persons[level + 1] += persons;
    open->records[level + 1] += records;
    open->persons[level] = open->records[level] = 0;
    open->keys[level] = key;
}

/* Forms the classes on all levels of the last column in one pass: a class on a level is a run of those below. Without
 * sensitive values the rows are the classes on the lowest one. */
static void form(const Walk *walk, const Row *rows, int64_t count, int32_t base, int32_t levels, Open *open)
{
    const Lattice *lattice = &walk->lattice;
    const int32_t last = lattice->columns - 1;
    const int32_t shift = lattice->shifts[last], bits = lattice->bits[last], lowest = !lattice->below;
    const uint32_t *steps[MOST_LEVELS];
    uint64_t above = rows[0].key >> shift >> bits;
    for (int32_t level = 0; level < levels; level++) {
        const int64_t at = level * (walk->room.count + 1);
        steps[level] = level + 1 < levels ? step(lattice, last, base + level) : NULL;
        open->nodes[level] = level ? steps[level - 1][open->nodes[level - 1]] : field(rows[0].key, shift, bits);
        open->keys[level] = rows[0].key;
        open->persons[level] = open->records[level] = 0;
        open->classes[level] = walk->room.classes + at;
        open->firsts[level] = walk->room.firsts + at + 1;
        walk->room.firsts[at] = 0;
    }
    for (int64_t i = 0; i < count; i++) {
        const uint64_t key = rows[i].key;
        const int other = key >> shift >> bits != above;
        uint32_t node = field(key, shift, bits);
        if (lowest && levels > 1) node = steps[0][node];
        for (int32_t level = lowest; level < levels && (other || node != open->nodes[level]); level++) {
            close(open, level, i, key);
            open->nodes[level] = node;
            if (level + 1 < levels) node = steps[level][node];
        }
        above = key >> shift >> bits;
        open->persons[lowest] += rows[i].persons;
        open->records[lowest] += rows[i].records;
    }
    for (int32_t level = lowest; level < levels; level++) close(open, level, count, 0);
}

/* Visits schemes [from, to), that differ in the last column only, which is on level `base` in the rows. */
static void leaves(Walk *walk, const Row *rows, int64_t count, int32_t base, int64_t from, int64_t to)
{
    const Lattice *lattice = &walk->lattice;
    const int32_t last = lattice->columns - 1;
    Open open;
    form(walk, rows, count, base, walk->schemes[(to - 1) * lattice->columns + last] - base + 1, &open);
    for (int64_t scheme = from; scheme < to; scheme++) {
        const int32_t level = walk->schemes[scheme * lattice->columns + last], above = level - base;
        const int64_t at = above * (walk->room.count + 1);
        const Row *classes = walk->room.classes + at;
        const int are_rows = above == 0 && !lattice->below;
        walk->path[last] = (uint8_t)level;
        walk->visit(walk, &(Made){are_rows ? rows : classes, rows, walk->room.firsts + at,
                                  lattice->steps + lattice->tops_at[base * lattice->most + level],
                                  are_rows ? count : open.classes[above] - classes, scheme});
    }
}

/* The lowest level that each column from `column` on has in schemes [from, to). */
static void lowest_levels(const Walk *walk, int32_t column, int64_t from, int64_t to, uint8_t *levels)
{
    const int32_t columns = walk->lattice.columns;
    memcpy(levels, walk->schemes + from * columns, (size_t)columns);
    for (int64_t scheme = from + 1; scheme < to; scheme++)
        for (int32_t c = column; c < columns; c++) {
            const uint8_t level = walk->schemes[scheme * columns + c];
            if (level < levels[c]) levels[c] = level;
        }
}

/* Whether rows on levels `from` can be made rows on levels `to`. */
static int is_below(const uint8_t *from, const uint8_t *to, int32_t columns)
{
    for (int32_t column = 0; column < columns; column++)
        if (from[column] > to[column]) return 0;
    return 1;
}

/* Whether it is worth a pass over the rows to make columns coarser before the last of them must be: a single scheme
 * needs it anyway, and several gain if there may be far fewer rows. */
static int pays(const Lattice *lattice, const uint8_t *from, const uint8_t *to, int32_t column, int64_t schemes)
{
    enum { FEWER = 4 };
    double gain = 1;
    if (from[column] != to[column] || schemes == 1) return 1;
    for (int32_t c = column; c < lattice->columns; c++)
        gain *= (double)lattice->nodes[c * lattice->most + from[c]] / (double)lattice->nodes[c * lattice->most + to[c]];
    return gain >= FEWER;
}

static int64_t raise(const Walk *walk, const Row *in, int64_t count, const uint8_t *from, const uint8_t *to, int single,
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

/* Finds the table of a prefix that ends with `level` of a column, or makes it of one that is there; the prefix before
 * has the number `prefix` among those of its length. Returns whether it is there. */
static int recall(const Walk *walk, int32_t column, int64_t prefix, int32_t level)
{
    Memo *memo = walk->memo;
    const int64_t before = memo->firsts[column] + prefix;
    const int64_t lowest = memo->firsts[column + 1] + prefix * walk->lattice.levels[column];
    memo->starts[lowest] = memo->starts[before];
    memo->counts[lowest] = memo->counts[before];
    int32_t have = level;
    while (memo->counts[lowest + have] < 0) have--;
    if (have == level) return 1;
    const int64_t count = memo->counts[lowest + have];
    if (memo->used + count > memo->room) return 0;
    uint8_t from[MOST_COLUMNS] = {0}, to[MOST_COLUMNS] = {0};
    from[column] = (uint8_t)have;
    to[column] = (uint8_t)level;
    const Row *source = memo->rows + memo->starts[lowest + have];
    memo->starts[lowest + level] = memo->used;
    memo->counts[lowest + level] = raise(walk, source, count, from, to, 0, memo->rows + memo->used);
    memo->used += memo->counts[lowest + level];
    return 1;
}

static void descend(Walk *walk, int32_t column, const Row *rows, int64_t count, const uint8_t *at, int64_t from,
                    int64_t to, int64_t prefix);

/* The same from kept tables; goes on without where there is no more room to keep any. */
static void remember(Walk *walk, int32_t column, const uint8_t *at, int64_t from, int64_t to, int64_t prefix)
{
    const Memo *memo = walk->memo;
    const int32_t columns = walk->lattice.columns;
    const int64_t before = memo->firsts[column] + prefix;
    uint8_t next[MOST_COLUMNS];
    memcpy(next, at, (size_t)columns);
    for (int64_t end; from < to && walk->stopped < 0; from = end) {
        const uint8_t level = walk->schemes[from * columns + column];
        for (end = from + 1; end < to && walk->schemes[end * columns + column] == level; end++) {}
        const int64_t child = memo->firsts[column + 1] + prefix * walk->lattice.levels[column] + level;
        if ((end - from < 2 && level > 0 && memo->counts[child] < 0) || !recall(walk, column, prefix, level)) {
            descend(walk, column, memo->rows + memo->starts[before], memo->counts[before], at, from, end, -1);
            continue;
        }
        const int64_t longer = prefix * walk->lattice.levels[column] + level, place = memo->firsts[column + 1] + longer;
        walk->path[column] = next[column] = level;
        descend(walk, column + 1, memo->rows + memo->starts[place], memo->counts[place], next, from, end, longer);
    }
}

/* Visits schemes [from, to), that agree in the columns before `column`; the columns of the rows are on levels `at`.
 * `prefix`: the number of the prefix of which these rows are the kept table, −1 if they are none. */
static void descend(Walk *walk, int32_t column, const Row *rows, int64_t count, const uint8_t *at, int64_t from,
                    int64_t to, int64_t prefix)
{
    const int32_t columns = walk->lattice.columns;
    if (column == columns - 1) {
        if (walk->fits && !walk->fits(walk, count)) walk->stopped = from;
        else leaves(walk, rows, count, at[column], from, to);
        return;
    }
    if (prefix >= 0) {
        remember(walk, column, at, from, to, prefix);
        return;
    }
    Row *mine = walk->room.rows + (int64_t)column * walk->room.count;
    const Row *above = rows;
    const int64_t above_count = count;
    uint8_t here[MOST_COLUMNS], next[MOST_COLUMNS];
    memcpy(here, at, (size_t)columns);
    for (int64_t end; from < to && walk->stopped < 0; from = end) {
        const uint8_t level = walk->schemes[from * columns + column];
        for (end = from + 1; end < to && walk->schemes[end * columns + column] == level; end++) {}
        lowest_levels(walk, column, from, end, next);
        if (!is_below(here, next, columns)) {
            memcpy(here, at, (size_t)columns);
            rows = above;
            count = above_count;
        }
        if (memcmp(here, next, (size_t)columns) != 0 && pays(&walk->lattice, here, next, column, end - from)) {
            count = raise(walk, rows, count, here, next, end - from == 1, mine);
            rows = mine;
            memcpy(here, next, (size_t)columns);
        }
        walk->path[column] = level;
        descend(walk, column + 1, rows, count, here, from, end, -1);
    }
}

/* With a memo, whose first table is that of no levels at all: the rows. */
static int64_t run(Walk *walk, const Row *rows, int64_t from, int64_t to)
{
    const uint8_t at[MOST_COLUMNS] = {0};
    walk->stopped = -1;
    descend(walk, 0, rows, walk->room.count, at, from, to, walk->memo ? 0 : -1);
    return walk->stopped < 0 ? to : walk->stopped;
}

/* Classes are sorted into bands by their size, and counted there. */
enum { CLASSES, PERSONS, RECORDS, SQUARES, FIGURES };

typedef struct {
    int32_t bands;            /* the last one takes all sizes that `band` has no entry for */
    uint64_t limit;           /* with more persons in the first band, nodes are not counted */
    int64_t sizes, width;     /* entries of `band`; nodes of all columns on their lowest level */
    const uint8_t *band;
    const int64_t *offsets;   /* where the nodes of a column begin among all */
    const uint32_t *totals;   /* the records of each node, for each column and level */
    const int64_t *totals_at; /* [columns][most levels]: where these begin */
    uint32_t *counts;         /* [bands][width] */
    uint64_t *figures;        /* [schemes][bands][FIGURES] */
    uint32_t *marginals;      /* [schemes][bands − 1][width]: the records of each node in all bands but the last */
} Tally;

static inline int32_t band_of(const Tally *tally, uint32_t size)
{
    return size < tally->sizes ? tally->band[size] : tally->bands - 1;
}

/* The band that has most classes is not looked at: its nodes have what the others leave of the totals. */
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

/* Adds the records of all classes, but for those in one band, to each of their nodes. */
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
        if (lattice->nodes[column * lattice->most + walk->path[column]] == 1) continue; /* all records have it */
        shifts[used] = lattice->shifts[column];
        masks[used] = ones(lattice->bits[column]);
        offsets[used++] = tally->offsets[column];
    }
    for (int64_t i = 0; i < made->count; i++) { /* listed first: a branch here would often be guessed wrong */
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

/* Counts the nodes of the classes in each band but the last. */
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

/* Counts the classes of schemes by bands of their size; `figures` holds zeros. */
API void shoal_lattice_tally(const Lattice *lattice, const Row *rows, const Room *room, Memo *memo,
                             const uint8_t *schemes, int64_t count, Tally *tally)
{
    Walk walk = {.lattice = *lattice, .room = *room, .memo = memo, .schemes = schemes, .visit = tally_classes,
                 .out = tally};
    run(&walk, rows, 0, count);
}

/* Classes of at least so many persons, written one after another, with the sensitive values in each. */
typedef struct {
    uint32_t least;
    int32_t values;        /* how many sensitive values there are; 0: none are asked for */
    int64_t classes_room, entries_room, classes, entries;
    uint64_t *keys;        /* with the last column as it is on its level, and no sensitive value */
    uint32_t *sizes, *records;
    int64_t *schemes, *starts;
    uint32_t *codes, *counts;
    uint64_t *seen;        /* a bit for each value, and */
    uint32_t *tally;       /* a count; all zero */
} Listing;

static int listing_fits(const Walk *walk, int64_t rows)
{
    const Listing *listing = walk->out;
    const int64_t most = rows * walk->lattice.levels[walk->lattice.columns - 1];
    return listing->classes + most <= listing->classes_room && (!listing->values || listing->entries + most <= listing->entries_room);
}

static void list_values(Listing *listing, const Row *rows, int64_t count, uint64_t mask)
{
    const int32_t words = (listing->values + 63) / 64;
    if (count == 1) {
        listing->codes[listing->entries] = (uint32_t)(rows[0].key & mask);
        listing->counts[listing->entries++] = rows[0].persons;
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const uint64_t value = rows[i].key & mask;
        listing->tally[value] += rows[i].persons;
        listing->seen[value >> 6] |= (uint64_t)1 << (value & 63);
    }
    for (int32_t word = 0; word < words; word++) {
        for (uint64_t left = listing->seen[word]; left; left &= left - 1) {
            const uint32_t value = (uint32_t)(word * 64 + __builtin_ctzll(left));
            listing->codes[listing->entries] = value;
            listing->counts[listing->entries++] = listing->tally[value];
            listing->tally[value] = 0;
        }
        listing->seen[word] = 0;
    }
}

static void list_classes(Walk *walk, const Made *made)
{
    Listing *listing = walk->out;
    const Lattice *lattice = &walk->lattice;
    const int32_t last = lattice->columns - 1, shift = lattice->shifts[last], bits = lattice->bits[last];
    for (int64_t i = 0; i < made->count; i++) {
        const Row class = made->classes[i];
        if (class.persons < listing->least) continue;
        const uint64_t above = class.key >> shift >> bits << bits, node = made->top[field(class.key, shift, bits)];
        listing->keys[listing->classes] = (above | node) << shift;
        listing->sizes[listing->classes] = class.persons;
        listing->records[listing->classes] = class.records;
        listing->schemes[listing->classes] = made->scheme;
        listing->starts[listing->classes++] = listing->entries;
        if (listing->values)
            list_values(listing, made->rows + made->firsts[i], made->firsts[i + 1] - made->firsts[i], ones(lattice->below));
    }
}

/* Lists the classes of schemes [from, to), as far as there is room; returns the scheme to go on with. */
API int64_t shoal_lattice_list(const Lattice *lattice, const Row *rows, const Room *room, Memo *memo,
                               const uint8_t *schemes, int64_t from, int64_t to, Listing *listing)
{
    Walk walk = {.lattice = *lattice, .room = *room, .memo = memo, .schemes = schemes, .visit = list_classes, .fits = listing_fits,
                 .out = listing};
    return run(&walk, rows, from, to);
}

/* Adds the records of kept classes to each of their nodes: marginals[scheme][node]. */
API void shoal_lattice_spread(const Lattice *lattice, const int64_t *offsets, int64_t width, const uint64_t *keys,
                              const uint32_t *records, const int64_t *schemes, const uint8_t *kept,
                              int64_t classes, uint32_t *marginals)
{
    for (int64_t i = 0; i < classes; i++) {
        if (!kept[i]) continue;
        uint32_t *counts = marginals + schemes[i] * width;
        for (int32_t column = 0; column < lattice->columns; column++)
            counts[offsets[column] + field(keys[i], lattice->shifts[column], lattice->bits[column])] += records[i];
    }
}
