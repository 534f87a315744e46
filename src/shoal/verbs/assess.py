"""``shoal.assess``: the re-identification risk of a table."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from shoal.errors import ColumnError, ModelError
from shoal.exact import exact
from shoal.progress import Hook, silent
from shoal.remedy import Option, by, either
from shoal.risk.assessment import Assessment, Assessor
from shoal.verbs.inputs import AnyPolicy, Inputs


def assess(  # noqa: PLR0913 - keyword-only options
    data: Any,
    policy: AnyPolicy = None,
    *,
    quasi: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    subject: str | None = None,
    missing: str | None = None,
    threshold: Fraction | float | str = Fraction(1, 5),
    uniques: int | None = None,
    population: Any = None,
    progress: Hook | None = None,
) -> Assessment:
    """Assess the risk of every person in a table, and judge it by the requirements of a policy.

    ``data``: a table, a frame or a file. Roles come from the policy or from the arguments, which take precedence.
    ``threshold``: the risk above which persons are counted. ``uniques``: find special uniques, which are singled out by
    at most this many columns. ``population``: a register of the population, its size, or the fraction of it in the
    table; it takes precedence over the policy.

    >>> import shoal
    >>> found = shoal.assess({"age": [34, 34, 71, 71], "dx": ["flu", "ms", "flu", "flu"]}, quasi="age", sensitive="dx")
    >>> found.k, found.prosecutor.maximum, found.meaning
    (2, 0.5, 'Every record shares the quasi-identifiers with at least 1 other.')
    """
    inputs = Inputs.of(
        data, policy, quasi=quasi, sensitive=sensitive, subject=subject, missing=missing, population=population
    )
    if not inputs.table.quasi:
        raise ColumnError(
            "no-quasi-identifier",
            "No column is a quasi-identifier, so there is nothing to assess.",
            remedy=either(
                by("Name the columns that an adversary may know", Option("quasi", ["age", "sex"])),
                "give a policy with roles",
            ),
        )
    context = inputs.policy.context
    return Assessor(
        table=inputs.table,
        missing=inputs.missing,
        hierarchies=inputs.hierarchies,
        population=inputs.population,
        requirements=tuple(inputs.policy.requirements()),
        limits=tuple(limit.attack for limit in inputs.policy.attack_limits),
        checklist=inputs.policy.checklist,
        context=None if context is None else context.probabilities(),
        unlisted=inputs.policy.unlisted(inputs.table) if inputs.policy.columns else (),
        threshold=_share(threshold),
        uniques=uniques,
        progress=progress or silent,
    ).assessment()


def _share(given: Fraction | float | str) -> Fraction:
    """Return a threshold as an exact share, above 0 and at most 1."""
    try:
        share = exact(given)
    except ValueError as error:
        message = str(error)
    else:
        if 0 < share <= 1:
            return share
        message = "must be more than 0 and at most 1"
    raise ModelError("bad-threshold", "The threshold {message}.", message=message)
