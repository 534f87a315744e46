"""Kept records: the codes of the records to be released, and the words on which random draws depend."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.engines.memory import MemoryEngine
from shoal.engines.protocol import Kept, RecordIdentity, Rewriting
from shoal.engines.written import kept_records
from shoal.kernels.ordering import order
from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes
from shoal.perturbations.column_values import Draws
from shoal.release.drawing import drawing, identity
from shoal.release.transformation import Transformation
from shoal.table.table import Table


@dataclass(frozen=True, eq=False)
class KeptRecords:
    """The records of a table that a transformation releases. ``read``: the columns whose codes are read.

    ``key``: the secret key of all random draws.
    """

    table: Table
    transformation: Transformation
    key: bytes
    read: tuple[str, ...]

    @property
    def words(self) -> Words | None:
        """The words of the records, if the engine rewrites them in the same order."""
        return self._records[1] if isinstance(self.table.engine, MemoryEngine) else None

    def draws(self, name: str, others: tuple[str, ...], stream: str | None, salt: str) -> Draws:
        """Return the persons and values of a column, in ascending order of their random words."""
        names = tuple(dict.fromkeys((name, *others)))
        codes, identities = self._records
        source = drawing(self.key, self.table[name], lambda codes, _: codes, stream, salt)
        words = source.words(codes[name], identities)
        if self.table.subject is None:
            places = order(words)
            return Draws(words[places], {name: codes[name][places] for name in names})
        ranked = np.lexsort([*(codes[name] for name in reversed(names)), words])
        sorted_codes = {name: codes[name][ranked] for name in names}
        differ = np.logical_or.reduce([np.diff(column) != 0 for column in (words[ranked], *sorted_codes.values())])
        return Draws(words[ranked], sorted_codes).some(np.concatenate([np.ones(min(len(ranked), 1), bool), differ]))

    def counts(self, name: str) -> NDArray[np.int64]:
        """Return the number of records with each value."""
        size = self.table[name].size
        counts = np.zeros(size, np.int64)
        for kept in self._kept((name,), None):
            counts += np.bincount(kept.codes[name], minlength=size)
        return counts

    def ends(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the number of persons whose lowest, and whose highest, value has each code; values only."""
        number, subject = len(self.table[name].values), self.table.subject
        if subject is None:
            counts = self.counts(name)[:number]
            return counts, counts
        low, high = np.full(self.table[subject].size, number), np.full(self.table[subject].size, -1)
        for kept in self._kept((name, subject), None):
            there = kept.codes[name] < number
            codes, whose = kept.codes[name][there].astype(np.int64), kept.codes[subject][there]
            np.minimum.at(low, whose, codes)
            np.maximum.at(high, whose, codes)
        return tuple(np.bincount(ends[high >= 0], minlength=number) for ends in (low, high))  # type: ignore[return-value]

    @cached_property
    def _records(self) -> tuple[Mapping[str, Codes], Words]:
        """The codes of all records to be released in the columns that are read, and a word that identifies each."""
        who = identity(self.table)
        chunks = [
            ([kept.codes[name] for name in self.read], who.words(kept.codes, kept.ordinals))
            for kept in self._kept(self.read, who)
        ]
        codes = [np.concatenate(parts) for parts in zip(*(columns for columns, _ in chunks), strict=True)]
        return dict(zip(self.read, codes, strict=True)), np.concatenate([words for _, words in chunks])

    def _kept(self, names: tuple[str, ...], who: RecordIdentity | None) -> Iterator[Kept]:
        """Yield the codes of the records in some columns, in chunks; ``who`` if they are identified."""
        passed = {name: (name, np.zeros(0, np.uint8)) for name in names}
        decided = self.transformation
        return kept_records(
            self.table.engine, Rewriting(decided.rows, ~decided.suppressed, {}, passed, (), {}, identity=who)
        )
