"""Counting of all combinations of known variables, for each sensitive variable."""

from collections.abc import Mapping, Sequence

from shoal.kernels.subsets import Window
from shoal.progress import Hook, Progress
from shoal.subsets import SubsetCounts
from shoal.table.missing import Missing
from shoal.table.table import Table


def counts_of(  # noqa: PLR0913, PLR0917 - all parameters of counting
    table: Table,
    columns: Sequence[str],
    hidden: Sequence[str],
    missing: Missing,
    learned: Mapping[str, Window],
    known: Mapping[str, Window],
    budget: int,
    progress: Hook,
) -> dict[str, SubsetCounts]:
    """Return the counts for each sensitive variable; variables for which the same values agree share them."""
    counts: dict[str, SubsetCounts] = {}
    done: dict[tuple[int, ...], SubsetCounts] = {}
    columns = list(columns)

    def report_steps(step: int, steps: int) -> None:
        progress(Progress("counting", step, steps))

    report_steps(0, 1)
    for name in hidden:
        near = {other: rows for other, rows in known.items() if other != name}
        if name in learned:
            near[name] = learned[name]
        own = missing is Missing.NEVER and table[name].missing  # a missing value must not protect
        key = (columns.index(name) if own else -1, *(id(near.get(column)) for column in columns if near))
        if key not in done:
            share = budget // len(hidden) if learned or known or missing is Missing.NEVER else budget
            done[key] = SubsetCounts.of(
                table,
                columns,
                missing=missing,
                near=near,
                learned=name if own else None,
                budget=share,
                threads=2,
                progress=report_steps,
            )
        counts[name] = done[key]
    return counts
