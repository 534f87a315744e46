"""The scene of an attack: a release, its individuals, the adversary's background knowledge, and the ground truth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.bucketed import BucketedValues
from shoal.attacks.people import KnownPeople
from shoal.attacks.sliced import SlicedTables
from shoal.engines.protocol import DistinctRows
from shoal.errors import AttackError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.covering import Covering
from shoal.kernels.grouping import group_rows
from shoal.kernels.ranges import expanded
from shoal.models.model import Model
from shoal.progress import Hook, silent
from shoal.recoding.cells import Cells, united
from shoal.recoding.nodes import Floats, Ints
from shoal.remedy import Option, by, either
from shoal.table.column import Column
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.table.united import United

Remade: TypeAlias = Callable[[str, NDArray[np.unsignedinteger[Any]]], "Scene | None"]
Shadows: TypeAlias = Callable[[NDArray[np.bool_]], "Scene | None"]
TARGETS = 10_000  # maximum number of targets, drawn at random if there are more


@dataclass(frozen=True, eq=False)
class Scene:
    """The scene of an attack: a release, its individuals, and the known and sensitive columns.

    All codes of individuals refer to the columns of ``cells``, which contain the values of all individuals, inside and
    outside the data.

    ``known``: quasi-identifiers of the release, which the adversary may know. ``hidden``: quasi-identifiers that the
    release lacks. ``secret``: sensitive columns of the release. ``columns``: the values of each column, over all
    individuals. ``insiders``: the individuals of the original. ``outsiders``: individuals outside the data, if any.
    ``register``: an identified file. ``whose[i]``: the record of the original that belongs to the person of register
    entry i, −1 if there is none. ``truth[i]``: the released record that stems from record i of the original, −1 if that
    record is not released; None if this is unknown. ``others``: the scenes of other releases of the same individuals.
    ``places``: the codes of ``cells`` for the codes of the original. ``buckets``: the sensitive columns that a release
    shows by bucket only, and ``slices``, those of a release by groups of columns. ``link``: the column with the bucket
    numbers. ``is_sure``: whether ``truth`` is recorded, or follows from a key or the order, not from content.
    ``requirements``: the models that the policy of the release requires. ``remade(column, codes)``: the scene of a
    release made in the same way from other values of a sensitive column; None if there is none. ``shadows``: releases
    made in the same way from other individuals, if possible. ``united``: the common codes of each column.
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
    others: tuple["Scene", ...] = ()
    places: Mapping[str, NDArray[np.unsignedinteger[Any]]] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    buckets: tuple[BucketedValues, ...] = ()
    slices: tuple[SlicedTables, ...] = ()
    link: str = ""
    is_sure: bool = True
    requirements: tuple[Model, ...] = ()
    remade: "Remade | None" = None
    shadows: "Shadows | None" = None
    united: Mapping[str, United] = field(default_factory=dict)
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
        others: Sequence[Table] = (),
        hierarchies: Mapping[str, Hierarchy] | None = None,
        seed: int = 0,
        **more: Any,
    ) -> "Scene":
        """Build the scene of a release and its original, with further individuals and other releases if given.

        >>> import shoal
        >>> before = shoal.read({"age": [31, 34, 71], "dx": ["flu", "ms", "flu"]}).assign(quasi="age", sensitive="dx")
        >>> scene = Scene.of(before, shoal.read({"age": ["30-39", "30-39", "71"], "dx": ["flu", "ms", "flu"]}))
        >>> scene.candidates(scene.insiders).tolist()
        [2, 2, 1]
        """
        roles = {name: role for role in (Role.DIRECT, Role.SUBJECT) for name in original.with_role(role)}
        if original.quasi and any(not any(name in other for name in original.quasi) for other in others):
            raise AttackError(
                "other-release",
                "The other release has none of the quasi-identifiers of the original.",
                remedy="Check the file: both releases must be of the same individuals.",
            )
        shown = [release, *others]
        names = [name for name in original.names if name not in roles and any(name in table for table in shown)]
        hidden = tuple(name for name in original.quasi if name not in release)
        strangers = [table for table in (outsiders, register) if table is not None]
        together = {name: united(name, original, strangers, shown) for name in dict.fromkeys((*names, *hidden))}
        rng = np.random.default_rng(seed)
        people = [
            KnownPeople.of(table, {name: united.places[at] for name, united in together.items() if name in table}, rng)
            for at, table in enumerate([original, *strangers])
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
            united=together,
            seed=seed,
            **more,
        )
        return replace(scene.showing(release), others=tuple(scene.showing(other) for other in others))

    def showing(self, release: Table) -> "Scene":
        """Return the scene of another release of the same individuals, in the same codes.

        It has no values that neither the original nor the releases of this scene contain, unless they are labels.
        """
        names = [name for name in self.united if name in release]
        quasi = tuple(name for name in self.original.quasi if name in names)
        if not self.original.quasi:
            raise AttackError(
                "no-quasi-identifier",
                "No quasi-identifiers are named, which an adversary would know.",
                remedy=either(by("Name them", Option("quasi")), "give the policy of the release"),
            )
        if not names:
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
            cells={name: Cells.of(self.united[name], self.original, release, name, self.hierarchies) for name in names},
            known=quasi,
            hidden=tuple(name for name in self.original.quasi if name not in names),
            secret=tuple(name for name in self.original.sensitive if name in names),
        )

    def guessing(self) -> "Scene":
        """Return the scene of an adversary with knowledge from another source: an empty cell may be any value."""
        return replace(self, cells={name: cells.guessing() for name, cells in self.cells.items()})

    def tolerant(self, tolerance: float) -> "Scene":
        """Return the scene of an adversary who expects perturbed numbers, up to ``tolerance`` standard deviations."""
        return replace(self, cells={name: cells.within(tolerance) for name, cells in self.cells.items()})

    def rng(self, name: str) -> np.random.Generator:
        """Return the random generator of one attack, reproducible by the seed."""
        return np.random.default_rng([self.seed, *name.encode()])

    @cached_property
    def targets(self) -> KnownPeople:
        """The attacked individuals, at most ``most``, drawn at random."""
        return self.insiders.drawn(self.most, self.rng("targets"))

    def having(self, column: str) -> KnownPeople:
        """Return the targets that have a value in a sensitive column; a missing value cannot be disclosed."""
        missing = self.cells[column].column.missing_code
        return self.targets if missing is None else self.targets.some(self.targets.codes[column] != missing)

    def strangers(self, *columns: str, most: int | None = None) -> KnownPeople | None:
        """Return individuals outside the data as a control group; None if there are none, or a column is unknown.

        Only individuals with a value in each of the given sensitive columns are included.
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
        """Return the value of each record of the original in a column."""
        return self.places[name][self.original.codes(name)]

    def rows(self, columns: Sequence[str]) -> DistinctRows:
        """Return the distinct rows of the release in the given columns."""
        return self.release.distinct(columns)

    def covering(self, columns: Sequence[str], rows: DistinctRows | None = None, *, unknown: bool = False) -> Covering:
        """Return the sets of values that the distinct rows of the release cover in the given columns.

        ``rows``: distinct rows of more columns, of which only the given ones are used. ``unknown``: whether each column
        gets an additional code that stands for an unknown value.
        """
        shown = self.rows(columns) if rows is None else rows
        codes = dict(zip(shown.columns, shown.codes, strict=True))
        sets = [self.cells[name].sets(codes[name]) for name in columns]
        return Covering(tuple(sets_of.or_unknown() if unknown else sets_of for sets_of in sets), shown.counts)

    def reach(self, rows: DistinctRows, columns: Sequence[str]) -> Floats:
        """Return the expected number of individuals that each row covers, assuming independent columns."""
        codes = dict(zip(rows.columns, rows.codes, strict=True))
        reached = np.full(len(rows), float(len(self.insiders)))
        for name in columns:
            cells = self.cells[name]
            reached *= cells.shares(self.insiders.codes[name])[cells.nodes[codes[name]]]
        return reached

    def telling(self, rows: DistinctRows, columns: Sequence[str]) -> Ints:
        """Return the rank of each row by specificity; 0 is the least specific."""
        digits = np.log(np.maximum(self.reach(rows, columns), 1e-300)).round(9)
        return np.asarray(np.unique(-digits, return_inverse=True)[1], np.int64)

    @cached_property
    def person(self) -> Ints:
        """The person of each record of the original."""
        whose = self.original.subject
        return np.arange(self.original.records) if whose is None else self.original.codes(whose).astype(np.int64)

    @cached_property
    def _released(self) -> tuple[Ints, NDArray[np.intp]]:
        """The persons of the released records, in ascending order, and these records."""
        truth = np.full(self.original.records, -1, np.intp) if self.truth is None else self.truth
        there = np.flatnonzero(truth >= 0)
        order = there[np.argsort(self.person[there], kind="stable")]
        return self.person[order], truth[order]

    def own(self, people: KnownPeople) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return pairs of the position of an individual in ``people`` and a released record of that individual."""
        persons, released = self._released
        whose = self.person[people.records]
        starts, ends = (np.searchsorted(persons, whose, side) for side in ("left", "right"))
        which, place = expanded(starts, ends - starts)
        return which, released[place]

    def by_chance(self, people: KnownPeople) -> float:
        """Return the probability that a released record drawn at random belongs to the targeted person."""
        own = len(self.own(people)[0]) / max(len(people), 1)
        return own / max(self.release.records, 1)

    @cached_property
    def owners(self) -> Ints:
        """The person of each released record; −1 if there is none or the person is unknown."""
        owners = np.full(self.release.records, -1, np.int64)
        persons, released = self._released
        owners[released] = persons
        return owners

    @cached_property
    def counterfeits(self) -> NDArray[np.bool_]:
        """Whether each released record stems from no record of the original; none if this is unknown."""
        false = np.full(self.release.records, self.truth is not None)
        if self.truth is not None:
            false[self.truth[self.truth >= 0]] = False
        return false

    def fates(self, people: KnownPeople) -> Ints:
        """Return the class of the released record of each individual; those without one have a class of their own.

        Individuals of a class share their fate: if the class is homogeneous, the values of all are disclosed.
        """
        return self._classes[people.records]

    @cached_property
    def _classes(self) -> Ints:
        """The class of each record of the original."""
        alone = np.arange(self.original.records) + self.release.records
        if self.truth is None or not self.known:
            return alone
        codes = [self.release.codes(name) for name in self.known]
        classes = group_rows(codes, [self.release[name].size for name in self.known], self.release.records).ids
        return np.where(self.truth >= 0, classes[self.truth].astype(np.int64), alone)

    def candidates(self, people: KnownPeople, columns: Sequence[str] | None = None) -> NDArray[np.int64]:
        """Count the released records that are compatible with the known attributes of each individual."""
        named = self.known if columns is None else columns
        return self.covering(named).counts(people.known(named))

    def over_original(self, people: KnownPeople, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return one value per record of the original; NaN for records that were not attacked."""
        by_record = np.full(self.original.records, np.nan)
        by_record[people.records] = values
        return by_record
