"""Singling out: to find a description that fits exactly one person."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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


@ATTACKS.register("singling-out")
class SinglingOut(Attack):
    """The share of descriptions, read from the release, that fit exactly one person of the original.

    A description takes a released record and says of some of its columns that a person's value is in the set that the
    record shows; of plain numbers that it is as large at least (above the median) or as small at most. Those are tried
    that fit one released record only; where a drawn one fits several, the adversary has none. WP216; Giomi et al. 2023.
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
        drawn = _drawn(columns, min(self.columns, len(columns)), self.attempts, scene.release.records, rng)
        mixed = drawn.mixed(columns, scene.release.records, rng)
        fits, blind = (Fits.of(columns, held, scene.insiders.known(names)) for held in (drawn, mixed))
        singled = np.zeros(len(scene.insiders))
        singled[fits.whom[fits.singled]] = 1
        yield self.result(
            scene,
            "a description fits exactly one person",
            fits.singled.astype(np.float64),
            float(blind.singled.mean()),
            self._control(scene, columns, names, drawn, fits, rng),
            persons=scene.over_original(scene.insiders, singled),
            details={"fit_one_record": int(fits.tried.sum()), "columns": drawn.columns.shape[1]},
        )

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
        found = Fits.of(columns, drawn, strangers.known(names)).singled.astype(np.float64)
        size = min(len(strangers), len(scene.insiders))
        some = scene.insiders.drawn(size, rng)
        fewer = Fits.of(columns, drawn, some.known(names)).singled.mean()
        factor = fits.singled.mean() / fewer if fewer > 0 and len(some) < len(scene.insiders) else 1.0
        return np.minimum(found * factor, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """One column: how a released cell describes people. ``mine``: the numbers of their values, if it has plain ones."""

    cells: Cells
    mine: Floats | None
    median: float

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
        """Tell which released records it describes."""
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

    def mixed(self, columns: Sequence[Described], records: int, rng: np.random.Generator) -> "Descriptions":
        """Return descriptions of the same columns, in words of different records."""
        drawn = rng.integers(records, size=self.columns.shape)
        return Descriptions(self.columns, _words(columns, self.columns, drawn))


def _drawn(
    columns: Sequence[Described], number: int, attempts: int, records: int, rng: np.random.Generator
) -> Descriptions:
    """Draw columns and records; descriptions that come twice count once."""
    chosen = np.sort(rng.permuted(np.tile(np.arange(len(columns)), (attempts, 1)), axis=1)[:, :number], axis=1)
    which = np.broadcast_to(rng.integers(records, size=(attempts, 1)), chosen.shape)
    both = np.unique(np.concatenate([chosen, _words(columns, chosen, which)], axis=1), axis=0)
    return Descriptions(both[:, :number], both[:, number:])


def _words(columns: Sequence[Described], chosen: NDArray[np.intp], records: NDArray[np.intp]) -> NDArray[np.intp]:
    codes = np.zeros(chosen.shape, np.intp)
    for place, column in enumerate(columns):
        here = chosen == place
        codes[here] = column.cells.codes[records[here]]
    return codes


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """``tried``: which descriptions fit one released record. ``singled``: and one person; ``whom``: who that is."""

    tried: Mask
    singled: Mask
    whom: NDArray[np.intp]

    @classmethod
    def of(
        cls, columns: Sequence[Described], drawn: Descriptions, people: Sequence[NDArray[np.unsignedinteger[Any]]]
    ) -> "Fits":
        """See whom descriptions fit."""
        number = len(drawn.columns)
        tried, singled, whom = np.zeros(number, bool), np.zeros(number, bool), np.zeros(number, np.intp)
        for place, (chosen, codes) in enumerate(zip(drawn.columns.tolist(), drawn.codes.tolist(), strict=True)):
            said = list(zip(chosen, codes, strict=True))
            alike = np.logical_and.reduce([columns[at].records(code) for at, code in said])
            tried[place] = np.count_nonzero(alike) == 1
            if tried[place]:
                fitting = np.flatnonzero(
                    np.logical_and.reduce([columns[at].people(code, people[at]) for at, code in said])
                )
                singled[place] = len(fitting) == 1
                whom[place] = fitting[0] if len(fitting) else 0
        return cls(tried, singled, whom)
