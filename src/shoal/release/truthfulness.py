"""Truthfulness: statements on released values that may not be true of an individual."""

from collections.abc import Mapping

from shoal.perturbations.perturbation import Perturbation
from shoal.policy.policy import Policy
from shoal.release.transformation import Transformation
from shoal.words import listed


def truth(policy: Policy) -> str:
    """Return the statements that follow from the policy alone, and may be published.

    >>> truth(Policy.parse("version = 1"))
    'Values may be generalised and records suppressed. No false value was introduced.'
    """
    return f"Values may be generalised and records suppressed. {_replaced(policy, policy.search.way.may_be)}"


def known_truth(policy: Policy, transformation: Transformation) -> str:
    """Return the statements for the owner, based on the actual transformation."""
    way = policy.search.way
    outliers = way.was if any(transformation.outliers.get(name) for name in way.counts) else ""
    sentences = [
        "Values were generalised." if transformation.is_generalised else "",
        "Records were suppressed." if transformation.suppressed_records else "",
        _replaced(policy, outliers),
    ]
    return " ".join(filter(None, sentences))


def _replaced(policy: Policy, outliers: str) -> str:
    """Return the statements on replaced values. ``outliers``: the statement on individuals who fit into no class."""
    represents = any(column.show != "label" for column in policy.columns.values())
    perturbed = {name: column.perturb for name, column in policy.columns.items() if column.perturb is not None}
    sentences = [
        policy.search.technique.untrue,
        outliers,
        _perturbed({name: perturb for name, perturb in perturbed.items() if not perturb.is_true}),
        "Dates were shifted by the same number of days for all records of an individual." if policy.dates else "",
        "Some columns show one representative value for a whole class." if represents else "",
    ]
    untrue = " ".join(filter(None, sentences)) or "No false value was introduced."
    true = _perturbed({name: perturb for name, perturb in perturbed.items() if perturb.is_true})
    return f"{true} {untrue}".lstrip()


def _perturbed(perturbations: Mapping[str, Perturbation]) -> str:
    """Return a sentence on each kind of perturbation, with its columns."""
    columns: dict[str, list[str]] = {}
    for name, perturbation in perturbations.items():
        columns.setdefault(perturbation.says, []).append(name)
    return " ".join(f"{says.removesuffix('.')}: {listed(names)}." for says, names in columns.items())
