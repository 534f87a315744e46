/* The C core of shoal: a few primitives that take arrays and return integers.
 *
 * No dependency, no allocation, no state: every buffer belongs to the caller (numpy). A function that needs
 * more room than it was given stops, says how far it came, and is called again with larger buffers.
 * Each primitive has a numpy twin in the Python file that wraps it; both give the same answers.
 */
#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif

#ifndef SHOAL_SOURCE_HASH
#define SHOAL_SOURCE_HASH "unknown"
#endif

/* Compared with the hash of this file at load: a stale library is never used. */
API const char *shoal_source_hash(void) { return SHOAL_SOURCE_HASH; }

/* ---- hashing ------------------------------------------------------------------------------------ */

static inline uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

/* The two halves of a 128-bit product, folded. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load8(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, 8);
    return value;
}

static inline uint64_t load4(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, 4);
    return value;
}

/* Up to seven bytes as one number, by loads of fixed size that may overlap: no call, no byte beyond the end. */
static inline uint64_t load_short(const uint8_t *bytes, int64_t length)
{
    if (length >= 4) return load4(bytes) | load4(bytes + length - 4) << 32;
    if (length == 0) return 0;
    return bytes[0] | (uint64_t)bytes[length >> 1] << 8 | (uint64_t)bytes[length - 1] << 16;
}

static inline uint64_t hash_text(const uint8_t *bytes, int64_t length)
{
    const uint64_t one = 0xa0761d6478bd642fu, two = 0xe7037ed1a0b428dbu;
    uint64_t hash = (uint64_t)length * 0x9e3779b97f4a7c15u;
    if (length < 8) return fold(load_short(bytes, length) ^ one, hash ^ two);
    for (int64_t at = 0; at + 16 < length; at += 16)
        hash = fold(load8(bytes + at) ^ one, load8(bytes + at + 8) ^ hash ^ two);
    const int64_t last = length < 16 ? 0 : length - 16;
    return fold(load8(bytes + last) ^ one, load8(bytes + length - 8) ^ hash ^ two);
}

static inline int same_text(const uint8_t *a, const uint8_t *b, int64_t length)
{
    if (length < 8) return load_short(a, length) == load_short(b, length);
    for (int64_t at = 0; at + 8 < length; at += 8)
        if (load8(a + at) != load8(b + at)) return 0;
    return load8(a + length - 8) == load8(b + length - 8);
}

static inline int is_missing(const uint8_t *validity, int64_t bit)
{
    return validity && !((validity[bit >> 3] >> (bit & 7)) & 1);
}

/* ---- interning: values become codes 1, 2, 3, … in order of first appearance; 0 is missing ---------- */

/* A slot holds the upper half of the hash and the code; 0 is free. The table is never more than half full. */
#define SLOT(hash, code) (((hash) & 0xffffffff00000000u) | (uint64_t)(code))

/* Hashes are computed this many rows ahead, so that the slots are on their way from memory when they are needed. */
enum { AHEAD = 32 };

/* Text cells: cell r is text[bounds[r·stride] … bounds[r·stride + 1] − gap). A gap is a separator between cells as
 * they stand in a file; there, an empty cell is missing. */
typedef struct {
    const uint8_t *text;
    const uint32_t *bounds;
    int64_t stride, gap;
    const uint8_t *validity;
    int64_t first_bit;
} Cells;

static inline const uint8_t *cell(const Cells *cells, int64_t row, int64_t *length)
{
    const uint32_t *bound = cells->bounds + row * cells->stride;
    *length = (int64_t)bound[1] - bound[0] - cells->gap;
    return cells->text + bound[0];
}

static inline int cell_is_missing(const Cells *cells, int64_t row, int64_t length)
{
    return cells->gap ? length == 0 : is_missing(cells->validity, cells->first_bit + row);
}

/* `used` = {codes, bytes} in the dictionary so far. Returns the number of rows done. */
API int64_t shoal_intern_text(const Cells *cells, int64_t from, int64_t rows, uint64_t *slots, int64_t slot_count,
                              uint8_t *dictionary, int64_t dictionary_room, int64_t *ends, int64_t *used,
                              uint32_t *codes)
{
    const Cells source = *cells;
    const uint64_t mask = (uint64_t)slot_count - 1;
    int64_t count = used[0], bytes = used[1], row = from, lengths[AHEAD];
    uint64_t hashes[AHEAD];
    for (int64_t ahead = 0; row < rows; row++, ahead++) {
        if (ahead % AHEAD == 0)
            for (int64_t i = 0; i < AHEAD && row + i < rows; i++) {
                const uint8_t *value = cell(&source, row + i, &lengths[i]);
                hashes[i] = hash_text(value, lengths[i]);
                __builtin_prefetch(slots + (hashes[i] & mask));
            }
        const int64_t length = lengths[ahead % AHEAD];
        const uint64_t hash = hashes[ahead % AHEAD];
        if (cell_is_missing(&source, row, length)) {
            codes[row] = 0;
            continue;
        }
        const uint8_t *value = source.text + source.bounds[row * source.stride];
        uint64_t at = hash & mask;
        uint32_t code = 0;
        for (; slots[at]; at = (at + 1) & mask) {
            if ((slots[at] ^ hash) >> 32) continue;
            const uint32_t candidate = (uint32_t)slots[at];
            const int64_t start = ends[candidate - 1];
            if (ends[candidate] - start == length && same_text(dictionary + start, value, length)) {
                code = candidate;
                break;
            }
        }
        if (!code) {
            if (2 * (count + 1) > slot_count || bytes + length > dictionary_room) break;
            memcpy(dictionary + bytes, value, (size_t)length);
            bytes += length;
            code = (uint32_t)++count;
            ends[count] = bytes;
            slots[at] = SLOT(hash, code);
        }
        codes[row] = code;
    }
    used[0] = count;
    used[1] = bytes;
    return row;
}

