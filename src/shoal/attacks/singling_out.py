"""Singling out: to find a description that fits exactly one person."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.analyses.estimate import Estimate
from shoal.attacks.attack import ATTACKS, Attack
from shoal.attacks.cells import Cells
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats, Ints
from shoal.table.scale import scale

Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]
Mask: TypeAlias = NDArray[np.bool_]
Bits: TypeAlias = NDArray[np.uint64]
Said: TypeAlias = list[tuple[int, int]]  # of which columns a description speaks, and in the words of which codes
_ROOM = 1 << 26  # bytes that each column may remember
_ROUNDS = 20  # in each of which as many descriptions are drawn as are to be tried


@ATTACKS.register("singling-out")
class SinglingOut(Attack):
    """The share of descriptions, read from the release, that fit exactly one person of the original.

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

    columns: int = Field(default=3, ge=1, description="how many columns a description speaks of")
    attempts: int = Field(default=1000, ge=1, description="how many descriptions are tried")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Draw descriptions, and see whom they fit."""
        names = (*scene.known, *scene.secret)
        described = [Described.of(scene.cells[name]) for name in names]
        number = min(self.columns, len(described))
        released = Crowd.of(described, [column.cells.codes for column in described], _told_apart(scene), released=True)
        everybody = Crowd.of(described, [scene.values(name) for name in names], scene.person)
        mixed = released.shuffled(scene.rng(f"{self.name} shuffled"))
        drawn, blind = (self._tried(crowd, number, scene.rng(self.name)) for crowd in (released, mixed))
        singled = [everybody.singled(said) for said in drawn]
        reached = np.array([record >= 0 for record in singled], np.float64) if drawn else np.zeros(self.attempts)
        yield self.result(
            scene,
            "a description fits exactly one person",
            reached,
            float(np.mean([everybody.singled(said) >= 0 for said in blind])) if blind else 0.0,
            control=_control(scene, described, names, drawn),
            persons=_whom(scene, singled),
            details={"fit_one_record": len(drawn), "columns": number},
        )

    def _tried(self, released: "Crowd", number: int, rng: np.random.Generator) -> list[Said]:
        """Draw descriptions until there are enough that fit one released record, or there seem to be no more."""
        found: dict[tuple[tuple[int, int], ...], None] = {}
        for _ in range(_ROUNDS):
            for said in released.described(number, self.attempts, rng):
                if tuple(said) not in found and released.singled(said) >= 0:
                    found[tuple(said)] = None
            if len(found) >= self.attempts:
                break
        return [list(said) for said in found][: self.attempts]


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """One column: how a released cell describes people. ``mine``: the numbers of their values, if it has plain ones."""

    cells: Cells
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
        return cls(cells, places if plain else None, float(np.median(known)) if len(known) else np.nan)

    def values(self, code: int) -> Mask:
        """Tell which values a released code describes."""
        number = self.cells.numbers[code]
        if self.mine is None or np.isnan(number):
            inside = np.zeros(self.cells.column.size, bool)
            inside[self.cells.held(code)] = True
            return inside
        return self._beyond(number, self.mine)

    def codes(self, code: int) -> Mask:
        """Tell which released codes are described as well."""
        number = self.cells.numbers[code]
        if self.mine is None or np.isnan(number):
            return np.asarray(self.cells.nodes == self.cells.nodes[code])
        return self._beyond(number, self.cells.numbers)

    def _beyond(self, number: float, numbers: Floats) -> Mask:
        return np.asarray(numbers >= number if number > self.median else numbers <= number)


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Records that descriptions may fit. ``values``: theirs in each column; ``persons``: whose they are.

    ``several``: whether somebody has several. ``released``: whether values are released codes. For each column and code
    the bits of all records are kept.
    """

    columns: Sequence[Described]
    values: Sequence[Codes]
    persons: Ints
    several: bool
    released: bool
    _bits: list[dict[int, Bits]] = field(default_factory=list)

    @classmethod
    def of(
        cls, columns: Sequence[Described], values: Sequence[Codes], persons: Ints, *, released: bool = False
    ) -> "Crowd":
        """Take records."""
        several = len(np.unique(persons)) < len(persons)
        return cls(columns, values, persons, several, released, [{} for _ in columns])

    def shuffled(self, rng: np.random.Generator) -> "Crowd":
        """Return records whose columns have nothing to do with each other, but are as they were by themselves."""
        values = [rng.permutation(held) for held in self.values]
        return Crowd.of(self.columns, values, np.arange(len(self.persons)), released=self.released)

    def described(self, number: int, attempts: int, rng: np.random.Generator) -> Iterator[Said]:
        """Draw descriptions in the words of the records."""
        chosen = np.sort(rng.permuted(np.tile(np.arange(len(self.columns)), (attempts, 1)), axis=1)[:, :number], axis=1)
        records = rng.integers(max(len(self.persons), 1), size=attempts)
        for columns, record in zip(chosen.tolist(), records.tolist(), strict=True):
            yield [(at, int(self.values[at][record])) for at in columns]

    def count(self, said: Said) -> int:
        """Return how many records a description fits."""
        return int(np.bitwise_count(self._fitting(said)).sum())

    def singled(self, said: Said) -> int:
        """Return a record of the one person whom a description fits; −1 if it fits nobody, or several."""
        bits = self._fitting(said)
        number = int(np.bitwise_count(bits).sum())
        if not number or (number > 1 and not self.several):
            return -1
        fitting = np.flatnonzero(np.unpackbits(bits.view(np.uint8), count=len(self.persons), bitorder="little"))
        return int(fitting[0]) if len(np.unique(self.persons[fitting])) == 1 else -1

    def _fitting(self, said: Said) -> Bits:
        first, *others = (self._of(at, code) for at, code in said)
        found = first
        for other in others:
            found = found & other
        return found

    def _of(self, at: int, code: int) -> Bits:
        """Return which records a code of a column describes, as bits; it is asked again and again."""
        kept = self._bits[at]
        if code not in kept:
            if (len(kept) + 1) * len(self.persons) > 8 * _ROOM:
                kept.clear()
            column = self.columns[at]
            inside = (column.codes(code) if self.released else column.values(code))[self.values[at]]
            packed = np.zeros(-(-len(inside) // 64) * 8, np.uint8)
            packed[: -(-len(inside) // 8)] = np.packbits(inside, bitorder="little")
            kept[code] = packed.view(np.uint64)
        return kept[code]


def _told_apart(scene: Scene) -> Ints:
    """Return whose the released records are, as the release tells: without a subject, each is by itself."""
    whose = scene.original.subject
    if whose is None or whose not in scene.release:
        return np.arange(scene.release.records)
    return scene.release.codes(whose).astype(np.int64)


def _whom(scene: Scene, singled: Sequence[int]) -> Floats:
    """Return of each record of the original whether its person was singled out."""
    persons = np.unique(scene.person[[record for record in singled if record >= 0]])
    return np.isin(scene.person, persons).astype(np.float64)


def _control(
    scene: Scene, columns: Sequence[Described], names: Sequence[str], drawn: Sequence[Said]
) -> Estimate | None:
    """Return how many descriptions would single out a stranger, among as many as there are people in the data."""
    strangers = scene.strangers(*names, most=len(scene.insiders))
    if strangers is None or not drawn:
        return None
    crowd = Crowd.of(columns, strangers.known(names), np.arange(len(strangers)))
    fits = np.array([crowd.count(said) for said in drawn])
    share = _scaled(float((fits == 0).mean()), float((fits == 1).mean()), len(scene.insiders) / len(strangers))
    return Estimate.share(min(share, 1.0), len(drawn))


def _scaled(none: float, one: float, factor: float) -> float:
    """Return the share of descriptions that fit exactly one of ``factor`` times as many people.

    ``none``, ``one``: the shares that fit none and one of those who are there. If the number that a description fits is
    Poisson with a mean that varies as a gamma, they are (b/(b+1))^a and a/(b+1) times that; with so many more people
    the share is a·f/(b+f) · (b/(b+f))^a. With the same number of people it is what was seen.

    >>> round(_scaled(0.5, 0.25, 1.0), 9), round(_scaled(0.5, 0.25, 2.0), 4)
    (0.25, 0.2222)
    """
    if factor <= 1 or not none or not one:
        return one
    mean = one / none  # a / (b + 1)
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
