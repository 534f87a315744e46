"""Comparison of a release with its original: information loss and privacy."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from shoal.analyses.estimate import Estimate
from shoal.analyses.importance import importances
from shoal.analyses.learner import Learner
from shoal.analyses.learning import Learned, TestedOn, learn
from shoal.analyses.regression import Regressed, regress
from shoal.analyses.study import Study
from shoal.analyses.subgroups import Subgroup, subgroups
from shoal.analyses.survival import Curves, cox, survive
from shoal.errors import RecodingError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.models.attained import Attainment
from shoal.models.evidence import Gatherer
from shoal.plain import in_numbers
from shoal.progress import Hook
from shoal.qualities.quality import QUALITIES, Measured, Score, quality_named
from shoal.recoding.lost_values import on_lost_values
from shoal.recoding.matching import Match
from shoal.recoding.nodes import Fate, Ints
from shoal.recoding.of_tables import relate
from shoal.recoding.placing import Remark
from shoal.recoding.recoding import Recoding
from shoal.sheet import Presentable, Sheet
from shoal.table.compaction import compacted
from shoal.table.frames import of_rows
from shoal.table.missing import Missing
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.words import counted, listed, short


@dataclass(frozen=True, slots=True)
class Fates:
    """Outcomes of the cells of a column: the number of records that are kept, generalised, suppressed or changed."""

    kept: int
    coarser: int
    suppressed: int
    changed: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Presentable):
    """Information loss and privacy of a release, compared with its original.

    ``quality``: the measures by name; ``left_out``: the measures that could not be computed, with the reason.
    ``before``, ``after``: the privacy models that could be measured. ``matched``: the method that matched the records,
    or None. ``remarks``: texts that could not be interpreted, or contradict the original. ``notes``: notes for the
    reader. ``filter``: the condition on the records of analyses. ``perturbed``: the measures of each perturbed column,
    which are not included in the others.
    """

    __module__ = "shoal"

    records: int
    released: int
    suppressed: int
    quasi: tuple[str, ...]
    quality: Mapping[str, Measured]
    left_out: Mapping[str, str]
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    columns: Mapping[str, Fates]
    matched: str | None
    remarks: tuple[Remark, ...]
    notes: tuple[str, ...]
    recoding: Recoding
    persons: Ints | None = None
    filter: str | None = None
    perturbed: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)

    def where(self, condition: str) -> "Comparison":
        """Return the comparison whose analyses use only the records that fulfil a condition, such as ``visit=1``."""
        return replace(self, filter=condition)

    def study(self) -> Study:
        """Return single records before and after, for analyses."""
        study = Study.of(self.recoding, self.persons)
        return study if self.filter is None else study.where(self.filter)

    def subgroups(self, column: str) -> list[Subgroup]:
        """Return the suppressed share of each value of a column, or of each fifth of its numbers."""
        return subgroups(self.study(), column)

    def learning(  # noqa: PLR0913 - keyword-only options
        self,
        target: str,
        columns: Sequence[str] | None = None,
        *,
        model: Learner = "boosting",
        tested: TestedOn = "original",
        folds: int = 5,
        seed: int = 0,
        progress: Hook | None = None,
    ) -> Learned:
        """Predict a target with models trained on the original and on the release, tested on unseen persons."""
        chosen = columns or [column.name for column in self.recoding.columns if column.name != target]
        study = self.study()
        return learn(study, target, chosen, model=model, tested=tested, folds=folds, seed=seed, progress=progress)

    def importances(
        self, target: str, columns: Sequence[str] | None = None, *, model: Learner = "boosting", seed: int = 0
    ) -> dict[str, Estimate]:
        """Return the importance of each column for a prediction from the original."""
        others = [column.name for column in self.recoding.columns if column.name != target]
        return importances(self.study(), target, columns or others, model=model, seed=seed)

    def regression(self, outcome: str, columns: Sequence[str]) -> Regressed:
        """Estimate coefficients before and after: by linear regression, or by logistic regression for two values."""
        return regress(self.study(), outcome, columns)

    def hazards(self, time: str, event: str, columns: Sequence[str]) -> Regressed:
        """Estimate hazard ratios before and after; the coefficients are their logarithms."""
        return cox(self.study(), time, event, columns)

    def survival(self, time: str, event: str, by: str | None = None) -> list[Curves]:
        """Estimate survival curves before and after."""
        return survive(self.study(), time, event, by)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data, as printed by ``shoal compare --json``, without analyses."""
        return {
            "records": self.records,
            "released": self.released,
            "suppressed": self.suppressed,
            "quasi": list(self.quasi),
            "matched": self.matched,
            "quality": {name: measured.to_dict()["value"] for name, measured in self.quality.items()},
            "cost": {name: measured.to_dict()["cost"] for name, measured in self.quality.items()},
            "measures": {name: measured.to_dict() for name, measured in self.quality.items()},
            "left_out": dict(self.left_out),
            "privacy": {
                name: {"before": in_numbers(value), "after": in_numbers(self.after.get(name))}
                for name, value in self.before.items()
            },
            "columns": {name: asdict(fates) for name, fates in self.columns.items()},
            **({"perturbed": self._perturbed} if self.perturbed else {}),
            "remarks": [asdict(remark) for remark in self.remarks],
            "notes": list(self.notes),
        }

    @property
    def _perturbed(self) -> dict[str, dict[str, float]]:
        return {
            column: {name: score.value for name, score in scores.items()} for column, scores in self.perturbed.items()
        }

    def to_frame(self, kind: str | None = None) -> Any:
        """Return one row for each measure: its value, its unit, and its cost from 0 to 1."""
        names = ("value", "cost", "unit", "better")
        measures = {name: measured.to_dict() for name, measured in self.quality.items()}
        return of_rows(
            [{"quality": name, **{key: measure[key] for key in names}} for name, measure in measures.items()], kind
        )

    def sheet(self) -> Sheet:
        """Return the information loss by every measure."""
        rows = [
            (name, short(measured.total.value), measured.unit, short(measured.total.cost))
            for name, measured in self.quality.items()
            if measured.total is not None
        ]
        rows += [
            (f"{name} of {column}", short(score.value), QUALITIES[name].unit, short(score.cost))
            for column, scores in self.perturbed.items()
            for name, score in scores.items()
        ]
        title = f"{counted(self.records, 'record')}, {self.released:,} released"
        scale = "Cost: 0 = none, 1 = everything."
        return Sheet(title, ("quality", "value", "unit", "cost"), tuple(rows), (scale,) if rows else ())


