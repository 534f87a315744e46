"""The privacy models once more, slowly and obviously: sets of persons, fractions, no arrays."""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations, count, permutations
from math import exp, inf, log


class Class:
    """A class: who is in it, and who has which sensitive value."""

    def __init__(self):
        self.persons = set()
        self.values = defaultdict(set)

    @property
    def size(self):
        return len(self.persons)

    @property
    def counts(self):
        return {value: len(who) for value, who in self.values.items()}


def classes_of(rows, quasi, sensitive, *, subject=None, missing="own"):
    """Return the classes of a list of dicts; ``sensitive`` may be a tuple of columns that are read as one."""
    names = (sensitive,) if isinstance(sensitive, str) else sensitive
    classes, fresh = defaultdict(Class), count()
    for row in rows:
        person = row[subject] if subject else next(fresh)
        known = tuple(row[name] for name in quasi)
        value = tuple(row[name] for name in names)
        key = known
        if missing == "never" and None in known:
            key = ("alone", person, known, value)
        held = classes[key]
        held.persons.add(person)
        held.values[value].add(person)
    return list(classes.values())


def compatible(rows, quasi, *, subject=None):
    """Return for each row how many persons could be behind it, if a missing value may be anything."""
    people = [row[subject] if subject else place for place, row in enumerate(rows)]

    def agrees(one, other):
        return all(one[name] == other[name] or one[name] is None or other[name] is None for name in quasi)

    return [len({who for who, other in zip(people, rows, strict=True) if agrees(row, other)}) for row in rows]


def reference_of(rows, sensitive, *, subject=None):
    (whole,) = classes_of(rows, (), sensitive, subject=subject)
    return whole.counts


def shares(counts):
    total = sum(counts.values())
    return {value: Fraction(n, total) for value, n in counts.items()}


def entropy_l(held):
    q = [float(share) for share in shares(held.counts).values()]
    return exp(-sum(share * log(share) for share in q))


def recursive_c(held, l):  # noqa: E741
    counts = sorted(held.counts.values(), reverse=True)
    rest = sum(counts[l - 1 :])
    return Fraction(counts[0], rest) if rest else inf


def equal_t(held, before):
    q, p = shares(held.counts), shares(before)
    return sum(abs(q.get(value, 0) - share) for value, share in p.items()) / 2


def ordered_t(held, before):
    q, p = shares(held.counts), shares(before)
    total, cumulated = Fraction(0), Fraction(0)
    for value in sorted(p):
        cumulated += q.get(value, 0) - p[value]
        total += abs(cumulated)
    return total / (len(p) - 1) if len(p) > 1 else Fraction(0)


def hierarchical_t(held, before, ladder):
    """``ladder[value]``: the labels of a value from itself to the top. The transport problem, by its tree formula."""
    q, p = shares(held.counts), shares(before)
    height = len(next(iter(ladder.values()))) - 1
    extra = {(0, ladder[value[0]][0]): q.get(value, 0) - share for value, share in p.items()}
    moved = Fraction(0)
    for level in range(1, height + 1):
        above = defaultdict(list)
        for (_, label), amount in extra.items():
            parents = {steps[level] for steps in ladder.values() if steps[level - 1] == label}
            (parent,) = parents
            above[level, parent].append(amount)
        for amounts in above.values():
            surplus = sum(amount for amount in amounts if amount > 0)
            lack = -sum(amount for amount in amounts if amount < 0)
            moved += Fraction(level, height) * min(surplus, lack)
        extra = {node: sum(amounts) for node, amounts in above.items()}
    return moved


def kl(held, before):
    q, p = shares(held.counts), shares(before)
    return sum(float(share) * log(share / p[value]) for value, share in q.items())


def delta(held, before, *, absent):
    q, p = shares(held.counts), shares(before)
    if absent == "fail" and set(q) != set(p):
        return inf
    return max(abs(log(share / p[value])) for value, share in q.items()) / log(2)


def gain(held, before):
    q, p = shares(held.counts), shares(before)
    return max((share - p[value]) / p[value] for value, share in q.items())


def enhanced(held, before):
    q, p = shares(held.counts), shares(before)
    beyond = any((share - p[value]) / p[value] > -log(p[value]) for value, share in q.items())
    return inf if beyond else gain(held, before)


def posterior(held):
    return max(Fraction(n, held.size) for n in held.counts.values())


def spread(held):
    numbers = [Fraction(str(value[0])) for value in held.values]
    return max(numbers) - min(numbers)


