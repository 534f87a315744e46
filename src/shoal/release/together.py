"""Anonymisation of several related tables, in the order of their references: referenced tables come first.

Persons suppressed in a table are suppressed in all tables that refer to it. The released values of a record count as
background knowledge about all records that refer to it. Keys are replaced by pseudonyms, which are the same in all
tables. The dates of a person are shifted by the same number of days in all tables.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from shoal.dataset.dataset import Dataset
from shoal.dataset.inheritance import Heritage, Shows, inherited
from shoal.dataset.links import Records, check_links, check_subjects, whose
from shoal.dataset.passed_column import PassedColumn
from shoal.dataset.place import of_table
from shoal.dataset.requirements import about, check_named, fitting
from shoal.dataset.view import check_orphans
from shoal.errors import PolicyError, ReleaseError
from shoal.hierarchy.suppression import Suppression
from shoal.models.k_anonymity import KAnonymity
from shoal.policy.columns import ColumnPolicy
from shoal.policy.policy import Policy
from shoal.policy.references import Reference
from shoal.progress import Hook, Progress
from shoal.release.case import Case, prepared
from shoal.release.drawing import draw_key
from shoal.release.dressing import check_pseudonyms, dressed, keys
from shoal.release.making import released
from shoal.release.origins import Origins
from shoal.release.part import ReleasePart
from shoal.release.perturbed import perturbed
from shoal.release.promise import Kin, Original, Promise
from shoal.release.pseudonyms import pseudonym_key
from shoal.release.release import Release
from shoal.release.transformation import Transformation
from shoal.release.transformed import transformed
from shoal.release.verification import verified
from shoal.remedy import Setting, by, either
from shoal.table.compaction import compacted
from shoal.table.names import unused
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.techniques.outliers import usual_way
from shoal.techniques.technique import Allows, allowing
from shoal.techniques.treatment import Treatment
from shoal.words import counted

_FACTORS = tuple(map(Fraction, ("1", "3/2", "2", "3", "4", "6", "8", "12", "16", "24", "32")))
_TOO_STRICT = frozenset({"too-little-suppression", "too-much-suppression", "impossible", "too-few-individuals"})


def released_together(dataset: Dataset, threads: int | None, progress: Hook) -> Release:
    """Search for a release of all tables of a dataset, create it and verify it.

    The classes of a table may contain too few individuals with records in the tables that refer to it. Tables without
    individuals are then generalised, and larger classes tried, until all tables meet their requirements.
    """
    _check(dataset)
    keyed = pseudonym_key(dataset.policy)
    failure: ReleaseError | None = None
    for attempt in _attempts(dataset):
        try:
            parts = _parts(dataset, attempt, keyed, threads, progress)
        except ReleaseError as error:
            if error.code not in _TOO_STRICT:
                raise
            failure = failure or error
            continue
        verified({name: part.promise for name, part in parts.items()}, dataset.policy)
        return Release(parts, dataset.policy)
    raise failure or AssertionError


@dataclass(frozen=True, slots=True)
class _Attempt:
    """How far referenced tables are generalised for the sake of those that refer to them.

    ``factor``: by which their classes are larger than required. ``level``: that of tables without individuals.
    """

    factor: Fraction
    level: int


def _attempts(dataset: Dataset) -> Iterator[_Attempt]:
    """Yield the attempts, in the order of their loss: first, tables without individuals are generalised."""
    highest = max((_height(dataset, name) for name in dataset.tables), default=0)
    yield from (_Attempt(_FACTORS[0], level) for level in range(highest + 1))
    if dataset.references:
        yield from (_Attempt(factor, highest) for factor in _FACTORS[1:])


def _height(dataset: Dataset, name: str) -> int:
    """Return the highest level of the quasi-identifiers of a table without individuals; 0 for any other table."""
    if not dataset.lists_no_individuals(name):
        return 0
    policy = dataset.policy.of(name).identified_by(None, ())
    table = policy.apply(dataset.tables[name])
    return max((policy.hierarchies(table)[column].height for column in table.quasi), default=0)


def _check_perturbed(dataset: Dataset) -> None:
    """Refuse perturbed sensitive columns: other tables inherit their true values, which no file contains."""
    for table, table_policy in dataset.policy.tables.items():
        for column, settings in table_policy.columns.items():
            may_be = settings.role is Role.INSENSITIVE or settings.shows_sets
            if settings.perturb is not None and not may_be:
                raise PolicyError(
                    "perturbed-in-dataset",
                    "Column '{column}' of the table '{table}' cannot be perturbed, because it is {role}. In a dataset "
                    "of several tables, only insensitive columns can be perturbed, and quasi-identifiers by rounding "
                    "or coding.",
                    remedy=either("Remove the perturbation", "release the table on its own"),
                    column=column,
                    table=table,
                    role=settings.role,
                )


def _parts(
    dataset: Dataset, attempt: _Attempt, keyed: tuple[bytes, bool], threads: int | None, progress: Hook
) -> dict[str, ReleasePart]:
    """Return the parts of a release."""
    key, is_fresh = keyed
    parts: dict[str, ReleasePart] = {}
    for done, name in enumerate(dataset.tables):
        progress(Progress(f"anonymizing {name}", done, len(dataset.tables)))
        with of_table(name):
            part = _Making(dataset, name, parts, key, attempt).part(progress, threads)
            parts[name] = replace(part, pseudonym_key=key if is_fresh and part.promise.pseudonyms else None)
    return parts


def _check(dataset: Dataset) -> None:
    """Refuse settings that are not supported for several tables."""
    policy = dataset.policy
    if any(policy.of(name).attack_limits for name in policy.tables):
        raise PolicyError(
            "limits-of-several-tables",
            "Limits for attacks apply to a release of a single table.",
            remedy="Remove them, and attack each released table.",
        )
    for name, table_policy in policy.tables.items():
        how = table_policy.search or policy.search
        if how.way.adds_records or (table_policy.refers and how.outliers != usual_way()):
            raise PolicyError(
                "outliers-of-table",
                "In the table '{table}', outliers must be suppressed.",
                remedy=Setting("search.outliers", usual_way()),
                table=name,
            )
        if table_policy.refers and Allows.FIXED not in how.technique.allows:
            raise PolicyError(
                "technique-of-table",
                "The table '{table}' refers to another, whose released values are fixed. Not every technique "
                "supports fixed values.",
                remedy=either(
                    *(Setting("search.recoding", technique.called()) for technique in allowing(Allows.FIXED))
                ),
                table=name,
            )
    _check_perturbed(dataset)
    named = {column for table_policy in policy.tables.values() for column in table_policy.columns}
    for column in [] if policy.dates is None else policy.dates.columns:
        if column not in named:
            raise PolicyError(
                "dates-of-column",
                "The dates of column '{column}' cannot be shifted, because no table has it.",
                column=column,
            )
    check_named(policy)
    check_subjects(policy, dataset.tables)
    check_pseudonyms(dataset)
    check_links(policy, dataset.tables)


@dataclass(frozen=True, slots=True)
class _Making:
    """A table that is being anonymised. The tables that it refers to have been anonymised before."""

    dataset: Dataset
    name: str
    parts: Mapping[str, ReleasePart]
    key: bytes
    attempt: _Attempt

    @property
    def given(self) -> Table:
        return self.dataset.tables[self.name]

    def part(self, progress: Hook, threads: int | None) -> ReleasePart:
        """Return the part of the release made from this table."""
        links = {reference: self.dataset.link(reference) for reference in self.dataset.refers(self.name)}
        orphans = self._orphans(links)
        released = {reference: np.append(self._became(reference.other), -1)[link] for reference, link in links.items()}
        here = np.all([~orphans, *(link >= 0 for link in released.values())], axis=0)
        records = np.flatnonzero(here)
        shows = {name: part.promise.kin.shows for name, part in self.parts.items() if part.promise.kin is not None}
        heritage = inherited(
            {reference: link[records] for reference, link in released.items()}, shows, self.given.names
        )
        table, policy = self._joined(records, heritage)
        searched, base, back = self._searched(table, policy, heritage, progress, threads)
        kept = [name for name in base.names if name not in heritage.names and name in self.given]
        out, order = dressed(self.dataset, self.name, base.only(kept), records[back], self.key)
        back = back[order]
        subject, origins = policy.data.subject, records[back]
        kin = Kin(
            names=self.given.names,
            shows=Shows.of(out, self._secrets(out, policy), heritage.of(back)),
            whose=None if subject is None else Encoded(table[subject], table.codes(subject)[back]),
            orphans=int(orphans.sum()),
            followed=int(np.count_nonzero(~here & ~orphans)),
        )
        promise = replace(
            searched.promise,
            tables={self.name: out},
            pseudonyms=tuple(name for name in keys(self.dataset, self.name) if name in out),
            kin=kin,
        )
        left_out = {name: searched.left_out.get(name, "no role") for name in self.given.names if name not in out}
        return replace(searched, promise=promise, given=self.given, origins=lambda: origins, left_out=left_out)

    def _became(self, name: str) -> Records:
        """Return the released record of each record of a table; −1 for a suppressed one."""
        return Origins(self.parts[name].records).became(self.parts[name].given.records)

    def _orphans(self, links: Mapping[Reference, Records]) -> NDArray[np.bool_]:
        """Return whether each record refers to no record. Such records are refused unless the policy drops them."""
        lost = np.any([np.zeros(self.given.records, bool), *(link < 0 for link in links.values())], axis=0)
        check_orphans(self.dataset, self.name, lost)
        return np.asarray(lost)

    def _searched(
        self, table: Table, policy: Policy, heritage: Heritage, progress: Hook, threads: int | None
    ) -> tuple[ReleasePart, Table, Records]:
        """Return the part of the release for a table, the released table, and the origins of its records.

        The origins are positions among the records of ``table``.
        """
        quasi = policy.quasi_columns(table)
        if policy.search.publish is not None:
            raise PolicyError(
                "publish-of-table",
                "Table '{table}' cannot be released in two tables, because it is one of several.",
                remedy=Setting("search.publish", "table"),
                table=self.name,
            )
        if table.records and quasi and policy.require:
            if policy.data.subject is None and self.dataset.has_individuals:
                raise PolicyError(
                    "no-subject",
                    "No column of the table '{table}' identifies individuals.",
                    remedy=either(
                        Setting("tables.{table}.subject"),
                        "let the table refer to one that does",
                        by(
                            "if its records are no individuals (for example wards)",
                            Setting("tables.{table}.require", []),
                        ),
                    ),
                    table=self.name,
                )
            part = released(self._larger(Case.of(table, policy)), threads, progress).part
            return part, part.table, part.records
        own = [name for name in quasi if name not in heritage.names]
        if own and table.records and not self.dataset.lists_no_individuals(self.name):
            raise PolicyError(
                "no-requirement",
                "The table '{table}' has quasi-identifiers, but no requirement applies to it.",
                remedy=Setting("require", [{"model": "k-anonymity", "k": 11}]),
                table=self.name,
            )
        transformation, notes = self._unsearched(table, policy, own if table.records else [])
        ready, (key, is_fresh) = prepared(table, policy), draw_key(policy)
        transformation = perturbed(ready, policy, key, transformation)
        unsearched = transformed(ready, transformation, key=key)
        unknown = Original({}, {}, {}, None, policy.data.missing)
        promise = Promise({self.name: unsearched.table}, unsearched.table, unknown)
        part = ReleasePart(
            promise,
            table,
            policy,
            transformation,
            unsearched.origins,
            left_out=unsearched.left_out,
            notes=notes,
            key=key if is_fresh and transformation.draws else None,
        )
        return part, unsearched.table, unsearched.origins()

    def _unsearched(self, table: Table, policy: Policy, own: list[str]) -> tuple[Transformation, tuple[str, ...]]:
        """Return the transformation of a table without requirements, and a note on it.

        The quasi-identifiers (``own``) of a table without individuals are generalised to the level of the attempt.
        """
        if not own or not self.attempt.level:
            return Transformation.unchanged(prepared(table, policy).distinct([])), ()
        case = Case.of(table, policy)
        rows = case.table.distinct(case.space.quasi)
        levels = {name: min(self.attempt.level, case.hierarchies[name].height) for name in case.space.quasi}
        treatment = Treatment.of_scheme(case.space, rows, levels, np.zeros(len(rows), bool), 0, {})
        named = ", ".join(f"{name} to level {level}" for name, level in levels.items())
        note = f"Generalised, so that the tables that refer to this one can meet their requirements: {named}."
        return Transformation.of(case, treatment), (note,)

    def _larger(self, case: Case) -> Case:
        """Return the case of a referenced table with larger classes, if other tables require them."""
        if self.attempt.factor == 1 or not self.dataset.referred(self.name):
            return case
        least = ceil(self.attempt.factor * max(case.policy.k or 1, 2))
        remark = (
            f"Classes have at least {counted(least, 'individual')}, so that those with records in other tables are "
            "enough."
        )
        return replace(case, further=(KAnonymity(k=least),), remarks=(*case.remarks, remark))

    def _joined(self, records: Records, heritage: Heritage) -> tuple[Table, Policy]:
        """Return the given records with their inherited columns, and the policy for this table."""
        policy = self.dataset.policy.of(self.name)
        encoded, subject = self._with_subject(records)
        table = Table.of([*encoded, *heritage.columns], len(records), self.given.source)
        columns = dict(policy.columns)
        unsaid = [name for name in keys(self.dataset, self.name) if name not in columns and name != subject]
        columns.update(dict.fromkeys(unsaid, ColumnPolicy(role=Role.DIRECT)))
        fixed = [encoded.column.name for encoded in heritage.classes]
        columns.update(dict.fromkeys(fixed, ColumnPolicy(role=Role.QUASI, hierarchy=Suppression())))
        columns.update({secret.name: _released(secret.policy) for secret in heritage.secrets})
        quasi = {name for name, column in columns.items() if column.role is Role.QUASI}
        levels = {name: level for name, level in policy.search.levels.items() if name in quasi}
        levels.update(dict.fromkeys(fixed, (0, 0)))
        weights = {name: weight for name, weight in policy.search.weights.items() if name in quasi}
        search = policy.search.model_copy(update={"levels": levels, "weights": weights})
        if self.dataset.refers(self.name):  # the sample was drawn in the referenced table
            search = search.model_copy(update={"sample": None})
        sensitive = {name for name, column in columns.items() if column.role is Role.SENSITIVE}
        require = fitting(policy.require, sensitive)
        if self.dataset.policy.tables[self.name].require != []:  # an explicit empty list exempts the table
            require += [model for secret in heritage.secrets for model in secret.models]
        changed = {
            "columns": columns,
            "require": require,
            "search": search,
            "population": None if heritage.columns else policy.population,
        }
        return table, policy.model_copy(update=changed).identified_by(subject, table.names)

    def _with_subject(self, records: Records) -> tuple[list[Encoded], str | None]:
        """Return the columns of the given records, and the name of the subject column.

        The subject may come from another table. Columns keep all their values, because hierarchies are built from them,
        unless they identify persons or households.
        """
        names = {name: table.names for name, table in self.dataset.tables.items()}
        way = whose(self.dataset.policy, names, self.name)
        persons = {self.dataset.policy.data.household, None if way is None else way.column}
        encoded = [Encoded(column, self.given.codes(column.name)[records]) for column in self.given.columns]
        encoded = [
            Encoded(*compacted(part.column, part.codes)) if part.column.name in persons else part for part in encoded
        ]
        if way is None or not way.steps:
            return encoded, None if way is None else way.column
        last = self.dataset.tables[way.table]
        codes = last.codes(way.column)[way.records(records, self.dataset.link)]
        column, codes = compacted(last[way.column], codes)
        name = unused(way.column, self.given.names)
        return [*encoded, Encoded(replace(column, name=name), codes)], name

    def _secrets(self, out: Table, policy: Policy) -> list[PassedColumn]:
        """Return the sensitive columns of the released table, with the requirements on them."""
        models = [model for _, _, model in policy.requirements()]
        return [
            PassedColumn(Encoded(out[name], out.codes(name)), policy.columns[name], about(models, name))
            for name in out.sensitive
        ]


def _released(column_policy: ColumnPolicy) -> ColumnPolicy:
    """Return the policy for an inherited column, which was already checked for identifying values in its own table."""
    return column_policy.model_copy(update={"names_nobody": True})
