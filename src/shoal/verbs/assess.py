"""``shoal.assess``: the re-identification risk of a table."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from shoal.dataset.dataset import Dataset
from shoal.dataset.histories import alone, classes_of
from shoal.dataset.result import DatasetResult
from shoal.dataset.view import TableView
from shoal.errors import ColumnError, ModelError
from shoal.exact import exact
from shoal.models.pairs import with_pairs
from shoal.policy.policy import Policy
from shoal.progress import Hook, silent
from shoal.remedy import Option, by, either
from shoal.risk.assessment import Assessment, Assessor
from shoal.table.raw import Encoded
from shoal.verbs.inputs import AnyPolicy, Inputs
from shoal.verbs.on_datasets import also, of_views
from shoal.words import counted

_USUAL = 5  # k of the default threshold, if no k is required


def _assess_dataset(  # noqa: PLR0913 - the options of the verb
    data: Dataset,
    policy: AnyPolicy = None,
    *,
    missing: str | None = None,
    threshold: Fraction | float | str | None = None,
    uniques: int | None = None,
    progress: Hook | None = None,
) -> DatasetResult[Assessment]:
    """Assess each table of a dataset, with the attributes that its records inherit from the records they refer to."""
    dataset, hook = data.under(policy), progress or silent
    histories = list[tuple[Encoded, Encoded]]()

    def work(_: str, view: TableView) -> Assessment:
        table = view.policy.apply(view.table)
        if table.subject is not None:
            histories.append((Encoded(table[table.subject], table.codes(table.subject)), classes_of(table)))
        return assess(table, view.policy, missing=missing, threshold=threshold, uniques=uniques, progress=hook)

    tables, notes = of_views(dataset, work, "assessing", hook)
    unique, persons = alone(histories)
    judged = [assessment.met for assessment in tables.values() if assessment.met is not None]
    figures = {
        "k": min((assessment.k for assessment in tables.values()), default=None),
        "subjects": persons,
        "unique_by_all_records": unique,
        "met": all(judged) if judged else None,
    }
    singled_out = (
        f"An adversary who knows all records of an individual in all tables can single out {unique:,} of "
        f"{counted(persons, 'individual')}."
    )
    return DatasetResult(tables, figures, (singled_out, *notes) if persons else notes)


@also(_assess_dataset)
def assess(  # noqa: PLR0913 - keyword-only options
    data: Any,
    policy: AnyPolicy = None,
    *,
    quasi: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    subject: str | None = None,
    missing: str | None = None,
    threshold: Fraction | float | str | None = None,
    uniques: int | None = None,
    population: Any = None,
    progress: Hook | None = None,
) -> Assessment:
    """Assess the risk of every person in a table, and judge it by the requirements of a policy.

    ``data``: a table, a frame or a file; or a :class:`shoal.Dataset`, each table of which is assessed with what is
    known about the records that it refers to. Roles come from the policy or from the arguments, which take precedence.
    ``threshold``: the risk above which persons are counted (default: 1/k of the policy, or 1/5). ``uniques``: find
    special uniques, which are singled out by at most this many columns. ``population``: a register of the population,
    its size, or the fraction of it in the table; it takes precedence over the policy.

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
    context, models = inputs.policy.context, [model for _, _, model in inputs.policy.requirements()]
    return Assessor(
        table=with_pairs(inputs.table, models),
        missing=inputs.missing,
        hierarchies=inputs.hierarchies,
        population=inputs.population,
        requirements=tuple(inputs.policy.requirements()),
        limits=tuple(limit.attack for limit in inputs.policy.attack_limits),
        checklist=inputs.policy.checklist,
        context=None if context is None else context.probabilities(),
        unlisted=inputs.policy.unlisted(inputs.table) if inputs.policy.columns else (),
        perturbed=inputs.policy.drawn,
        threshold=_accepted(inputs.policy) if threshold is None else _share(threshold),
        uniques=uniques,
        progress=progress or silent,
    ).assessment()


def _accepted(policy: Policy) -> Fraction:
    """Return the risk that a policy accepts: 1 / k, or 1 / 5 if it requires no k."""
    return Fraction(1, policy.k or _USUAL)


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
