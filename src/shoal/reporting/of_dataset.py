"""Findings about the release of a dataset, collected for the report."""

from collections.abc import Mapping
from typing import Any

from shoal.attacks.battery import Attacked
from shoal.dataset.dataset import Dataset
from shoal.dataset.result import DatasetResult
from shoal.errors import ReportError
from shoal.progress import Hook
from shoal.release.manifest import recorded_tables
from shoal.release.release import Release
from shoal.reporting.dataset_findings import DatasetFindings, UnprotectedTable
from shoal.reporting.elsewhere import of_tables
from shoal.reporting.findings import Findings
from shoal.verbs.compare import compare
from shoal.verbs.released_dataset import TablePair, of_pairs, released_dataset


def of_dataset(
    dataset: Dataset, release: Any, attacked: DatasetResult[Attacked] | None, progress: Hook
) -> DatasetFindings:
    """Collect the findings about the release of a dataset.

    The released tables are recounted with the attributes that their records inherit, as a recipient of all tables sees
    them. ``release``: the result of ``anonymize``, or the folder, dataset or mapping of released tables.
    """
    losses = compare(dataset, release, progress=progress).tables
    own = release if isinstance(release, Release) else None
    attacks: Mapping[str, Attacked] = {} if attacked is None else attacked.tables
    manifests = None if own is not None else recorded_tables(released_dataset(dataset, release).tables, dataset.policy)

    def work(pair: TablePair) -> Findings | UnprotectedTable:
        if not pair.before.shows or not pair.after.table.records:
            why = "no quasi-identifiers" if pair.before.of_individuals else "no individuals"
            return UnprotectedTable(pair.original.records, pair.released.records, why)
        part = None if own is None or not own.parts[pair.name].is_searched else own.parts[pair.name]
        internal = None if part is None else part.internal
        if manifests is not None and pair.match.recorded:
            internal = manifests.get(pair.name)
        view = pair.before
        subject = view.policy.data.subject
        is_key = subject is not None and (subject not in pair.original or subject in dataset.keys(pair.name))
        return of_tables(
            view.table,
            pair.after.table,
            view.policy,
            progress,
            match=pair.match_of_view,
            quality=losses[pair.name].quality,
            part=part,
            internal=internal,
            inherited=view.inherited,
            pseudonyms=(subject,) if subject is not None and is_key and internal is not None else None,
            advice_seconds=0,  # alternatives would have to keep the released values of the other tables
            attacks=attacks.get(pair.name),
        )

    results = of_pairs(dataset, release, work, "assessing", progress)
    by_table = {name: found for name, found in results.items() if isinstance(found, Findings)}
    if not by_table:
        raise ReportError("no-quasi-identifier", "No table of the dataset has a quasi-identifier.")
    return DatasetFindings(
        policy=dataset.policy,
        by_table=by_table,
        unprotected={name: found for name, found in results.items() if isinstance(found, UnprotectedTable)},
        references=tuple(map(str, dataset.references)),
        unique_histories=None if own is None else own.alone,
        dataset=dataset,
    )
