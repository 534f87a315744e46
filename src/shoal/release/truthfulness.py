"""Truthfulness: statements on released values that may not be true of an individual."""

from shoal.policy.policy import Policy
from shoal.release.transformation import Transformation


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
    sentences = [
        policy.search.technique.untrue,
        outliers,
        "Dates were shifted by the same number of days for all records of an individual." if policy.dates else "",
        "Some columns show one representative value for a whole class." if represents else "",
    ]
    return " ".join(filter(None, sentences)) or "No false value was introduced."
