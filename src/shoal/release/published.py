"""The public manifest: what may go out with a release.

It is a function of the released table, the policy, and the figures that the owner chooses to publish. Whoever has the
release and the policy can work out all else in it, so that it tells nothing about those who were left out.
"""

from fractions import Fraction
from importlib.metadata import version
from typing import Any

import numpy as np

from shoal.classes.shown import showing
from shoal.disclosure import USUAL
from shoal.models.model import Model
from shoal.policy.policy import Policy
from shoal.table.table import Table

_COARSEST = 10  # numbers are rounded to no less


def published(table: Table, policy: Policy, suppressed: int) -> dict[str, Any]:
    """Return the manifest of a released table; ``suppressed``: how many persons were left out."""
    how = policy.search
    shown = {name: said.show for name, said in policy.columns.items() if said.show != "label" and name in table.quasi}
    return {
        "shoal": version("shoal"),
        "records": table.records,
        **_classes(table),
        "suppressed_cells": _suppressed_cells(table),
        "recoding": how.recoding,
        "refined": how.refine,
        **({} if how.target is None else {"target": how.target}),
        **({} if how.sample is None else {"sample": how.sample}),
        "outliers": how.outliers,
        "representatives": shown,
        "pseudonyms": [] if policy.pseudonyms is None else policy.pseudonyms.columns,
        **({} if policy.dates is None else {"moved_dates": policy.dates.columns}),
        "requirements": [_requirement(source, model) for source, _, model in policy.requirements()],
        "truthful": truth(policy),
        "verified": True,
        "columns": {name: str(role) for name, role in table.roles.items()},
        **_chosen(policy, suppressed),
    }


def truth(policy: Policy) -> str:
    """Say what may have been done to the truth, as far as the policy tells.

    >>> truth(Policy.parse("version = 1"))
    'Values may be coarser, and records may be left out. No value was changed into another.'
    """
    untrue = {
        "Some records may show values of others that are near theirs.": policy.search.outliers == "relocate",
        "Some records may be invented.": policy.search.outliers == "counterfeits",
        "Dates were moved, all of a person by the same number of days.": policy.dates is not None,
        "Some columns show one value for a whole class, which need not be true of each record.": any(
            said.show != "label" for said in policy.columns.values()
        ),
    }
    told = [sentence for sentence, holds in untrue.items() if holds] or ["No value was changed into another."]
    return " ".join(["Values may be coarser, and records may be left out.", *told])


def _classes(table: Table) -> dict[str, Any]:
    """Count the classes, in records; records that show nothing form none, unless all do."""
    if not table.quasi or not table.records:
        return {}
    rows = table.distinct(table.quasi)
    sizes = rows.counts[showing(rows, [table[name] for name in table.quasi])]
    quality = {"discernibility": int(np.square(sizes).sum()), "average-class-size": float(sizes.mean())}
    return {"classes": len(sizes), "smallest_class": int(sizes.min()), "quality": quality}


def _suppressed_cells(table: Table) -> dict[str, float]:
    """Return the share of cells of each quasi-identifier that show nothing."""
    shares = {}
    for name in table.quasi:
        code = table[name].suppressed_code
        shares[name] = 0.0 if code is None else float(table.counts(name)[code] / max(table.records, 1))
    return shares


def _requirement(source: str, model: Model) -> dict[str, Any]:
    """Return what is required, with its numbers: texts and lists may name values."""
    numbers = {name: held for name, held in model if isinstance(held, int | float | Fraction)}
    return {
        "source": source,
        "model": model.name,
        "column": getattr(model, "column", None),
        "parameters": numbers,
        "satisfied": True,
    }


def _chosen(policy: Policy, suppressed: int) -> dict[str, Any]:
    """Return the figures that the owner has chosen to publish, each with how far it was rounded."""
    if policy.publish is None or not policy.publish.suppressed:
        return {}
    step = max(policy.k or USUAL, _COARSEST)
    return {"published": {"suppressed": {"about": round(suppressed / step) * step, "rounded_to": step}}}
