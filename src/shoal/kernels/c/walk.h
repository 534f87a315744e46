/* The classes of all schemes of a lattice, by roll-up: what the walk through them and those who visit them share. */
#ifndef SHOAL_WALK_H
#define SHOAL_WALK_H

#include "core.h"

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

/* What a walk needs room for: [columns + 1][count] rows, count + 1 numbers, slots, at least four times as many as rows,
 * and [levels][count + 1] classes, of each of which it also notes with which row it begins. */
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

static inline const uint32_t *step(const Lattice *lattice, int32_t column, int32_t level)
{
    return lattice->steps + lattice->steps_at[column * lattice->most + level];
}

/* Makes columns coarser, from one level to another each; `out` may be `in`. `single`: the rows will be the classes of one
 * scheme, so their order does not matter. Returns how many rows there are then. */
int64_t make_coarser(const Walk *walk, const Row *in, int64_t count, const uint8_t *from, const uint8_t *to, int single,
                     Row *out);

/* Visits schemes [from, to), as far as there is room; returns the one to go on with. */
int64_t walk_schemes(Walk *walk, const Row *rows, int64_t from, int64_t to);

#endif
