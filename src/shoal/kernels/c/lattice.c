#include "walk.h"

/* ---- the walk through the schemes of a lattice ----------------------------------------------------------- */

/* The open class of each level, to which rows are still added; stored by field, because a struct written in parts is
 * slow to read as a whole. */
typedef struct {
    uint64_t keys[MOST_LEVELS];
    uint32_t persons[MOST_LEVELS + 1], records[MOST_LEVELS + 1], nodes[MOST_LEVELS];
    Row *classes[MOST_LEVELS];    /* where the class will be written, and */
    uint32_t *firsts[MOST_LEVELS]; /* where the first row of the next class will be */
} Open;

/* Closes the open class of a level and adds its persons to that of the next; a new class begins with row `first`. */
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

/* Forms the classes on all levels of the last column in one pass: a class on a level is a run of classes of the level
 * below. Without sensitive values, the rows are the classes of the lowest level. */
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

/* Visits schemes [from, to), which differ only in the last column; in the rows, that column is on level `base`. */
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

/* Finds the lowest level of each column from `column` on in schemes [from, to). */
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

/* Whether rows on levels `from` can be rolled up to levels `to`. */
static int is_below(const uint8_t *from, const uint8_t *to, int32_t columns)
{
    for (int32_t column = 0; column < columns; column++)
        if (from[column] > to[column]) return 0;
    return 1;
}

/* Whether an early pass over the rows to generalise columns pays off: a single scheme needs it anyway, and several
 * benefit if there may be far fewer rows. */
static int pays(const Lattice *lattice, const uint8_t *from, const uint8_t *to, int32_t column, int64_t schemes)
{
    enum { FEWER = 4 };
    double gain = 1;
    if (from[column] != to[column] || schemes == 1) return 1;
    for (int32_t c = column; c < lattice->columns; c++)
        gain *= (double)lattice->nodes[c * lattice->most + from[c]] / (double)lattice->nodes[c * lattice->most + to[c]];
    return gain >= FEWER;
}

/* Finds the table of a prefix that ends with `level` of a column, or derives it from a cached one; the preceding prefix
 * has the number `prefix` among those of its length. Returns whether the table is in the cache. */
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
    memo->counts[lowest + level] = make_coarser(walk, source, count, from, to, 0, memo->rows + memo->used);
    memo->used += memo->counts[lowest + level];
    return 1;
}

static void descend(Walk *walk, int32_t column, const Row *rows, int64_t count, const uint8_t *at, int64_t from,
                    int64_t to, int64_t prefix);

/* Does the same as `descend` with cached tables; continues without them if the cache is full. */
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

/* Visits schemes [from, to), which agree in the columns before `column`; the columns of the rows are on levels `at`.
 * `prefix`: the number of the prefix whose cached table the rows are, −1 if they are none. */
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
            count = make_coarser(walk, rows, count, here, next, end - from == 1, mine);
            rows = mine;
            memcpy(here, next, (size_t)columns);
        }
        walk->path[column] = level;
        descend(walk, column + 1, rows, count, here, from, end, -1);
    }
}

/* With a memo, its first table, that of the empty prefix, contains all rows. */
int64_t walk_schemes(Walk *walk, const Row *rows, int64_t from, int64_t to)
{
    const uint8_t at[MOST_COLUMNS] = {0};
    walk->stopped = -1;
    descend(walk, 0, rows, walk->room.count, at, from, to, walk->memo ? 0 : -1);
    return walk->stopped < 0 ? to : walk->stopped;
}
