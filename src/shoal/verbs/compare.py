"""``shoal.compare``: information loss and privacy of a release."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from shoal.analyses.comparison import Comparison, compared
from shoal.dataset.dataset import Dataset
from shoal.dataset.result import DatasetResult
from shoal.errors import RecodingError
from shoal.policy.policy import Policy
from shoal.progress import Hook, silent
from shoal.qualities.quality import QUALITIES
from shoal.recoding.matching import Match
from shoal.release.pairing import drawn_from, which
from shoal.release.rejoined import divided, rejoined
from shoal.release.release import Release
from shoal.table.column import SUPPRESSED
from shoal.verbs.inputs import AnyPolicy, Inputs, ReleasedTables, names_of, policy_of
from shoal.verbs.on_datasets import also
from shoal.verbs.released_dataset import TablePair, dataset_under, of_pairs

_DIVIDED = "The tables of the release do not tell which values of their columns belong together"


def _compare_dataset(  # noqa: PLR0913 - the options of the verb that apply to several tables
    original: Dataset,
    release: Any,
    policy: AnyPolicy = None,
    *,
    qualities: Sequence[str] | str | None = None,
    clusters: int = 5,
    progress: Hook | None = None,
) -> DatasetResult[Comparison]:
    """Compare each table of a dataset with its release.

    The information loss is that of the columns of the table itself. The privacy models include the attributes of the
    records that its records refer to.
    """
    dataset = dataset_under(original, release, policy)

    def work(pair: TablePair) -> Comparison:
        keys = dataset.keys(pair.name)
        given, shown = (
            table.only([name for name in table.names if name not in keys]) for table in (pair.original, pair.released)
        )
        policy, before, after = dataset.policy.of(pair.name), pair.before, pair.after
        own = policy.identified_by(policy.data.subject, given.names)
        risk = None
        if before.shows:
            risk = compare(before.table, after.table, before.policy, qualities=[], matched=pair.match_of_view)
        if not own.quasi_columns(given):
            return risk or compare(given, shown, qualities=[], matched=pair.match)
        loss = compare(given, shown, own, qualities=qualities, clusters=clusters, matched=pair.match)
        if not before.of_individuals:
            return replace(loss, before={}, after={})
        return loss if risk is None else replace(loss, before=risk.before, after=risk.after)

    return DatasetResult(of_pairs(dataset, release, work, "comparing", progress or silent))


@also(_compare_dataset)
def compare(  # noqa: PLR0913 - keyword-only options
    original: Any,
    release: Any,
    policy: AnyPolicy = None,
    *,
    quasi: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    subject: str | None = None,
    key: Sequence[str] | str | None = None,
    in_order: bool = False,
    target: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    qualities: Sequence[str] | str | None = None,
    clusters: int = 5,
    matched: Match | None = None,
) -> Comparison:
    """Compare a release with its original.

    Both may be files, frames or tables; ``*`` in the release means suppressed. Records are matched as recorded by
    ``anonymize``; without that record by ``key``, by an identifier column, by content, or last by position.
    ``in_order``: match by position. ``quasi``: the columns for measures of the whole table (default: those of the
    policy, or all). ``target``: the target of the classification metric. ``qualities``: the names of the measures
    (default: all that require only counts). ``clusters``: the number of clusters for clustering-agreement. ``matched``:
    the match of the records, if already computed.

    >>> import shoal
    >>> found = shoal.compare({"age": [31, 34, 71]}, {"age": ["30-39", "30-39", "*"]})
    >>> found.quality["granularity"].total.value, found.before["k-anonymity"], found.after["k-anonymity"]
    (0.33333333333333337, 1, 2)
    """
    if isinstance(original, Release):
        raise RecodingError(
            "wrong-order", "The original comes first, then the release.", remedy="shoal.compare(original, release)"
        )
    if key is not None and in_order:
        raise RecodingError(
            "key-and-order", "Records are matched by a key or by position, not by both.", remedy="Omit one of them."
        )
    inputs = Inputs.of(
        original,
        policy_of(policy, release),
        quasi=quasi,
        sensitive=sensitive,
        subject=subject,
        hierarchies=hierarchies,
        suppressed=SUPPRESSED,
    )
    whole = inputs.table.in_memory()
    before = inputs.policy.searched(whole)
    before = before if before.quasi else whole  # all quasi-identifiers are perturbed
    tables = ReleasedTables.of(release).tables
    after = tables[0]
    is_divided = matched is None and divided(before, tables)
    if is_divided:
        after, matched = rejoined(before, release if isinstance(release, Release) else after, tables)
    elif matched is None:
        made_release = release if isinstance(release, Release) else after
        matched = which(before, made_release, names_of(key), hierarchies=inputs.hierarchies, in_order=in_order)
        before, matched = drawn_from(before, matched)
        inputs = replace(inputs, table=before)  # frequencies, on which labels may depend, are those of the sample
    comparison = compared(
        before,
        after,
        matched,
        inputs.hierarchies,
        followers=inputs.policy.leaders,
        missing=inputs.missing,
        target=target,
        qualities=names_of(qualities),
        clusters=clusters,
        notes=_of_sample(inputs.policy, matched),
        elsewhere={name for table in tables[1:] for name in table.names},
        perturbed=inputs.policy.perturbed,
        represented=[name for name, column in inputs.policy.columns.items() if column.show != "label"],
    )
    return _of_divided(comparison) if is_divided else comparison


def _of_divided(comparison: Comparison) -> Comparison:
    """Return a comparison without what depends on the relations of columns, which the release does not tell."""
    lost = [name for name in comparison.quality if QUALITIES[name].across_columns]
    return replace(
        comparison,
        quality={name: measured for name, measured in comparison.quality.items() if name not in lost},
        left_out={**comparison.left_out, **dict.fromkeys(lost, _DIVIDED)},
        after={},
    )


def _of_sample(policy: Policy, matched: Match) -> list[str]:
    """Return a note that sampling counts as suppression if the sampled records are not known."""
    if policy.search.sample is None or matched.recorded:
        return []
    unknown = f"The policy releases a sample of {policy.search.sample:.4g}, and the sampled records are not known here."
    return [f"{unknown} Other records count as suppressed. The owner's folder beside the release records the sample."]
