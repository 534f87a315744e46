"""Inputs of an attack: the tables that are given, and the scene that they form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.scene import Remade, Scene, Shadows
from shoal.attacks.split_tables import SplitTables
from shoal.attacks.truth import in_register
from shoal.errors import AttackError, ShoalError
from shoal.kernels.translation import Codes
from shoal.policy.policy import Policy
from shoal.progress import silent
from shoal.recoding.matching import Match
from shoal.release.case import Case
from shoal.release.making import released
from shoal.release.pairing import drawn_from, which
from shoal.release.release import Release
from shoal.remedy import Option, either
from shoal.table.compaction import compacted
from shoal.table.raw import Encoded
from shoal.table.table import Table
from shoal.table.united import United
from shoal.verbs.inputs import Inputs, ReleasedTables, table_of

_HINT = "Name columns that identify a record in both tables (key), or match records by position (in order)."


@dataclass(frozen=True, eq=False)
class AttackInputs:
    """What is given for an attack.

    ``external``: an identified register. ``outsiders``: individuals outside the data. ``also``: other releases of the
    same individuals. ``values``, ``link``: the further tables of the release, and the column that links them.
    """

    inputs: Inputs
    release: Any
    external: Any = None
    outsiders: Any = None
    also: Sequence[Any] = ()
    values: Any = None
    link: str | None = None

    @cached_property
    def original(self) -> Table:
        """The original, in memory."""
        return self.inputs.table.in_memory()

    @cached_property
    def released(self) -> SplitTables:
        """The tables of the release."""
        parts, form = ReleasedTables.of(self.release, self.values, self.link), self.inputs.policy.search.publish
        grouped = form is not None and form.groups_columns
        return SplitTables.of(parts.tables, self.original, parts.link, groups_columns=grouped)

    @cached_property
    def others(self) -> tuple[SplitTables, ...]:
        """The tables of the other releases."""
        return tuple(_other_release(other, self.original) for other in self.also)

    @cached_property
    def register(self) -> Table | None:
        """The register of identified individuals, if there is one."""
        return None if self.external is None else table_of(self.external).in_memory()

    @cached_property
    def strangers(self) -> Table | None:
        """The individuals outside the data, if there are any."""
        if self.outsiders is None:
            return None
        table, subject = table_of(self.outsiders).in_memory(), self.original.subject
        return table.assign(subject=subject) if subject is not None and subject in table else table

    def scene(self, key: tuple[str, ...], *, in_order: bool, matched: Match | None, seed: int) -> tuple[Scene, str]:
        """Return the scene, with a sentence on how records were matched.

        ``key``: columns that identify a record. ``in_order``: the release has the order of the original. ``matched``:
        the match of the records, if already computed.
        """
        self._check_records()
        scene = Scene.of(
            self.original,
            self.released.whole,
            outsiders=self.strangers,
            register=self.register,
            others=[other.whole for other in self.others],
            hierarchies=self.inputs.hierarchies,
            seed=seed,
        )
        named = self._key(key)
        scene, how = self._matched(self._with_others(self.released.on(scene), named), named, matched, in_order=in_order)
        if self.register is not None and scene.register is not None:
            whose = in_register(self.original, self.register, named)
            scene = replace(scene, whose=None if whose is None else whose[scene.register.records])
        models = tuple(model for _, _, model in self.inputs.policy.requirements())
        return (
            replace(
                scene,
                requirements=models,
                remade=_remaking(self.inputs, self.release, scene),
                shadows=self._shadows(scene.seed),
            ),
            how,
        )

    def _shadows(self, seed: int) -> Shadows | None:
        """Return a function that makes a release from some individuals of the original and outside.

        None without a policy or individuals outside, if these lack columns, or if individuals have several records.
        """
        policy = _policy(self.inputs, self.release)
        if policy is None or self.strangers is None or any(name not in self.strangers for name in self.original.names):
            return None
        if self.original.person_count < self.original.records:
            return None
        pool = _pooled(self.original, self.strangers)

        def shadow(chosen: NDArray[np.bool_]) -> Scene | None:
            table = _chosen(pool, chosen)
            try:
                made = released(Case.of(table, policy), 1, silent)
            except ShoalError:
                return None
            hierarchies = replace(self.inputs, table=table).hierarchies
            return Scene.of(table, made.first.in_memory(), outsiders=pool, hierarchies=hierarchies, seed=seed)

        return shadow

    def _check_records(self) -> None:
        """Refuse empty tables."""
        others = {f"other release ({number})": other.first for number, other in enumerate(self.others, 1)}
        tables: Mapping[str, Table | None] = {
            "original": self.original,
            "release": self.released.first,
            **others,
            "register": self.register,
            "table of outsiders": self.strangers,
        }
        for name, table in tables.items():
            if table is not None and not table.records:
                raise AttackError("no-records", "The {table} has no records.", table=name)

    def _with_others(self, scene: Scene, key: tuple[str, ...]) -> Scene:
        """Return the scene with what the tables of other releases tell, and their matched records."""
        others = [
            _with_sure_truth(other.on(shown), given if isinstance(given, Release) else other.first, key, self.inputs)
            for other, shown, given in zip(self.others, scene.others, self.also, strict=True)
        ]
        return replace(scene, others=tuple(others))

    def _matched(
        self, scene: Scene, key: tuple[str, ...], matched: Match | None, *, in_order: bool
    ) -> tuple[Scene, str]:
        """Return the scene with the matched records, and a sentence on how they were matched."""
        if matched is None:
            release = self.release if isinstance(self.release, Release) else self.released.first
            return _with_truth(scene, release, key, self.inputs, in_order=in_order)
        truth = None if matched.rows is None else matched.rows.astype(np.intp)
        return replace(scene, truth=truth, is_sure=matched.recorded), matched.sentence

    def _key(self, named: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns of a key; refuse one that the original lacks, or both the release and the register."""
        for name in named:
            self.original[name]  # raises if there is no such column
            if name not in self.released.first and (self.register is None or name not in self.register):
                raise AttackError(
                    "key-without-column",
                    "The key names column '{column}', which only the original has.",
                    remedy=either("Name a column that the release or the register also has", Option("in_order", True)),
                    column=name,
                )
        return named


