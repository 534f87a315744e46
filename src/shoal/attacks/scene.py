"""The scene of an attack: a release, the people in it, what an adversary knows of them, and what is true."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.people import KnownPeople
from shoal.engines.protocol import DistinctRows
from shoal.errors import AttackError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.covering import Covering
from shoal.kernels.ranges import expanded
from shoal.progress import Hook, silent
from shoal.recoding.cells import Cells, united
from shoal.recoding.nodes import Floats, Ints
from shoal.remedy import Option, by, either
from shoal.table.column import Column
from shoal.table.role import Role
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
    insiders: KnownPeople
    outsiders: KnownPeople | None = None
    register: KnownPeople | None = None
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
        second: Table | None = None,
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
        roles = {name: role for role in (Role.DIRECT, Role.SUBJECT) for name in original.with_role(role)}
        shown = [table for table in (release, second) if table is not None]
        names = [name for name in original.names if name not in roles and any(name in table for table in shown)]
        hidden = tuple(name for name in original.quasi if name not in release)
        others = [table for table in (outsiders, register) if table is not None]
        together = {name: united(name, original, others, shown) for name in dict.fromkeys((*names, *hidden))}
        rng = np.random.default_rng(seed)
        people = [
            KnownPeople.of(table, {name: united.places[at] for name, united in together.items() if name in table}, rng)
            for at, table in enumerate([original, *others])
        ]
        scene = cls(
            original,
            release,
            {},
            {name: united.column for name, united in together.items()},
            (),
            hidden,
            (),
            people[0],
            None if outsiders is None else people[1],
            None if register is None else people[-1],
            places={name: united.places[0] for name, united in together.items()},
            hierarchies=dict(hierarchies or {}),
            seed=seed,
            **more,
        )
        first = scene._showing(release, together)
        return first if second is None else replace(first, second=scene._showing(second, together))

    def _showing(self, release: Table, together: Mapping[str, United]) -> "Scene":
        """Return the same scene with another release, of the same people and in the same codes."""
        names = [name for name in together if name in release]
        quasi = tuple(name for name in self.original.quasi if name in names)
        if not names or not self.original.quasi:
            raise AttackError(
                "no-known-columns",
                "The release has no column that an adversary could know.",
                remedy=either(
                    by("Name quasi-identifiers that both tables have", Option("quasi")),
                    "give the policy of the release",
                ),
            )
        return replace(
            self,
            release=release,
            cells={name: Cells.of(together[name], self.original, release, name, self.hierarchies) for name in names},
            known=quasi,
            hidden=tuple(name for name in self.original.quasi if name not in names),
            secret=tuple(name for name in self.original.sensitive if name in names),
        )

    def guessing(self) -> "Scene":
        """Return the same for who has their facts from elsewhere: empty cells may be anything."""
        return replace(self, cells={name: cells.guessing() for name, cells in self.cells.items()})

    def rng(self, name: str) -> np.random.Generator:
        """Return chance for one attack, the same each time."""
        return np.random.default_rng([self.seed, *name.encode()])

    @cached_property
    def targets(self) -> KnownPeople:
        """The people who are attacked."""
        return self.insiders.drawn(self.most, self.rng("targets"))

    def having(self, column: str) -> KnownPeople:
        """Return the targets who have a value in a sensitive column: who has none cannot be found to have it."""
        missing = self.cells[column].column.missing_code
        return self.targets if missing is None else self.targets.some(self.targets.codes[column] != missing)

    def strangers(self, *columns: str, most: int | None = None) -> KnownPeople | None:
        """Return people who are not in the data, to try attacks out on; None if some columns are not known of them.

        Of sensitive columns, those who have a value.
        """
        people = self.outsiders
        if people is None or not all(name in people.codes for name in (*self.known, *columns)):
            return None
        for name in columns:
            missing = self.columns[name].missing_code
            if name in self.secret and missing is not None:
                people = people.some(people.codes[name] != missing)
        return people.drawn(self.most if most is None else most, self.rng("strangers")) if len(people) else None

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
        shown = self.rows(columns) if rows is None else rows
        codes = dict(zip(shown.columns, shown.codes, strict=True))
        sets = [self.cells[name].sets(codes[name]) for name in columns]
        return Covering(tuple(sets_of.or_unknown() if unknown else sets_of for sets_of in sets), shown.counts)

    def reach(self, rows: DistinctRows, columns: Sequence[str]) -> Floats:
        """Return how many people of the data each row may be expected to cover, if columns hung on nothing."""
        codes = dict(zip(rows.columns, rows.codes, strict=True))
        reached = np.full(len(rows), float(len(self.insiders)))
        for name in columns:
            cells = self.cells[name]
            reached *= cells.shares(self.insiders.codes[name])[cells.nodes[codes[name]]]
        return reached

    def telling(self, rows: DistinctRows, columns: Sequence[str]) -> Ints:
        """Return the rank of each row by how much it says: 0 says least."""
        digits = np.log(np.maximum(self.reach(rows, columns), 1e-300)).round(9)
        return np.asarray(np.unique(-digits, return_inverse=True)[1], np.int64)

    @cached_property
    def person(self) -> Ints:
        """Whose each record of the original is."""
        whose = self.original.subject
        return np.arange(self.original.records) if whose is None else self.original.codes(whose).astype(np.int64)

    @cached_property
    def _released(self) -> tuple[Ints, NDArray[np.intp]]:
        """The persons of the released records, in order, and these records."""
        truth = np.full(self.original.records, -1, np.intp) if self.truth is None else self.truth
        there = np.flatnonzero(truth >= 0)
        order = there[np.argsort(self.person[there], kind="stable")]
        return self.person[order], truth[order]

    def own(self, people: KnownPeople) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return pairs: the place of a person among people, and a released record that is theirs."""
        persons, released = self._released
        whose = self.person[people.records]
        starts, ends = (np.searchsorted(persons, whose, side) for side in ("left", "right"))
        which, place = expanded(starts, ends - starts)
        return which, released[place]

    def by_chance(self, people: KnownPeople) -> float:
        """Return how often a released record that is taken by chance is of the person in question."""
        own = len(self.own(people)[0]) / max(len(people), 1)
        return own / max(self.release.records, 1)

    @cached_property
    def owners(self) -> Ints:
        """The person of each released record; −1 if it is nobody's, or not known."""
        owners = np.full(self.release.records, -1, np.int64)
        persons, released = self._released
        owners[released] = persons
        return owners

    def candidates(self, people: KnownPeople, columns: Sequence[str] | None = None) -> NDArray[np.int64]:
        """Count the released records that may be those of people, by what is known of them."""
        named = self.known if columns is None else columns
        return self.covering(named).counts(people.known(named))

    def over_original(self, people: KnownPeople, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return one number per record of the original: NaN for those who were not attacked."""
        by_record = np.full(self.original.records, np.nan)
        by_record[people.records] = values
        return by_record
