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

/* What a walk needs room for: [columns + 1][count] rows, count + 1 numbers, slots of a hash table, at least twice as
 * many as rows and a power of two, and [levels][count + 1] classes, of each of which it also notes with which row it
 * begins. */
typedef struct {
    Row *rows;
    uint32_t *runs, *slots, *maps; /* maps: as many numbers as there are nodes on the lowest levels */
    Row *classes;
    uint32_t *firsts;
    int64_t count; /* of rows, at the start */
} Room;

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

/* Makes one column coarser by a level; `out` may be `in`. Returns how many rows there are then. */
static int64_t coarsen(const Walk *walk, const Row *in, int64_t count, int32_t column, int32_t level, Row *out)
{
    enum { FEW = 24 };
    const Lattice *lattice = &walk->lattice;
    const int32_t shift = lattice->shifts[column], bits = lattice->bits[column];
    const uint32_t *up = step(lattice, column, level);
    const uint64_t suffix = ones(shift);
    uint32_t *runs = walk->room.runs;
    int64_t made = 0;
    for (int64_t i = 0; i < count;) {
        const uint64_t above = in[i].key >> shift >> bits;
        uint32_t code = field(in[i].key, shift, bits);
        const uint32_t node = up[code];
        const uint64_t base = (above << bits | node) << shift;
        Row *block = out + made;
        int64_t held = 0, number = 1;
        runs[0] = 0;
        for (; i < count; i++) {
            const Row row = in[i];
            if (row.key >> shift >> bits != above) break;
            const uint32_t now = field(row.key, shift, bits);
            if (now != code) {
                if (up[now] != node) break;
                code = now;
                runs[number++] = (uint32_t)held;
            }
            block[held] = row;
            block[held++].key = base | (row.key & suffix);
        }
        if (number > 1) {
            runs[number] = (uint32_t)held;
            if (held <= FEW) insert(block, held);
            else merge(block, runs, 0, number, walk->room.rows + (int64_t)lattice->columns * walk->room.count);
            held = unite(block, held);
        }
        made += held;
    }
    return made;
}

static inline uint64_t scatter(uint64_t key)
{
    key *= 0x9e3779b97f4a7c15u;
    return key ^ key >> 32;
}

/* What becomes of one column when rows are lifted. */
typedef struct {
    int32_t shift;
    uint64_t mask;
    const uint32_t *map;
} Change;

/* Finds out which columns change, and joins their steps; returns how many do. `keep`: the bits that stay. */
static int32_t changes_of(const Walk *walk, const uint8_t *from, const uint8_t *to, Change *changes, uint64_t *keep)
{
    const Lattice *lattice = &walk->lattice;
    uint32_t *map = walk->room.maps;
    int32_t made = 0;
    *keep = ~(uint64_t)0;
    for (int32_t column = 0; column < lattice->columns; column++) {
        if (from[column] == to[column]) continue;
        const int64_t nodes = lattice->nodes[column * lattice->most + from[column]];
        const uint64_t mask = ones(lattice->bits[column]);
        *keep &= ~(mask << lattice->shifts[column]);
        if (lattice->nodes[column * lattice->most + to[column]] == 1) continue; /* which is 0 */
        for (int64_t node = 0; node < nodes; node++) {
            map[node] = (uint32_t)node;
            for (int32_t level = from[column]; level < to[column]; level++) map[node] = step(lattice, column, level)[map[node]];
        }
        changes[made++] = (Change){lattice->shifts[column], mask, map};
        map += nodes;
    }
    return made;
}