/* Makes every cell an entry of its own, without looking whether it is there already. */
API int64_t shoal_append_text(const Cells *cells, int64_t from, int64_t rows, uint8_t *dictionary,
                              int64_t dictionary_room, int64_t *ends, int64_t ends_room, int64_t *used,
                              uint32_t *codes)
{
    int64_t count = used[0], bytes = used[1], row = from, length;
    for (; row < rows; row++) {
        const uint8_t *value = cell(cells, row, &length);
        if (cell_is_missing(cells, row, length)) {
            codes[row] = 0;
            continue;
        }
        if (count + 1 >= ends_room || bytes + length > dictionary_room) break;
        memcpy(dictionary + bytes, value, (size_t)length);
        bytes += length;
        codes[row] = (uint32_t)++count;
        ends[count] = bytes;
    }
    used[0] = count;
    used[1] = bytes;
    return row;
}

/* The high bit of every byte of `word` that equals the byte repeated in `pattern`. */
static inline uint64_t equal_bytes(uint64_t word, uint64_t pattern)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu, different = word ^ pattern;
    return ~(((different & low) + low) | different | low);
}

/* Cuts lines of text, the last of which has its end, at separators. Row r: bounds[r·(width + 1) + c] is where field c
 * begins, and one less than bounds[… + c + 1] where it ends (the first byte of a word is its lowest: little-endian). Empty lines are left out if there are several fields.
 * Returns the number of rows, or −1 if a line does not have `width` fields. */
API int64_t shoal_split_fields(const uint8_t *text, int64_t size, uint8_t separator, int64_t width, uint32_t *bounds)
{
    const uint64_t ones = 0x0101010101010101u, separators = ones * separator, ends = ones * '\n';
    int64_t rows = 0, field = 0, line = 0;
    uint32_t *row = bounds;
    row[0] = 0;
    for (int64_t at = 0; at < size; at += 8) {
        uint8_t last[8] = {0};
        if (at + 8 > size) memcpy(last, text + at, (size_t)(size - at));
        const uint64_t word = load8(at + 8 > size ? last : text + at);
        uint64_t found = equal_bytes(word, separators) | equal_bytes(word, ends);
        for (; found; found &= found - 1) {
            const int64_t here = at + (__builtin_ctzll(found) >> 3);
            if (text[here] != '\n') {
                if (++field >= width) return -1;
                row[field] = (uint32_t)here + 1;
                continue;
            }
            const int64_t end = here > line && text[here - 1] == '\r' ? here - 1 : here;
            line = here + 1;
            if (end == row[0] && field == 0 && width > 1) {
                row[0] = (uint32_t)line;
                continue;
            }
            if (field != width - 1) return -1;
            row[width] = (uint32_t)end + 1;
            row += width + 1;
            row[0] = (uint32_t)line;
            rows++;
            field = 0;
        }
    }
    return rows;
}

/* Puts the first `count` dictionary entries into a larger, zeroed slot table. */
API void shoal_rehash_text(const uint8_t *dictionary, const int64_t *ends, int64_t count, uint64_t *slots,
                           int64_t slot_count)
{
    const uint64_t mask = (uint64_t)slot_count - 1;
    for (int64_t code = 1; code <= count; code++) {
        const uint64_t hash = hash_text(dictionary + ends[code - 1], ends[code] - ends[code - 1]);
        uint64_t at = hash & mask;
        while (slots[at]) at = (at + 1) & mask;
        slots[at] = SLOT(hash, code);
    }
}

/* Keys of 64 bits. `used` = {codes}. Returns the number of rows done. */
API int64_t shoal_intern_keys(const uint64_t *keys, int64_t rows, uint32_t *slots, int64_t slot_count,
                              uint64_t *dictionary, int64_t *used, uint32_t *codes)
{
    const uint64_t mask = (uint64_t)slot_count - 1;
    int64_t count = used[0], row = 0;
    for (; row < rows; row++) {
        if (row + AHEAD < rows) __builtin_prefetch(slots + (mix(keys[row + AHEAD]) & mask));
        uint64_t at = mix(keys[row]) & mask;
        while (slots[at] && dictionary[slots[at] - 1] != keys[row]) at = (at + 1) & mask;
        if (!slots[at]) {
            if (2 * (count + 1) > slot_count) break;
            dictionary[count] = keys[row];
            slots[at] = (uint32_t)++count;
        }
        codes[row] = slots[at];
    }
    used[0] = count;
    return row;
}

API void shoal_rehash_keys(const uint64_t *dictionary, int64_t count, uint32_t *slots, int64_t slot_count)
{
    const uint64_t mask = (uint64_t)slot_count - 1;
    for (int64_t code = 1; code <= count; code++) {
        uint64_t at = mix(dictionary[code - 1]) & mask;
        while (slots[at]) at = (at + 1) & mask;
        slots[at] = (uint32_t)code;
    }
}

