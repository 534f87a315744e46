"""Singling out: to find a description that fits exactly one person."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack
from shoal.attacks.cells import Cells
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats
from shoal.table.scale import scale

Mask = NDArray[np.bool_]
_ROOM = 1 << 26  # bytes that each column may remember
_ROUNDS = 20  # in each of which as many descriptions are drawn as are to be tried


@ATTACKS.register("singling-out")
class SinglingOut(Attack):
    """The share of descriptions, read from the release, that fit exactly one person of the original.

    A description takes a released record and says of some of its columns that a person's value is in the set that the
    record shows; of plain numbers that it is as large at least (above the median) or as small at most. Those are tried
    that fit one released record only; of a release in which few do, few can be tried. WP216; Giomi et al. 2023.
    Baseline: descriptions whose parts are drawn from different records. Control: the same descriptions, and so many
    people who are not in the data.

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
        rng, names = scene.rng(self.name), (*scene.known, *scene.secret)
        columns = [Described.of(scene.cells[name]) for name in names]
        number, records = min(self.columns, len(columns)), scene.release.records
        drawn = _tried(columns, number, self.attempts, records, rng, mixed=False)
        mixed = _tried(columns, number, self.attempts, records, rng, mixed=True)
        fits, blind = (Fits.of(columns, held, scene.insiders.known(names)) for held in (drawn, mixed))
        singled = np.zeros(len(scene.insiders))
        singled[fits.whom[fits.singled]] = 1
        yield self.result(
            scene,
            "a description fits exactly one person",
            self._of_all(fits),
            float(self._of_all(blind).mean()),
            self._control(scene, columns, names, drawn, fits, rng),
            persons=scene.over_original(scene.insiders, singled),
            details={"fit_one_record": len(fits.singled), "columns": number},
        )

    def _of_all(self, fits: "Fits") -> Floats:
        """Return which descriptions succeeded; without any, no attempt has."""
        return fits.singled.astype(np.float64) if len(fits.singled) else np.zeros(self.attempts)

    def _control(  # noqa: PLR0913, PLR0917 - descriptions, and whom they fit
        self,
        scene: Scene,
        columns: Sequence["Described"],
        names: Sequence[str],
        drawn: "Descriptions",
        fits: "Fits",
        rng: np.random.Generator,
    ) -> Floats | None:
        """Return the same for strangers; if these are fewer, as many times as much as fewer insiders would change."""
        strangers = scene.strangers(*names, most=len(scene.insiders))
        if strangers is None:
            return None
        found = self._of_all(Fits.of(columns, drawn, strangers.known(names)))
        size = min(len(strangers), len(scene.insiders))
        some = scene.insiders.drawn(size, rng)
        fewer = self._of_all(Fits.of(columns, drawn, some.known(names))).mean()
        factor = self._of_all(fits).mean() / fewer if fewer > 0 and len(some) < len(scene.insiders) else 1.0
        return np.minimum(found * factor, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """One column: how a released cell describes people. ``mine``: the numbers of their values, if it has plain ones."""

    cells: Cells
    mine: Floats | None
    median: float
    _known: dict[int, Mask] = field(default_factory=dict)

    @classmethod
    def of(cls, cells: Cells) -> "Described":
        """Take a column; numbers are plain if every cell shows one value."""
        places = scale(cells.column)
        sizes = np.diff(cells.starts)[cells.nodes]
        known = cells.numbers[cells.codes]
        known = known[~np.isnan(known)]
        plain = places is not None and (sizes[~np.isnan(cells.numbers)] <= 1).all() and len(known) > 0
        return cls(cells, places if plain else None, float(np.median(known)) if len(known) else np.nan)

    def people(self, code: int, values: NDArray[np.unsignedinteger[Any]]) -> Mask:
        """Tell which values a released code describes."""
        number = self.cells.numbers[code]
        if self.mine is None or np.isnan(number):
            inside = np.zeros(self.cells.column.size, bool)
            inside[self.cells.held(code)] = True
            return np.asarray(inside[values])
        return np.asarray(self._beyond(number, self.mine)[values])

    def records(self, code: int) -> Mask:
        """Tell which released records it describes; it is asked again and again."""
        if code not in self._known:
            if (len(self._known) + 1) * len(self.cells.codes) > _ROOM:
                self._known.clear()
            self._known[code] = self._records(code)
        return self._known[code]

    def _records(self, code: int) -> Mask:
        number = self.cells.numbers[code]
        if self.mine is None or np.isnan(number):
            return np.asarray(self.cells.nodes[self.cells.codes] == self.cells.nodes[code])
        return np.asarray(self._beyond(number, self.cells.numbers)[self.cells.codes])

    def _beyond(self, number: float, numbers: Floats) -> Mask:
        return np.asarray(numbers >= number if number > self.median else numbers <= number)


@dataclass(frozen=True, slots=True, eq=False)
class Descriptions:
    """Description i speaks of ``columns[i]``, in the words of ``codes[i]``."""

    columns: NDArray[np.intp]
    codes: NDArray[np.intp]

    def said(self) -> Iterator[list[tuple[int, int]]]:
        """Yield each description: columns, and the code that it speaks of."""
        for chosen, codes in zip(self.columns.tolist(), self.codes.tolist(), strict=True):
            yield list(zip(chosen, codes, strict=True))


def _tried(  # noqa: PLR0913 - columns, and how to draw
    columns: Sequence[Described], number: int, attempts: int, records: int, rng: np.random.Generator, *, mixed: bool
) -> Descriptions:
    """Draw descriptions until there are enough that fit one released record, or there seem to be no more.

    ``mixed``: whether their parts are of different records. What comes twice counts once.
    """
    found = np.zeros((0, 2 * number), np.intp)
    for _ in range(_ROUNDS):
        if len(found) >= attempts:
            break
        chosen = np.sort(rng.permuted(np.tile(np.arange(len(columns)), (attempts, 1)), axis=1)[:, :number], axis=1)
        which = rng.integers(records, size=(attempts, number if mixed else 1))
        both = np.concatenate([chosen, _words(columns, chosen, np.broadcast_to(which, chosen.shape))], axis=1)
        alone = np.array([_fits_one(columns, said) for said in Descriptions(both[:, :number], both[:, number:]).said()])
        together = np.concatenate([found, both[alone]])
        _, first = np.unique(together, axis=0, return_index=True)
        found = together[np.sort(first)]
    return Descriptions(found[:attempts, :number], found[:attempts, number:])


def _words(columns: Sequence[Described], chosen: NDArray[np.intp], records: NDArray[np.intp]) -> NDArray[np.intp]:
    codes = np.zeros(chosen.shape, np.intp)
    for place, column in enumerate(columns):
        here = chosen == place
        codes[here] = column.cells.codes[records[here]]
    return codes


def _fits_one(columns: Sequence[Described], said: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a description fits one released record only."""
    first, *others = (columns[at].records(code) for at, code in said)
    alike = first
    for other in others:
        alike = alike & other
    return int(np.count_nonzero(alike)) == 1


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """``singled``: which descriptions fit exactly one person; ``whom``: who that is."""

    singled: Mask
    whom: NDArray[np.intp]

    @classmethod
    def of(
        cls, columns: Sequence[Described], drawn: Descriptions, people: Sequence[NDArray[np.unsignedinteger[Any]]]
    ) -> "Fits":
        """See whom descriptions fit."""
        number = len(drawn.columns)
        singled, whom = np.zeros(number, bool), np.zeros(number, np.intp)
        for place, said in enumerate(drawn.said()):
            fitting = np.flatnonzero(np.logical_and.reduce([columns[at].people(code, people[at]) for at, code in said]))
            singled[place] = len(fitting) == 1
            whom[place] = fitting[0] if len(fitting) else 0
        return cls(singled, whom)
