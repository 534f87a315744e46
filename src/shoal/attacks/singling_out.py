"""Singling out: predicates that match exactly one individual."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.analyses.estimate import Estimate
from shoal.attacks.attack import ATTACKS, Attack
from shoal.attacks.beliefs import Mask
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.kernels.translation import Codes
from shoal.recoding.cells import Cells
from shoal.recoding.nodes import Floats, Ints
from shoal.table.scale import scale

Bits: TypeAlias = NDArray[np.uint64]
Said: TypeAlias = NDArray[np.int64]  # one predicate per row, of words; a word is a released code of a column
_ROOM = 1 << 28  # bytes of cached words of a pool
_PART = 1 << 22  # bytes of records matched at a time
_ROUNDS = 20  # each draws as many predicates as are to be tried


@ATTACKS.register("singling-out")
class SinglingOut(Attack):
    """Share of predicates, derived from the release, that match exactly one individual of the original.

    A predicate takes some released columns of a record, insensitive and sensitive ones included, and requires that the
    value of an individual is in the set that the record shows. For a number x that is not generalised, the condition is
    ≥ x if x is above the median, and ≤ x otherwise. Only predicates that match a single released record are tried, or,
    if the release has a column that identifies individuals, a single individual. Few of them may be found even if an
    exact number makes many records unique, because conditions on numbers match all that is larger or smaller. WP216;
    Giomi et al. 2023. Baseline: the same attack on a release whose columns are shuffled independently, that is, the
    success of an adversary who knows the frequencies of the values only. Control: the predicates of the attack, applied
    to individuals outside the data; if
    these are fewer than those in the data, the share is extrapolated to the same number, assuming a negative binomial
    number of matches per predicate.

    >>> import shoal
    >>> before = shoal.read({"age": [30, 40, 50], "sex": ["f", "m", "m"]}).assign(quasi=["age", "sex"])
    >>> next(SinglingOut(columns=2).run(Scene.of(before, before))).success.value > 0.5
    True
    """

    name: ClassVar[str] = "singling-out"
    unit: ClassVar[str] = "predicate"
    adversary: ClassVar[Adversary] = Adversary.ADAPTIVE
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT
    reads_sets: ClassVar[bool] = True
    baseline_is: ClassVar[str] = "the same attack with shuffled columns"

    columns: int = Field(default=3, ge=1, description="number of columns of a predicate")
    attempts: int = Field(default=1000, ge=1, description="number of predicates")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Draw predicates and determine the individuals that they match."""
        names = (*scene.known, *scene.secret)
        described = [Described.of(scene.cells[name]) for name in names]
        number = min(self.columns, len(described))
        released = RecordPool.of(
            described, [column.cells.codes for column in described], _told_apart(scene), released=True
        )
        everybody = RecordPool.of(described, [scene.values(name) for name in names], scene.person)
        mixed = released.shuffled(scene.rng(f"{self.name} shuffled"))
        drawn, blind = (self._tried(pool, number, scene.rng(self.name)) for pool in (released, mixed))
        singled = everybody.singled(drawn)
        yield self.result(
            scene,
            "a predicate matches exactly one individual",
            (singled >= 0).astype(np.float64) if len(drawn) else np.zeros(self.attempts),
            float(np.mean(everybody.singled(blind) >= 0)) if len(blind) else 0.0,
            control=_control(scene, described, names, drawn),
            persons=_whom(scene, singled),
            details={"fit_one_record": len(drawn), "columns": number},
        )

    def _tried(self, released: "RecordPool", number: int, rng: np.random.Generator) -> Said:
        """Draw predicates until enough of them match a single released record, or the rounds are used up."""
        descriptions = np.empty((0, number), np.int64)
        for _ in range(_ROUNDS):
            drawn = released.described(number, self.attempts, rng)
            descriptions = _different(np.concatenate([descriptions, drawn[released.singled(drawn) >= 0]]))
            if len(descriptions) >= self.attempts:
                break
        return descriptions[: self.attempts]


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """One column of predicates. ``numbers``: the number that each released code shows.

    ``mine``: the numbers of the original values; None unless the column shows plain numbers.
    """

    cells: Cells
    numbers: Floats
    mine: Floats | None
    median: float

    @classmethod
    def of(cls, cells: Cells) -> "Described":
        """Take a column; its numbers are plain if no cell shows an interval."""
        places, numbers = scale(cells.column), cells.numbers
        known = numbers[cells.codes]
        known = known[~np.isnan(known)]
        exact = (cells.low == cells.high) | np.isnan(numbers)
        plain = places is not None and exact.all() and len(known) > 0
        return cls(cells, numbers, places if plain else None, float(np.median(known)) if len(known) else np.nan)

    def values(self, code: int) -> Mask:
        """Return the mask of original values that satisfy the condition of a released code."""
        number = self.numbers[code]
        if self.mine is None or np.isnan(number):
            inside = np.zeros(self.cells.column.size, bool)
            inside[self.cells.values_of(code)] = True
            return inside
        return self._beyond(number, self.mine)

    def codes(self, code: int) -> Mask:
        """Return the mask of released codes that satisfy the condition of a released code."""
        number = self.numbers[code]
        if self.mine is None or np.isnan(number):
            return np.asarray(self.cells.nodes == self.cells.nodes[code])
        return self._beyond(number, self.numbers)

    def _beyond(self, number: float, numbers: Floats) -> Mask:
        return np.asarray(numbers >= number if number > self.median else numbers <= number)