/* keys[i] = bytes 8·part … 8·part + 7 of value i, the first byte most significant, padded with zeros: integers
 * that compare as the bytes do. */
API void shoal_text_words(const uint8_t *text, const int64_t *ends, int64_t count, int64_t part, uint64_t *keys)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t start = ends[i] + 8 * part, left = ends[i + 1] - start;
        uint64_t key = 0;
        for (int64_t b = 0; b < (left < 8 ? left : 8); b++) key |= (uint64_t)text[start + b] << (56 - 8 * b);
        keys[i] = key;
    }
}

/* Lays the values end to end in another order; out_ends[0] is 0 and `out` has room for all. */
API void shoal_gather_text(const uint8_t *text, const int64_t *ends, const int64_t *order, int64_t count,
                           uint8_t *out, int64_t *out_ends)
{
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            __builtin_prefetch(ends + order[i + AHEAD]);
            __builtin_prefetch(text + ends[order[i + AHEAD / 2]]);
        }
        const int64_t start = ends[order[i]], length = ends[order[i] + 1] - start;
        memcpy(out + at, text + start, (size_t)length);
        at += length;
        out_ends[i + 1] = at;
    }
}

/* ---- codes of 8, 16 and 32 bits --------------------------------------------------------------------- */

#define FOR_EACH_WIDTH(DO) DO(uint8_t, 1) DO(uint16_t, 2) DO(uint32_t, 4)

#define TRANSLATE_INTO(IN, OUT, BYTES)                                                                        \
    case BYTES:                                                                                               \
        for (int64_t i = 0; i < rows; i++) ((OUT *)out)[i] = (OUT)table[((const IN *)codes)[i]];              \
        break;

#define TRANSLATE_FROM(IN, BYTES)                                                                             \
    case BYTES:                                                                                               \
        switch (out_width) {                                                                                  \
            TRANSLATE_INTO(IN, uint8_t, 1)                                                                    \
            TRANSLATE_INTO(IN, uint16_t, 2)                                                                   \
            TRANSLATE_INTO(IN, uint32_t, 4)                                                                   \
        }                                                                                                     \
        break;

/* out[i] = table[codes[i]], between any two widths. The caller has checked that every code is in the table. */
API void shoal_translate(const void *codes, int32_t width, int64_t rows, const uint32_t *table, void *out,
                         int32_t out_width)
{
    switch (width) { FOR_EACH_WIDTH(TRANSLATE_FROM) }
}

#define PACK_COLUMN(IN, BYTES)                                                                                \
    case BYTES: {                                                                                             \
        const IN *codes = (const IN *)columns[c] + start;                                                     \
        for (int64_t i = 0; i < length; i++) keys[start + i] = keys[start + i] * radix + codes[i];            \
        break;                                                                                                \
    }

/* keys[i] = (…(keys[i]·r₀ + c₀[i])·r₁ + c₁[i]…): mixed radix, most significant column first. */
API void shoal_pack(const void *const *columns, const int32_t *widths, const uint64_t *radices,
                    int32_t column_count, int64_t rows, uint64_t *keys)
{
    enum { BLOCK = 2048 }; /* keys stay in the first-level cache while the columns pass by */
    for (int64_t start = 0; start < rows; start += BLOCK) {
        const int64_t length = rows - start < BLOCK ? rows - start : BLOCK;
        for (int32_t c = 0; c < column_count; c++) {
            const uint64_t radix = radices[c];
            switch (widths[c]) { FOR_EACH_WIDTH(PACK_COLUMN) }
        }
    }
}

/* ---- grouping ----------------------------------------------------------------------------------------- */

/* Keys below `space` become dense ids in ascending order of the key. `table` holds `space` zeros. Returns the number
 * of ids, or -1 if a key is not below `space`. */
API int64_t shoal_group_direct(const uint64_t *keys, int64_t rows, uint32_t *table, int64_t space,
                               uint32_t *ids)
{
    uint32_t count = 0;
    for (int64_t i = 0; i < rows; i++) {
        if (keys[i] >= (uint64_t)space) return -1;
        table[keys[i]] = 1;
    }
    for (int64_t key = 0; key < space; key++)
        if (table[key]) table[key] = count++;
    for (int64_t i = 0; i < rows; i++) ids[i] = table[keys[i]];
    return count;
}

/* counts[g] = members of group g; first[g] = its first row. `counts` holds zeros. */
API void shoal_tally(const uint32_t *ids, int64_t rows, int64_t *counts, int64_t *first)
{
    for (int64_t i = 0; i < rows; i++)
        if (counts[ids[i]]++ == 0) first[ids[i]] = i;
}

/* ---- subsets of columns ------------------------------------------------------------------------------- */

typedef struct {
    const uint32_t *codes;   /* [columns][rows] */
    const uint32_t *apart;   /* [columns]: the code that matches nothing, not even itself; or one that no row has */
    const uint32_t *holders; /* [rows]: whose row it is */
    const uint32_t *weights; /* [holders]: how many persons a holder stands for */
    uint32_t *counts;        /* [2^columns][rows] */
    uint32_t *levels;        /* [columns + 1][2][rows + 1]: rows in order of their group, and where groups start */
    uint32_t *tally, *seen;  /* as many zeros as a column has codes; room for as many codes */
    uint32_t *counted;       /* [holders]: the group in which a holder was counted last */
    uint32_t groups_so_far;
    int64_t rows;
    int32_t columns;
} Subsets;

