#include "core.h"

/* ---- better groups of near points: local search ----------------------------------------------------------- */

/* Groups of points with at least `least` persons and at most `room` points each. Point i has the coordinates
 * points[i·columns + j]. Group g has `sizes[g]` points, members[g·room …], and `weights[g]` persons; `centres`: their
 * weighted means. `changed[g]`: the round in which the group changed last. There are `groups` of them, and room for
 * `most`. */
typedef struct {
    const double *points;
    const uint32_t *persons;
    int64_t columns, room, groups, most;
    uint64_t least;
    uint32_t *members;
    int64_t *sizes;
    uint64_t *weights;
    double *centres;
    int64_t *changed;
} Groups;

/* Room for the points of two groups: their ids, their coordinates from their common centre, their keys, and five
 * points. */
typedef struct {
    uint32_t *ids;
    double *apart, *keys, *whole, *left, *right, *direction, *sum;
} Pair;

enum { NEIGHBOURS = 8, STEPS = 8 };
static const double CLEAR = 1e-12; /* a smaller relative gain may be rounding */

static double square(const double *a, int64_t columns)
{
    double sum = 0;
    for (int64_t column = 0; column < columns; column++) sum += a[column] * a[column];
    return sum;
}

/* Writes the members and the centre of a group. */
static void fill(Groups *groups, int64_t group, const uint32_t *ids, int64_t size)
{
    const int64_t columns = groups->columns;
    double *centre = groups->centres + group * columns;
    memset(centre, 0, (size_t)columns * sizeof *centre);
    uint64_t weight = 0;
    for (int64_t i = 0; i < size; i++) {
        const double heavy = groups->persons[ids[i]];
        const double *point = groups->points + (int64_t)ids[i] * columns;
        groups->members[group * groups->room + i] = ids[i];
        weight += groups->persons[ids[i]];
        for (int64_t column = 0; column < columns; column++) centre[column] += heavy * point[column];
    }
    for (int64_t column = 0; column < columns; column++) centre[column] /= (double)weight;
    groups->sizes[group] = size;
    groups->weights[group] = weight;
}

/* Sorts the points of a pair along its direction, equal ones by id. */
static void sort(const Groups *groups, Pair *pair, int64_t size)
{
    const int64_t columns = groups->columns;
    for (int64_t i = 0; i < size; i++) {
        double key = 0;
        for (int64_t column = 0; column < columns; column++)
            key += pair->apart[i * columns + column] * pair->direction[column];
        pair->keys[i] = key;
    }
    for (int64_t i = 1; i < size; i++) {
        const double key = pair->keys[i];
        const uint32_t id = pair->ids[i];
        int64_t at = i;
        for (; at > 0 && (key < pair->keys[at - 1] || (key == pair->keys[at - 1] && id < pair->ids[at - 1])); at--) {
            pair->keys[at] = pair->keys[at - 1];
            pair->ids[at] = pair->ids[at - 1];
        }
        pair->keys[at] = key;
        pair->ids[at] = id;
    }
}

/* Writes the coordinates of the points of a pair, from their common centre. */
static void relate(const Groups *groups, Pair *pair, int64_t size)
{
    const int64_t columns = groups->columns;
    for (int64_t i = 0; i < size; i++)
        for (int64_t column = 0; column < columns; column++)
            pair->apart[i * columns + column] =
                groups->points[(int64_t)pair->ids[i] * columns + column] - pair->whole[column];
}

static void find_whole(const Groups *groups, Pair *pair, int64_t size)
{
    const int64_t columns = groups->columns;
    double weight = 0;
    memset(pair->whole, 0, (size_t)columns * sizeof *pair->whole);
    for (int64_t i = 0; i < size; i++) {
        const double heavy = groups->persons[pair->ids[i]];
        weight += heavy;
        for (int64_t column = 0; column < columns; column++)
            pair->whole[column] += heavy * groups->points[(int64_t)pair->ids[i] * columns + column];
    }
    for (int64_t column = 0; column < columns; column++) pair->whole[column] /= weight;
}

/* Adds up points of a pair; returns the gain of a group of them: its weight times its squared distance from the common
 * centre. The sum of squares within groups is a constant minus all gains. */
static double gain_of(const Groups *groups, const Pair *pair, int64_t begin, int64_t end, double *sum)
{
    const int64_t columns = groups->columns;
    double weight = 0;
    memset(sum, 0, (size_t)columns * sizeof *sum);
    for (int64_t i = begin; i < end; i++) {
        const double heavy = groups->persons[pair->ids[i]];
        weight += heavy;
        for (int64_t column = 0; column < columns; column++) sum[column] += heavy * pair->apart[i * columns + column];
    }
    const double gain = square(sum, columns) / weight;
    for (int64_t column = 0; column < columns; column++) sum[column] /= weight;
    return gain;
}

