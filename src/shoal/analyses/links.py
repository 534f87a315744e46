"""Links: columns with the same information, so that generalising one without the other gives no protection.

``determines``: each value of one column occurs with a single value of the other (postcode and district, code and text).
``near``: each value occurs with few values of the other, and both rise or fall together (age and year of birth).
``computed``: a number follows from two others (body mass index from height and weight, days from two dates).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import group
from shoal.table.scale import scale
from shoal.table.table import Table

Floats = NDArray[np.float64]
SAMPLE = 20_000  # maximum number of records in the sample
_READ = 10_000_000  # number of records, from the first one, of which the sample is drawn
_REPEATED = 0.5  # minimum share of repeated values: a column of unique values determines every other
_NEAR = 2.5  # maximum average number of values that occur with a value of a near column
_TOGETHER, _CLOSELY = 0.98, 0.995  # required rank correlation of near columns, and if more values occur
_SAME = 1e-8  # unexplained variance of columns that are the same but for their unit
_LIKELY, _COMPUTED = 0.98, 0.999  # explained variance of a candidate, and of a computed column
_LEFT = 0.05  # maximum share of the variance unexplained by one column that two may leave
_FEWEST, _SCALE = 30, 10  # minimum number of records, and of distinct numbers
_MOST, _CHECKED = 100, 200  # maximum number of columns, and of pairs for each, checked for computed columns


class Way(StrEnum):
    """Kind of dependency between columns."""

    DETERMINES = "determines"
    NEAR = "near"
    COMPUTED = "computed"


@dataclass(frozen=True, slots=True)
class Link:
    """Dependency between columns: ``columns`` determine ``told``; ``both``: the reverse also holds."""

    way: Way
    columns: tuple[str, ...]
    told: str
    both: bool = False

    def determining(self, target: str) -> tuple[str, ...]:
        """Return the columns that determine a column; none if they do not.

        >>> Link(Way.COMPUTED, ("weight", "height"), "bmi").determining("height")
        ('weight', 'bmi')
        """
        if self.told == target:
            return self.columns
        if target not in self.columns or not (self.both or self.way is Way.COMPUTED):
            return ()
        return tuple(name for name in (*self.columns, self.told) if name != target)

    def __str__(self) -> str:
        names = " and ".join(self.columns)
        return {
            Way.DETERMINES: f"{names} and {self.told} determine each other"
            if self.both
            else f"{names} determines {self.told}",
            Way.NEAR: f"{names} and {self.told} nearly determine each other",
            Way.COMPUTED: f"{self.told} can be computed from {names} (at least 99.9% of its variance)",
        }[self.way]


def links(
    table: Table,
    names: Sequence[str],
    *,
    seed: int = 0,
    targets: Collection[str] | None = None,
) -> list[Link]:
    """Find dependent columns in a sample of the records.

    ``targets``: only links with one of these columns are sought.

    >>> import shoal
    >>> table = shoal.read({"code": [1, 2, 1, 2] * 10, "text": ["a", "b", "a", "b"] * 10, "x": [1, 2, 3, 4] * 10})
    >>> [str(link) for link in links(table, table.names)]
    ['code and text determine each other', 'x determines code', 'x determines text']
    """
    sample, wanted = Sample.of(table, names, seed), frozenset(names if targets is None else targets)
    return [*_pairs(sample, wanted), *_triples(sample, wanted)] if sample.records >= _FEWEST else []


@dataclass(frozen=True, eq=False)
class Sample:
    """Codes of a sample of records.

    ``codes[name]``: numbers from 0 to ``sizes[name]``, exclusive, one for each distinct value. ``numbers[name]``: the
    values of a column with a numeric scale, NaN where a value is missing. ``known[name]``: whether a value is there.
    """

    codes: dict[str, NDArray[np.uint64]]
    sizes: dict[str, int]
    numbers: dict[str, Floats]
    known: dict[str, NDArray[np.bool_]]
    records: int

    @classmethod
    def of(
        cls, table: Table, names: Iterable[str], seed: int, most: int = SAMPLE, *, by_person: bool = False
    ) -> "Sample":
        """Draw at most ``most`` records at random. ``by_person``: at most one record of each individual."""
        total, rng = min(table.records, _READ), np.random.default_rng(seed)
        drawn = np.sort(rng.choice(total, most, replace=False)) if most < total else np.arange(total)
        names, subject = list(names), table.subject if by_person else None
        read = table.codes_at(list(dict.fromkeys((*names, *([] if subject is None else [subject])))), drawn)
        once = np.arange(len(drawn)) if subject is None else np.unique(read[subject], return_index=True)[1]
        codes, sizes, numbers = dict[str, NDArray[np.uint64]](), dict[str, int](), dict[str, Floats]()
        known = dict[str, NDArray[np.bool_]]()
        for name in names:
            here = read[name][once]
            groups = group(here.astype(np.uint64), max(table[name].size, 1))
            codes[name], sizes[name] = groups.ids.astype(np.uint64), len(groups)
            known[name] = here < len(table[name].values)
            places = scale(table[name])
            if places is not None:
                numbers[name] = places[here.astype(np.intp)]
        return cls(codes, sizes, numbers, known, len(once))

    def together(self, left: str, other: str) -> int:
        """Return the number of distinct combinations of two columns."""
        keys = self.codes[left] * np.uint64(self.sizes[other]) + self.codes[other]
        return len(group(keys, self.sizes[left] * self.sizes[other]))


def _pairs(sample: Sample, wanted: frozenset[str]) -> Iterator[Link]:
    number = sample.sizes
    ranks = {name: _ranks(values) for name, values in sample.numbers.items() if number[name] >= _SCALE}
    correlations = PairCorrelations.of(ranks)
    for left, other in combinations([name for name, values in number.items() if values > 1], 2):
        if not wanted & {left, other}:
            continue
        repeated = max(number[left], number[other]) <= (1 - _REPEATED) * sample.records
        together = sample.together(left, other) if repeated else 0
        if together and together == number[left] == number[other]:
            yield Link(Way.DETERMINES, (left,), other, both=True)
        elif together in {number[left], number[other]}:
            first, second = (left, other) if together == number[left] else (other, left)
            yield Link(Way.DETERMINES, (first,), second)
        elif left in ranks and other in ranks:
            few = 0 < together <= _NEAR * max(number[left], number[other])  # values of one beside each of the other
            if abs(correlations.between(left, other)) >= (_TOGETHER if few else _CLOSELY):
                alike = sample.together(left, other) == number[left] == number[other]
                yield Link(Way.DETERMINES if alike else Way.NEAR, (left,), other, both=True)


@dataclass(frozen=True, eq=False)
class PairCorrelations:
    """Correlations of columns: of those without missing values all at once, of the others pair by pair."""

    numbers: Mapping[str, Floats]
    places: Mapping[str, int]
    complete: Floats

    @classmethod
    def of(cls, numbers: Mapping[str, Floats]) -> "PairCorrelations":
        """Compute the correlations of the columns without missing values."""
        whole = {name: values for name, values in numbers.items() if not np.isnan(values).any()}
        scaled = np.array([_scaled(values) for values in whole.values()])
        complete = scaled @ scaled.T / max(scaled.shape[-1], 1) if whole else np.zeros((0, 0))
        return cls(numbers, {name: place for place, name in enumerate(whole)}, complete)

    def between(self, left: str, other: str) -> float:
        """Return the correlation of two columns over the records where both are known."""
        if left in self.places and other in self.places:
            return float(self.complete[self.places[left], self.places[other]])
        return _correlation(self.numbers[left], self.numbers[other])


def _scaled(values: Floats) -> Floats:
    """Return numbers with mean 0 and variance 1; first with range 1, so that large numbers do not overflow."""
    centred = (values - values.mean()) / (np.ptp(values) or 1.0)
    return np.asarray(centred / (centred.std() or 1.0), np.float64)


def _ranks(values: Floats) -> Floats:
    """Return the rank of each number among the distinct numbers; NaN where it is missing."""
    ranks, known = np.full(len(values), np.nan), ~np.isnan(values)
    ranks[known] = np.unique(values[known], return_inverse=True)[1]
    return ranks


def _triples(sample: Sample, wanted: frozenset[str]) -> Iterator[Link]:
    """Find columns that are linear combinations of two others or, on a logarithmic scale, products of their powers."""
    varied = {name: len(np.unique(values[~np.isnan(values)])) for name, values in sample.numbers.items()}
    chosen = sorted((name for name in varied if varied[name] >= _SCALE), key=lambda name: -varied[name])[:_MOST]
    numbers = {name: values for name, values in sample.numbers.items() if name in chosen}
    positive = {name: values for name, values in numbers.items() if np.nanmin(values) > 0}
    links: dict[frozenset[str], Link] = {}
    for view in (numbers, {name: np.log(values) for name, values in positive.items()}):
        for first, second, computed in _explained(view, wanted):  # the last column is most often the computed one
            links[frozenset((first, second, computed))] = Link(Way.COMPUTED, (first, second), computed)
    yield from links.values()


def _explained(numbers: Mapping[str, Floats], wanted: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Yield pairs of columns with a third whose variance they explain almost fully, far better than either alone."""
    names, correlations, r = list(numbers), PairCorrelations.of(numbers), np.eye(len(numbers))
    for left, other in combinations(range(len(names)), 2):
        r[left, other] = r[other, left] = correlations.between(names[left], names[other])
    apart, asked = np.maximum(1 - r * r, 1e-9), np.array([name in wanted for name in names], bool)
    for target in range(len(names)):
        a, b = r[target][:, None], r[target][None, :]
        share = (a * a + b * b - 2 * a * b * r) / apart  # explained variance; approximate if values are missing
        close = (apart <= 1 - _COMPUTED) & (apart > _SAME)  # columns whose difference may tell, such as two dates
        likely = ((share >= _LIKELY) & (apart > 1 - _COMPUTED) | close) & (np.maximum(a * a, b * b) < _COMPUTED)
        likely[target], likely[:, target] = False, False
        if names[target] not in wanted:
            likely &= asked[:, None] | asked[None, :]
        for first, second in np.argwhere(np.triu(likely, 1))[:_CHECKED].tolist():
            three = [numbers[names[place]] for place in (first, second, target)]
            alone = float(max(a[first, 0] ** 2, b[0, second] ** 2))
            if 1 - _share(*three) <= min(1 - _COMPUTED, _LEFT * (1 - alone)):
                yield names[first], names[second], names[target]


def _correlation(left: Floats, other: Floats) -> float:
    known = ~np.isnan(left) & ~np.isnan(other)
    if np.count_nonzero(known) < _FEWEST:
        return 0.0
    return float(np.mean(_scaled(left[known]) * _scaled(other[known])))


def _share(first: Floats, second: Floats, explained: Floats) -> float:
    """Return the share of the variance of a column that two others explain, over the records where all are known."""
    known = ~np.isnan(first) & ~np.isnan(second) & ~np.isnan(explained)
    if np.count_nonzero(known) < _FEWEST:
        return 0.0
    middle = [numbers[known] - numbers[known].mean() for numbers in (first, second)]
    causes = np.stack([np.ones(np.count_nonzero(known)), *middle], axis=1)
    wanted = explained[known]
    rest = wanted - causes @ np.linalg.lstsq(causes, wanted, rcond=None)[0]
    return float(1 - rest.var() / wanted.var()) if wanted.var() else 0.0
