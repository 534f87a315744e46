"""Anonymization of tables that belong together: one after the other, those first that others refer to.

Who is left out of a table is left out of all that refer to it. What a record shows counts as known of all records that
refer to it. Keys get pseudonyms, the same in all tables; dates of a person are moved alike in all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.anonymization import anonymize
from shoal.dataset.dataset import Dataset, check_key, named_records
from shoal.dataset.inheritance import handed_down, shown_classes
from shoal.dataset.release import DatasetRelease, Part, checked
from shoal.errors import PolicyError, ReleaseError, counted
from shoal.hierarchy.suppression import Suppression
from shoal.kernels.grouping import group_rows
from shoal.policy.columns import ColumnPolicy
from shoal.policy.policy import Policy
from shoal.policy.references import Reference, domain
from shoal.progress import Hook, Progress, silent
from shoal.release.case import prepared
from shoal.release.columns import compacted
from shoal.release.pseudonyms import key_from, pseudonymous
from shoal.release.transformed import transformed
from shoal.table.names import unused
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Table


def anonymize_dataset(
    source: Any, policy: Policy | str | Path, *, progress: Hook | None = None, threads: int | None = None
) -> DatasetRelease:
    """Find a release of several tables that belong together, make it, and verify it.

    ``source``: a folder with a file for each table, the address of a database, or a mapping of names to tables.

    >>> import os, shoal
    >>> os.environ["KEY"] = "0123456789abcdef"
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... data.subject = "patient"
    ... pseudonyms.key_variable = "KEY"
    ... require = [{ model = "k-anonymity", k = 2 }]
    ... tables.patients.columns.sex = "quasi"
    ... tables.stays.columns.ward = "quasi"
    ... tables.stays.refers.patient = "patients.patient"
    ... ''')
    >>> patients = {"patient": [1, 2, 3, 4], "sex": ["f", "f", "m", "m"]}
    >>> stays = {"patient": [1, 2, 2, 3, 4], "ward": ["A", "A", "B", "B", "B"]}
    >>> found = shoal.anonymize_dataset({"patients": patients, "stays": stays}, policy)
    >>> {name: table.records for name, table in found.tables.items()}
    {'patients': 4, 'stays': 5}
    """
    dataset, hook = Dataset.of(source, policy, progress), progress or silent
    _check(dataset.policy)
    parts: dict[str, Part] = {}
    for done, name in enumerate(dataset.tables):
        hook(Progress(f"anonymizing {name}", done, len(dataset.tables)))
        parts[name] = _Making(dataset, name, parts).part(hook, threads)
    return checked(DatasetRelease(parts, dataset.references, dataset.policy))


def _taken(table: Table, policy: Policy, records: NDArray[np.intp]) -> Encoded | None:
    """Return whose some records are."""
    subject = policy.data.subject
    return None if subject is None else Encoded(table[subject], table.codes(subject)[records])


def _check(policy: Policy) -> None:
    """Refuse what cannot be had for several tables."""
    refers = [name for name, said in policy.tables.items() if said.refers]
    if refers and policy.pseudonyms is None:
        raise PolicyError(
            f"The table '{refers[0]}' refers to another, and what refers to what is seen by pseudonyms only.",
            hint="Give a key for them: [pseudonyms] key_file = …",
        )
    for name, said in policy.tables.items():
        how = said.search or policy.search
        if how.outliers == "counterfeits" or (said.refers and how.outliers != "suppress"):
            raise PolicyError(
                f"In the table '{name}', persons who fit into no class must be left out.",
                hint='search.outliers = "suppress"',
            )
        if said.refers and how.recoding not in {"global", "local"}:
            raise PolicyError(
                f"The table '{name}' refers to another: what that shows stays as it is, which only some searches heed.",
                hint='search.recoding = "global" or "local".',
            )
    named = {column for said in policy.tables.values() for column in said.columns}
    for column in [] if policy.dates is None else policy.dates.columns:
        if column not in named:
            raise PolicyError(f"Dates of a column '{column}' are to be moved, which no table has.")


@dataclass(frozen=True, slots=True)
class _Making:
    """A table that is being anonymized; those that it refers to have been."""

    dataset: Dataset
    name: str
    parts: Mapping[str, Part]

    @property
    def given(self) -> Table:
        return self.dataset.tables[self.name]

    @property
    def refers(self) -> tuple[Reference, ...]:
        return tuple(one for one in self.dataset.references if one.table == self.name)

    def part(self, progress: Hook, threads: int | None) -> Part:
        """Make what goes out of this table."""
        for one in self.dataset.references:
            if one.other == self.name:
                check_key(self.given, self.name, one.key)
        links = {one: self._named(one) for one in self.refers}
        lost = np.any([link < 0 for link in links.values()], axis=0) if links else np.zeros(self.given.records, bool)
        self._check_orphans(lost)
        here = ~lost
        for one, link in links.items():
            here &= self.parts[one.other].became[np.where(link < 0, 0, link)] >= 0
        records = np.flatnonzero(here)
        inherited = self._inherited(links, records)
        table, policy = self._joined(links, records, inherited)
        asked = policy.quasi_columns(table) if len(records) else ()
        if set(asked) - {one.column.name for one in inherited}:
            release = anonymize(table, policy, progress=progress, threads=threads)
            base, back = release.table, release.records
        else:
            release = None
            ready = prepared(table, policy)
            rows = ready.distinct([])
            made = transformed(ready, rows, {}, np.zeros(len(rows), bool))
            base, back = made.table, made.origins()
        names = [one.column.name for one in inherited]
        kept = [name for name in base.names if name not in names]
        out, order = self._dressed(base.only(kept), records[back])
        back = back[order]
        own = [Encoded(one.column, one.codes[back]) for one in inherited]
        shown = shown_classes(out, out.quasi, own)
        became = np.full(self.given.records, -1, np.intp)
        became[records[back]] = np.arange(out.records)
        return Part(
            table=out,
            release=release,
            became=became,
            shown=shown,
            whose=_taken(table, policy, back),
            inherits=tuple(names),
            pseudonyms=tuple(name for name in self.keys() if name in out),
            left_out=tuple(name for name in self.given.names if name not in out),
            orphans=int(lost.sum()),
            followed=int(np.count_nonzero(~here & ~lost)),
        )

    def _named(self, one: Reference) -> NDArray[np.intp]:
        return named_records(self.given, one.column, self.dataset.tables[one.other], one.key)

    def _check_orphans(self, lost: NDArray[np.bool_]) -> None:
        number = int(lost.sum())
        if number and self.dataset.policy.tables[self.name].orphans == "refuse":
            raise ReleaseError(
                f"{counted(number, 'record')} of the table '{self.name}' refer to no record of another table.",
                hint=f'Mend them, or leave them out: [tables.{self.name}] orphans = "drop".',
            )

    def _inherited(self, links: Mapping[Reference, NDArray[np.intp]], records: NDArray[np.intp]) -> list[Encoded]:
        """Return what records show that these refer to."""
        found = []
        for one, link in links.items():
            other = self.parts[one.other]
            if other.shown is not None:
                name = unused(f"{one.other} ({one.column})", self.given.names)
                found.append(handed_down(other.shown, other.became[link[records]], name))
        return found

    def _joined(
        self, links: Mapping[Reference, NDArray[np.intp]], records: NDArray[np.intp], inherited: list[Encoded]
    ) -> tuple[Table, Policy]:
        """Return some records with what they inherit, and the policy for that."""
        policy = self.dataset.policy.of(self.name)
        subject = policy.data.subject
        held = [self._own(name, records, person=name in {subject, policy.data.household}) for name in self.given.names]
        if subject is not None and subject not in self.given:
            whose = self._whose(subject, links, records)
            subject = None if whose is None else whose.column.name
            held += [] if whose is None else [whose]
        table = Table.of([*held, *inherited], len(records), self.given.source)
        keys = {*self.keys(), *([] if policy.data.subject is None else [policy.data.subject])} - {subject}
        columns = dict(policy.columns)
        columns.update({name: ColumnPolicy(role=Role.DIRECT) for name in keys if name not in columns and name in table})
        columns.update({one.column.name: ColumnPolicy(role=Role.QUASI, hierarchy=Suppression()) for one in inherited})
        levels = {**policy.search.levels, **{one.column.name: (0, 0) for one in inherited}}
        search = policy.search.model_copy(update={"levels": levels})
        data = policy.data.model_copy(update={"subject": subject})
        return table, policy.model_copy(update={"columns": columns, "search": search, "data": data})

    def _own(self, name: str, records: NDArray[np.intp], *, person: bool) -> Encoded:
        """Take records of a column; it keeps its values, of which hierarchies are made, unless it names persons."""
        column, codes = self.given[name], self.given.codes(name)[records]
        return Encoded(*compacted(column, codes)) if person else Encoded(column, codes)

    def _whose(
        self, subject: str, links: Mapping[Reference, NDArray[np.intp]], records: NDArray[np.intp]
    ) -> Encoded | None:
        """Return whose records these are, if the records say so that they refer to."""
        for one, link in links.items():
            other = self.dataset.tables[one.other]
            if subject in other:
                column, codes = compacted(other[subject], other.codes(subject)[link[records]])
                return Encoded(replace(column, name=unused(subject, self.given.names)), codes)
            further = _Making(self.dataset, one.other, self.parts)
            beyond = {far: further._named(far) for far in further.refers}
            found = further._whose(subject, beyond, link[records])
            if found is not None:
                return found
        return None

    def keys(self) -> list[str]:
        """Return the columns that get pseudonyms: what refers, what is referred to, and what the policy names."""
        said = self.dataset.policy.pseudonyms
        refer = [one.column for one in self.refers]
        referred = [one.key for one in self.dataset.references if one.other == self.name]
        named = [] if said is None else [name for name in said.columns if name in self.given]
        return list(dict.fromkeys([*refer, *referred, *named]))

    def _dressed(self, base: Table, origins: NDArray[np.intp]) -> tuple[Table, NDArray[np.intp]]:
        """Add pseudonyms, and put the rows in an order that tells nothing; return also that order."""
        policy = self.dataset.policy
        held = {name: Encoded(base[name], base.codes(name)) for name in base.names}
        if policy.pseudonyms is not None:
            said = policy.pseudonyms
            file = None if said.key_file is None else policy.beside(said.key_file)
            key = key_from(file, said.key_variable)
            for name in self.keys():
                place = domain(policy.tables, self.name, name)
                column, codes = pseudonymous(self.given[name], key, domain=place)
                held[name] = Encoded(*compacted(column, codes[self.given.codes(name)[origins]]))
        ordered = {name: held[name] for name in self.given.names if name in held}
        sizes = [max(one.column.size, 1) for one in ordered.values()]
        rows = group_rows([one.codes for one in ordered.values()], sizes, base.records)
        order = np.argsort(rows.ids, kind="stable")
        sorted_ = [Encoded(one.column, one.codes[order]) for one in ordered.values()]
        roles = {**base.roles, **dict.fromkeys(held.keys() - set(base.names), Role.INSENSITIVE)}
        return replace(Table.of(sorted_, base.records, base.source), roles=roles), order
