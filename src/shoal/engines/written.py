"""What records become: in memory as they are, elsewhere counted where they repeat, and sorted on disk where not."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.engines.counted import CountedEngine
from shoal.engines.disk import DiskEngine, Spool
from shoal.engines.memory import MemoryEngine
from shoal.engines.outside import CHUNK, OutsideEngine, merged
from shoal.engines.protocol import DistinctRows, Engine, Rewriting, Rewritten
from shoal.engines.sorting import sorted_on_disk
from shoal.errors import CapacityError
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes

MOST = 1 << 24  # different records that are held


def rewritten(engine: Engine, how: Rewriting) -> Rewritten:
    """Rewrite the records of an engine; their order tells nothing, so they need only be counted, if that is less."""
    if isinstance(engine, MemoryEngine):
        return engine.rewritten(how)
    if not isinstance(engine, OutsideEngine):
        raise TypeError("an engine is in memory or outside of it")
    return Rewritten(_counted(engine, how) or _sorted(engine, how), partial(_origins, engine, how))


def _counted(engine: OutsideEngine, how: Rewriting) -> Engine | None:
    """Rewrite different records; None if there are too many."""
    try:
        counted = engine.distinct_below(how.needed, min(MOST, max(engine.rows // 4, 1 << 16)))
    except CapacityError:
        return None
    codes = dict(zip(counted.columns, counted.codes, strict=True))
    places = engine.places(how.rows).of([codes[name] for name in how.rows.columns])
    kept = np.flatnonzero(how.kept[places])
    written = how.applied(places[kept], {name: codes[name][kept] for name in how.needed})
    counts = counted.counts[kept]
    if how.added:
        written = tuple(
            np.concatenate([codes, how.added[name]]) for name, codes in zip(how.names, written, strict=True)
        )
        counts = np.concatenate([counts, np.ones(len(written[0]) - len(counts), np.int64)])
    rows: DistinctRows = merged(how.names, written, counts, [max(how.sizes[name], 1) for name in how.names])
    return CountedEngine(rows, how.sizes)


def _sorted(engine: OutsideEngine, how: Rewriting) -> Engine:
    spool, sizes = Spool(), [max(how.sizes[name], 1) for name in how.names]
    parts = sorted_on_disk(_records(engine, how), sizes, spool)
    return DiskEngine(spool, dict(zip(how.names, parts, strict=True)), how.sizes)


def _records(engine: OutsideEngine, how: Rewriting) -> Iterator[tuple[Codes, ...]]:
    """Yield what records become, in the order of the original; invented ones come last."""
    places, number = engine.places(how.rows), len(how.rows.columns)
    for chunk in engine.chunks(how.needed, CHUNK):
        at = places.of(chunk[:number]) if number else np.zeros(len(chunk[0]), np.uint32)
        kept = np.flatnonzero(how.kept[at])
        codes = dict(zip(how.needed, chunk, strict=True))
        yield how.applied(at[kept], {name: codes[name][kept] for name in how.needed})
    if how.added:
        yield tuple(how.added[name] for name in how.names)


def _origins(engine: OutsideEngine, how: Rewriting) -> NDArray[np.intp]:
    """Find out which record each rewritten one was; all of them are looked at together."""
    kept = np.flatnonzero(engine.expand(how.rows, how.kept))
    columns = [np.concatenate(parts) for parts in zip(*_records(engine, how), strict=True)]
    alike = group_rows(columns, [max(how.sizes[name], 1) for name in how.names], len(columns[0]))
    origins = np.concatenate([kept, np.full(len(columns[0]) - len(kept), -1)])
    sorted_origins: NDArray[np.intp] = origins[np.argsort(alike.ids, kind="stable")]
    return sorted_origins