static inline uint32_t *order_at(const Subsets *all, int32_t depth) { return all->levels + 2 * depth * (all->rows + 1); }
static inline uint32_t *starts_at(const Subsets *all, int32_t depth) { return order_at(all, depth) + all->rows + 1; }

/* Splits one group, rows[0 … size), by a column; returns how many groups that makes. */
static int64_t split(const Subsets *all, const uint32_t *rows, int64_t size, int32_t column, uint32_t *out,
                     uint32_t *starts, uint32_t base)
{
    const uint32_t *codes = all->codes + (int64_t)column * all->rows, apart = all->apart[column];
    int64_t found = 0, alone = 0;
    for (int64_t i = 0; i < size; i++) {
        const uint32_t code = codes[rows[i]];
        if (code == apart) out[size - ++alone] = rows[i]; /* from the end */
        else if (all->tally[code]++ == 0) all->seen[found++] = code;
    }
    uint32_t place = 0;
    for (int64_t g = 0; g < found; g++) {
        const uint32_t members = all->tally[all->seen[g]];
        starts[g] = base + place;
        all->tally[all->seen[g]] = place;
        place += members;
    }
    for (int64_t i = 0; i < size; i++)
        if (codes[rows[i]] != apart) out[all->tally[codes[rows[i]]]++] = rows[i];
    for (int64_t g = 0; g < found; g++) all->tally[all->seen[g]] = 0;
    for (int64_t i = 0; i < alone; i++) starts[found + i] = base + place + (uint32_t)i;
    return found + alone;
}

/* Adds up whom the rows of a group belong to, everybody once. */
static uint32_t persons_in(Subsets *all, const uint32_t *rows, int64_t size)
{
    if (size == 1) return all->weights[all->holders[rows[0]]];
    const uint32_t group = ++all->groups_so_far;
    uint32_t persons = 0;
    for (int64_t i = 0; i < size; i++) {
        const uint32_t holder = all->holders[rows[i]];
        if (all->counted[holder] == group) continue;
        all->counted[holder] = group;
        persons += all->weights[holder];
    }
    if (group == UINT32_MAX) { /* numbers for groups start again */
        memset(all->counted, 0, (size_t)all->rows * sizeof *all->counted);
        all->groups_so_far = 0;
    }
    return persons;
}

/* Splits all groups of one depth by a column into those of the next; writes how many persons are in each row's group. */
static int64_t refine(Subsets *all, int32_t depth, int64_t groups, int32_t column, uint32_t subset)
{
    const uint32_t *rows = order_at(all, depth), *starts = starts_at(all, depth);
    uint32_t *out = order_at(all, depth + 1), *out_starts = starts_at(all, depth + 1);
    uint32_t *counts = all->counts + (int64_t)subset * all->rows;
    int64_t made = 0;
    for (int64_t g = 0; g < groups; g++) {
        const uint32_t begin = starts[g], end = starts[g + 1];
        if (end - begin > 1) {
            made += split(all, rows + begin, end - begin, column, out + begin, out_starts + made, begin);
            continue;
        }
        out[begin] = rows[begin];
        out_starts[made++] = begin;
    }
    out_starts[made] = (uint32_t)all->rows;
    for (int64_t g = 0; g < made; g++) {
        const uint32_t begin = out_starts[g], end = out_starts[g + 1];
        const uint32_t persons = persons_in(all, out + begin, end - begin);
        for (uint32_t i = begin; i < end; i++) counts[out[i]] = persons;
    }
    return made;
}

static void descend(Subsets *all, int32_t depth, int64_t groups, int32_t begin, int32_t end, uint32_t subset)
{
    for (int32_t column = begin; column < end; column++) {
        const uint32_t larger = subset | (uint32_t)1 << column;
        const int64_t made = refine(all, depth, groups, column, larger);
        descend(all, depth + 1, made, column + 1, all->columns, larger);
    }
}

/* counts[A][i] = persons with a row that agrees with row i in all columns of A, for every subset A whose first column is
 * in [begin, end). `levels` has room for 2·(columns + 1)·(rows + 1) numbers; `tally` and `counted` hold zeros, `counted`
 * for as many holders as there are rows, at least. */
API void shoal_subset_counts(const uint32_t *codes, const uint32_t *apart, const uint32_t *holders,
                             const uint32_t *weights, int64_t rows, int32_t columns, int32_t begin, int32_t end,
                             uint32_t *counts, uint32_t *levels, uint32_t *tally, uint32_t *seen, uint32_t *counted)
{
    Subsets all = {codes, apart, holders, weights, counts, levels, tally, seen, counted, 0, rows, columns};
    uint32_t *order = order_at(&all, 0), *starts = starts_at(&all, 0);
    for (int64_t i = 0; i < rows; i++) order[i] = (uint32_t)i;
    starts[0] = 0;
    starts[1] = (uint32_t)rows;
    descend(&all, 0, 1, begin, end, 0);
}

/* Of the subsets A in a list, finds for some rows the one with the largest same/peers: counts[A | sensitive] by counts[A].
 * The first of several in the list stays. */
