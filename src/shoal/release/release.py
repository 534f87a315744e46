"""Release: the released tables, with the evidence that they meet the requirements."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.classes.shown import counted_rows
from shoal.dataset.histories import alone, smallest_group
from shoal.dataset.links import whose
from shoal.errors import ReleaseError
from shoal.plain import plain
from shoal.policy.policy import Policy
from shoal.policy.references import Reference, references
from shoal.progress import Hook
from shoal.qualities.quality import Measured
from shoal.release.columns import as_written
from shoal.release.documents import about_table
from shoal.release.judgement import Judgement
from shoal.release.mapping import ValueMap
from shoal.release.origins import Origins
from shoal.release.part import ReleasePart
from shoal.release.saving import Saving
from shoal.release.verification import with_persons
from shoal.sheet import Presentable, Sheet
from shoal.table.databases.database import Address
from shoal.table.raw import Encoded
from shoal.table.table import Table
from shoal.words import counted, short

_FRESH_KEY = (
    "Pseudonyms come from a new key: another run gives other pseudonyms. A key in the section pseudonyms of the policy "
    "keeps them the same."
)


@dataclass(frozen=True, eq=False, repr=False)
class Release(Presentable):
    """Released tables, for which every requirement was verified after writing.

    ``parts``: the released tables with the evidence for them, by original table. ``policy``: the policy that the
    release meets. Properties of a single table, such as ``release.scheme``, are those of the only part. A release of
    several tables has them by part: ``release.parts["stays"].scheme``.
    """

    __module__ = "shoal"

    parts: Mapping[str, ReleasePart]
    policy: Policy

    @property
    def tables(self) -> dict[str, Table]:
        """The released tables, by name. In the first of several, the number of the bucket is no quasi-identifier."""
        return {name: table for part in self.parts.values() for name, table in part.tables.items()}

    @property
    def references(self) -> tuple[Reference, ...]:
        """The references between the tables, which are the same as in the original."""
        return references(self.policy.tables)

    @property
    def part(self) -> ReleasePart:
        """The only part. A release of several original tables raises an error."""
        if len(self.parts) > 1:
            raise ReleaseError(
                "several-tables",
                "The release has {tables:table}.",
                remedy="Select a part with release.parts[…]: {names:listed}.",
                tables=len(self.parts),
                names=self.parts,
            )
        (part,) = self.parts.values()
        return part

    @property
    def table(self) -> Table:
        """The only released table. A release of several tables raises an error."""
        if len(self.tables) > 1:
            raise ReleaseError(
                "several-tables",
                "The release has {tables:table}.",
                remedy="Select one of release.tables: {names:listed}.",
                tables=len(self.tables),
                names=self.tables,
            )
        return self.part.table

    @property
    def first(self) -> Table:
        """The only released table, or the first of the tables into which it was split."""
        first = next(iter(self.tables.values()))
        return self.table if self.link is None else first

    @property
    def split(self) -> tuple[Table, ...] | None:
        """The tables of a release in several tables, the sensitive values last; None if there is one table."""
        if self.policy.tables or self.part.promise.link is None:
            return None
        return tuple(self.tables.values())

    @property
    def link(self) -> str | None:
        """The column that links the tables into which a table was split; None if there is one table."""
        return self.part.promise.link

    @cached_property
    def unique(self) -> int:
        """The number of persons who are unique in the released quasi-identifiers, wherever these are released."""
        promise = self.part.promise
        table = with_persons(as_written(promise.whole), promise.whole, promise.original.without_truths())
        _, members, _ = counted_rows(table, table.quasi)
        return members.within(members.counts == 1)

    @property
    def given(self) -> Table:
        """The original table. For the owner only."""
        return self.part.given

    @property
    def records(self) -> NDArray[np.intp]:
        """The original record of each released record; −1 for a counterfeit. For the owner only."""
        return self.part.records

    @property
    def scheme(self) -> Mapping[str, int]:
        """The level of each quasi-identifier; empty for local recoding."""
        return self.part.scheme

    @property
    def levels(self) -> Mapping[str, list[int]]:
        """The number of records on each level of each quasi-identifier."""
        return self.part.levels

    @property
    def suppressed(self) -> int:
        """The number of suppressed persons."""
        return self.part.suppressed

    @property
    def suppressed_records(self) -> int:
        """The number of suppressed records."""
        return self.part.suppressed_records

    @property
    def classes(self) -> int:
        """The number of equivalence classes."""
        return self.part.classes

    @property
    def quality(self) -> Mapping[str, Measured]:
        """The quality measures."""
        return self.part.quality

    @property
    def mapping(self) -> ValueMap | None:
        """The released value of every original value, for global recoding. For the owner only."""
        return self.part.mapping

    @property
    def facts(self) -> Mapping[str, Any]:
        """The figures of the internal manifest. For the owner only."""
        return self.part.facts

    @property
    def internal(self) -> Mapping[str, Any]:
        """The internal manifest. For the owner only."""
        return self.part.internal

    @property
    def requirements(self) -> tuple[Judgement, ...]:
        """All requirements, with their outcome and the kind of evidence."""
        return tuple(requirement for part in self.parts.values() for requirement in part.requirements)

    @property
    def met(self) -> bool:
        """Whether every requirement is met. A release that fails a requirement is never returned."""
        return all(requirement.verdict.satisfied for requirement in self.requirements)

    @property
    def alone(self) -> tuple[int, int]:
        """The number of persons who are unique given all their released records, and the number of persons."""
        return alone(part.history for part in self.parts.values() if part.history is not None)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes for the owner, the most important first."""
        if not self.policy.tables:
            return self.part.remarks
        tables: dict[str, list[str]] = {}
        for name, part in self.parts.items():
            for note in part.remarks:
                tables.setdefault(note, []).append(name)
        common = [f"{', '.join(names)}: {note}" for note, names in tables.items()]
        common = [*self._on_shared_keys(), *common]
        if any(part.pseudonym_key is not None for part in self.parts.values()):
            common.append(_FRESH_KEY)
        unique, persons = self.alone
        if not unique:
            return tuple(common)
        singled_out = (
            f"An adversary who knows all records of an individual in all tables can single out {unique:,} of "
            f"{counted(persons, 'individual')}."
        )
        return (singled_out, *common)

    def _on_shared_keys(self) -> Iterator[str]:
        """Yield a note for each key that several individuals share, and that divides the classes of a table further."""
        names = {name: part.table.names for name, part in self.parts.items()}
        for reference in self.references:
            part, k = self.parts[reference.table], self.policy.of(reference.table).k
            shared = whose(self.policy, names, reference.other) is None and reference.column in part.table
            if not shared or part.history is None or k is None:
                continue
            key = Encoded(part.table[reference.column], part.table.codes(reference.column))
            smallest = smallest_group(part.history, key)
            if smallest < k:
                yield (
                    f"The pseudonyms of '{reference.table}.{reference.column}' are shared by several individuals. An "
                    f"adversary who recognises one, for example by its frequency, and knows the quasi-identifiers "
                    f"finds groups of {counted(smallest, 'individual')}."
                )

    def sheet(self) -> Sheet:
        """Return an overview of the release: its tables, attained requirements and information loss."""
        return _tables_sheet(self) if self.policy.tables else _table_sheet(self)

    def with_part(self, part: ReleasePart) -> "Release":
        """Return this release of a single table with another part."""
        (name,) = self.parts
        return replace(self, parts={name: part})

    def became(self, records: int) -> NDArray[np.intp]:
        """Return the released record of each of the ``records`` original records; −1 for a suppressed one."""
        return Origins(self.records).became(records)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts about the release for its owner, as printed by ``shoal anonymize --json``."""
        if self.policy.tables:
            return {
                "tables": plain({name: about_table(name, part, self.policy) for name, part in self.parts.items()}),
                "references": [str(reference) for reference in self.references],
                "notes": list(self.notes),
            }
        totals = {name: measured.total for name, measured in self.quality.items() if measured.total is not None}
        return {
            **plain(self.facts),
            "quality": {name: total.value for name, total in totals.items()},
            "cost": {name: total.cost for name, total in totals.items()},
            "met": self.met,
            "notes": list(self.notes),
        }

    def to_frame(self, kind: str | None = None) -> Any:
        """Return the table as a dataframe of the original library, or of the named one."""
        return self.table.to_frame(kind)

    def save(  # noqa: PLR0913 - keyword-only options
        self,
        path: str | Path | Address,
        *,
        force: bool = False,
        separator: str | None = None,
        suffix: str | None = None,
        beside: str | Path | None = None,
        progress: Hook | None = None,
    ) -> tuple[Path | str, ...]:
        """Write and verify the tables, write their manifests, and return the paths.

        ``out.csv`` is published together with ``out.csv.manifest.json``. The folder ``out.csv.owner-only`` must stay
        with the owner and is readable by its owner only: ``internal.json``, ``mapping.json``, ``origins.json`` (the
        original record of each released record) and ``draw.key``. A table that was split has further files beside it,
        such as ``out.sensitive.csv``.

        A release of several original tables is written to a folder: one file per table, with the given ``suffix`` or in
        the format of the original, and ``dataset.manifest.json``.

        For a database, such as ``postgresql://user@host/research?table=release``, the manifests are written to the
        folder ``beside``, or to the current one. Inputs are never overwritten.
        """
        folder = None if beside is None else Path(beside)
        return Saving(self.parts, self.policy, force, separator, suffix, folder, progress).to(path)


def _table_sheet(release: Release) -> Sheet:
    """Return the attained requirements and the information loss of a single table."""
    part = release.part
    records = counted(part.promise.whole.records, "record")
    suppressed = f", {counted(part.suppressed, 'individual')} suppressed" if part.suppressed else ""
    classes = f" in {counted(part.classes, 'class')}" if part.classes else ""
    title = f"{records} released{classes}{suppressed}."
    judged = [
        (requirement.verdict.title, requirement.attained, f"{requirement.verdict.asked}: {requirement.outcome}")
        for requirement in part.requirements
    ]
    levels = [(f"level of {name}", str(level), "") for name, level in part.scheme.items()]
    costs = [
        (name, measured.amount, f"cost {short(measured.total.cost)} (0–1)")
        for name, measured in part.quality.items()
        if measured.total is not None
    ]
    return Sheet(title, ("", "value", ""), (*judged, *levels, *costs), release.notes, words=3)


def _tables_sheet(release: Release) -> Sheet:
    """Return the attained requirements of each of several tables."""
    rows = []
    for name, part in release.parts.items():
        attained = dict.fromkeys(requirement.verdict.attained for requirement in part.requirements)
        records = part.promise.whole.records
        rows.append(
            (name, f"{records:,}", f"{part.given.records - records:,}", ", ".join(attained) or "no requirement")
        )
    total = sum(part.promise.whole.records for part in release.parts.values())
    title = f"{counted(total, 'record')} released in {counted(len(release.tables), 'table')}."
    return Sheet(title, ("table", "records", "suppressed", ""), tuple(rows), release.notes, words=3)
