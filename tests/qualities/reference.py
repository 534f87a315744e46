"""Slow twins of the measures: record by record, in sets and dictionaries, straight from the formulas."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import log2, prod, sqrt

STAR = "*"


def levels_of(ladder, values):
    """The level of each shown value: the lowest on which it stands."""
    return [next(level for level, rung in enumerate(ladder) if value in rung.values()) for value in values]


def nue(before, after, ladder):
    """Prasser 2016, literally. ``ladder[level][value]``: the label of a value; the last level is *."""
    reached = levels_of(ladder, after)
    bits = 0.0
    for level in range(1, len(ladder)):
        affected = [row for row, got in enumerate(reached) if got >= level]
        fine = Counter(ladder[level - 1][before[row]] for row in affected)
        coarse = Counter(ladder[level][before[row]] for row in affected)
        bits += sum(
            -log2(fine[ladder[level - 1][before[row]]] / coarse[ladder[level][before[row]]]) for row in affected
        )
    return bits


def nue_conventional(before, after):
    was, now = Counter(before), Counter(after)
    return sum(-log2(was[old] / now[new]) for old, new in zip(before, after, strict=True))


def greatest(before):
    was = Counter(before)
    return sum(-log2(was[old] / len(before)) for old in before)


def members(ladder, shown):
    """The values that a shown value could be."""
    return next({leaf for leaf in rung if rung[leaf] == shown} for rung in ladder if shown in rung.values())


def column_loss(after, ladder):
    domain = len(ladder[0])
    costs = [
        1 if shown == STAR else Fraction(len(members(ladder, shown)) - 1, domain - 1) if domain > 1 else 0
        for shown in after
    ]
    return Fraction(sum(costs), len(after))


def loss(columns):
    return prod(1 + float(one) for one in columns) ** (1 / len(columns)) - 1


def precision(after, ladder):
    height = len(ladder) - 1
    return 1 - Fraction(sum(levels_of(ladder, after)), height * len(after))


def certainty_penalty(after, ladder):
    domain = len(ladder[0])
    sizes = [domain if shown == STAR else len(members(ladder, shown)) for shown in after]
    return Fraction(sum(Fraction(size, domain) if size > 1 else 0 for size in sizes), len(after))


def discernibility(rows):
    """Rows of shown values; a row of nothing but * is suppressed, unless all are."""
    kept = [row for row in rows if any(cell != STAR for cell in row)] or rows
    lost = len(rows) - len(kept)
    return sum(size * size for size in Counter(kept).values()) + lost * len(rows)


def average_class_size(rows):
    kept = [row for row in rows if any(cell != STAR for cell in row)] or rows
    return Fraction(len(rows), len(set(kept)) + (len(kept) < len(rows)))


def ambiguity(rows, ladders):
    def could_be(row):
        return prod(
            len(ladder[0]) if cell == STAR else len(members(ladder, cell))
            for cell, ladder in zip(row, ladders, strict=True)
        )

    return Fraction(sum(map(could_be, rows)), len(rows))


def implied(after, ladder, *, lost):
    shares = Counter()
    speaking = [shown for shown in after if lost or shown != STAR]
    for shown in speaking:
        could = ladder[0] if shown == STAR else members(ladder, shown)
        for leaf in could:
            shares[leaf] += Fraction(1, len(could) * len(speaking))
    return shares


def hellinger(before, after, ladder):
    if all(shown == STAR for shown in after):
        return 1.0
    was = Counter(before)
    now = implied(after, ladder, lost=False)
    common = sum(sqrt(count / len(before) * now[value]) for value, count in was.items())
    return sqrt(max(1 - common, 0))


def divergence(befores, afters, ladders):
    """Kullback–Leibler over all combinations, exact for global recodings with suppressed records."""
    was = Counter(zip(*befores, strict=True))
    size = len(befores[0])
    now = Counter()
    for row in zip(*afters, strict=True):
        sets = [ladder[0] if cell == STAR else members(ladder, cell) for cell, ladder in zip(row, ladders, strict=True)]
        for one in product(*sets):
            now[one] += Fraction(1, size * prod(map(len, sets)))
    return sum(count / size * log2(count / size / now[one]) for one, count in was.items())


def classification(rows, targets):
    """Records that are suppressed, or are not among the most frequent target of their class (one of them, if tied)."""
    kept = [(row, target) for row, target in zip(rows, targets, strict=True) if any(cell != STAR for cell in row)]
    kept = kept or list(zip(rows, targets, strict=True))
    companies = {row: Counter(target for same, target in kept if same == row) for row, _ in kept}
    return len(rows) - sum(max(company.values()) for company in companies.values())
