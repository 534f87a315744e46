"""The public manifest of a release.

It is a function of the released table, the policy, and the figures that the owner publishes under ``[publish]``.
Without such figures, two originals with the same release have the same manifest, so that it discloses nothing about
suppressed persons.
"""

from collections.abc import Mapping
from fractions import Fraction
from importlib.metadata import version
from math import ceil, floor
from typing import Any

from shoal.classes.classes import Classes
from shoal.classes.shown import class_sizes
from shoal.disclosure import USUAL
from shoal.models.model import Model, Need
from shoal.policy.policy import Policy
from shoal.policy.requirements import AttackLimit
from shoal.release.judgement import Guarantee
from shoal.release.truthfulness import truth
from shoal.release.visible import visible_loss
from shoal.risk.adversary import prosecutor
from shoal.table.role import Role
from shoal.table.table import Table

_COARSEST = 10  # persons; counts are rounded to multiples of at least this
STEP = Fraction(1, 20)  # published shares are multiples of it: finer ones disclose how many persons are suppressed
PRECISION = f"Shares are rounded to multiples of {100 * STEP}%, intervals outwards."


def published(
    table: Table, policy: Policy, chosen: Mapping[str, Any], *, divides_identities: bool = False
) -> dict[str, Any]:
    """Return the public manifest.

    ``chosen``: the figures that the owner publishes (see :func:`figures`). ``divides_identities``: whether
    quasi-identifiers are in several tables, so that there are no classes.
    """
    how, form = policy.search, policy.search.publish
    return {
        "shoal": version("shoal"),
        "records": table.records,
        **({} if divides_identities else _classes(table)),
        "suppressed_cells": _suppressed_cells(table),
        "loss_by_label": visible_loss(table, policy).document(),
        "recoding": how.technique.kind,
        "refined": how.refine,
        **({} if how.target is None else {"target": how.target}),
        **({} if how.sample is None else {"sample": how.sample}),
        "outliers": how.outliers,
        "representatives": representatives(table, policy),
        "pseudonyms": [] if policy.pseudonyms is None else policy.pseudonyms.columns,
        **({} if policy.dates is None else {"moved_dates": policy.dates.columns}),
        **({"perturbed": described} if (described := perturbed_columns(policy, table)) else {}),
        "requirements": [
            *(_requirement(source, model) for source, _, model in policy.requirements()),
            *(_own(name, parameters) for name, parameters in (form.requires if form else {}).items()),
            *(_limit(requirement) for requirement in policy.attack_limits),
        ],
        **({} if (exposed := exposed_values(policy)) is None else {"minimality": exposed}),
        "truthful": truth(policy),
        "met": True,
        "columns": roles(table, policy),
        **({"published": dict(chosen)} if chosen else {}),
    }


def roles(table: Table, policy: Policy) -> dict[str, str]:
    """Return the role of each released column, as the policy states it."""
    drawn = dict.fromkeys(policy.drawn_quasi(table), Role.QUASI)
    return {name: str(drawn.get(name, table.roles[name])) for name in table.names if name in table.roles}


def perturbed_columns(policy: Policy, released: Table) -> dict[str, dict[str, Any]]:
    """Return the kind, the options and the guarantee of each perturbed column of a released table.

    The guarantee is one of the mechanism, and concerns the data: no privacy requirement is met by it.
    """
    perturbed = {name: policy.columns[name].perturb for name in policy.perturbed if name in released}
    return {
        name: {
            **perturb.options,
            "proved": perturb.guarantee,
            **perturb.published(released[name], released.counts(name)),
        }
        for name, perturb in perturbed.items()
        if perturb is not None
    }


