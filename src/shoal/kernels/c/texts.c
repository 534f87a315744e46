#include "core.h"

/* ---- decimals ----------------------------------------------------------------------------------------- */

enum { PLACES = 19 };
static const int64_t DIGITS_LIMIT = 10000000000000000; /* one more digit makes 17 */
static const uint64_t SURE_DIGITS = 1000000000000000; /* fifteen digits are always preserved in a double */
static const uint64_t EXACT_INTEGERS = (uint64_t)1 << 53;

static inline int bits(uint64_t number) { return number ? 64 - __builtin_clzll(number) : 0; }

static inline double power_of_two(int exponent)
{
    const uint64_t pattern = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &pattern, 8);
    return power;
}

/* Returns the double nearest to digits / ten, where ten is a power of ten; ties to even. `held`: whether the double,
 * rounded to the same number of decimal places, equals the decimal. */
static double nearest(uint64_t digits, uint64_t ten, uint8_t *held)
{
    *held = ten == 1 ? digits <= EXACT_INTEGERS : digits == 0;
    if (digits == 0) return 0;
    if (digits < SURE_DIGITS && ten < EXACT_INTEGERS) { /* both are exact doubles: one division, one rounding */
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

/* Parses texts such as -12.50 as doubles. Returns the number of texts parsed: it stops at the first with a different
 * notation (a leading zero, an exponent), more than 17 significant digits, or more than 19 decimal places. */
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

enum { START, BARE, QUOTED, CLOSED, BROKEN };                 /* position of a byte within a field */
enum { SEEN_BARE = 1, SEEN_QUOTED = 2, SEEN_FORCED = 4 };     /* kinds of fields in a column; forced: quotes required */
enum { MODE, COLUMN, ROW, OPENED, FORCED };                   /* the scan's state between blocks */

/* Scans the quotes of a block. seen[0 … columns) refers to the first row, seen[columns … 2·columns) to the others. Ends
 * in mode BROKEN, with the row, if text follows a closing quote. */
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