API void shoal_subset_largest(const uint32_t *counts, int64_t rows, const uint32_t *chosen, int64_t number,
                              const uint32_t *subsets, int64_t listed, uint32_t sensitive, uint32_t *best)
{
    enum { BLOCK = 1024 };
    uint32_t same[BLOCK], peers[BLOCK];
    for (int64_t start = 0; start < number; start += BLOCK) {
        const int64_t length = number - start < BLOCK ? number - start : BLOCK;
        const uint32_t *row = chosen + start;
        for (int64_t i = 0; i < length; i++) {
            same[i] = 0;
            peers[i] = 1;
        }
        for (int64_t a = 0; a < listed; a++) {
            const uint32_t *all = counts + (int64_t)subsets[a] * rows;
            const uint32_t *with = counts + (int64_t)(subsets[a] | sensitive) * rows;
            for (int64_t i = 0; i < length; i++) {
                const uint32_t here = with[row[i]], there = all[row[i]];
                if ((uint64_t)here * peers[i] > (uint64_t)same[i] * there) {
                    same[i] = here;
                    peers[i] = there;
                    best[start + i] = subsets[a];
                }
            }
        }
    }
}

/* Rows are looked at in blocks of SPAN words, a bit for each. */
enum { SPAN = 8, BLOCK_ROWS = 64 * SPAN, PLANES = 33 };

/* Packs eight bytes, each 0 or 1, into eight bits. */
static inline uint64_t pack_bits(const uint8_t *bytes) { return (load8(bytes) * 0x0102040810204080u) >> 56; }

/* The rows in which a subset breaches: (peers - same) / peers is at most p = above / below. */
static void breaching(const uint32_t *all, const uint32_t *with, int64_t length, uint32_t above, uint32_t below,
                      uint64_t *words)
{
    uint8_t bytes[BLOCK_ROWS];
    if (above == 0)
        for (int64_t i = 0; i < length; i++) bytes[i] = all[i] == with[i];
    else
        for (int64_t i = 0; i < length; i++)
            bytes[i] = (uint64_t)(all[i] - with[i]) * below <= (uint64_t)all[i] * above;
    if (length < BLOCK_ROWS) memset(bytes + length, 0, (size_t)(BLOCK_ROWS - length));
    for (int w = 0; w < SPAN; w++) {
        words[w] = 0;
        for (int byte = 0; byte < 8; byte++) words[w] |= pack_bits(bytes + 64 * w + 8 * byte) << (8 * byte);
    }
}

/* Adds one to the counters whose bits are set. Plane n holds the n-th binary digit of all counters. */
static inline void count_up(uint64_t planes[PLANES][SPAN], int word, uint64_t bits)
{
    for (int plane = 0; bits; plane++) {
        const uint64_t carry = planes[plane][word] & bits;
        planes[plane][word] ^= bits;
        bits = carry;
    }
}

static void read_counters(uint64_t planes[PLANES][SPAN], int64_t length, uint32_t *counters)
{
    for (int64_t i = 0; i < length; i++) {
        uint32_t number = 0;
        for (int plane = 0; plane < 32; plane++) number |= (uint32_t)(planes[plane][i / 64] >> (i % 64) & 1) << plane;
        counters[i] = number;
    }
}

/* For the rows in [begin, end) and every subset A of `known` with at most `most` columns: does knowing A breach?
 * `breached` gets the number of such subsets, `minimal` of those of which no proper subset does. `smallest`, which holds
 * NONE, gets the size of the smallest. `inside` has room for SPAN·2^columns numbers. The empty subset is looked at only if
 * `empty`. */
API void shoal_subset_breaches(const uint32_t *counts, int64_t rows, int64_t begin, int64_t end, uint32_t sensitive,
                               uint32_t known, int32_t most, int32_t empty, uint32_t above, uint32_t below,
                               uint64_t *inside, uint32_t *breached, uint32_t *minimal, uint8_t *smallest)
{
    for (int64_t start = begin; start < end; start += BLOCK_ROWS) {
        const int64_t length = end - start < BLOCK_ROWS ? end - start : BLOCK_ROWS;
        uint64_t all[PLANES][SPAN] = {{0}}, least[PLANES][SPAN] = {{0}};
        for (uint32_t subset = 0;; subset = (subset - known) & known) {
            const int size = __builtin_popcount(subset);
            uint64_t here[SPAN] = {0}, lower[SPAN] = {0};
            if (size <= most && (size || empty))
                breaching(counts + (int64_t)subset * rows + start, counts + (int64_t)(subset | sensitive) * rows + start,
                          length, above, below, here);
            for (uint32_t rest = subset; rest; rest &= rest - 1) {
                const uint64_t *smaller = inside + (int64_t)(subset & ~(rest & -rest)) * SPAN;
                for (int w = 0; w < SPAN; w++) lower[w] |= smaller[w];
            }
            for (int w = 0; w < SPAN; w++) {
                inside[(int64_t)subset * SPAN + w] = here[w] | lower[w];
                count_up(all, w, here[w]);
                count_up(least, w, here[w] & ~lower[w]);
                for (uint64_t left = here[w] & ~lower[w]; left; left &= left - 1) {
                    const int64_t row = start + 64 * w + __builtin_ctzll(left);
                    if (size < smallest[row]) smallest[row] = (uint8_t)size;
                }
            }
            if (subset == known) break;
        }
        read_counters(all, length, breached + start);
        read_counters(least, length, minimal + start);
    }
}

