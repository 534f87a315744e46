"""The same records with other codes in some columns: a copy if they are in memory or counted, otherwise a view."""

from collections.abc import Iterator, Mapping, Sequence

from shoal.engines.counted import CountedEngine
from shoal.engines.memory import MemoryEngine
from shoal.engines.outside import OutsideEngine, merged
from shoal.engines.protocol import DistinctRows, Engine, Tallied
from shoal.kernels.translation import Codes


def translated(engine: Engine, tables: Mapping[str, Codes], sizes: Mapping[str, int]) -> Engine:
    """Return an engine of the same records with other codes: code c of a column becomes ``tables[name][c]``."""
    if isinstance(engine, MemoryEngine | CountedEngine):
        return engine.translated(tables, sizes)
    domains = engine.domains if isinstance(engine, OutsideEngine) else {}
    return TranslatedEngine(engine, tables, {**domains, **sizes})


class TranslatedEngine(OutsideEngine):
    """View with other codes. ``tables[name][c]``: the new code of code c of a column; other columns are unchanged."""

    def __init__(self, base: Engine, tables: Mapping[str, Codes], sizes: Mapping[str, int]) -> None:
        super().__init__(sizes, base.rows)
        self._base = base
        self._tables = dict(tables)

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns in chunks of at most ``size`` records, in the order of the other engine."""
        for chunk in self._base.chunks(columns, size):
            yield self._translated(columns, chunk)

    def tallied(self, columns: Sequence[str], size: int) -> Tallied:
        """Yield the codes of some columns in chunks and in any order, with the count of each row."""
        return ((self._translated(columns, codes), counts) for codes, counts in self._base.tallied(columns, size))

    def _counted(self, columns: tuple[str, ...], most: int = 0) -> DistinctRows:
        rows = self._base.distinct_below(columns, most)
        return merged(columns, self._translated(columns, rows.codes), rows.counts, self.sizes(columns))

    def _translated(self, columns: Sequence[str], codes: Sequence[Codes]) -> tuple[Codes, ...]:
        tables = self._tables
        return tuple(
            tables[name][column] if name in tables else column for name, column in zip(columns, codes, strict=True)
        )