def figures(policy: Policy, suppressed: int, original: Table) -> dict[str, Any]:
    """Return the figures about the original that the policy publishes, each with its rounding.

    >>> import shoal
    >>> policy = Policy.parse('''
    ... version = 1
    ... columns.age = "quasi"
    ... publish = { suppressed = true, risk = true }
    ... ''')
    >>> figures(policy, 17, policy.apply(shoal.read({"age": [31, 31, 31, 75]})))["suppressed"]
    {'value': 22, 'rounded_to': 11}
    """
    publish, chosen = policy.publish, dict[str, Any]()
    if publish is not None and publish.suppressed:
        step = max(policy.k or USUAL, _COARSEST)
        chosen["suppressed"] = {"value": round(suppressed / step) * step, "rounded_to": step}
    if publish is not None and publish.risk:
        limit = Fraction(1, policy.k or USUAL)
        risk = prosecutor(Classes.of(original, sensitive=(), missing=policy.data.missing), limit)
        chosen["risk_of_original"] = {
            "average": rounded(risk.average),
            "share_above_threshold": rounded(risk.share_above),
            "threshold": limit,
            "rounded_to": float(STEP),
        }
    return chosen


def rounded(share: float) -> float:
    """Return a share as it is published: the nearest multiple of ``STEP``.

    >>> rounded(0.437)
    0.45
    """
    return float(round(Fraction(share) / STEP) * STEP)


def widened(low: float, high: float) -> tuple[float, float]:
    """Return an interval of shares as it is published: the smallest that contains it and ends at multiples of ``STEP``.

    >>> widened(0.437, 0.513)
    (0.4, 0.55)
    """
    return float(floor(Fraction(low) / STEP) * STEP), float(ceil(Fraction(high) / STEP) * STEP)


def exposed_values(policy: Policy) -> dict[str, Any] | None:
    """Return whether the release tells adversaries who know the algorithm which groups violate a requirement.

    None if no requirement concerns sensitive values, or if they are released by buckets.
    """
    form = policy.search.publish
    concerned = any(Need.SENSITIVE in model.needs for _, _, model in policy.requirements())
    if not concerned or (form is not None and form.is_diverse):
        return None
    return {
        "exposed": not policy.search.independent,
        "adversary": "knows the algorithm, the requirements, and the quasi-identifiers of all individuals of a group",
    }


def representatives(table: Table, policy: Policy) -> dict[str, str]:
    """Return the quasi-identifiers that show a representative value of their class, and its kind."""
    return {
        name: column.show for name, column in policy.columns.items() if column.show != "label" and name in table.quasi
    }


def _classes(table: Table) -> dict[str, Any]:
    """Return the number and the sizes, in records, of the equivalence classes."""
    if not table.quasi or not table.records:
        return {}
    sizes = class_sizes(table)
    return {
        "classes": len(sizes),
        "class_sizes_in": "records",
        "smallest_class": int(sizes.min()),
        "mean_class": float(sizes.mean()),
    }


def _suppressed_cells(table: Table) -> dict[str, float]:
    """Return the share of suppressed cells of each quasi-identifier."""
    shares = {}
    for name in table.quasi:
        code = table[name].suppressed_code
        shares[name] = 0.0 if code is None else float(table.counts(name)[code] / max(table.records, 1))
    return shares


def _requirement(source: str, model: Model) -> dict[str, Any]:
    """Return a requirement with its numeric parameters.

    Texts and lists are omitted, because they may contain values of the data.
    """
    numbers = {name: value for name, value in model if isinstance(value, int | float | Fraction)}
    return {**_own(model.name, numbers), "source": source, "column": getattr(model, "column", None)}


def _own(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a requirement of the policy that was verified."""
    return {
        "source": "policy",
        "model": name,
        "column": None,
        "parameters": dict(parameters),
        "satisfied": True,
        "guarantee": Guarantee.VERIFIED,
    }


def _limit(limit: AttackLimit) -> dict[str, Any]:
    """Return a limit for an attack. The measured success is for the owner only."""
    return {
        "source": "policy",
        "model": limit.attack,
        "attack": limit.attack,
        "column": limit.column,
        "parameters": {"at_most": limit.at_most},
        "satisfied": True,
        "guarantee": Guarantee.MEASURED,
    }