/* ---- rows that agree within windows --------------------------------------------------------------------- */

enum { PAIRS = 2048 };

/* counts[A][i] = persons whose row agrees with row i in all columns of A, for the rows in [begin, end). A row j agrees in
 * a column if its code is one of the `spans` + 1 codes from `lows` on, which row i has there. Both are [columns][rows];
 * `sums` has room for 2^columns numbers. */
API void shoal_pair_counts(const uint32_t *codes, const uint32_t *lows, const uint32_t *spans, const uint32_t *weights,
                           int64_t rows, int32_t columns, int64_t begin, int64_t end, uint32_t *sums, uint32_t *counts)
{
    const int64_t subsets = (int64_t)1 << columns;
    uint32_t masks[PAIRS];
    for (int64_t i = begin; i < end; i++) {
        memset(sums, 0, (size_t)subsets * sizeof(uint32_t));
        for (int64_t from = 0; from < rows; from += PAIRS) {
            const int64_t size = rows - from < PAIRS ? rows - from : PAIRS;
            memset(masks, 0, sizeof masks);
            for (int32_t column = 0; column < columns; column++) {
                const uint32_t *others = codes + column * rows + from;
                const uint32_t low = lows[column * rows + i], span = spans[column * rows + i];
                for (int64_t j = 0; j < size; j++) masks[j] |= (uint32_t)(others[j] - low <= span) << column;
            }
            for (int64_t j = 0; j < size; j++) sums[masks[j]] += weights[from + j];
        }
        for (int64_t bit = 1; bit < subsets; bit <<= 1) /* who agrees in more agrees in less */
            for (int64_t subset = 0; subset < subsets; subset++)
                if (!(subset & bit)) sums[subset] += sums[subset | bit];
        for (int64_t subset = 0; subset < subsets; subset++) counts[subset * rows + i] = sums[subset];
    }
}

/* ---- the subset that tells most, in tables too wide to count all subsets -------------------------------- */

/* All arrays of [rows][columns] have what belongs to one row side by side: groups of rows are small and scattered. */
typedef struct {
    const uint32_t *codes;    /* [rows][columns] */
    const uint32_t *weights;  /* [rows] */
    const uint32_t *fewest;   /* [rows][columns]: protective peers of each sensitive column if all that is left is known */
    uint32_t *same, *peers;   /* [rows][columns]: the largest share so far */
    uint64_t *best;           /* [rows][columns]: the subset that has it */
    uint64_t *open;           /* [rows]: the sensitive columns of which something may still tell more */
    uint32_t *order;          /* [columns + 1][rows] */
    uint32_t *tally;          /* as many zeros as a column has codes */
    uint32_t *places;         /* the same */
    const volatile int32_t *stop;
    int64_t rows, visited;
    uint64_t known; /* the columns that may be known */
    int32_t columns, most, capped;
} Wide;

/* Compares same/peers with the best of a row. */
static inline void offer(Wide *all, int64_t at, uint32_t same, uint32_t peers, uint64_t subset)
{
    if ((uint64_t)same * all->peers[at] <= (uint64_t)all->same[at] * peers) return;
    all->same[at] = same;
    all->peers[at] = peers;
    all->best[at] = subset;
}

/* Looks at one sensitive column in a group of rows that share what is known; tells whether knowing more may tell more.
 *
 * Whatever more is known, at least `fewest` protective peers stay, and at most `same` peers who share the value: the
 * share of protective peers is at least fewest / (fewest + same). */
static int look(Wide *all, const uint32_t *rows, int64_t size, uint32_t peers, int32_t sensitive, uint64_t subset)
{
    const int64_t width = all->columns;
    const uint32_t *codes = all->codes + sensitive;
    int open = 0;
    for (int64_t i = 0; i < size; i++) all->tally[codes[rows[i] * width]] += all->weights[rows[i]];
    for (int64_t i = 0; i < size; i++) {
        if (!(all->open[rows[i]] >> sensitive & 1)) continue;
        const int64_t at = rows[i] * width + sensitive;
        const uint32_t same = all->tally[all->codes[at]];
        offer(all, at, same, peers, subset);
        const uint64_t left = all->fewest[at], protective = all->peers[at] - all->same[at];
        open |= (unsigned __int128)left * all->peers[at] < (unsigned __int128)protective * (left + same);
        if (!protective) all->open[rows[i]] &= ~((uint64_t)1 << sensitive);
    }
    for (int64_t i = 0; i < size; i++) all->tally[codes[rows[i] * width]] = 0;
    return open;
}

/* The columns in which all rows of a group agree. */
static uint64_t agreeing_columns(const Wide *all, const uint32_t *rows, int64_t size, uint64_t subset)
{
    const int64_t width = all->columns;
    const uint32_t *first = all->codes + rows[0] * width;
    uint64_t agree = all->known;
    for (int64_t i = 1; i < size && agree != subset; i++) {
        const uint32_t *other = all->codes + rows[i] * width;
        for (uint64_t left = agree & ~subset; left; left &= left - 1) {
            const int32_t column = __builtin_ctzll(left);
            if (first[column] != other[column]) agree &= ~((uint64_t)1 << column);
        }
    }
    return agree;
}