/* Makes several columns coarser by any number of levels; `out` may be `in`. Returns how many rows there are then. */
static int64_t lift(const Walk *walk, const Row *in, int64_t count, const uint8_t *from, const uint8_t *to, Row *out)
{
    uint32_t *slots = walk->room.slots, *runs = walk->room.runs;
    uint64_t mask = 1, keep;
    int64_t made = 0, number = 0;
    Change changes[MOST_COLUMNS];
    const int32_t changed = changes_of(walk, from, to, changes, &keep);
    while (mask < 2 * (uint64_t)count) mask <<= 1;
    memset(slots, 0, (size_t)mask * sizeof *slots);
    mask--;
    for (int64_t i = 0; i < count; i++) {
        Row row = in[i];
        uint64_t key = row.key & keep;
        for (int32_t c = 0; c < changed; c++)
            key |= (uint64_t)changes[c].map[row.key >> changes[c].shift & changes[c].mask] << changes[c].shift;
        uint64_t at = scatter(key) & mask;
        while (slots[at] && out[slots[at] - 1].key != key) at = (at + 1) & mask;
        if (slots[at]) {
            out[slots[at] - 1].persons += row.persons;
            out[slots[at] - 1].records += row.records;
        } else {
            row.key = key;
            out[made++] = row;
            slots[at] = (uint32_t)made;
        }
    }
    for (int64_t i = 0; i < made; i++)
        if (i == 0 || out[i].key < out[i - 1].key) runs[number++] = (uint32_t)i;
    runs[number] = (uint32_t)made;
    merge(out, runs, 0, number, walk->room.rows + (int64_t)walk->lattice.columns * walk->room.count);
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

static int64_t raise(const Walk *walk, const Row *in, int64_t count, const uint8_t *from, const uint8_t *to, Row *out)
{
    int32_t column = -1, steps = 0;
    for (int32_t c = 0; c < walk->lattice.columns; c++)
        if (from[c] != to[c]) {
            column = c;
            steps += to[c] - from[c];
        }
    return steps == 1 ? coarsen(walk, in, count, column, from[column], out) : lift(walk, in, count, from, to, out);
}

/* Visits schemes [from, to), that agree in the columns before `column`; the columns of the rows are on levels `at`. */
static void descend(Walk *walk, int32_t column, const Row *rows, int64_t count, const uint8_t *at, int64_t from, int64_t to)
{
    const int32_t columns = walk->lattice.columns;
    if (column == columns - 1) {
        if (walk->fits && !walk->fits(walk, count)) walk->stopped = from;
        else leaves(walk, rows, count, at[column], from, to);
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
            count = raise(walk, rows, count, here, next, mine);
            rows = mine;
            memcpy(here, next, (size_t)columns);
        }
        walk->path[column] = level;
        descend(walk, column + 1, rows, count, here, from, end);
    }
}

static int64_t run(Walk *walk, const Row *rows, int64_t from, int64_t to)
{
    const uint8_t at[MOST_COLUMNS] = {0};
    walk->stopped = -1;
    descend(walk, 0, rows, walk->room.count, at, from, to);
    return walk->stopped < 0 ? to : walk->stopped;
}

/* Classes are sorted into bands by their size, and counted there. */
enum { CLASSES, PERSONS, RECORDS, SQUARES, FIGURES };

typedef struct {
    int32_t bands;            /* the last one takes all sizes that `band` has no entry for */
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

/* Counts what is in each band, and returns the one that has most classes. */
static int32_t count_bands(const Tally *tally, const Made *made, uint64_t *figures)
{
    for (int64_t i = 0; i < made->count; i++) {
        const uint64_t records = made->classes[i].records;
        uint64_t *mine = figures + band_of(tally, made->classes[i].persons) * FIGURES;
        mine[CLASSES]++;
        mine[PERSONS] += made->classes[i].persons;
        mine[RECORDS] += records;
        mine[SQUARES] += records * records;
    }
    int32_t most = 0;
    for (int32_t band = 1; band < tally->bands; band++)
        if (figures[band * FIGURES + CLASSES] > figures[most * FIGURES + CLASSES]) most = band;
    return most;
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

static void tally_classes(Walk *walk, const Made *made)
{
    Tally *tally = walk->out;
    const Lattice *lattice = &walk->lattice;
    uint64_t *figures = tally->figures + made->scheme * tally->bands * FIGURES;
    const int32_t skipped = count_bands(tally, made, figures);
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

/* Counts the classes of schemes by bands of their size; `figures` holds zeros. */
API void shoal_lattice_tally(const Lattice *lattice, const Row *rows, const Room *room, const uint8_t *schemes,
                             int64_t count, Tally *tally)
{
    Walk walk = {.lattice = *lattice, .room = *room, .schemes = schemes, .visit = tally_classes, .out = tally};
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
API int64_t shoal_lattice_list(const Lattice *lattice, const Row *rows, const Room *room, const uint8_t *schemes,
                               int64_t from, int64_t to, Listing *listing)
{
    Walk walk = {.lattice = *lattice, .room = *room, .schemes = schemes, .visit = list_classes, .fits = listing_fits,
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
