"""Singling out: to find a description that fits exactly one person."""

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
Said: TypeAlias = NDArray[np.int64]  # a row a description, of so many words; a word is a released code of a column
_ROOM = 1 << 28  # bytes of words that a pool may remember
_PART = 1 << 22  # bytes of people looked at together
_ROUNDS = 20  # in each of which as many descriptions are drawn as are to be tried


@ATTACKS.register("singling-out")
class SinglingOut(Attack):
    """Share of predicates, derived from the release, that match exactly one individual of the original.

    A description takes a released record and says of some of its columns that a person's value is in the set that the
    record shows; of plain numbers that it is as large at least (above the median) or as small at most. Those are tried
    that fit one released record only, or one person of the release, if it tells persons apart; of a release in which
    few do, few can be tried. WP216; Giomi et al. 2023. Baseline: the same with a release whose columns are shuffled,
    each by itself: what an adversary achieves who knows how frequent values are. Control: the same descriptions as in
    the attack, and people who are not in the data; if these are fewer, as many would be singled out among as many
    people, if how many a description fits varies as a negative binomial.

    >>> import shoal
    >>> before = shoal.read({"age": [30, 40, 50], "sex": ["f", "m", "m"]}).assign(quasi=["age", "sex"])
    >>> next(SinglingOut(columns=2).run(Scene.of(before, before))).success.value > 0.5
    True
    """

    name: ClassVar[str] = "singling-out"
    adversary: ClassVar[Adversary] = Adversary.ADAPTIVE
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT

    columns: int = Field(default=3, ge=1, description="number of columns of a predicate")
    attempts: int = Field(default=1000, ge=1, description="number of predicates")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Draw descriptions, and see whom they fit."""
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
        """Draw descriptions until there are enough that fit one released record, or there seem to be no more."""
        descriptions = np.empty((0, number), np.int64)
        for _ in range(_ROUNDS):
            drawn = released.described(number, self.attempts, rng)
            descriptions = _different(np.concatenate([descriptions, drawn[released.singled(drawn) >= 0]]))
            if len(descriptions) >= self.attempts:
                break
        return descriptions[: self.attempts]


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """One column: how a released cell describes people. ``numbers``: what its codes say as numbers.

    ``mine``: the numbers of people's values, if it has plain ones.
    """

    cells: Cells
    numbers: Floats
    mine: Floats | None
    median: float

    @classmethod
    def of(cls, cells: Cells) -> "Described":
        """Take a column; numbers are plain if every cell shows one."""
        places, numbers = scale(cells.column), cells.numbers
        known = numbers[cells.codes]
        known = known[~np.isnan(known)]
        exact = (cells.low == cells.high) | np.isnan(numbers)
        plain = places is not None and exact.all() and len(known) > 0
        return cls(cells, numbers, places if plain else None, float(np.median(known)) if len(known) else np.nan)

    def values(self, code: int) -> Mask:
        """Tell which values a released code describes."""
        number = self.numbers[code]
        if self.mine is None or np.isnan(number):
            inside = np.zeros(self.cells.column.size, bool)
            inside[self.cells.values_of(code)] = True
            return inside
        return self._beyond(number, self.mine)

    def codes(self, code: int) -> Mask:
        """Tell which released codes are described as well."""
        number = self.numbers[code]
        if self.mine is None or np.isnan(number):
            return np.asarray(self.cells.nodes == self.cells.nodes[code])
        return self._beyond(number, self.numbers)

    def _beyond(self, number: float, numbers: Floats) -> Mask:
        return np.asarray(numbers >= number if number > self.median else numbers <= number)


@dataclass(frozen=True, slots=True, eq=False)
class RecordPool:
    """Records that descriptions may fit. ``values``: theirs in each column; ``persons``: whose they are.

    ``most``: how many somebody has at most. ``released``: whether values are released codes. The words of a column
    begin at ``first``. For each word the bits of all records are kept.
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
        """Take records."""
        most = int(np.unique(persons, return_counts=True)[1].max(initial=1))
        first = np.cumsum([0, *(len(column.cells.nodes) for column in columns)])
        return cls(columns, [codes.astype(np.intp) for codes in values], persons, most, released, first)

    def shuffled(self, rng: np.random.Generator) -> "RecordPool":
        """Return records whose columns have nothing to do with each other, but are as they were by themselves."""
        values = [rng.permutation(codes) for codes in self.values]
        return RecordPool.of(self.columns, values, np.arange(len(self.persons)), released=self.released)

    def described(self, number: int, attempts: int, rng: np.random.Generator) -> Said:
        """Draw descriptions in the words of the records."""
        chosen = np.sort(rng.permuted(np.tile(np.arange(len(self.columns)), (attempts, 1)), axis=1)[:, :number], axis=1)
        records = rng.integers(max(len(self.persons), 1), size=attempts)
        words = np.stack(
            [begin + codes[records] for begin, codes in zip(self.first, self.values, strict=False)], axis=1
        )
        return np.asarray(np.take_along_axis(words, chosen, axis=1))

    def counts(self, descriptions: Said) -> Ints:
        """Return how many records each description fits."""
        numbers = [np.bitwise_count(bits).sum(axis=1, dtype=np.int64) for bits in self._fitting(descriptions)]
        return np.concatenate([np.zeros(0, np.int64), *numbers])

    def singled(self, descriptions: Said) -> Ints:
        """Return of each description a record of the one person whom it fits; −1 if it fits nobody, or several."""
        return np.concatenate([np.zeros(0, np.int64), *(self._only(bits) for bits in self._fitting(descriptions))])

    def _only(self, bits: Bits) -> Ints:
        """Return of each row of bits a record of the person whose all its records are; −1 if there is none."""
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
        """Give the bits of the records that some descriptions fit, a part of the descriptions at a time."""
        together = max(8 * _PART // max(len(self.persons), 1), 1)
        for begin in range(0, len(descriptions), together):
            words, places = np.unique(descriptions[begin : begin + together], return_inverse=True)
            bits = np.stack([self._of(word) for word in words.tolist()])
            places = places.reshape(-1, descriptions.shape[1])
            yield reduce(np.bitwise_and, (bits[column] for column in places.T))

    def _of(self, word: int) -> Bits:
        """Return which records a word describes, as bits; it is asked again and again."""
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
    """Return where bits are set, row by row.

    >>> _positions(np.array([[5, 0], [0, 1]], np.uint64)).tolist()
    [0, 2, 64]
    """
    rows, blocks = np.nonzero(bits)
    within = np.unpackbits(bits[rows, blocks].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    which, bit = np.nonzero(within)
    return np.asarray(blocks[which] * 64 + bit)


def _different(descriptions: Said) -> Said:
    """Return each description once, in the order in which they were found."""
    return descriptions[np.sort(np.unique(descriptions, axis=0, return_index=True)[1])]


def _told_apart(scene: Scene) -> Ints:
    """Return whose the released records are, as the release tells: without a subject, each is by itself."""
    whose = scene.original.subject
    if whose is None or whose not in scene.release:
        return np.arange(scene.release.records)
    return scene.release.codes(whose).astype(np.int64)


def _whom(scene: Scene, singled: Ints) -> Floats:
    """Return of each record of the original whether its person was singled out."""
    return np.isin(scene.person, scene.person[singled[singled >= 0]]).astype(np.float64)


def _control(scene: Scene, columns: Sequence[Described], names: Sequence[str], drawn: Said) -> Estimate | None:
    """Return how many descriptions would single out a stranger, among as many as there are people in the data."""
    strangers = scene.strangers(*names, most=len(scene.insiders))
    if strangers is None or not len(drawn):
        return None
    pool = RecordPool.of(columns, strangers.known(names), np.arange(len(strangers)))
    fits = pool.counts(drawn)
    share = _scaled(float((fits == 0).mean()), float((fits == 1).mean()), len(scene.insiders) / len(strangers))
    return Estimate.share(min(share, 1.0), len(drawn))


def _scaled(none: float, single: float, factor: float) -> float:
    """Return the share of descriptions that fit exactly one of ``factor`` times as many people.

    ``none``, ``single``: the shares that fit none and one of those who are there. If the number that a description
    fits is Poisson with a mean that varies as a gamma, they are (b/(b+1))^a and a/(b+1) times that; with so many more
    people the share is a·f/(b+f) · (b/(b+f))^a. With the same number of people it is what was seen.

    >>> round(_scaled(0.5, 0.25, 1.0), 9), round(_scaled(0.5, 0.25, 2.0), 4)
    (0.25, 0.2222)
    """
    if factor <= 1 or not none or not single:
        return single
    mean = single / none  # a / (b + 1)
    if -math.log(none) <= mean:  # all alike: Poisson
        rate = factor * mean
        return rate * math.exp(-rate)
    low, high = 1e-9, 1e9
    for _ in range(200):
        middle = math.sqrt(low * high)
        larger = -mean * (middle + 1) * math.log(middle / (middle + 1)) > -math.log(none)
        low, high = (middle, high) if larger else (low, middle)
    b, a = low, mean * (low + 1)
    return a * factor / (b + factor) * math.pow(b / (b + factor), a)