/* Sorts the rows of a group by a column into the next depth. */
static void take_apart(Wide *all, const uint32_t *rows, int64_t size, int32_t column, uint32_t *out)
{
    const int64_t width = all->columns;
    const uint32_t *codes = all->codes + column;
    uint32_t place = 0;
    for (int64_t i = 0; i < size; i++) all->tally[codes[rows[i] * width]]++;
    for (int64_t i = 0; i < size; i++) {
        const uint32_t code = codes[rows[i] * width];
        if (all->tally[code]) {
            all->places[code] = place;
            place += all->tally[code];
            all->tally[code] = 0;
        }
    }
    for (int64_t i = 0; i < size; i++) out[all->places[codes[rows[i] * width]]++] = rows[i];
}

static void explore(Wide *all, const uint32_t *rows, int64_t size, int32_t depth, int32_t last, uint64_t subset,
                    uint64_t above, uint64_t live);

/* Goes on with every part of a group that a column takes apart. */
static void explore_parts(Wide *all, const uint32_t *rows, int64_t size, int32_t depth, int32_t column, uint64_t subset,
                          uint64_t above, uint64_t live)
{
    const int64_t width = all->columns;
    const uint32_t *codes = all->codes + column;
    for (int64_t begin = 0, end; begin < size; begin = end) {
        const uint32_t code = codes[rows[begin] * width];
        for (end = begin + 1; end < size && codes[rows[end] * width] == code;) end++;
        explore(all, rows + begin, end - begin, depth, column, subset, above, live);
    }
}

/* Leaves out sensitive columns for which the same rows are met again. If they agree in a column before the last one, so
 * do they, and all that follows from here, where that column is known too: the column takes the group above apart, so it
 * was gone on with there. Not for the sensitive column itself. `above`: where the rows of the group above agree. */
static uint64_t met_only_here(uint64_t agree, uint64_t above, int32_t last, uint64_t live)
{
    const uint64_t before = agree & ~above & (((uint64_t)1 << last) - 1);
    if (before == 0) return live;
    return before & (before - 1) ? 0 : live & before;
}

static void explore(Wide *all, const uint32_t *rows, int64_t size, int32_t depth, int32_t last, uint64_t subset,
                    uint64_t above, uint64_t live)
{
    if (*all->stop) return;
    uint64_t open = 0;
    for (int64_t i = 0; i < size && (open & live) != live; i++) open |= all->open[rows[i]];
    live &= open;
    if (live == 0) return;
    all->visited++;
    const uint64_t agree = agreeing_columns(all, rows, size, subset);
    if (!all->capped) live = met_only_here(agree, above, last, live);
    if (live == 0) return;
    uint32_t peers = 0;
    for (int64_t i = 0; i < size; i++) peers += all->weights[rows[i]];
    for (uint64_t left = live; left; left &= left - 1) {
        const int32_t sensitive = __builtin_ctzll(left);
        if (size == 1) {
            offer(all, rows[0] * (int64_t)all->columns + sensitive, peers, peers, subset);
            all->open[rows[0]] &= ~((uint64_t)1 << sensitive);
        } else if (!look(all, rows, size, peers, sensitive, subset)) live &= ~((uint64_t)1 << sensitive);
    }
    if (size == 1 || live == 0 || depth == all->most) return;
    uint32_t *out = all->order + (int64_t)depth * all->rows;
    for (int32_t column = last + 1; column < all->columns; column++) {
        const uint64_t bit = (uint64_t)1 << column, others = live & ~bit;
        if (!others || !(all->known & bit) || agree & bit) continue;
        take_apart(all, rows, size, column, out);
        explore_parts(all, out, size, depth + 1, column, subset | bit, agree, others);
    }
}

/* Looks at all subsets whose first column is `first`, as far as they may tell more than what is known already. `fewest`
 * is about the columns from `first` on; `open` has, for each row, the bits of the columns of `live` that are asked
 * about and of which not everything is told yet; `room` is for (columns + 1)·rows numbers. Returns how many groups of rows were
 * looked at. */
API int64_t shoal_subset_search(const uint32_t *codes, const uint32_t *weights, const uint32_t *fewest, int64_t rows,
                                int32_t columns, int32_t first, int32_t most, uint64_t live, uint64_t known,
                                uint32_t *same, uint32_t *peers, uint64_t *best, uint64_t *open, uint32_t *room,
                                uint32_t *tally, uint32_t *places, const int32_t *stop)
{
    const int capped = most < __builtin_popcountll(known);
    Wide all = {codes,  weights, fewest, same, peers, best,  open,    room, tally,
                places, stop,    rows,   0,    known, columns, most, capped};
    uint32_t *everybody = room + (int64_t)columns * rows, *out = room;
    const uint64_t bit = (uint64_t)1 << first;
    if (rows == 0 || !(live & ~bit)) return 0;
    for (int64_t i = 0; i < rows; i++) everybody[i] = (uint32_t)i;
    const uint64_t above = agreeing_columns(&all, everybody, rows, 0);
    take_apart(&all, everybody, rows, first, out);
    explore_parts(&all, out, rows, 1, first, bit, above, live & ~bit);
    return all.visited;
}

/* ---- decimals ----------------------------------------------------------------------------------------- */

enum { PLACES = 19 };
static const int64_t DIGITS_LIMIT = 10000000000000000; /* another digit makes 17 */
static const uint64_t SURE_DIGITS = 1000000000000000; /* fifteen digits always survive in a double */
static const uint64_t EXACT_INTEGERS = (uint64_t)1 << 53;

