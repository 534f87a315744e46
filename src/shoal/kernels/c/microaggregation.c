#include "core.h"

/* ---- groups of near points with at least k persons each --------------------------------------------------- */

/* Points without a group: coordinate j of the point at place i is at[j·room + i]. `weight`: their persons; `sums`: the
 * weighted sum of their coordinates. `away`: their distances from the point that was measured last. `centre`, `seed`,
 * `other`: room for the coordinates of points; `chosen`: room for `least` places. */
typedef struct {
    double *at;
    int64_t columns, room, left;
    uint32_t *ids, *persons;
    uint64_t weight, least;
    double *sums, *away, *near, *centre, *seed, *other;
    uint32_t *chosen, *labels;
} Points;

enum { BLOCK = 512 }; /* points whose distances stay in the fastest cache while columns are added up */

static void measure(const Points *points, const double *from, double *away)
{
    for (int64_t begin = 0; begin < points->left; begin += BLOCK) {
        const int64_t rest = points->left - begin, size = rest < BLOCK ? rest : BLOCK;
        double *restrict sum = away + begin;
        memset(sum, 0, (size_t)size * sizeof *sum);
        for (int64_t column = 0; column < points->columns; column++) {
            const double *restrict line = points->at + column * points->room + begin, place = from[column];
            for (int64_t i = 0; i < size; i++) {
                const double apart = line[i] - place;
                sum[i] += apart * apart;
            }
        }
    }
}

/* Returns the place of the farthest point; of equally far ones, that with the smallest id. */
static int64_t farthest(const Points *points)
{
    int64_t best = 0;
    for (int64_t i = 1; i < points->left; i++) {
        const double away = points->away[i], most = points->away[best];
        if (away > most || (away == most && points->ids[i] < points->ids[best])) best = i;
    }
    return best;
}

static void copy(const Points *points, int64_t place, double *into)
{
    for (int64_t column = 0; column < points->columns; column++) into[column] = points->at[column * points->room + place];
}

static void find_centre(const Points *points)
{
    for (int64_t column = 0; column < points->columns; column++)
        points->centre[column] = points->sums[column] / (double)points->weight;
}

static inline int is_before(const Points *points, uint32_t a, uint32_t b)
{
    return points->away[a] < points->away[b] || (points->away[a] == points->away[b] && points->ids[a] < points->ids[b]);
}

/* Chooses the nearest points that have `least` persons together, the nearest first; returns their number. */
static int64_t choose(Points *points)
{
    uint32_t *chosen = points->chosen;
    const int64_t most = (int64_t)points->least;
    int64_t number = 0;
    for (int64_t i = 0; i < points->left; i++) {
        if (number == most && !is_before(points, (uint32_t)i, chosen[number - 1])) continue;
        int64_t at = number < most ? number++ : number - 1;
        for (; at > 0 && is_before(points, (uint32_t)i, chosen[at - 1]); at--) chosen[at] = chosen[at - 1];
        chosen[at] = (uint32_t)i;
    }
    uint64_t weight = 0;
    int64_t taken = 0;
    while (taken < number && weight < points->least) weight += points->persons[chosen[taken++]];
    return taken;
}

/* Gives the first chosen points a label and removes them. The last points take their places. */
static void take(Points *points, int64_t number, uint32_t label)
{
    uint32_t *chosen = points->chosen;
    for (int64_t i = 0; i < number; i++) {
        const uint32_t place = chosen[i];
        points->labels[points->ids[place]] = label;
        points->weight -= points->persons[place];
        for (int64_t column = 0; column < points->columns; column++)
            points->sums[column] -= (double)points->persons[place] * points->at[column * points->room + place];
    }
    for (int64_t i = 1; i < number; i++) { /* places in descending order, so that none moves before its turn */
        const uint32_t place = chosen[i];
        int64_t at = i;
        for (; at > 0 && chosen[at - 1] < place; at--) chosen[at] = chosen[at - 1];
        chosen[at] = place;
    }
    for (int64_t i = 0; i < number; i++) {
        const int64_t place = chosen[i], last = --points->left;
        points->ids[place] = points->ids[last];
        points->persons[place] = points->persons[last];
        points->away[place] = points->away[last];
        points->near[place] = points->near[last];
        for (int64_t column = 0; column < points->columns; column++) {
            double *line = points->at + column * points->room;
            line[place] = line[last];
        }
    }
}

/* Forms the group of the points nearest to those whose distances were measured last. */
static void form(Points *points, uint32_t label) { take(points, choose(points), label); }

static void take_rest(Points *points, uint32_t label)
{
    for (int64_t i = 0; i < points->left; i++) points->labels[points->ids[i]] = label;
    points->left = 0;
}

/* MDAV (Domingo-Ferrer & Mateo-Sanz 2002): groups around the point farthest from the centre, and around the one
 * farthest from that. Returns the number of groups; points whose persons are too few keep their labels. */
API int64_t shoal_mdav(Points *points)
{
    uint32_t groups = 0;
    while (points->weight >= 3 * points->least) {
        find_centre(points);
        measure(points, points->centre, points->away);
        copy(points, farthest(points), points->seed);
        measure(points, points->seed, points->away);
        copy(points, farthest(points), points->other);
        form(points, groups++);
        measure(points, points->other, points->away);
        form(points, groups++);
    }
    if (points->weight >= 2 * points->least) {
        find_centre(points);
        measure(points, points->centre, points->away);
        copy(points, farthest(points), points->seed);
        measure(points, points->seed, points->away);
        form(points, groups++);
    }
    if (points->weight >= points->least) take_rest(points, groups++);
    return groups;
}

