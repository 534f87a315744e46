/* The classes of all schemes of a lattice, by roll-up: definitions shared by the walk and its visitors. */
#ifndef SHOAL_WALK_H
#define SHOAL_WALK_H

#include "core.h"

enum { MOST_COLUMNS = 64, MOST_LEVELS = 64 };

/* Rows are sorted by key. A key contains one bit field per column, the first in the highest bits, and a sensitive value
 * in the lowest `below` bits. Nodes of a hierarchy are numbered so that their order follows the order of the nodes
 * below them. Generalising the last column therefore preserves the order of the rows, and generalising another column
 * permutes only rows that agree in the columns before it. */
typedef struct {
    uint64_t key;
    uint32_t persons, records;
} Row;

typedef struct {
    int32_t columns, below;
    const int32_t *shifts, *bits; /* the lowest bit and the width of the field of each column */
    const int32_t *levels;        /* the number of levels of each column, and */
    const int64_t *nodes;         /* [columns][most levels]: the number of nodes on each */
    const uint32_t *steps;        /* the parent of each node, by column and level */
    const int64_t *steps_at;      /* [columns][most levels]: the start of each in `steps` */
    const int64_t *tops_at;       /* [most][most]: the start, in `steps`, of the ancestors on one level of the
                                   * nodes of the last column on a lower one */
    int64_t most;                 /* the maximum number of levels of a column */
} Lattice;

/* Working memory of a walk: [columns + 1][count] rows, count + 1 integers, slots, at least four times as many as rows,
 * and [levels][count + 1] classes, each with the row at which it begins. */
typedef struct {
    Row *rows;
    uint32_t *runs, *slots;
    uint32_t *maps, *digits; /* two integers per node of the lowest levels; CHUNK per column and two per node */
    Row *classes;
    uint32_t *firsts;
    int64_t slot_count, count; /* count: the initial number of rows */
} Room;

/* Tables that a walk caches for the next one: one for each prefix of levels, with the columns after it on their lowest
 * levels. `starts` and `counts`: the position of a table among the cached rows and its size; −1 if it is not cached. A
 * prefix of levels of the first d columns has the number firsts[d] + (…(l₀·n₁ + l₁)·n₂ + …). */
typedef struct {
    Row *rows;
    int64_t room, used;
    int64_t *starts, *counts;
    const int64_t *firsts;
} Memo;

/* The classes of a scheme, and the row at which each begins. `top`: for each node of the last column as stored in the
 * key of a class, its ancestor on the level of the scheme. */
typedef struct {
    const Row *classes, *rows;
    const uint32_t *firsts, *top;
    int64_t count, scheme; /* scheme: its place among the requested schemes */
} Made;

typedef struct Walk Walk;
struct Walk {
    Lattice lattice;
    Room room;
    Memo *memo; /* may be NULL */
    const uint8_t *schemes; /* [schemes][columns]: levels, in lexicographic order */
    void (*visit)(Walk *, const Made *);
    int (*fits)(const Walk *, int64_t rows); /* whether the classes of this number of rows fit; NULL: always */
    void *out;
    int64_t stopped; /* the scheme at which room ran out; −1 if it did not */
    uint8_t path[MOST_COLUMNS]; /* the level of each column */
};

static inline uint64_t ones(int32_t bits) { return ((uint64_t)1 << bits) - 1; }

static inline uint32_t field(uint64_t key, int32_t shift, int32_t bits) { return (uint32_t)(key >> shift & ones(bits)); }

static inline const uint32_t *step(const Lattice *lattice, int32_t column, int32_t level)
{
    return lattice->steps + lattice->steps_at[column * lattice->most + level];
}

/* Generalises columns, each from one level to another; `out` may be `in`. `single`: the rows will be the classes of one
 * scheme, so their order is irrelevant. Returns the number of rows. */
int64_t make_coarser(const Walk *walk, const Row *in, int64_t count, const uint8_t *from, const uint8_t *to, int single,
                     Row *out);

/* Visits schemes [from, to) as far as there is room; returns the scheme to continue with. */
int64_t walk_schemes(Walk *walk, const Row *rows, int64_t from, int64_t to);

#endif
