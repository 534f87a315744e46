"""Soundness: a treatment does what its technique declares, and leaves out as many persons as it counts."""

from collections.abc import Iterator

from shoal.classes.shown import counted_rows, showing
from shoal.errors import ReleaseError, counted
from shoal.release.case import Case
from shoal.techniques.change import Added, Change, Drawn, Generalised, Moved, Replaced
from shoal.techniques.technique import Technique, Truth
from shoal.techniques.treatment import Treatment

_LEAST = {Replaced: Truth.REPRESENTATIVE, Drawn: Truth.PERTURBED, Moved: Truth.PERTURBED, Added: Truth.INVENTED}


def check_sound(case: Case, treatment: Treatment) -> None:
    """Refuse a treatment that is not what its technique, and the way to deal with outliers, declare."""
    technique, way = case.policy.search.technique, case.policy.search.way
    for problem in (*_persons(case, treatment), *_columns(case, treatment, technique)):
        raise ReleaseError(f"The recoding '{technique.kind}' {problem}. Nothing was released.")
    declared = max(technique.truth, way.truth, key=list(Truth).index)
    for change in treatment.changes:
        least = _LEAST.get(type(change), Truth.TRUE)
        if list(Truth).index(least) > list(Truth).index(declared):
            raise ReleaseError(
                f"The recoding '{technique.kind}' declares that its cells are {declared}, and makes some that are "
                f"{least}. Nothing was released.",
                hint="Declare truth, and say in untrue what is not true any more.",
            )


def _persons(case: Case, treatment: Treatment) -> Iterator[str]:
    suppressed, rows = treatment.suppressed, treatment.rows
    if len(suppressed) != len(rows):
        yield f"decides about {len(suppressed):,} of {len(rows):,} different rows"
        return
    showed = suppressed & showing(rows, [case.table[name] for name in rows.columns])  # before, too
    if case.table.subject is None:
        left_out = int(rows.counts[showed].sum())
    else:
        left_out = counted_rows(case.table, case.table.quasi)[1].within(showed)
    if left_out != treatment.persons:
        yield f"leaves out {counted(left_out, 'person')}, and counts {treatment.persons:,}"


def _columns(case: Case, treatment: Treatment, technique: Technique) -> Iterator[str]:
    shown = {change.name for change in treatment.generalised}
    missing = [name for name in case.table.quasi if name not in shown]
    if missing:
        yield f"does not say what becomes of column '{missing[0]}'"
    for name in (_name(change) for change in treatment.changes):
        if name is not None and case.table.roles.get(name) not in technique.touches:
            yield f"changes column '{name}', and does not declare that it touches such columns"


def _name(change: Change) -> str | None:
    return change.name if isinstance(change, Generalised | Replaced | Drawn) else None