@dataclass(frozen=True, slots=True, eq=False)
class RecordPool:
    """Records that predicates are applied to. ``values``: their codes in each column. ``persons``: the person of each.

    ``most``: the maximum number of records of a person. ``released``: whether the values are released codes. ``first``:
    the number of the first word of each column. The matching records of each word are cached as bits.
    """

    columns: Sequence[Described]
    values: Sequence[Ints]
    persons: Ints
    most: int
    released: bool
    first: Ints
    _bits: dict[int, Bits] = field(default_factory=dict)

    @classmethod
    def of(
        cls, columns: Sequence[Described], values: Sequence[Codes | Ints], persons: Ints, *, released: bool = False
    ) -> "RecordPool":
        """Build a pool of records."""
        most = int(np.unique(persons, return_counts=True)[1].max(initial=1))
        first = np.cumsum([0, *(len(column.cells.nodes) for column in columns)])
        return cls(columns, [codes.astype(np.intp) for codes in values], persons, most, released, first)

    def shuffled(self, rng: np.random.Generator) -> "RecordPool":
        """Return a pool with independent columns: each is shuffled and keeps its distribution."""
        values = [rng.permutation(codes) for codes in self.values]
        return RecordPool.of(self.columns, values, np.arange(len(self.persons)), released=self.released)

    def described(self, number: int, attempts: int, rng: np.random.Generator) -> Said:
        """Draw predicates from the codes of random records."""
        chosen = np.sort(rng.permuted(np.tile(np.arange(len(self.columns)), (attempts, 1)), axis=1)[:, :number], axis=1)
        records = rng.integers(max(len(self.persons), 1), size=attempts)
        words = np.stack(
            [begin + codes[records] for begin, codes in zip(self.first, self.values, strict=False)], axis=1
        )
        return np.asarray(np.take_along_axis(words, chosen, axis=1))

    def counts(self, descriptions: Said) -> Ints:
        """Return the number of records that each predicate matches."""
        numbers = [np.bitwise_count(bits).sum(axis=1, dtype=np.int64) for bits in self._fitting(descriptions)]
        return np.concatenate([np.zeros(0, np.int64), *numbers])

    def singled(self, descriptions: Said) -> Ints:
        """Return a record of the only person that each predicate matches; −1 if it matches none or several."""
        return np.concatenate([np.zeros(0, np.int64), *(self._only(bits) for bits in self._fitting(descriptions))])

    def _only(self, bits: Bits) -> Ints:
        """Return a record of the only person with records in each row of bits; −1 if there is none."""
        numbers = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        few = np.flatnonzero((numbers > 0) & (numbers <= self.most))
        only = np.full(len(bits), -1)
        if len(few):
            records, starts = _positions(bits[few]), np.cumsum(numbers[few]) - numbers[few]
            persons = self.persons[records]
            alone = np.minimum.reduceat(persons, starts) == np.maximum.reduceat(persons, starts)
            only[few[alone]] = records[starts[alone]]
        return only

    def _fitting(self, descriptions: Said) -> Iterator[Bits]:
        """Yield the bits of the matching records, for batches of predicates."""
        together = max(8 * _PART // max(len(self.persons), 1), 1)
        for begin in range(0, len(descriptions), together):
            words, places = np.unique(descriptions[begin : begin + together], return_inverse=True)
            bits = np.stack([self._of(word) for word in words.tolist()])
            places = places.reshape(-1, descriptions.shape[1])
            yield reduce(np.bitwise_and, (bits[column] for column in places.T))

    def _of(self, word: int) -> Bits:
        """Return the bits of the records that a word matches; they are cached because words recur."""
        if word not in self._bits:
            if (len(self._bits) + 1) * len(self.persons) > 8 * _ROOM:
                self._bits.clear()
            self._bits[word] = self._looked_up(word)
        return self._bits[word]

    def _looked_up(self, word: int) -> Bits:
        at = int(np.searchsorted(self.first, word, side="right")) - 1
        column, code = self.columns[at], word - int(self.first[at])
        inside = (column.codes(code) if self.released else column.values(code)).take(self.values[at])
        packed = np.zeros(-(-len(inside) // 64) * 8, np.uint8)
        packed[: -(-len(inside) // 8)] = np.packbits(inside, bitorder="little")
        return packed.view(np.uint64)


def _positions(bits: Bits) -> Ints:
    """Return the positions of the set bits, row by row.

    >>> _positions(np.array([[5, 0], [0, 1]], np.uint64)).tolist()
    [0, 2, 64]
    """
    rows, blocks = np.nonzero(bits)
    within = np.unpackbits(bits[rows, blocks].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    which, bit = np.nonzero(within)
    return np.asarray(blocks[which] * 64 + bit)


def _different(descriptions: Said) -> Said:
    """Return the distinct predicates, in the order of their first occurrence."""
    return descriptions[np.sort(np.unique(descriptions, axis=0, return_index=True)[1])]


def _told_apart(scene: Scene) -> Ints:
    """Return the person of each released record as the release shows it; without a subject, each record is its own."""
    whose = scene.original.subject
    if whose is None or whose not in scene.release:
        return np.arange(scene.release.records)
    return scene.release.codes(whose).astype(np.int64)


def _whom(scene: Scene, singled: Ints) -> Floats:
    """Return, for each record of the original, whether its person was singled out."""
    return np.isin(scene.person, scene.person[singled[singled >= 0]]).astype(np.float64)


def _control(scene: Scene, columns: Sequence[Described], names: Sequence[str], drawn: Said) -> Estimate | None:
    """Return the share of predicates that would match exactly one of as many outsiders as there are individuals."""
    strangers = scene.strangers(*names, most=len(scene.insiders))
    if strangers is None or not len(drawn):
        return None
    pool = RecordPool.of(columns, strangers.known(names), np.arange(len(strangers)))
    fits = pool.counts(drawn)
    share = _scaled(float((fits == 0).mean()), float((fits == 1).mean()), len(scene.insiders) / len(strangers))
    return Estimate.share(min(share, 1.0), len(drawn))


def _scaled(none: float, single: float, factor: float) -> float:
    """Return the share of predicates that match exactly one of ``factor`` times as many individuals.

    ``none``, ``single``: the shares that match none and one of the given individuals. If the number of matches is
    Poisson with a gamma-distributed mean, they are (b/(b+1))^a and a/(b+1) times that; with ``factor`` f, the share is
    a·f/(b+f) · (b/(b+f))^a. With the same number of individuals, it is the observed share.

    >>> round(_scaled(0.5, 0.25, 1.0), 9), round(_scaled(0.5, 0.25, 2.0), 4)
    (0.25, 0.2222)
    """
    if factor <= 1 or not none or not single:
        return single
    mean = single / none  # a / (b + 1)
    if -math.log(none) <= mean:  # no overdispersion: Poisson
        rate = factor * mean
        return rate * math.exp(-rate)
    low, high = 1e-9, 1e9
    for _ in range(200):
        middle = math.sqrt(low * high)
        larger = -mean * (middle + 1) * math.log(middle / (middle + 1)) > -math.log(none)
        low, high = (middle, high) if larger else (low, middle)
    b, a = low, mean * (low + 1)
    return a * factor / (b + factor) * math.pow(b / (b + factor), a)
