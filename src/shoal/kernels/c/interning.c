#include "core.h"

#ifndef SHOAL_SOURCE_HASH
#define SHOAL_SOURCE_HASH "unknown"
#endif

/* Compared with the hash of the sources on loading, so that a stale library is never used. */
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

/* The XOR of the two halves of a 128-bit product. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load4(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, 4);
    return value;
}

/* Loads up to seven bytes as one integer, by overlapping loads of fixed size: no call, no access beyond the end. */
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

/* ---- interning: values are mapped to codes 1, 2, 3, … in order of first appearance; 0 is missing ---- */

/* A slot contains the upper half of the hash and the code; 0 is free. The table is at most half full. */
#define SLOT(hash, code) (((hash) & 0xffffffff00000000u) | (uint64_t)(code))

/* Hashes are computed this number of rows ahead, so that the slots are prefetched before they are needed. */
enum { AHEAD = 32 };

/* Text cells: cell r is text[bounds[r·stride] … bounds[r·stride + 1] − gap). The gap is the separator between the
 * fields of a file; an empty field is missing. */
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

/* Makes every cell a separate entry, without checking whether it already exists. */
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

/* Returns the high bit of every byte of `word` that equals the byte repeated in `pattern`. */
static inline uint64_t equal_bytes(uint64_t word, uint64_t pattern)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu, different = word ^ pattern;
    return ~(((different & low) + low) | different | low);
}

/* Splits lines of text, the last of which is terminated, at separators. In row r, field c begins at
 * bounds[r·(width + 1) + c] and ends at bounds[r·(width + 1) + c + 1] − 1. Empty lines are skipped if there are several
 * fields. Assumes little-endian words. Returns the number of rows, or −1 if a line does not have `width` fields. */
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

/* Inserts the first `count` dictionary entries into a larger, zeroed slot table. */
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

/* Interns keys of 64 bits. `used` = {codes}. Returns the number of rows done. */
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

/* Counts keys in a hash table: slots[2s] is a key, slots[2s + 1] its count, 0 if the slot is free. Returns the number
 * of rows processed: all, or as many as fit below three quarters of the slots. */
API int64_t shoal_tally_keys(const uint64_t *keys, int64_t rows, uint64_t *slots, int64_t slot_count, int64_t *used)
{
    const uint64_t mask = (uint64_t)slot_count - 1;
    int64_t count = used[0], row = 0;
    for (; row < rows; row++) {
        if (row + AHEAD < rows) __builtin_prefetch(slots + 2 * (mix(keys[row + AHEAD]) & mask));
        uint64_t at = mix(keys[row]) & mask;
        while (slots[2 * at + 1] && slots[2 * at] != keys[row]) at = (at + 1) & mask;
        if (!slots[2 * at + 1]) {
            if (4 * (count + 1) > 3 * slot_count) break;
            slots[2 * at] = keys[row];
            count++;
        }
        slots[2 * at + 1]++;
    }
    used[0] = count;
    return row;
}

/* Moves keys and their counts to a larger table. */
API void shoal_retally_keys(const uint64_t *from, int64_t from_count, uint64_t *slots, int64_t slot_count)
{
    const uint64_t mask = (uint64_t)slot_count - 1;
    for (int64_t i = 0; i < from_count; i++) {
        if (!from[2 * i + 1]) continue;
        uint64_t at = mix(from[2 * i]) & mask;
        while (slots[2 * at + 1]) at = (at + 1) & mask;
        slots[2 * at] = from[2 * i];
        slots[2 * at + 1] = from[2 * i + 1];
    }
}

/* keys[i] = bytes 8·part … 8·part + 7 of value i, first byte most significant, padded with zeros: integers in the order
 * of the bytes. */
API void shoal_text_words(const uint8_t *text, const int64_t *ends, int64_t count, int64_t part, uint64_t *keys)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t start = ends[i] + 8 * part, left = ends[i + 1] - start;
        uint64_t key = 0;
        for (int64_t b = 0; b < (left < 8 ? left : 8); b++) key |= (uint64_t)text[start + b] << (56 - 8 * b);
        keys[i] = key;
    }
}

/* Concatenates the values in another order; out_ends[0] is 0 and `out` has sufficient room. */
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
