"""The release of a dataset, table by table, beside its original."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from shoal.dataset.dataset import Dataset
from shoal.dataset.place import of_table
from shoal.dataset.view import TableView, TableViews
from shoal.errors import ReadError, RecodingError
from shoal.progress import Hook, Progress
from shoal.recoding.matching import Match, match
from shoal.release.origins import Origins, is_same, kept_origins
from shoal.release.release import Release
from shoal.table.column import SUPPRESSED
from shoal.table.table import Table
from shoal.verbs.inputs import AnyPolicy, table_of

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class TablePair:
    """A table of a dataset and its release: by themselves, and as views with inherited attributes.

    ``match``: the released record of each record of the original.
    """

    name: str
    original: Table
    released: Table
    before: TableView
    after: TableView
    match: Match

    @property
    def match_of_view(self) -> Match:
        """The match of the records of the views, which omit records with an invalid reference."""
        rows = self.match.rows
        return self.match if rows is None else replace(self.match, rows=rows[self.before.records])


def of_pairs(
    dataset: Dataset, release: Any, work: Callable[[TablePair], Result], doing: str, progress: Hook
) -> dict[str, Result]:
    """Return the result for each table of a dataset and its release."""
    if isinstance(dataset, Release):
        raise RecodingError("wrong-order", "The original comes first, then the release.")
    released = released_dataset(dataset, release)
    before, after = TableViews.of(dataset), TableViews.of(released, is_original=False)
    results: dict[str, Result] = {}
    for done, name in enumerate(dataset.tables):
        progress(Progress(f"{doing} {name}", done, len(dataset.tables)))
        with of_table(name):
            original, shown = dataset.tables[name], released.tables[name]
            views = before.of_table(name), after.of_table(name)
            match_ = _match(name, dataset, release, shown, views)
            results[name] = work(TablePair(name, original, shown, *views, match_))
    return results


def dataset_under(data: Dataset, release: Any, policy: AnyPolicy) -> Dataset:
    """Return a dataset with the given policy, or with that of its release, or with its own one."""
    return data.under(release.policy if policy is None and isinstance(release, Release) else policy)


def released_dataset(dataset: Dataset, release: Any) -> Dataset:
    """Return the released tables of a dataset: of a release, of a dataset, or of a folder."""
    if isinstance(release, Release):
        tables = {name: table.in_memory() for name, table in release.tables.items()}
    elif isinstance(release, Dataset):
        tables = dict(release.tables)
    elif isinstance(release, Mapping):
        tables = {name: table_of(data, suppressed=SUPPRESSED).in_memory() for name, data in release.items()}
    else:
        tables = dict(Dataset.read(release, suppressed=SUPPRESSED).tables)
    for name in dataset.tables:
        if name not in tables:
            raise ReadError("table-not-released", "The release does not contain the table '{table}'.", table=name)
    return Dataset({name: tables[name] for name in dataset.tables}, dataset.policy)


def _match(name: str, dataset: Dataset, release: Any, released: Table, views: tuple[TableView, TableView]) -> Match:
    """Match the records of a table with those of its release: as recorded, or by their content."""
    original = dataset.tables[name]
    part = release.parts.get(name) if isinstance(release, Release) else None
    if part is not None and is_same(original, part.given):
        return Origins(part.records, part.drawn).match(original, released)
    origins = kept_origins(original, released)
    if origins is not None:
        return origins.match(original, released)
    before, after = views
    policy = before.policy
    found = match(policy.apply(before.table), after.table, hierarchies=policy.hierarchies(before.table))
    if found.rows is None:
        return found
    rows = np.full(original.records, -1, np.int64)
    rows[before.records] = np.where(found.rows >= 0, after.records[found.rows], -1)
    return replace(found, rows=rows)
