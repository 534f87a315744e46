"""Views: the tables of a dataset as seen by an adversary who has all of them.

In the view of a table, keys and references are omitted. Each record also has the quasi-identifiers and the sensitive
values of the records that it refers to, and the individual to whom it belongs. The re-identification risk of a stay
therefore includes what is known about its patient.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.dataset.dataset import Dataset
from shoal.dataset.links import Records, check_links, check_subjects, whose
from shoal.dataset.passed_column import PassedColumn
from shoal.dataset.requirements import about, check_named, fitting
from shoal.errors import ReleaseError
from shoal.models.model import Model
from shoal.policy.columns import ColumnPolicy
from shoal.policy.policy import Policy
from shoal.policy.references import Reference
from shoal.remedy import Setting, either
from shoal.table.compaction import compacted
from shoal.table.names import unused
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Table

_SHOWN = (Role.QUASI, Role.SENSITIVE)  # roles of the columns that records pass on to the records that refer to them


@dataclass(frozen=True, slots=True, eq=False)
class TableView:
    """A table with the attributes that its records inherit, and its policy.

    ``records``: the record of the table for each record of the view: records with an invalid reference are omitted.
    ``inherited``: the names of the inherited columns. ``of_individuals``: whether the records belong to individuals, or
    stand for them.
    """

    table: Table
    policy: Policy
    records: Records
    inherited: tuple[str, ...]
    of_individuals: bool = True

    @property
    def attributes(self) -> tuple[str, ...]:
        """The quasi-identifiers and the sensitive columns of the view."""
        return tuple(
            name for name, column in self.policy.columns.items() if column.role in _SHOWN and name in self.table
        )

    @property
    def shows(self) -> bool:
        """Whether an adversary may know an attribute of the individuals of the records."""
        return self.of_individuals and bool(self.policy.quasi_columns(self.table))


@dataclass(frozen=True, eq=False)
class TableViews:
    """The views of all tables of a dataset."""

    dataset: Dataset
    _attributes: dict[str, list[PassedColumn]] = field(default_factory=dict)
    _valid: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    @classmethod
    def of(cls, dataset: Dataset, *, is_original: bool = True) -> "TableViews":
        """Check the references and the individuals of a dataset, and return its views.

        ``is_original``: whether the tables must have the subjects that the policy names; a release may not show them.
        """
        check_named(dataset.policy)
        if is_original:
            check_subjects(dataset.policy, dataset.tables)
        check_links(dataset.policy, dataset.tables)
        return cls(dataset)

    @cached_property
    def links(self) -> Mapping[Reference, Records]:
        """The referenced record of each record, for every reference; −1 if there is none."""
        return {reference: self.dataset.link(reference) for reference in self.dataset.references}

    def of_table(self, name: str) -> TableView:
        """Return the view of a table."""
        given = self.dataset.tables[name]
        records = np.flatnonzero(self.valid(name))
        inherited = self._inherited(name)
        subject = self._subject(name, records)
        keys = self.dataset.keys(name)
        own = [Encoded(col, given.codes(col.name)[records]) for col in given.columns if col.name not in keys]
        own = [part for part in own if subject is None or part.column.name != subject.column.name]
        from_others = [attribute.taken(records, attribute.name).encoded for attribute in inherited]
        whose = [] if subject is None else [subject]
        table = Table.of([*whose, *own, *from_others], len(records), given.source)
        policy = self._policy(name, table, inherited, None if subject is None else subject.column.name)
        names = tuple(attribute.name for attribute in inherited)
        return TableView(table, policy, records, names, not self.dataset.lists_no_individuals(name))

    def valid(self, name: str) -> NDArray[np.bool_]:
        """Return whether each record has valid references only, directly and indirectly."""
        if name not in self._valid:
            valid = np.ones(self.dataset.tables[name].records, bool)
            for reference in self.dataset.refers(name):
                link = self.links[reference]
                check_orphans(self.dataset, name, link < 0)
                valid &= (link >= 0) & np.append(self.valid(reference.other), False)[link]
            self._valid[name] = valid
        return self._valid[name]

    def attributes(self, name: str) -> list[PassedColumn]:
        """Return the attributes that the records of a table pass on: their own ones, and those they inherit."""
        if name not in self._attributes:
            table, policy = self.dataset.tables[name], self.dataset.policy.of(name)
            models = [model for _, _, model in policy.requirements()]
            own = [
                PassedColumn(Encoded(table[column], table.codes(column)), settings, about(models, column))
                for column, settings in policy.columns.items()
                if settings.role in _SHOWN and column in table
            ]
            self._attributes[name] = [*own, *self._inherited(name)]
        return self._attributes[name]

    def _inherited(self, name: str) -> list[PassedColumn]:
        """Return the attributes of the records that the records of a table refer to."""
        names, inherited = set(self.dataset.tables[name].names), list[PassedColumn]()
        for reference in self.dataset.refers(name):
            link = np.maximum(self.links[reference], 0)  # records without a reference are omitted from the view
            for attribute in self.attributes(reference.other):
                if not len(attribute.encoded.codes):
                    continue
                called = attribute.name if "." in attribute.name else f"{reference.other}.{attribute.name}"
                inherited.append(attribute.taken(link, free := unused(called, names)))
                names.add(free)
        return inherited

    def _subject(self, name: str, records: Records) -> Encoded | None:
        """Return the individual of each record; None if nothing identifies the individuals of the table."""
        names = {other: table.names for other, table in self.dataset.tables.items()}
        way = whose(self.dataset.policy, names, name)
        if way is None:
            return None
        last = self.dataset.tables[way.table]
        column, codes = compacted(
            last[way.column], last.codes(way.column)[way.records(records, self.links.__getitem__)]
        )
        # The name must not depend on columns that only the original has: as a view of the release is compared with it.
        free = unused(f"{way.table}.{way.column}", self.dataset.tables[name].names)
        return Encoded(replace(column, name=free if way.steps else way.column), codes)

    def _policy(self, name: str, table: Table, inherited: list[PassedColumn], subject: str | None) -> Policy:
        """Return the policy of a view: roles, hierarchies and requirements of own and inherited columns."""
        policy = self.dataset.policy.of(name)
        columns = {**policy.columns, **{attribute.name: attribute.policy for attribute in inherited}}
        columns = {column: settings for column, settings in columns.items() if column in table or _is_direct(settings)}
        policy = policy.model_copy(update={"columns": columns, **({"population": None} if inherited else {})})
        require = [*self._own_requirements(policy), *self._inherited_requirements(name, policy, inherited)]
        return policy.model_copy(update={"require": require}).identified_by(subject, table.names)

    def _own_requirements(self, policy: Policy) -> list[Any]:
        """Return the requirements of a table that apply to the columns of its view."""
        sensitive = {name for name, column in policy.columns.items() if column.role is Role.SENSITIVE}
        return fitting(policy.require, sensitive)

    def _inherited_requirements(self, name: str, policy: Policy, inherited: list[PassedColumn]) -> list[Model]:
        """Return the requirements on inherited columns that no requirement on all sensitive columns contains."""
        if self.dataset.policy.tables[name].require == []:  # an explicit empty list exempts the table
            return []
        own = policy.model_copy(update={"require": self._own_requirements(policy)})
        of_all = [model for _, _, model in own.requirements()]
        models = (model for attribute in inherited for model in attribute.models)
        return [model for model in models if model.model_copy(update={"column": None}) not in of_all]


def check_orphans(dataset: Dataset, name: str, orphans: NDArray[np.bool_]) -> None:
    """Refuse records that refer to no record, unless the policy drops them."""
    number = int(np.count_nonzero(orphans))
    if number and dataset.policy.tables[name].orphans == "refuse":
        raise ReleaseError(
            "orphans",
            "Records that refer to no record of another table: {records:,}. The first is record {first:,}.",
            remedy=either("Correct these records", Setting("tables.{table}.orphans", "drop")),
            records=number,
            first=int(orphans.argmax()) + 1,
            table=name,
        )


def _is_direct(settings: ColumnPolicy) -> bool:
    return settings.role is Role.DIRECT