/* Returns the best place to cut the sorted points of a pair in two groups, and its gain; 0 if there is none. */
static int64_t best_cut(const Groups *groups, Pair *pair, int64_t size, uint64_t weight, double *gain)
{
    const int64_t columns = groups->columns;
    uint64_t before = 0;
    int64_t best = 0;
    memset(pair->sum, 0, (size_t)columns * sizeof *pair->sum);
    for (int64_t i = 0; i + 1 < size; i++) {
        const uint64_t heavy = groups->persons[pair->ids[i]];
        before += heavy;
        for (int64_t column = 0; column < columns; column++)
            pair->sum[column] += (double)heavy * pair->apart[i * columns + column];
        if (before < groups->least || i + 1 > groups->room || size - i - 1 > groups->room) continue;
        if (weight - before < groups->least) break;
        /* the coordinates add up to zero: both groups have the same sum but for its sign */
        const double here = square(pair->sum, columns) * (1 / (double)before + 1 / (double)(weight - before));
        if (!best || here > *gain) {
            best = i + 1;
            *gain = here;
        }
    }
    return best;
}

/* Divides the points of a pair along its direction, and again along the line between the new centres, as long as that
 * increases the gain. The points are left in the order of the best cut, which is returned; 0 if there is none. */
static int64_t halve(const Groups *groups, Pair *pair, int64_t size, uint64_t weight, double *gain, uint32_t *kept)
{
    const int64_t columns = groups->columns;
    int64_t best = 0;
    for (int step = 0; step < STEPS; step++) {
        relate(groups, pair, size);
        sort(groups, pair, size);
        relate(groups, pair, size);
        double here = 0;
        const int64_t cut = best_cut(groups, pair, size, weight, &here);
        if (!cut || !(here > *gain + CLEAR * (*gain + here))) break;
        best = cut;
        *gain = here;
        memcpy(kept, pair->ids, (size_t)size * sizeof *kept);
        gain_of(groups, pair, 0, cut, pair->left);
        gain_of(groups, pair, cut, size, pair->right);
        for (int64_t column = 0; column < columns; column++)
            pair->direction[column] = pair->right[column] - pair->left[column];
    }
    return best;
}

/* A step between two groups: the point at place `out` leaves the first, the one at place `in` enters it; −1: none. */
typedef struct {
    int64_t out, in;
    double gain;
} Step;

/* Returns the gain if a step is taken; −1 if a group would have too few persons. `before`: the persons of the first
 * group, whose sum is in pair->sum. */
static double gain_of_step(const Groups *groups, const Pair *pair, uint64_t weight, uint64_t before, Step step)
{
    const double leaving = step.out < 0 ? 0 : groups->persons[pair->ids[step.out]];
    const double entering = step.in < 0 ? 0 : groups->persons[pair->ids[step.in]];
    const double first = (double)before - leaving + entering, second = (double)weight - first;
    if (first < (double)groups->least || second < (double)groups->least) return -1;
    const double *out = pair->apart + (step.out < 0 ? 0 : step.out) * groups->columns;
    const double *in = pair->apart + (step.in < 0 ? 0 : step.in) * groups->columns;
    double sum = 0;
    for (int64_t column = 0; column < groups->columns; column++) {
        const double moved = pair->sum[column] - leaving * out[column] + entering * in[column];
        sum += moved * moved;
    }
    return sum * (1 / first + 1 / second);
}

/* Returns the step with the largest gain: a swap of two points or a move of one. */
static Step best_step(const Groups *groups, const Pair *pair, int64_t cut, int64_t size, uint64_t weight, uint64_t before)
{
    Step best = {-1, -1, 0};
    for (int64_t out = -1; out < cut; out++) {
        for (int64_t in = cut - 1; in < size; in++) {
            Step step = {out, in < cut ? -1 : in, 0};
            if (step.out < 0 && (step.in < 0 || cut == groups->room)) continue;
            if (step.in < 0 && size - cut == groups->room) continue;
            step.gain = gain_of_step(groups, pair, weight, before, step);
            if (step.gain > best.gain) best = step;
        }
    }
    return best;
}

/* Takes a step: the points of the first group remain before those of the second. Returns the size of the first. */
static int64_t take(Pair *pair, int64_t cut, Step step)
{
    const int64_t one = step.out < 0 ? cut : step.out, two = step.in < 0 ? cut - 1 : step.in;
    const uint32_t id = pair->ids[one];
    pair->ids[one] = pair->ids[two];
    pair->ids[two] = id;
    return cut + (step.out < 0) - (step.in < 0);
}

/* Swaps and moves points between two groups, the first `cut` points of a pair and the others, as long as that increases
 * the gain; returns the size of the first. */
static int64_t exchange(const Groups *groups, Pair *pair, int64_t cut, int64_t size, uint64_t weight, double *gain)
{
    for (;;) {
        relate(groups, pair, size);
        uint64_t before = 0;
        memset(pair->sum, 0, (size_t)groups->columns * sizeof *pair->sum);
        for (int64_t i = 0; i < cut; i++) {
            const double heavy = groups->persons[pair->ids[i]];
            before += groups->persons[pair->ids[i]];
            for (int64_t column = 0; column < groups->columns; column++)
                pair->sum[column] += heavy * pair->apart[i * groups->columns + column];
        }
        const Step step = best_step(groups, pair, cut, size, weight, before);
        if (!(step.gain > *gain + CLEAR * (*gain + step.gain))) return cut;
        cut = take(pair, cut, step);
        *gain = step.gain;
    }
}

