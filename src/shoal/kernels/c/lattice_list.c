#include "walk.h"

/* ---- schemes whose classes are listed --------------------------------------------------------------------- */

/* Classes with at least `least` persons, concatenated, with the sensitive values in each. */
typedef struct {
    uint32_t least;
    int32_t values;        /* the number of sensitive values; 0 if none are requested */
    int64_t classes_room, entries_room, classes, entries;
    uint64_t *keys;        /* with the node of the last column on its level, and without a sensitive value */
    uint32_t *sizes, *records;
    int64_t *schemes, *starts;
    uint32_t *codes, *counts;
    uint64_t *seen;        /* one bit per value, and */
    uint32_t *tally;       /* one count per value; all zero */
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

/* Lists the classes of schemes [from, to) as far as there is room; returns the scheme to continue with. */
API int64_t shoal_lattice_list(const Lattice *lattice, const Row *rows, const Room *room, Memo *memo,
                               const uint8_t *schemes, int64_t from, int64_t to, Listing *listing)
{
    Walk walk = {.lattice = *lattice, .room = *room, .memo = memo, .schemes = schemes, .visit = list_classes, .fits = listing_fits,
                 .out = listing};
    return walk_schemes(&walk, rows, from, to);
}

/* Adds the records of the kept classes to each of their nodes: marginals[scheme][node]. */
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
