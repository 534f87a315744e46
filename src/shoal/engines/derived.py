"""A view of another engine: the same records, with columns that follow from several of theirs."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from shoal.engines.outside import OutsideEngine
from shoal.engines.protocol import Engine
from shoal.kernels.translation import Codes

Derivation = tuple[tuple[str, ...], Callable[..., Codes]]


class DerivedEngine(OutsideEngine):
    """``derived[name]``: the columns that a column follows from, and what makes its codes of theirs."""

    def __init__(self, base: Engine, derived: Mapping[str, Derivation], sizes: Mapping[str, int]) -> None:
        super().__init__(sizes, base.rows)
        self._base = base
        self._derived = dict(derived)

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns, so many records at a time, in the order of the other engine."""
        needed = tuple(dict.fromkeys(source for name in columns for source in self._sources(name)))
        for chunk in self._base.chunks(needed, size):
            held = dict(zip(needed, chunk, strict=True))
            yield tuple(self._made(name, held) for name in columns)

    def _sources(self, name: str) -> tuple[str, ...]:
        return self._derived[name][0] if name in self._derived else (name,)

    def _made(self, name: str, held: Mapping[str, Codes]) -> Codes:
        if name not in self._derived:
            return held[name]
        sources, make = self._derived[name]
        return make(*(held[source] for source in sources))