/* Divides the points of two groups anew, if that lowers their sum of squares; returns whether it did. */
static int redivide(Groups *groups, Pair *pair, int64_t a, int64_t b, uint32_t *kept)
{
    const int64_t columns = groups->columns, first = groups->sizes[a], size = first + groups->sizes[b];
    const uint64_t weight = groups->weights[a] + groups->weights[b];
    memcpy(pair->ids, groups->members + a * groups->room, (size_t)first * sizeof *kept);
    memcpy(pair->ids + first, groups->members + b * groups->room, (size_t)groups->sizes[b] * sizeof *kept);
    find_whole(groups, pair, size);
    relate(groups, pair, size);
    double gain = gain_of(groups, pair, 0, first, pair->left) + gain_of(groups, pair, first, size, pair->right);
    const double start = gain;
    for (int64_t column = 0; column < columns; column++)
        pair->direction[column] = pair->right[column] - pair->left[column];
    int64_t cut = halve(groups, pair, size, weight, &gain, kept);
    if (cut) memcpy(pair->ids, kept, (size_t)size * sizeof *kept);
    else {
        cut = first;
        memcpy(pair->ids, groups->members + a * groups->room, (size_t)first * sizeof *kept);
        memcpy(pair->ids + first, groups->members + b * groups->room, (size_t)groups->sizes[b] * sizeof *kept);
    }
    cut = exchange(groups, pair, cut, size, weight, &gain);
    if (!(gain > start)) return 0;
    memcpy(kept, pair->ids, (size_t)size * sizeof *kept);
    fill(groups, a, kept, cut);
    fill(groups, b, kept + cut, size - cut);
    return 1;
}

/* Divides a group of at least twice the required persons in two, if possible; returns whether it did. */
static int split(Groups *groups, Pair *pair, int64_t group, uint32_t *kept)
{
    const int64_t columns = groups->columns, size = groups->sizes[group];
    if (groups->weights[group] < 2 * groups->least || groups->groups == groups->most) return 0;
    memcpy(pair->ids, groups->members + group * groups->room, (size_t)size * sizeof *kept);
    memcpy(pair->whole, groups->centres + group * columns, (size_t)columns * sizeof *pair->whole);
    relate(groups, pair, size);
    int64_t far = 0;
    double most = -1;
    for (int64_t i = 0; i < size; i++) {
        const double away = square(pair->apart + i * columns, columns);
        if (away > most) {
            most = away;
            far = i;
        }
    }
    memcpy(pair->direction, pair->apart + far * columns, (size_t)columns * sizeof *pair->direction);
    double gain = 0;
    const int64_t cut = halve(groups, pair, size, groups->weights[group], &gain, kept);
    if (!cut) return 0;
    fill(groups, group, kept, cut);
    fill(groups, groups->groups++, kept + cut, size - cut);
    return 1;
}

/* Writes the groups with the nearest centres, the nearest first; returns their number. */
static int64_t neighbours(const Groups *groups, int64_t group, int64_t most, int64_t *near, double *away)
{
    const int64_t columns = groups->columns;
    const double *centre = groups->centres + group * columns;
    int64_t number = 0;
    for (int64_t other = 0; other < groups->groups; other++) {
        if (other == group) continue;
        const double *place = groups->centres + other * columns;
        double sum = 0;
        for (int64_t column = 0; column < columns; column++) {
            const double apart = place[column] - centre[column];
            sum += apart * apart;
        }
        if (number == most && !(sum < away[number - 1])) continue;
        int64_t at = number < most ? number++ : number - 1;
        for (; at > 0 && sum < away[at - 1]; at--) {
            near[at] = near[at - 1];
            away[at] = away[at - 1];
        }
        near[at] = other;
        away[at] = sum;
    }
    return number;
}

/* Divides each group and its neighbours anew, pair by pair, until nothing changes or for some rounds. Returns the
 * number of rounds. */
API int64_t shoal_regroup(Groups *groups, Pair *pair, uint32_t *kept, int64_t rounds)
{
    int64_t near[NEIGHBOURS];
    double away[NEIGHBOURS];
    int64_t round = 1, last = 0; /* `last`: the round of the last change */
    for (int64_t group = 0; group < groups->groups; group++) groups->changed[group] = 0;
    for (; round <= rounds && last >= round - 1; round++) {
        for (int64_t group = 0; group < groups->groups; group++) {
            while (split(groups, pair, group, kept)) {
                groups->changed[group] = groups->changed[groups->groups - 1] = last = round;
            }
            const int64_t number = neighbours(groups, group, NEIGHBOURS, near, away);
            for (int64_t i = 0; i < number; i++) {
                const int64_t other = near[i];
                if (groups->changed[group] < round - 1 && groups->changed[other] < round - 1) continue;
                if (redivide(groups, pair, group, other, kept))
                    groups->changed[group] = groups->changed[other] = last = round;
            }
        }
    }
    return round - 1;
}
