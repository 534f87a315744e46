"""Check of a release in several tables: their relation, and what they tell about individuals together."""

from collections.abc import Sequence

import numpy as np

from shoal.engines.memory import MemoryEngine
from shoal.engines.protocol import DistinctRows
from shoal.errors import ReleaseError
from shoal.kernels.grouping import group_rows
from shoal.release.columns import as_written, placed
from shoal.release.judgement import Judgement
from shoal.release.promise import Promise
from shoal.separation.split_release import SplitRelease
from shoal.table.column import Column
from shoal.table.raw import Encoded
from shoal.table.table import Table


def joined(stored: Sequence[Table], promise: Promise) -> Table:
    """Return the table that was read; the parts of a split table are joined.

    Within a group of linked records, any pairing of the parts gives the same classes with the same values.
    """
    if promise.link is None:
        (table,) = stored
        return table.assign(quasi=_in(promise.whole.quasi, table), sensitive=_in(promise.whole.sensitive, table))
    if not isinstance(promise.whole.engine, MemoryEngine):
        return as_written(promise.whole)  # its parts were already compared with the promise
    first, *others = stored
    if first.records != others[-1].records:
        _check_places(others[-1], promise, promise.link)
        return as_written(promise.whole)  # which record is whose is known to the owner alone
    if promise.form is not None and promise.form.groups_columns:
        return as_written(promise.whole)  # which values belong together is known to the owner alone
    (second,) = others
    groups = [
        np.argsort(placed(table[promise.link], first[promise.link])[table.codes(promise.link)], kind="stable")
        for table in stored
    ]
    encoded = [Encoded(column, first.codes(column.name)) for column in first.columns]
    for column in second.columns:
        if column.name != promise.link:
            codes = np.empty_like(second.codes(column.name))
            codes[groups[0]] = second.codes(column.name)[groups[1]]
            encoded.append(Encoded(column, codes))
    return Table.of(encoded, first.records, first.source)


def _check_places(values: Table, promise: Promise, link: str) -> None:
    """Refuse values by bucket that are not those of the persons in the bucket, each person and value once."""
    whole, subject = promise.whole, promise.original.subject
    name = next(name for name in values.names if name != link)
    same = False
    if isinstance(subject, Column):
        persons = whole.engine.distinct([link, name, subject.name]).codes
        pairs = group_rows(persons[:2], [whole[link].size, whole[name].size], len(persons[0]))
        columns = {column: (whole[column], placed(values[column], whole[column])) for column in (link, name)}
        places = values.recoded(columns).distinct([link, name])
        expected = [codes[pairs.first] for codes in persons[:2]]
        alike = all(np.array_equal(codes, other) for codes, other in zip(places.codes, expected, strict=True))
        same = alike and np.array_equal(places.counts, pairs.counts)
    if not same:
        raise ReleaseError(
            "not-as-promised", "The values of the written release are not those of the individuals in their buckets."
        )


def judged_apart(tables: Sequence[Table], promise: Promise) -> tuple[Judgement, ...]:
    """Evaluate what the form of the release guarantees itself, on tables that are the promised ones."""
    form = promise.form
    if form is None or promise.link is None or not form.protects:
        return ()
    whole = as_written(promise.whole)
    known, sizes = whole.distinct(whole.quasi), {column.name: column.size for column in whole.columns}
    names = (promise.link, *whole.quasi, *whole.sensitive)
    rows = tuple(_rows(table, whole, [name for name in names if name in table]) for table in tables)
    released = SplitRelease(rows, known, whole.quasi, whole.sensitive, promise.link, sizes)
    return tuple(Judgement("policy", form.guarantee, verdict) for verdict in form.verdicts(released))


def _rows(table: Table, whole: Table, names: Sequence[str]) -> DistinctRows:
    """Return the distinct rows of one of the tables in some columns, in the codes of the whole."""
    return table.recoded({name: (whole[name], placed(table[name], whole[name])) for name in names}).distinct(names)


def _in(names: Sequence[str], table: Table) -> list[str]:
    return [name for name in names if name in table]
