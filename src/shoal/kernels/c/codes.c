#include "core.h"

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

/* out[i] = table[codes[i]], between any two widths. The caller guarantees that every code is in the table. */
API void shoal_translate(const void *codes, int32_t width, int64_t rows, const uint32_t *table, void *out,
                         int32_t out_width)
{
    switch (width) { FOR_EACH_WIDTH(TRANSLATE_FROM) }
}

#define PACK_COLUMN(IN, BYTES)                                                                                \
    case BYTES: {                                                                                             \
        const IN *codes = (const IN *)columns[c] + start;                                                     \
        for (int64_t i = 0; i < length; i++) part[i] = part[i] * radix + codes[i];                            \
        break;                                                                                                \
    }

/* keys[i] = (…(keys[i]·r₀ + c₀[i])·r₁ + c₁[i]…): mixed radix, most significant column first. Columns are combined into
 * 32-bit integers, several of which a processor multiplies at a time. */
API void shoal_pack(const void *const *columns, const int32_t *widths, const uint64_t *radices,
                    int32_t column_count, int64_t rows, uint64_t *keys)
{
    enum { BLOCK = 2048 }; /* keys stay in the L1 cache while the columns are read */
    uint32_t part[BLOCK];
    for (int64_t start = 0; start < rows; start += BLOCK) {
        const int64_t length = rows - start < BLOCK ? rows - start : BLOCK;
        for (int32_t c = 0; c < column_count;) {
            uint64_t space = 1;
            memset(part, 0, sizeof part);
            do {
                const uint32_t radix = (uint32_t)radices[c];
                switch (widths[c]) { FOR_EACH_WIDTH(PACK_COLUMN) }
                space *= radices[c++];
            } while (c < column_count && space <= UINT32_MAX && radices[c] <= UINT32_MAX / space);
            for (int64_t i = 0; i < length; i++) keys[start + i] = keys[start + i] * space + part[i];
        }
    }
}

/* Consecutive rows add to separate banks: if they have the same code, neither waits for the sum of the other. */
static int64_t sum_bytes(const uint8_t *codes, int64_t rows, const int64_t *counts, int64_t *sums, int64_t number)
{
    enum { BANKS = 4, CODES = 1 << 8 };
    int64_t banks[BANKS][CODES] = {0}, row = 0;
    uint8_t most = 0;
    for (int64_t i = 0; i < rows; i++) most = codes[i] > most ? codes[i] : most;
    if (rows && most >= number) return -1;
    for (; row + BANKS <= rows; row += BANKS)
        for (int32_t bank = 0; bank < BANKS; bank++) banks[bank][codes[row + bank]] += counts[row + bank];
    for (; row < rows; row++) banks[0][codes[row]] += counts[row];
    for (int64_t code = 0; code < number && code < CODES; code++)
        for (int32_t bank = 0; bank < BANKS; bank++) sums[code] += banks[bank][code];
    return rows;
}

#define SUM(IN, BYTES)                                                                                        \
    case BYTES:                                                                                               \
        for (int64_t i = 0; i < rows; i++) {                                                                  \
            const IN code = ((const IN *)codes)[i];                                                           \
            if (code >= number) return -1;                                                                    \
            sums[code] += counts[i];                                                                          \
        }                                                                                                     \
        break;

/* Sums counts by code. `sums` is zeroed. Returns -1 if a code is not below `number`. */
API int64_t shoal_sum(const void *codes, int32_t width, int64_t rows, const int64_t *counts, int64_t *sums, int64_t number)
{
    switch (width) {
        case 1: return sum_bytes(codes, rows, counts, sums, number);
        SUM(uint16_t, 2)
        SUM(uint32_t, 4)
    }
    return rows;
}

/* ---- grouping ----------------------------------------------------------------------------------------- */

/* Maps keys below `space` to dense ids in ascending order of the keys. `table` holds `space` zeros. Returns the number
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

/* seen[c] = 1 for every code c that occurs. */
#define MARK(type) for (int64_t i = 0; i < rows; i++) seen[((const type *)codes)[i]] = 1
API void shoal_mark(const void *codes, int32_t width, int64_t rows, uint8_t *seen)
{
    if (width == 1) MARK(uint8_t);
    else if (width == 2) MARK(uint16_t);
    else MARK(uint32_t);
}

/* counts[g] = size of group g; first[g] = its first row. `counts` is zeroed. */
API void shoal_tally(const uint32_t *ids, int64_t rows, int64_t *counts, int64_t *first)
{
    for (int64_t i = 0; i < rows; i++)
        if (counts[ids[i]]++ == 0) first[ids[i]] = i;
}