static inline int bits(uint64_t number) { return number ? 64 - __builtin_clzll(number) : 0; }

static inline double power_of_two(int exponent)
{
    const uint64_t pattern = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &pattern, 8);
    return power;
}

/* Returns the double nearest to digits / ten, where ten is a power of ten; ties to even. `held` tells whether the double,
 * rounded to as many decimal places, is the decimal again. */
static double nearest(uint64_t digits, uint64_t ten, uint8_t *held)
{
    *held = ten == 1 ? digits <= EXACT_INTEGERS : digits == 0;
    if (digits == 0) return 0;
    if (digits < SURE_DIGITS && ten < EXACT_INTEGERS) { /* both are doubles: one division rounds once, and nothing is lost */
        *held = 1;
        return (double)digits / (double)ten;
    }
    const int shift = 63 + bits(ten) - bits(digits);
    const unsigned __int128 number = (unsigned __int128)digits << shift;
    const uint64_t quotient = (uint64_t)(number / ten);
    const int sticky = number != (unsigned __int128)quotient * ten, extra = bits(quotient) - 53;
    const uint64_t rest = quotient & (((uint64_t)1 << extra) - 1), half = (uint64_t)1 << (extra - 1);
    uint64_t mantissa = quotient >> extra;
    mantissa += rest > half || (rest == half && (sticky || mantissa & 1));
    const int scale = shift - extra;
    if (ten > 1 && scale > 0) {
        const unsigned __int128 double_times_ten = (unsigned __int128)mantissa * ten;
        const unsigned __int128 decimal = (unsigned __int128)digits << scale;
        const unsigned __int128 error = double_times_ten > decimal ? double_times_ten - decimal : decimal - double_times_ten;
        *held = error < (unsigned __int128)1 << (scale - 1);
    }
    return (double)mantissa * power_of_two(-scale);
}

/* Reads texts such as -12.50 as doubles. Returns how many texts were read: it stops at the first that is written in
 * another way (a leading zero, an exponent), has more than 17 digits that count or more than 19 decimal places. */
API int64_t shoal_decimals(const uint8_t *text, const int64_t *ends, int64_t count, const uint64_t *tens,
                           double *doubles, uint8_t *held)
{
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *at = text + ends[i], *end = text + ends[i + 1];
        const int negative = at < end && *at == '-';
        at += negative;
        int64_t digits = 0, places = 0;
        const uint8_t *whole = at;
        for (; at < end && (uint8_t)(*at - '0') < 10 && digits < DIGITS_LIMIT; at++) digits = digits * 10 + (*at - '0');
        if (at - whole > 1 && *whole == '0') return i;
        if (at < end && *at == '.') {
            const uint8_t *point = at++;
            for (; at < end && (uint8_t)(*at - '0') < 10 && digits < DIGITS_LIMIT; at++)
                digits = digits * 10 + (*at - '0');
            places = at - point - 1;
            if (places == 0 || places > PLACES) return i;
        }
        if (at == whole || at < end) return i;
        const double size = nearest((uint64_t)digits, tens[places], &held[i]);
        doubles[i] = negative ? -size : size;
    }
    return count;
}

/* ---- quoting in text tables --------------------------------------------------------------------------- */

enum { START, BARE, QUOTED, CLOSED, BROKEN };                 /* where in a field a byte is */
enum { SEEN_BARE = 1, SEEN_QUOTED = 2, SEEN_FORCED = 4 };     /* what a column has shown; forced: quotes were needed */
enum { MODE, COLUMN, ROW, OPENED, FORCED };                   /* the scan's state between blocks */

/* Follows quotes through a block. seen[0 … columns) is about the first row, seen[columns … 2·columns) about the others.
 * Ends in mode BROKEN, with the row, if text follows a closing quote. */
API void shoal_scan_quotes(const uint8_t *bytes, int64_t length, uint8_t separator, int64_t *state, uint8_t *seen,
                           int64_t columns)
{
    int64_t mode = state[MODE], column = state[COLUMN], row = state[ROW], forced = state[FORCED];
    for (int64_t at = 0; at < length && mode != BROKEN; at++) {
        const uint8_t byte = bytes[at];
        const int line_end = byte == '\n' || byte == '\r';
        if (mode == QUOTED) {
            if (byte == '"') mode = CLOSED;
            else if (byte == separator || line_end) forced = 1;
            continue;
        }
        if (mode == CLOSED && byte == '"') {
            mode = QUOTED;
            forced = 1;
            continue;
        }
        if (byte == separator || line_end) {
            const int empty_line = line_end && mode == START && column == 0;
            if (column < columns && mode != START)
                seen[(row ? columns : 0) + column] |= mode == BARE ? SEEN_BARE : forced ? SEEN_FORCED : SEEN_QUOTED;
            column = line_end ? 0 : column + 1;
            if (line_end && !empty_line) row++;
            mode = START;
            continue;
        }
        if (mode == CLOSED) mode = BROKEN;
        else if (mode == START && byte == '"') {
            mode = QUOTED;
            forced = 0;
            state[OPENED] = row;
        } else
            mode = BARE;
    }
    state[MODE] = mode;
    state[COLUMN] = column;
    state[ROW] = row;
    state[FORCED] = forced;
}