def compared(  # noqa: PLR0913 - keyword-only options
    before: Table,
    after: Table,
    match: Match,
    hierarchies: Mapping[str, Hierarchy],
    *,
    followers: Collection[str] = (),
    missing: Missing = Missing.OWN,
    target: str | None = None,
    qualities: Sequence[str] | None = None,
    clusters: int = 5,
    notes: Iterable[str] = (),
    perturbed: Collection[str] = (),
    represented: Collection[str] = (),
    elsewhere: Collection[str] = (),
) -> Comparison:
    """Compare a release with its original, whose records are matched.

    ``followers``: linked quasi-identifiers, which are not counted. ``target``: the target of the classification metric.
    ``qualities``: the names of the measures (default: all that require only counts). ``perturbed``: the perturbed
    columns. Their released values are not evaluated by privacy models. ``represented``: the columns that show a
    representative value of their class, as far as the policy states it. ``elsewhere``: the columns of further tables of
    the release.
    """
    columns, known = _columns(before, after, match, target)
    counted_ones = [name for name in known if name not in followers]
    shown = [name for name in perturbed if name in before and name in after]
    judged = [name for name in known if name not in shown]
    roles = before.assign(insensitive=[name for name in shown if name in before.sensitive])
    related = relate(before, after, columns, counted_ones, match, hierarchies, represented)
    quality, left_out = measured_qualities(related.recoding, qualities, {"target": target, "clusters": clusters})
    return Comparison(
        records=before.records,
        released=after.records,
        suppressed=related.recoding.records - related.recoding.kept,
        quasi=tuple(known),
        quality=quality,
        left_out=left_out,
        before=_privacy(before, roles, judged, missing),
        after=_privacy(_with_persons(after, before, match), roles, judged, missing),
        columns=_fates(related.recoding),
        matched=None if match.rows is None else match.how,
        remarks=tuple(remark for remark in related.remarks if remark.column not in shown),
        notes=(*_notes(before, after, columns, match, related.recoding, elsewhere), *notes),
        recoding=related.recoding,
        persons=None if before.subject is None else before.codes(before.subject).astype(np.int64),
        perturbed=_of_columns(quality, shown),
    )


def _of_columns(quality: Mapping[str, Measured], names: Sequence[str]) -> dict[str, dict[str, Score]]:
    """Return the measures of single columns that say how much their values changed."""
    telling = {name: measured.columns for name, measured in quality.items() if QUALITIES[name].of_perturbed}
    return {column: {name: scores[column] for name, scores in telling.items() if column in scores} for column in names}


def _fates(recoding: Recoding) -> dict[str, Fates]:
    """Return the outcomes of the cells of each column; empty if the records are not matched."""
    columns = recoding.columns if recoding.matched else ()
    return {column.name: Fates(*(column.records(fate) for fate in Fate)) for column in columns}


