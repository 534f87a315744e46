"""Soundness: consistency of a treatment with the declarations of its technique and its number of suppressed persons."""

from collections.abc import Iterator

import numpy as np

from shoal.classes.shown import counted_rows, showing
from shoal.errors import ReleaseError
from shoal.release.case import Case
from shoal.techniques.change import Added, Change, Drawn, Generalised, Moved, Replaced
from shoal.techniques.technique import Technique, Truth
from shoal.techniques.treatment import Treatment
from shoal.words import counted

_LEAST = {Replaced: Truth.REPRESENTATIVE, Drawn: Truth.PERTURBED, Moved: Truth.PERTURBED, Added: Truth.INVENTED}


def check_sound(case: Case, treatment: Treatment) -> None:
    """Refuse a treatment that contradicts the declarations of its technique or of its treatment of outliers."""
    technique, way = case.policy.search.technique, case.policy.search.way
    for problem in (*_persons(case, treatment), *_columns(case, treatment, technique)):
        raise ReleaseError(
            "unsound-technique",
            "The technique '{technique}' {problem}. Nothing is released.",
            technique=technique.kind,
            problem=problem,
        )
    declared = max(technique.truth, way.truth, key=list(Truth).index)
    for change in treatment.changes:
        least = _LEAST.get(type(change), Truth.TRUE)
        if list(Truth).index(least) > list(Truth).index(declared):
            raise ReleaseError(
                "undeclared-truth",
                "The technique '{technique}' declares {declared} cells, but makes {actual} ones. Nothing is released.",
                remedy="Declare truth and untrue.",
                technique=technique.kind,
                declared=declared,
                actual=least,
            )


def _persons(case: Case, treatment: Treatment) -> Iterator[str]:
    suppressed, rows = treatment.suppressed, treatment.rows
    if len(suppressed) != len(rows):
        yield f"covers {len(suppressed):,} of {len(rows):,} distinct rows"
        return
    quasi = [case.table[name] for name in case.table.quasi]
    showed = suppressed & showing(rows, quasi)  # no rows that were blank before
    if case.table.subject is None:
        left_out = int(rows.counts[showed].sum())
    else:
        left_out = counted_rows(case.table, rows.columns)[1].within(showed)
    if left_out != treatment.persons:
        yield f"suppresses {counted(left_out, 'person')} but reports {treatment.persons:,}"


def _columns(case: Case, treatment: Treatment, technique: Technique) -> Iterator[str]:
    shown = {change.name for change in treatment.generalised}
    missing = [name for name in case.table.quasi if name not in shown]
    if missing:
        yield f"has no Generalised change for column '{missing[0]}'"
    changes: list[Generalised | Replaced] = [*treatment.generalised, *treatment.replaced]
    for change in changes:
        codes, values = _codes(change)
        if len(codes) != len(treatment.rows):
            yield f"changes {len(codes):,} of {len(treatment.rows):,} distinct rows in column '{change.name}'"
        elif len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < values:
            yield f"shows codes in column '{change.name}' that stand for nothing"
    for name in (_name(change) for change in treatment.changes):
        if name is not None and case.table.roles.get(name) not in technique.touches:
            yield f"changes column '{name}', whose role is not declared in touches"


def _codes(change: Generalised | Replaced) -> tuple[np.ndarray, int]:
    """Return the code that each row shows, and the number of valid codes."""
    if isinstance(change, Generalised):
        return np.asarray(change.shown), len(change.nodes)
    return np.asarray(change.codes), change.column.size


def _name(change: Change) -> str | None:
    return change.name if isinstance(change, Generalised | Replaced | Drawn) else None