def partly(rows, quasi, sensitive, most, **how):
    """Return all classes of all adversaries who know at most so many quasi-identifiers."""
    known = [part for size in range(1, most + 1) for part in combinations(quasi, size)]
    return [held for part in known for held in classes_of(rows, part, sensitive, **how)]


def measures(rows, quasi, sensitive, *, subject, missing, ladder):
    """Return what every model that needs no population attains."""
    one, two = (partly(rows, quasi, sensitive, most, subject=subject, missing=missing) for most in (1, 2))
    classes = classes_of(rows, quasi, sensitive, subject=subject, missing=missing)
    before = reference_of(rows, sensitive, subject=subject)
    k = min(held.size for held in classes)
    l = min(len(held.values) for held in classes)  # noqa: E741
    categories = min(len({ladder[value[0]][1] for value in held.values}) for held in classes)
    order = list(dict.fromkeys(steps[1] for steps in ladder.values()))
    weight = {label: Fraction(place, max(len(order) - 1, 1)) for place, label in enumerate(order)}
    heavy = min(sum(weight[ladder[value[0]][1]] for value in held.values) for held in classes)
    return {
        ("k-anonymity",): {"k": k},
        ("l-diversity",): {"l": l},
        ("entropy-l-diversity",): {"l": min(map(entropy_l, classes))},
        ("recursive-l-diversity", ("l", 2)): {"c": max(recursive_c(held, 2) for held in classes)},
        ("recursive-l-diversity", ("l", 3)): {"c": max(recursive_c(held, 3) for held in classes)},
        ("p-sensitive-k-anonymity",): {"p": l, "k": k},
        ("p-plus-sensitive-k-anonymity",): {"p": categories, "k": k},
        ("p-alpha-sensitive-k-anonymity",): {"p": l, "k": k, "alpha": heavy},
        ("alpha-k-anonymity",): {"alpha": max(map(posterior, classes)), "k": k},
        ("t-closeness", ("distance", "equal")): {"t": max(equal_t(held, before) for held in classes)},
        ("t-closeness", ("distance", "hierarchical")): {
            "t": max(hierarchical_t(held, before, ladder) for held in classes)
        },
        ("t-closeness", ("distance", "kl")): {"t": max(kl(held, before) for held in classes)},
        ("delta-disclosure", ("absent", "fail")): {"delta": max(delta(h, before, absent="fail") for h in classes)},
        ("delta-disclosure", ("absent", "ignore")): {"delta": max(delta(h, before, absent="ignore") for h in classes)},
        ("basic-beta-likeness",): {"beta": max(gain(held, before) for held in classes)},
        ("enhanced-beta-likeness",): {"beta": max(enhanced(held, before) for held in classes)},
        ("lkc-privacy", ("l", 1)): {"k": min(held.size for held in one), "c": max(map(posterior, one))},
        ("lkc-privacy", ("l", 2)): {"k": min(held.size for held in two), "c": max(map(posterior, two))},
        ("subset-k-anonymity", ("m", 1)): {"k": min(held.size for held in one)},
        ("subset-k-anonymity", ("m", 2)): {"k": min(held.size for held in two)},
        ("xy-anonymity",): {"k": l},
        ("xy-linkability",): {"h": max(map(posterior, classes))},
        ("average-risk",): {"risk": average_risk(classes)},
        ("sample-uniqueness",): {"share": uniqueness(classes)},
    }


def numeric_measures(rows, quasi, sensitive, *, subject, missing):
    """Return what models attain that need numbers."""
    classes = classes_of(rows, quasi, sensitive, subject=subject, missing=missing)
    before = reference_of(rows, sensitive, subject=subject)
    return {
        ("t-closeness", ("distance", "ordered")): {"t": max(ordered_t(held, before) for held in classes)},
        ("ke-anonymity",): {"k": min(len(held.values) for held in classes), "e": min(map(spread, classes))},
    }


def risks(classes):
    """Return everybody's risk: that of the smallest class they are in."""
    smallest = {}
    for held in classes:
        for person in held.persons:
            smallest[person] = min(held.size, smallest.get(person, held.size))
    return smallest


def average_risk(classes):
    smallest = risks(classes)
    return sum(Fraction(1, size) for size in smallest.values()) / len(smallest)


def uniqueness(classes):
    smallest = risks(classes)
    return Fraction(sum(size == 1 for size in smallest.values()), len(smallest))


def transport(supply, demand, distance):
    """Solve a tiny transport problem by trying all ways to move single units: the definition itself."""
    units = [value for value, n in supply.items() for _ in range(n)]
    places = [value for value, n in demand.items() for _ in range(n)]
    ways = set(permutations(places))
    return Fraction(min(sum(map(distance, units, way)) for way in ways), len(units))
