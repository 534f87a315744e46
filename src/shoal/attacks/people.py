"""Individuals of whom an adversary has background knowledge, inside or outside the data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.table.table import Table

Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class KnownPeople:
    """One record per individual: ``codes[name]`` holds its values, ``records`` its number in the table."""

    codes: Mapping[str, Codes]
    records: NDArray[np.intp]

    @classmethod
    def of(cls, table: Table, places: Mapping[str, Codes], rng: np.random.Generator) -> "KnownPeople":
        """Draw one record of each individual at random; ``places``: the new codes of the codes of the table.

        >>> import shoal
        >>> table = shoal.read({"id": ["a", "a", "b"], "age": [30, 31, 40]}).assign(subject="id")
        >>> len(KnownPeople.of(table, {"age": np.arange(3)}, np.random.default_rng(0)))
        2
        """
        records = _one_each(table, rng)
        return cls({name: place[table.codes(name)[records]] for name, place in places.items()}, records)

    def __len__(self) -> int:
        return len(self.records)

    def drawn(self, most: int, rng: np.random.Generator) -> "KnownPeople":
        """Return a random sample of at most ``most`` individuals."""
        if len(self) <= most:
            return self
        return self.some(np.sort(rng.choice(len(self), most, replace=False)))

    def some(self, chosen: NDArray[Any] | slice) -> "KnownPeople":
        """Return the selected individuals."""
        return KnownPeople({name: codes[chosen] for name, codes in self.codes.items()}, self.records[chosen])

    def known(self, columns: Sequence[str]) -> list[Codes]:
        """Return the values of the individuals in the given columns."""
        return [self.codes[name] for name in columns]


def _one_each(table: Table, rng: np.random.Generator) -> NDArray[np.intp]:
    records = np.arange(table.records)
    if table.subject is None:
        return records
    shuffled = rng.permutation(records)
    _, first = np.unique(table.codes(table.subject)[shuffled], return_index=True)
    return np.sort(shuffled[first])