static int64_t nearest(const Points *points, const double *away)
{
    int64_t best = 0;
    for (int64_t i = 1; i < points->left; i++)
        if (away[i] < away[best] || (away[i] == away[best] && points->ids[i] < points->ids[best])) best = i;
    return best;
}

/* V-MDAV (Solanas & Martínez-Ballesté 2006): a group around the point farthest from the centre of all. It takes further
 * points as long as each is nearer to the group than `gamma` times its distance to the other points. */
API int64_t shoal_v_mdav(Points *points, double gamma)
{
    uint32_t groups = 0;
    find_centre(points);
    while (points->weight >= points->least) {
        measure(points, points->centre, points->away);
        copy(points, farthest(points), points->seed);
        measure(points, points->seed, points->away);
        memcpy(points->near, points->away, (size_t)points->left * sizeof *points->near);
        const int64_t number = choose(points);
        uint64_t weight = 0;
        for (int64_t i = 0; i < number; i++) { /* the distance of each point from the nearest member of the group */
            weight += points->persons[points->chosen[i]];
            copy(points, points->chosen[i], points->other);
            measure(points, points->other, points->away);
            for (int64_t j = 0; j < points->left; j++)
                if (points->away[j] < points->near[j]) points->near[j] = points->away[j];
        }
        take(points, number, groups);
        while (points->left > 1) {
            const int64_t next = nearest(points, points->near);
            if (weight + points->persons[next] > 2 * points->least - 1) break;
            copy(points, next, points->other);
            measure(points, points->other, points->away);
            double outside = points->away[next ? 0 : 1];
            for (int64_t i = 0; i < points->left; i++)
                if (i != next && points->away[i] < outside) outside = points->away[i];
            if (!(points->near[next] < gamma * gamma * outside)) break;
            for (int64_t i = 0; i < points->left; i++)
                if (points->away[i] < points->near[i]) points->near[i] = points->away[i];
            weight += points->persons[next];
            points->chosen[0] = (uint32_t)next;
            take(points, 1, groups);
        }
        groups++;
    }
    return groups;
}

/* k-member (Byun et al. 2007): a group starts at the point farthest from the start of the previous one, and takes, one
 * by one, the point that increases its sum of squares least. */
API int64_t shoal_k_member(Points *points)
{
    uint32_t groups = 0;
    find_centre(points);
    memcpy(points->seed, points->centre, (size_t)points->columns * sizeof *points->seed);
    while (points->weight >= points->least) {
        measure(points, points->seed, points->away);
        int64_t next = farthest(points);
        copy(points, next, points->seed);
        memset(points->other, 0, (size_t)points->columns * sizeof *points->other); /* the sums of the group */
        double weight = 0;
        for (;;) {
            const double added = points->persons[next];
            weight += added;
            for (int64_t column = 0; column < points->columns; column++)
                points->other[column] += added * points->at[column * points->room + next];
            points->chosen[0] = (uint32_t)next;
            take(points, 1, groups);
            if (weight >= (double)points->least) break;
            for (int64_t column = 0; column < points->columns; column++)
                points->centre[column] = points->other[column] / weight;
            measure(points, points->centre, points->away);
            for (int64_t i = 0; i < points->left; i++) {
                const double heavy = points->persons[i];
                points->near[i] = points->away[i] * (heavy * weight / (heavy + weight));
            }
            next = nearest(points, points->near);
        }
        groups++;
    }
    return groups;
}

/* ---- one column: the optimal groups ----------------------------------------------------------------------- */

/* Hansen & Mukherjee 2003: the groups of values in ascending order with the least sum of squares. `values` and
 * `persons`: of n points; `cost[i]`, `from[i]`: of the best groups of the first i points, and the start of the last of
 * them. `cost` and `from` have room for n + 1. */
API void shoal_univariate(const double *values, const uint32_t *persons, int64_t n, uint64_t least, double *cost,
                          int64_t *from)
{
    cost[0] = 0;
    from[0] = 0;
    for (int64_t end = 1; end <= n; end++) {
        double weight = 0, mean = 0, spread = 0, best = -1;
        int64_t start = -1, whole = end; /* from `whole` on, the last points have `least` persons */
        uint64_t inside = 0, behind = 0;
        for (int64_t begin = end - 1; begin >= 0; begin--) {
            const double heavy = persons[begin], apart = values[begin] - mean;
            weight += heavy;
            mean += apart * (heavy / weight);
            spread += heavy * apart * (values[begin] - mean);
            inside += persons[begin];
            if (inside < least) continue;
            if (!behind) {
                behind = inside;
                whole = begin;
            }
            if (cost[begin] >= 0) {
                const double total = cost[begin] + spread;
                if (best < 0 || total < best) {
                    best = total;
                    start = begin;
                }
            }
            if (inside - behind >= least && begin < whole) break; /* such a group could be divided */
        }
        cost[end] = best;
        from[end] = start;
    }
}