def _columns(before: Table, after: Table, matched: Match, target: str | None) -> tuple[list[str], list[str]]:
    """Return the columns to compare, and those that are treated as quasi-identifiers."""
    naming = {*matched.key, before.subject, *before.with_role(Role.DIRECT)} - {*before.quasi}
    both = [name for name in before.names if name in after and name not in naming]
    if target is not None:
        before[target]  # raises if there is no such column
    ours = list(before.quasi) or [name for name in both if name != target]
    if not both or not ours:
        raise RecodingError(
            "no-common-column",
            "The two tables have no column in common.",
            remedy="Columns are compared by name. A key column identifies records and is not compared.",
        )
    return [name for name in before.names if name in {*both, *ours}], ours


def measured_qualities(
    recoding: Recoding, names: Sequence[str] | None = None, parameters: Mapping[str, Any] | None = None
) -> tuple[dict[str, Measured], dict[str, str]]:
    """Return the measures that can be computed, and the reasons why others cannot.

    A measure that is requested by name must be computable.
    """
    measured: dict[str, Measured] = {}
    left_out: dict[str, str] = {}
    for name in QUALITIES if names is None else names:
        kind = QUALITIES[name]
        if names is None and not kind.of_counts:
            left_out[name] = "It is computationally expensive. Request it by name."
            continue
        if names is None and kind.most_columns is not None and len(recoding.quasi) > kind.most_columns:
            left_out[name] = f"There are more than {kind.most_columns} columns. Request it by name."
            continue
        try:
            measured[name] = quality_named(name, **(parameters or {})).measure(recoding)
        except RecodingError as error:
            if names is not None:
                raise
            left_out[name] = error.message
    return measured, left_out


def _with_persons(after: Table, before: Table, match: Match) -> Table:
    """Return the release with the individual of each record, if it shows none and the match tells all of them."""
    subject, rows = before.subject, match.rows
    if subject is None or subject in after or rows is None:
        return after
    origins = np.full(after.records, -1, np.int64)
    origins[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    if (origins < 0).any():
        return after
    encoded = [Encoded(column, after.codes(column.name)) for column in after.columns]
    individuals = Encoded(*compacted(before[subject], before.codes(subject)[origins]))
    return Table.of([*encoded, individuals], after.records, after.source)


def _privacy(table: Table, roles: Table, quasi: Sequence[str], missing: Missing) -> dict[str, Any]:
    """Measure the models that require nothing but a table; the roles are those of the original."""
    shown = [name for name in quasi if name in table]
    if not table.records or not shown:
        return {}
    sensitive = [name for name in roles.sensitive if name in table]
    subject = roles.subject if roles.subject in table else None
    return Attainment(Gatherer(table.taking(quasi=shown, sensitive=sensitive, subject=subject), missing)).all()


def _notes(  # noqa: PLR0913, PLR0917 - two tables, and how they are related
    before: Table,
    after: Table,
    columns: Sequence[str],
    matched: Match,
    recoding: Recoding,
    elsewhere: Collection[str],
) -> list[str]:
    notes = []
    changed = sum(column.records(Fate.CHANGED) for column in recoding.columns)
    if not matched.key and changed > 0.2 * recoding.records * len(recoding.columns):
        notes.append(
            "Many cells differ from the original values. If the release is in another order, give a key that "
            "identifies the records."
        )
    notes.append(matched.sentence)
    if not before.quasi:
        notes.append("No quasi-identifiers are given. All common columns are treated as quasi-identifiers.")
    if matched.added:
        notes.append(f"Released records without an original record: {matched.added:,}.")
    more = [name for name in after.names if name not in before]
    if more:
        notes.append(f"Columns of the release that the original does not have: {listed(more)}.")
    dropped = [name for name in columns if name not in after]
    if dropped:
        notes.append(f"Columns not released, counted as suppressed: {listed(dropped)}.")
    notes += on_lost_values(before, after)
    others = [
        name for name in before.names if name not in after and name not in {*columns, *before.with_role(Role.DIRECT)}
    ]
    apart, others = ([name for name in others if (name in elsewhere) is where] for where in (True, False))
    if apart:
        notes.append(
            f"In another table of the release, without their records, and therefore not compared: {listed(apart)}."
        )
    if others:
        notes.append(f"Not released and not included in the information loss: {listed(others)}.")
    followers = [name for name in before.quasi if name in recoding and name not in recoding.quasi]
    if followers:
        notes.append(f"Linked columns are not included in the information loss: {listed(followers)}.")
    blank = all((column.nodes.fates[column.at] == Fate.SUPPRESSED).all() for column in recoding.of_quasi)
    if blank and not recoding.suppressed.any():
        notes.append(
            "All quasi-identifiers of all records are '*'. These cells count as generalised, not as suppressed."
        )
    return notes
