"""Rewriting of records: in memory if they are there, otherwise by counting if they repeat, or sorted on disk if not."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.engines.counted import CountedEngine
from shoal.engines.disk import DiskEngine, Spool
from shoal.engines.memory import MemoryEngine
from shoal.engines.outside import CHUNK, OutsideEngine, merged
from shoal.engines.protocol import DistinctRows, Engine, Kept, Rewriting, Rewritten
from shoal.engines.sorting import sorted_on_disk
from shoal.errors import CapacityError
from shoal.kernels.grouping import each_times, group_rows
from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes

MOST = 1 << 24  # maximum number of distinct records held in memory


def rewritten(engine: Engine, how: Rewriting) -> Rewritten:
    """Rewrite the records of an engine.

    The order of the result carries no information, so distinct records with counts are held if they are fewer.
    """
    if isinstance(engine, MemoryEngine):
        return engine.rewritten(how)
    if not isinstance(engine, OutsideEngine):
        raise TypeError("an engine is in memory or outside of it")
    return Rewritten(_counted(engine, how) or _sorted(engine, how), partial(_origins, engine, how))


def _counted(engine: OutsideEngine, how: Rewriting) -> Engine | None:
    """Rewrite distinct records; None if there are too many."""
    try:
        counted = engine.distinct_below(how.needed, min(MOST, max(engine.rows // 4, 1 << 16)))
    except CapacityError:
        return None
    codes = dict(zip(counted.columns, counted.codes, strict=True))
    places = engine.places(how.rows).of([codes[name] for name in how.rows.columns])
    kept, ordinals = np.flatnonzero(how.kept[places]), None
    counts = counted.counts[kept]
    if how.numbers_records:
        if counts.sum() > MOST:
            return None
        kept, ordinals, counts = np.repeat(kept, counts), each_times(counts), np.ones(int(counts.sum()), np.int64)
    written = how.applied(Kept(places[kept], {name: codes[name][kept] for name in how.needed}, ordinals))
    if how.added:
        written = tuple(
            np.concatenate([codes, how.added[name]]) for name, codes in zip(how.names, written, strict=True)
        )
        counts = np.concatenate([counts, np.ones(len(written[0]) - len(counts), np.int64)])
    rows: DistinctRows = merged(how.names, written, counts, [max(how.sizes[name], 1) for name in how.names])
    return CountedEngine(rows, how.sizes)


def _sorted(engine: OutsideEngine, how: Rewriting) -> Engine:
    spool, sizes = Spool(), [max(how.sizes[name], 1) for name in how.names]
    parts = sorted_on_disk(_records(engine, how, _numbered(engine, how, Spool())), sizes, spool)
    return DiskEngine(spool, dict(zip(how.names, parts, strict=True)), how.sizes)


def kept_records(engine: Engine, how: Rewriting) -> Iterator[Kept]:
    """Yield the records to rewrite in chunks, in any order."""
    if isinstance(engine, MemoryEngine):
        yield engine.kept(how)[1]
    elif isinstance(engine, OutsideEngine):
        yield from _kept(engine, how, _numbered(engine, how, Spool()))


def _kept(
    engine: OutsideEngine, how: Rewriting, chunks: Iterator[tuple[tuple[Codes, ...], Words | None]]
) -> Iterator[Kept]:
    places, number = engine.places(how.rows), len(how.rows.columns)
    for chunk, ordinals in chunks:
        at = places.of(chunk[:number]) if number else np.zeros(len(chunk[0]), np.uint32)
        kept = np.flatnonzero(how.kept[at])
        codes = {name: column[kept] for name, column in zip(how.needed, chunk, strict=True)}
        yield Kept(at[kept], codes, None if ordinals is None else ordinals[kept])


def _records(
    engine: OutsideEngine, how: Rewriting, chunks: Iterator[tuple[tuple[Codes, ...], Words | None]]
) -> Iterator[tuple[Codes, ...]]:
    """Yield rewritten records in the order of the input; synthetic records come last."""
    yield from map(how.applied, _kept(engine, how, chunks))
    if how.added:
        yield tuple(how.added[name] for name in how.names)


def _numbered(engine: OutsideEngine, how: Rewriting, spool: Spool) -> Iterator[tuple[tuple[Codes, ...], Words | None]]:
    """Yield the codes of records with their number among equal ones; for the numbers, the records are sorted first."""
    if not how.numbers_records:
        yield from ((chunk, None) for chunk in engine.chunks(how.needed, CHUNK))
        return
    sizes = [max(engine.domains[name], 1) for name in how.needed]
    parts = sorted_on_disk(engine.chunks(how.needed, CHUNK), sizes, spool)
    ordered = DiskEngine(spool, dict(zip(how.needed, parts, strict=True)), dict(zip(how.needed, sizes, strict=True)))
    last: tuple[int, ...] = ()
    so_far = 0
    for chunk in ordered.chunks(how.needed, CHUNK):
        groups = group_rows(chunk, sizes, len(chunk[0]))
        ordinals = groups.ordinals
        first = tuple(int(codes[0]) for codes in chunk)
        if first == last:
            ordinals[groups.ids == 0] += np.uint64(so_far)
        yield chunk, ordinals
        now = tuple(int(codes[-1]) for codes in chunk)
        so_far, last = int(ordinals[-1]) + 1, now


def _together(engine: OutsideEngine, how: Rewriting) -> Iterator[tuple[tuple[Codes, ...], Words | None]]:
    """Yield the codes of all records in input order, with their number among equal ones."""
    chunks = list(engine.chunks(how.needed, CHUNK))
    if not how.numbers_records:
        yield from ((chunk, None) for chunk in chunks)
        return
    columns = tuple(np.concatenate(parts) for parts in zip(*chunks, strict=True))
    sizes = [max(engine.domains[name], 1) for name in how.needed]
    yield columns, group_rows(columns, sizes, len(columns[0])).ordinals


def _origins(engine: OutsideEngine, how: Rewriting) -> NDArray[np.intp]:
    """Return the original record of each rewritten one; all records are processed in memory."""
    kept = np.flatnonzero(engine.expand(how.rows, how.kept))
    columns = [np.concatenate(parts) for parts in zip(*_records(engine, how, _together(engine, how)), strict=True)]
    alike = group_rows(columns, [max(how.sizes[name], 1) for name in how.names], len(columns[0]))
    origins = np.concatenate([kept, np.full(len(columns[0]) - len(kept), -1)])
    sorted_origins: NDArray[np.intp] = origins[np.argsort(alike.ids, kind="stable")]
    return sorted_origins