def _other_release(release: Any, table: Table) -> SplitTables:
    """Return another release of the same individuals; one whose quasi-identifiers are in several tables is refused."""
    parts = ReleasedTables.of(release)
    other = SplitTables.of(parts.tables, table, parts.link)
    if other.divides_identities:
        raise AttackError(
            "divided-identities",
            "The quasi-identifiers of the other release are in several tables, which cannot be combined with another "
            "release.",
            remedy="Give the sliced release as the first one, to attack it by itself.",
        )
    return other


def _policy(inputs: Inputs, release: Any) -> Policy | None:
    """Return the policy with which a release of a single table was made, if it requires anything."""
    policy = release.policy if isinstance(release, Release) else inputs.policy
    return policy if policy.require and not policy.tables else None


def _pooled(table: Table, other: Table) -> Table:
    """Return the records of two tables, in the columns of the first."""
    columns = []
    for name in table.names:
        united = United.of([table[name], other[name]])
        codes = [places[each.codes(name)] for places, each in zip(united.places, (table, other), strict=True)]
        columns.append(Encoded(united.column, np.concatenate(codes)))
    return replace(Table.of(columns, table.records + other.records, table.source), roles=table.roles)


def _chosen(table: Table, chosen: NDArray[np.bool_]) -> Table:
    """Return some records of a table, with the values that occur in them."""
    columns = [Encoded(*compacted(table[name], table.codes(name)[chosen])) for name in table.names]
    return replace(Table.of(columns, int(np.count_nonzero(chosen)), table.source), roles=table.roles)


def _remaking(inputs: Inputs, release: Any, scene: Scene) -> Remade | None:
    """Return a function that makes a release with the policy from other values of a column; None without a policy.

    The names of what it makes are those of the scene; a release that cannot be made from the other values is None.
    """
    policy = _policy(inputs, release)
    if policy is None:
        return None
    if policy.search.independent:
        return lambda column, codes: scene  # noqa: ARG005 - the same classes, whatever the values

    def remade(column: str, codes: Codes) -> Scene | None:
        table = _with_values(scene.original, column, codes)
        try:
            made = released(Case.of(table, policy), 1, silent)
        except ShoalError:
            return None
        again = Scene.of(table, made.first.in_memory(), hierarchies=scene.hierarchies, seed=scene.seed)
        return replace(_with_truth(again, made, (), inputs, in_order=False)[0], requirements=scene.requirements)

    return remade


def _with_values(table: Table, column: str, codes: Codes) -> Table:
    """Return a table with other values of a column, one for each record."""
    columns = [Encoded(each, codes if each.name == column else table.codes(each.name)) for each in table.columns]
    return replace(Table.of(columns, table.records, table.source), roles=table.roles)


def _with_sure_truth(scene: Scene, release: Release | Table, key: Sequence[str], inputs: Inputs) -> Scene:
    """Return the scene of another release with its matched records; without them if only the content matches.

    Within a class, a match by content is arbitrary, so that correct links would count as wrong.
    """
    matched, _ = _with_truth(scene, release, key, inputs, in_order=False)
    return matched if matched.is_sure else replace(matched, truth=None)


def _with_truth(
    scene: Scene, release: Release | Table, key: Sequence[str], inputs: Inputs, *, in_order: bool
) -> tuple[Scene, str]:
    """Return the scene with the matched records, and a sentence on the matching method."""
    named = key if key and all(name in scene.release for name in key) else None
    if named is not None and in_order:
        raise AttackError(
            "key-and-order", "Records are matched by a key or by position, not by both.", remedy="Omit one of them."
        )
    match = which(scene.original, release, named, hierarchies=scene.hierarchies, in_order=in_order)
    how = match.sentence if match.rows is not None else f"{match.sentence} {_HINT}"
    sample, _ = drawn_from(scene.original, match)  # frequencies, on which labels may depend, are those of the sample
    hierarchies = scene.hierarchies if match.drawn is None else replace(inputs, table=sample).hierarchies
    truth = None if match.rows is None else match.rows.astype(np.intp)
    is_sure = match.recorded or named is not None or in_order
    return replace(scene, truth=truth, hierarchies=hierarchies, is_sure=is_sure), how
