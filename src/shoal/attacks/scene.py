"""The scene of an attack: a release, the people in it, what an adversary knows of them, and what is true."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.cells import Cells
from shoal.attacks.people import People
from shoal.engines.protocol import DistinctRows
from shoal.errors import AttackError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.covering import Covering
from shoal.progress import Hook, silent
from shoal.table.column import Column
from shoal.table.table import Table
from shoal.table.united import United

TARGETS = 10_000  # persons who are attacked, drawn by chance if there are more


@dataclass(frozen=True, eq=False)
class Scene:
    """What is attacked. All codes of people are those of ``cells``, which know everybody's values.

    ``known``: columns that the adversary may know of people. ``hidden``: such columns that the release lacks.
    ``secret``: sensitive columns. ``columns``: what values each column has, of everybody. ``insiders``: the people of
    the original. ``outsiders``: people who are not in the data, if there are any. ``register``: an identified file;
    ``whose[i]``: the record of the original that is of the same person, −1 if that is nobody's. ``truth[i]``: the
    released record that was record i of the original, −1 if it is not released; None if that is not known. ``second``:
    the scene of another release of the same people. ``places``: the codes of ``cells`` for those of the original.
    """

    original: Table
    release: Table
    cells: Mapping[str, Cells]
    columns: Mapping[str, Column]
    known: tuple[str, ...]
    hidden: tuple[str, ...]
    secret: tuple[str, ...]
    insiders: People
    outsiders: People | None = None
    register: People | None = None
    whose: NDArray[np.intp] | None = None
    truth: NDArray[np.intp] | None = None
    second: "Scene | None" = None
    places: Mapping[str, NDArray[np.unsignedinteger[Any]]] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    seed: int = 0
    most: int = TARGETS
    progress: Hook = silent

    @classmethod
    def of(  # noqa: PLR0913 - keyword-only options
        cls,
        original: Table,
        release: Table,
        *,
        outsiders: Table | None = None,
        register: Table | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        seed: int = 0,
        **more: Any,
    ) -> "Scene":
        """Read what a release says about the people of its original, and about others.

        >>> import shoal
        >>> before = shoal.read({"age": [31, 34, 71], "dx": ["flu", "ms", "flu"]}).assign(quasi="age", sensitive="dx")
        >>> scene = Scene.of(before, shoal.read({"age": ["30-39", "30-39", "71"], "dx": ["flu", "ms", "flu"]}))
        >>> scene.candidates(scene.insiders).tolist()
        [2, 2, 1]
        """
        names = [name for name in original.names if name in release]
        quasi = tuple(name for name in original.quasi if name in names)
        hidden = tuple(name for name in original.quasi if name not in names)
        if not names or not (quasi or hidden):
            raise AttackError(
                "There is nothing that an adversary could know of the people in the release.",
                hint="Name quasi-identifiers, and columns that are in both: --quasi age,sex; or give the policy.",
            )
        ladders, others = dict(hierarchies or {}), [one for one in (outsiders, register) if one is not None]
        united = {name: _united(name, original, release, others) for name in (*names, *hidden)}
        cells = {name: _cells(united[name], original, release, name, ladders.get(name)) for name in names}
        rng = np.random.default_rng(seed)
        people = [
            People.of(table, {name: held.places[at] for name, held in united.items() if name in table}, rng)
            for at, table in enumerate([original, *others])
        ]
        return cls(
            original,
            release,
            cells,
            {name: held.column for name, held in united.items()},
            quasi,
            hidden,
            tuple(name for name in original.sensitive if name in names),
            people[0],
            None if outsiders is None else people[1],
            None if register is None else people[-1],
            places={name: held.places[0] for name, held in united.items()},
            hierarchies=ladders,
            seed=seed,
            **more,
        )

    def rng(self, name: str) -> np.random.Generator:
        """Return chance for one attack, the same each time."""
        return np.random.default_rng([self.seed, *name.encode()])

    @cached_property
    def targets(self) -> People:
        """The people who are attacked."""
        return self.insiders.drawn(self.most, self.rng("targets"))

    def having(self, column: str) -> People:
        """Return the targets who have a value in a sensitive column: who has none cannot be found to have it."""
        missing = self.cells[column].column.missing_code
        return self.targets if missing is None else self.targets.some(self.targets.codes[column] != missing)

    def strangers(self, *columns: str, most: int | None = None) -> People | None:
        """Return people who are not in the data, to try attacks out on; None if some columns are not known of them."""
        people = self.outsiders
        if people is None or not len(people) or not all(name in people.codes for name in (*self.known, *columns)):
            return None
        return people.drawn(self.most if most is None else most, self.rng("strangers"))

    def values(self, name: str) -> NDArray[np.unsignedinteger[Any]]:
        """Return what each record of the original has in a column."""
        return self.places[name][self.original.codes(name)]

    def rows(self, columns: Sequence[str]) -> DistinctRows:
        """Return the different rows of the release in some columns."""
        return self.release.distinct(columns)

    def covering(self, columns: Sequence[str], rows: DistinctRows | None = None, *, unknown: bool = False) -> Covering:
        """Return what the different rows of the release cover in some columns; of ``rows``, only these columns.

        ``unknown``: whether one more code than a column has stands for what is not known.
        """
        held = self.rows(columns) if rows is None else rows
        codes = dict(zip(held.columns, held.codes, strict=True))
        sets = [self.cells[name].sets(codes[name]) for name in columns]
        return Covering(tuple(one.or_unknown() if unknown else one for one in sets), held.counts)

    def candidates(self, people: People, columns: Sequence[str] | None = None) -> NDArray[np.int64]:
        """Count the released records that may be those of people, by what is known of them."""
        named = self.known if columns is None else columns
        return self.covering(named).counts(people.known(named))

    def over_original(self, people: People, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return one number per record of the original: NaN for those who were not attacked."""
        found = np.full(self.original.records, np.nan)
        found[people.records] = values
        return found


def _united(name: str, original: Table, release: Table, others: Sequence[Table]) -> United:
    """Unite a column of the original and of others, if they have it, and of the release if it has it plain."""
    held = [original[name], *(one[name] if name in one else _empty(original[name]) for one in others)]
    plain = name in release and _is_plain(original[name], release[name])
    return United.of([*held, release[name]] if plain else held)


def _empty(column: Column) -> Column:
    return Column(column.name, column.kind, column.values[:0])


def _is_plain(original: Column, release: Column) -> bool:
    """Tell whether a released column holds values, and not labels: numbers are numbers still."""
    both = original.kind.numeric and release.kind.numeric
    return (both or original.kind is release.kind) and not original.is_text


def _cells(united: United, original: Table, release: Table, name: str, ladder: Hierarchy | None) -> Cells:
    codes = release.codes(name)
    if _is_plain(original[name], release[name]):
        return Cells.plain(united, release[name], codes)
    return Cells.written(united, original[name], release[name], codes, ladder)
