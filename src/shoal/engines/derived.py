"""A view of another engine: the same records, with columns derived from several others."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from shoal.engines.outside import OutsideEngine
from shoal.engines.protocol import Engine, Tallied
from shoal.kernels.translation import Codes

Derivation = tuple[tuple[str, ...], Callable[..., Codes]]


class DerivedEngine(OutsideEngine):
    """View with derived columns.

    ``derived[name]``: the source columns of a derived column, and the function that computes its codes from theirs.
    """

    def __init__(self, base: Engine, derived: Mapping[str, Derivation], sizes: Mapping[str, int]) -> None:
        super().__init__(sizes, base.rows)
        self._base = base
        self._derived = dict(derived)

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns in chunks of at most ``size`` records, in the order of the other engine."""
        needed = self._needed(columns)
        return (self._derive(columns, needed, chunk) for chunk in self._base.chunks(needed, size))

    def tallied(self, columns: Sequence[str], size: int) -> Tallied:
        """Yield the codes of some columns in chunks and in any order, with the count of each row."""
        needed = self._needed(columns)
        return ((self._derive(columns, needed, codes), counts) for codes, counts in self._base.tallied(needed, size))

    def _needed(self, columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(source for name in columns for source in self._sources(name)))

    def _derive(self, columns: Sequence[str], needed: Sequence[str], codes: Sequence[Codes]) -> tuple[Codes, ...]:
        by_name = dict(zip(needed, codes, strict=True))
        return tuple(self._made(name, by_name) for name in columns)

    def _sources(self, name: str) -> tuple[str, ...]:
        return self._derived[name][0] if name in self._derived else (name,)

    def _made(self, name: str, by_name: Mapping[str, Codes]) -> Codes:
        if name not in self._derived:
            return by_name[name]
        sources, make = self._derived[name]
        return make(*(by_name[source] for source in sources))
