"""Separated columns: the buckets that link sensitive values, released apart, to the records of the first table."""

from dataclasses import replace
from functools import cache, partial
from math import ceil

import numpy as np

from shoal.errors import PolicyError
from shoal.kernels.grouping import group_rows
from shoal.models.model import Model, least_size
from shoal.progress import Hook, silent
from shoal.qualities.correlations import contingency, cramer
from shoal.release.case import Case
from shoal.release.drawing import PLACES, drawn_numbers
from shoal.release.kept_records import KeptRecords
from shoal.release.requirement_check import check_requirement
from shoal.release.sliced import sliceable
from shoal.release.transformation import Transformation
from shoal.remedy import Setting, either
from shoal.separation.eligibility import no_diversity
from shoal.separation.separation import Places, Separable
from shoal.separation.split import Numbers, RecordBuckets
from shoal.table.role import Role
from shoal.table.scale import binned
from shoal.table.table import Table


def separated(case: Case, transformation: Transformation, progress: Hook = silent) -> Transformation:
    """Return the transformation with the buckets of the columns that the policy releases apart, if any."""
    form = case.policy.search.publish
    if form is None:
        return transformation
    required = tuple(model for model in case.asked_of_values if model not in form.promised)  # others than its own
    for model in required:
        check_requirement(model, case.table, case.policy, case.register)
    _check_unperturbed(case)
    table, subject = case.table, case.table.subject
    read = dict.fromkeys((*table.quasi, *table.sensitive, *([] if subject is None else [subject])))
    records = KeptRecords(table, transformation, case.key, tuple(read))

    @cache
    def places(name: str) -> Places:
        draws = records.draws(name, () if subject is None else (subject,), None, PLACES)
        return Places(table[name], draws, None if subject is None else draws.codes[subject])

    split = form.split(
        Separable(
            sensitive=table.sensitive,
            quasi=table.quasi,
            insensitive=_insensitive(case),
            distinct=_distinct(required),
            least=least_size(required),
            places=places,
            records=partial(sliceable, case, transformation, records),
            classes=partial(_classes, transformation),
            association=partial(_association, table),
            random=partial(drawn_numbers, case.key),
            progress=progress,
        )
    )
    words = records.words if isinstance(split.buckets, RecordBuckets) else transformation.words
    return replace(transformation, split=split, words=words)


def check_identities(case: Case) -> None:
    """Refuse to release unchanged quasi-identifiers, unless the policy allows it explicitly."""
    form = case.policy.search.publish
    if form is None or not form.is_diverse:
        return
    if not case.asked and not form.protects:
        raise no_diversity()
    if form.releases_identities or case.models:
        return
    raise PolicyError(
        "identities-public",
        "No requirement concerns the quasi-identifiers, so they would be released unchanged. {unique:individual} of "
        "{persons:,} {are} unique in them.",
        remedy=either(
            Setting("require", [{"model": "k-anonymity", "k": 5}]), Setting("search.publish.identities_public", True)
        ),
        unique=case.unique,
        persons=case.persons,
        are="is" if case.unique == 1 else "are",
    )


def _check_unperturbed(case: Case) -> None:
    """Refuse to release perturbed values apart."""
    perturbed = [name for name in case.policy.perturbed if name in case.table.sensitive]
    if perturbed:
        raise PolicyError(
            "perturbed-and-separated",
            "Column '{column}' is perturbed, so it cannot be released in a second table.",
            remedy="Remove one of the two.",
            column=perturbed[0],
        )


def _insensitive(case: Case) -> tuple[str, ...]:
    """Return the released columns that are neither quasi-identifiers nor sensitive."""
    return tuple(name for name in case.table.with_role(Role.INSENSITIVE) if name not in case.leaders)


def _distinct(models: tuple[Model, ...]) -> int:
    """Return the largest number of different values that a model demands of a class."""
    return ceil(max((model.distinct for model in models), default=1))


def _association(table: Table, name: str, other: str) -> float:
    """Return Cramér's V of two columns, corrected for chance; many numbers are grouped."""
    rows, bins = table.distinct([name, other]), [binned(table[column]) for column in (name, other)]
    first, two = (groups[of_row] for (groups, _), of_row in zip(bins, rows.codes, strict=True))
    return cramer(contingency(first, two, (bins[0][1], bins[1][1]), rows.counts))


def _classes(transformation: Transformation) -> Numbers:
    """Return the equivalence class of each distinct row: rows that show the same cells."""
    cells = [*transformation.cells.values()]
    if not cells:
        return np.zeros(len(transformation.rows), np.uint32)
    return group_rows([codes for _, codes in cells], [column.size for column, _ in cells], len(transformation.rows)).ids
