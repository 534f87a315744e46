"""``shoal.dimension``: the number of quasi-identifiers to generalise (Menten 2024, stage 2)."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import ModelError, did_you_mean
from shoal.hierarchy.automatic import Automatic
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.hierarchy.spec import bind
from shoal.identification.dimension import Dimension, Weighing, by_levels, by_tables, chosen, judges, levels_of, ranked
from shoal.models.t_closeness import Distance
from shoal.remedy import Setting
from shoal.table.missing import Missing
from shoal.verbs.inputs import AnyPolicy, Inputs, table_of


def dimension(  # noqa: PLR0913 - keyword-only options
    data: Any,
    policy: AnyPolicy = None,
    *,
    quasi: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    subject: str | None = None,
    order: Sequence[str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    levels: Mapping[str, int] | None = None,
    tables: Sequence[Any] | None = None,
    subsets: bool = False,
    distance: str = "equal",
) -> Dimension:
    """Generalise quasi-identifiers one after another, and recommend how many to generalise.

    ``order``: the order of the columns (default: by descending risk rate). ``levels``: the levels of the hierarchies
    (default: the highest informative ones). ``tables``: tables that were generalised elsewhere, with the first column
    generalised, with the first two, and so on. ``subsets``: evaluate every subset of the columns. ``distance``: the
    distance between sensitive values for t.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "sex": ["f", "f", "m", "m"], "dx": ["flu", "ms", "flu", "ms"]}
    >>> ladder = {"age": {"kind": "interval", "widths": [10]}}
    >>> found = shoal.dimension(data, quasi=["age", "sex"], sensitive="dx", hierarchies=ladder)
    >>> [(step.columns, step.k, step.privacy_gain, round(step.percent, 1)) for step in found.steps]
    [(('age',), 2, 1, 33.3), (('age', 'sex'), 2, 1, 66.7)]
    >>> found.principled.columns
    ('age',)
    """
    inputs = Inputs.of(data, policy, quasi=quasi, sensitive=sensitive, subject=subject, hierarchies=hierarchies)
    table, missing = inputs.table, inputs.missing
    columns = tuple(order) if order is not None else ranked(table)
    if sorted(columns) != sorted(table.quasi):
        raise ModelError("bad-order", "The order must name every quasi-identifier once.")
    if missing is Missing.WILDCARD:
        raise ModelError(
            "wildcard-missing",
            "The dimension cannot be measured if missing values match any value.",
            remedy=Setting("data.missing", "own"),
        )
    if distance not in set(Distance):
        raise ModelError(
            "unknown-distance",
            "There is no distance '{distance}'.",
            remedy=did_you_mean(distance, list(Distance)) or "Available: {distances}.",
            distance=distance,
            distances=", ".join(Distance),
        )
    if tables is not None and (levels or subsets):
        raise ModelError(
            "option-of-tables", "Levels and subsets apply to generalised tables made here, not to given ones."
        )
    required = [model for _, _, model in inputs.policy.requirements()]
    ladders = _with_automatic(inputs)
    weighing = Weighing(table.sensitive, judges(required, table.quasi, table.sensitive), ladders, Distance(distance))
    if tables is not None:
        treated = by_tables(table, [table_of(table) for table in tables], columns, missing=missing)
    else:
        treated = by_levels(table, columns, ladders, levels_of(ladders, levels or {}), missing=missing, subsets=subsets)
    before = weighing.step(next(treated))
    return chosen(columns, before, [weighing.step(treatment, before.k) for treatment in treated])


def _with_automatic(inputs: Inputs) -> dict[str, Hierarchy]:
    """Return the given hierarchies, and automatic ones for the other quasi-identifiers."""
    table, known = inputs.table, inputs.hierarchies
    automatic = {name: bind(Automatic(), table, name) for name in table.quasi if name not in known}
    return {**automatic, **known}
