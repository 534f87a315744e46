"""Verification: the written tables of a release are read again and evaluated like tables of unknown origin.

Nothing from the search is used. Only information that the files do not contain is passed on: the person of each record,
and the distribution of the sensitive values in the original.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.dataset.inheritance import Heritage, Shows, inherited
from shoal.dataset.links import Records, named_records, whose
from shoal.engines.derived import DerivedEngine
from shoal.engines.memory import MemoryEngine
from shoal.errors import ReleaseError
from shoal.fileset import FileSet
from shoal.kernels.translation import Codes
from shoal.models.evidence import Gatherer
from shoal.models.model import Model, Need
from shoal.policy.policy import Policy
from shoal.policy.references import Reference, references
from shoal.release.columns import as_written, placed
from shoal.release.judgement import Judgement
from shoal.release.promise import Original, Promise
from shoal.release.split_check import joined, judged_apart
from shoal.remedy import Setting, either
from shoal.scratch import scratch_folder
from shoal.table.column import SUPPRESSED, Column
from shoal.table.compaction import compacted
from shoal.table.databases.database import Stored
from shoal.table.names import unused
from shoal.table.raw import Encoded
from shoal.table.reading import read
from shoal.table.scale import doubles
from shoal.table.table import Table
from shoal.table.writing import write

_REMEDY = either("Reduce the requirement", Setting("search.publish", "permutation"))  # whose classes it is met by
Written = Mapping[str, tuple[Path | Stored, Mapping[str, Any]]]  # location and read options of each table


def verify(promises: Mapping[str, Promise], policy: Policy, written: Written) -> dict[str, tuple[Judgement, ...]]:
    """Read the written tables of a release, compare them with the promise, and evaluate every requirement.

    ``promises``: the promise of each original table, referenced tables first. A release that differs from its promise,
    or fails a requirement, is refused.
    """
    tables: dict[str, Table] = {}
    shows: dict[str, Shows] = {}
    judgements = {}
    for name, promise in promises.items():
        stored = {table: _read(*written[table], promised, promise) for table, promised in promise.tables.items()}
        for table, promised in promise.tables.items():
            check_same(stored[table], promised)
        tables[name] = joined([*stored.values()], promise)
        heritage = _heritage(name, promise, policy, tables, shows)
        separated = judged_apart([*stored.values()], promise)
        judgements[name] = check((*_judged(name, promise, policy, tables, heritage), *separated), promise)
    return judgements


def check(judgements: tuple[Judgement, ...], promise: Promise | None = None) -> tuple[Judgement, ...]:
    """Refuse a release that fails a requirement."""
    failing = [judgement for judgement in judgements if not judgement.verdict.satisfied]
    if failing:
        verdict = failing[0].verdict
        raise ReleaseError(
            "requirement-not-met",
            "The written release does not meet {requirements:requirement} ({model}: {asked} required, {attained} "
            "attained). It was deleted.",
            remedy=_REMEDY if promise is not None and promise.form is not None and promise.form.is_diverse else None,
            requirements=len(failing),
            model=verdict.model,
            asked=verdict.asked,
            attained=verdict.attained,
        )
    return judgements


def verified(promises: Mapping[str, Promise], policy: Policy) -> dict[str, tuple[Judgement, ...]]:
    """Write the tables of a release to private temporary files, and verify them.

    Tables larger than memory are evaluated without being written, and verified from their files when they are saved.
    """
    if any(not isinstance(promise.whole.engine, MemoryEngine) for promise in promises.values()):
        return {name: check(_before_writing(promise), promise) for name, promise in promises.items()}
    written: dict[str, tuple[Path | Stored, Mapping[str, Any]]] = {}
    with scratch_folder() as folder, FileSet() as files:
        for promise in promises.values():
            for name, table in promise.tables.items():
                write(table, folder / f"{name}.parquet", files=files, check_written=noting(written, name))
        return verify(promises, policy, written)


def _before_writing(promise: Promise) -> tuple[Judgement, ...]:
    """Evaluate the tables of a release as they will be read from their files."""
    tables = [as_written(table) for table in promise.tables.values()]
    return (*judged(as_written(promise.whole), promise), *judged_apart(tables, promise))


def noting(
    written: dict[str, tuple[Path | Stored, Mapping[str, Any]]], name: str
) -> Callable[[Path | Stored, Mapping[str, Any]], None]:
    """Return a callback that records the path of a written table, so that all tables can be verified together."""

    def note(source: Path | Stored, options: Mapping[str, Any]) -> None:
        written[name] = source, options

    return note


def judged(stored: Table, promise: Promise) -> tuple[Judgement, ...]:
    """Evaluate every requirement on a released table.

    In a split table, the buckets are the classes of requirements on sensitive values.
    """
    table, original = with_persons(stored, promise.whole, promise.original), promise.original
    gatherer = Gatherer(table, original.missing, original.hierarchies, original.population, original.reference)
    return tuple(
        Judgement(source, says, model.verdict(gatherer.evidence(view)))
        for source, says, model in promise.asked
        for view in model.views(_classified(model, promise), table.sensitive)
    )


def _classified(model: Model, promise: Promise) -> tuple[str, ...]:
    """Return the columns whose values form the classes of a model.

    Of a release in several tables, these are the buckets for requirements on sensitive values, divided by the
    quasi-identifiers beside the values.
    """
    known = tuple(name for name in promise.whole.quasi if name != promise.link)
    if promise.link is None or Need.SENSITIVE not in model.needs:
        return known
    last = [*promise.tables.values()][-1]
    return (promise.link, *(name for name in known if name in last))


def with_persons(stored: Table, promised: Table, original: Original) -> Table:
    """Return a released table with the promised roles, and with the person of each record if known.

    A file does not contain the persons of its records. Its rows were verified to be the promised ones, with the same
    frequencies. The assignment of persons to records with equal values is therefore irrelevant.
    """
    hidden = isinstance(original.subject, Column) or original.thresholds or original.truths
    source = as_written(promised) if hidden else stored
    known = (*source.columns, *original.thresholds.values(), *original.truths.values())
    table = _with_subject(_recoded(replace(source, columns=known, roles={}), original), original)
    table = _with_truths(table, original)
    return table.assign(quasi=list(promised.quasi), sensitive=list(promised.sensitive))


def _read(source: Path | Stored, options: Mapping[str, Any], promised: Table, promise: Promise) -> Table:
    """Read a written table; quasi-identifiers and pseudonyms are read as text."""
    engine = "memory" if isinstance(promised.engine, MemoryEngine) else "disk"
    texts = [*promised.quasi, *(name for name in promise.pseudonyms if name in promised)]
    return read(source, text=texts, suppressed=SUPPRESSED, engine=engine, **options)


def _heritage(
    name: str, promise: Promise, policy: Policy, tables: Mapping[str, Table], shows: dict[str, Shows]
) -> Heritage:
    """Return the columns that a table inherits by its references, and add the values that it passes on to ``shows``."""
    if promise.kin is None:
        return Heritage()
    links = {reference: _link(reference, tables) for reference in references(policy.tables) if reference.table == name}
    heritage, table = inherited(links, shows, promise.kin.names), tables[name]
    own = [
        replace(secret, encoded=Encoded(table[secret.name], table.codes(secret.name)))
        for secret in promise.kin.shows.secrets
        if secret.name in table
    ]
    shows[name] = Shows.of(table, own, heritage)
    return heritage


def _link(reference: Reference, tables: Mapping[str, Table]) -> Records:
    """Return the record of the other table that each written record refers to."""
    link = named_records(tables[reference.table], reference.column, tables[reference.other], reference.key)
    lost = int(np.count_nonzero(link < 0))
    twice = int(np.count_nonzero(tables[reference.other].counts(reference.key) > 1))
    if lost or twice:
        raise ReleaseError(
            "not-as-promised",
            "In the written release, {lost:record} refer to no record, and {twice:key} identify several records "
            "({reference}). It was deleted.",
            lost=lost,
            twice=twice,
            reference=reference,
        )
    return link


def _judged(
    name: str, promise: Promise, policy: Policy, tables: Mapping[str, Table], heritage: Heritage
) -> tuple[Judgement, ...]:
    """Evaluate a table with its inherited columns, and with persons as far as the files identify them."""
    table, original = tables[name], promise.original
    if promise.kin is not None:
        own = [Encoded(column, table.codes(column.name)) for column in table.columns]
        table = Table.of([*own, *heritage.columns], table.records, table.source)
        persons = _persons(name, policy, tables)
        original = original if persons is None else replace(original, subject=persons)
    return judged(table, replace(promise, original=original))


def _persons(name: str, policy: Policy, tables: Mapping[str, Table]) -> tuple[Column, Codes] | None:
    """Return the person of each record, identified by pseudonyms of this table or of the tables that it refers to."""
    ways = whose(policy, {other: table.names for other, table in tables.items()}, name)
    if ways is None:
        return None
    last = tables[ways.table]
    records = ways.records(np.arange(tables[name].records), lambda reference: _link(reference, tables))
    return last[ways.column], last.codes(ways.column)[records]


def check_same(stored: Table, promised: Table) -> None:
    """Refuse a written table that differs from the promised one.

    The columns and the number of records must be the same. The rows of quasi-identifiers and sensitive columns, and the
    values of every other column, must have the same frequencies.
    """
    if stored.names != promised.names or stored.records != promised.records:
        raise ReleaseError(
            "not-as-promised",
            "The written release has {records:record} and {columns:column}. Expected were {expected:,} and "
            "{expected_columns}.",
            records=stored.records,
            columns=len(stored.names),
            expected=promised.records,
            expected_columns=len(promised.names),
        )
    names, written = (*promised.quasi, *promised.sensitive), as_written(promised)
    columns = {name: (written[name], placed(stored[name], written[name])) for name in names}
    here, there = stored.recoded(columns).distinct(names), written.distinct(names)
    same = all(np.array_equal(codes, other) for codes, other in zip(here.codes, there.codes, strict=True))
    if not same or not np.array_equal(here.counts, there.counts):
        raise ReleaseError(
            "not-as-promised", "The records of the written release differ from the expected ones. It was deleted."
        )
    for name in promised.names:
        if name not in names and not _same_values(stored, promised, name):
            raise ReleaseError(
                "not-as-promised",
                "The values of column '{column}' of the written release differ from the expected ones. It was deleted.",
                column=name,
            )


def _same_values(stored: Table, promised: Table, name: str) -> bool:
    """Return whether a column has the same values with the same frequencies, whatever kind it was read as.

    Most formats do not store categories: labels are read as text, and are compared as text.
    """
    here, there = stored[name], promised[name]
    texts = [_written(column, numeric=here.kind.numeric and there.kind.numeric) for column in (here, there)]
    places = pc.index_in(*texts).fill_null(-1).to_numpy(zero_copy_only=False)
    counts, expected = stored.counts(name), promised.counts(name)
    if ((places < 0) & (counts > 0)).any():
        return False
    seen = np.zeros(len(expected), np.int64)
    np.add.at(seen, places[places >= 0], counts[places >= 0])
    return bool(np.array_equal(seen, expected))


def _written(column: Column, *, numeric: bool) -> pa.Array:
    """Return the values of a column and its missing value; numbers as numbers, irrespective of their notation."""
    if not numeric or column.suppressed:
        return column.labels()
    values = doubles(column.values)
    return pa.concat_arrays([values, pa.nulls(int(column.missing), pa.float64())])


def _recoded(stored: Table, original: Original) -> Table:
    """Encode sensitive values with the codes of the original, so that values without a released record still count."""
    names = [name for name in stored.names if name in original.sensitive and name not in original.truths]
    return stored.recoded({name: (before := original.sensitive[name], placed(stored[name], before)) for name in names})


def _with_truths(table: Table, original: Original) -> Table:
    """Return the table with the true values of its sensitive columns instead of the released ones."""
    if not original.truths:
        return table
    before = {name: original.sensitive[name] for name in original.truths}
    hidden_names = {column.name for column in original.truths.values()}
    places = {name: placed(column, before[name]) for name, column in original.truths.items()}
    derived = {name: ((column.name,), places[name].__getitem__) for name, column in original.truths.items()}
    sizes = {column.name: column.size for column in table.columns}
    sizes.update({column.name: column.size for column in (*original.truths.values(), *before.values())})
    columns = tuple(before.get(column.name, column) for column in table.columns if column.name not in hidden_names)
    true = replace(table, columns=columns, engine=DerivedEngine(table.engine, derived, sizes))
    return true.in_memory() if isinstance(table.engine, MemoryEngine) else true


def _with_subject(table: Table, original: Original) -> Table:
    if original.subject is None:
        return table
    if isinstance(original.subject, Column):
        return replace(table, columns=(*table.columns, original.subject)).assign(subject=original.subject.name)
    column, codes = compacted(*original.subject)
    encoded = [Encoded(column, table.codes(column.name)) for column in table.columns]
    named = replace(column, name=unused(column.name, table.names))
    with_subject = Table.of([*encoded, Encoded(named, codes)], table.records, table.source)
    return with_subject.assign(subject=named.name)
