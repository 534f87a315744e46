"""The protocol of engines: distinct rows with counts, profiles of persons, and the expansion to single records.

All other parts of shoal work on these small tables, whether the data are a billion rows on a cluster or a thousand in a
notebook.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.siphash import SipKey, Words, siphash
from shoal.kernels.translation import Codes, narrowest

Tallied = Iterator[tuple[tuple[Codes, ...], NDArray[np.int64]]]  # chunks of codes, and the count of each row


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """Distinct rows of a table in some columns, in ascending order of their codes.

    ``codes[j][d]``: the code of distinct row d in column j. ``counts[d]``: the number of records with this row.
    ``origin``: private data of the engine for the expansion to single records.
    """

    columns: tuple[str, ...]
    codes: tuple[Codes, ...]
    counts: NDArray[np.int64]
    origin: Any = None

    def __len__(self) -> int:
        return len(self.counts)

    def only(self, chosen: NDArray[np.bool_]) -> "DistinctRows":
        """Return the rows that a mask chooses."""
        return DistinctRows(self.columns, tuple(codes[chosen] for codes in self.codes), self.counts[chosen])

    def tallied(self, columns: Sequence[str], size: int) -> Tallied:
        """Yield the codes of some columns in chunks of at most ``size`` rows, with the count of each row."""
        codes = [self.codes[self.columns.index(name)] for name in columns]
        for start in range(0, len(self), size):
            yield tuple(column[start : start + size] for column in codes), self.counts[start : start + size]


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """Persons with the same set of distinct rows, merged into one profile with a count.

    ``counts[p]``: the number of persons with profile p. Its distinct rows are ``members[starts[p] : starts[p + 1]]``,
    ascending. ``origin``: as for distinct rows.
    """

    rows: DistinctRows
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    members: NDArray[np.uint32]
    origin: Any = None

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """Cells drawn at random record by record, from the codes of ``source`` and one random word per record.

    ``values[c]``: a word for the value of code c, so that a person draws once for each value; None if all values of a
    person share the draw.
    """

    source: str
    key: SipKey
    draw: Callable[[Codes, Words], Codes]
    values: Words | None = None

    def words(self, codes: Codes, identities: Words) -> Words:
        """Return the random word of each record. ``identities``: one word per record, which identifies it."""
        return siphash(self.key, [identities] if self.values is None else [identities, self.values[codes]])

    def cells(self, codes: Codes, identities: Words) -> Codes:
        """Return the drawn codes of records."""
        return self.draw(codes, self.words(codes, identities))


@dataclass(frozen=True, slots=True, eq=False)
class RecordIdentity:
    """Identity of a record, so that random draws do not depend on the order of records.

    ``hashes[name][code]``: hashes of the identifying columns. ``repeats``: records that are equal in all of these
    columns are distinguished by their ordinal number. Otherwise they belong to one person and share the draw.
    """

    hashes: Mapping[str, Words]
    repeats: bool = True

    def words(self, codes: Mapping[str, Codes], ordinals: Words | None) -> Words:
        """Return one word for each record. ``ordinals``: the number of each record among equal ones."""
        parts = [hashes[codes[name]] for name, hashes in self.hashes.items()]
        return siphash((0, 0), parts if ordinals is None else [*parts, ordinals])


@dataclass(frozen=True, slots=True, eq=False)
class Rewriting:
    """Instructions for turning the original records into released records.

    ``rows``: the distinct rows that decide; ``kept[d]``: whether the records of row d are kept. ``by_row[name][d]``:
    the released code of the records of row d in a column. ``by_code[name]``: a column of the original, and the new code
    of each of its codes, independent of the other columns. ``by_record[name]``: the random draw of the cells of a
    column; ``identity``: the identity of the records for these draws; ``words``: the word of each kept record, if these
    are already known, which they can be for an engine in memory only. ``names``: the released columns in order;
    ``sizes``: the number of distinct codes that each may hold. ``added``: the codes of synthetic records.
    """

    rows: DistinctRows
    kept: NDArray[np.bool_]
    by_row: Mapping[str, Codes]
    by_code: Mapping[str, tuple[str, Codes]]
    names: tuple[str, ...]
    sizes: Mapping[str, int]
    added: Mapping[str, Codes] = field(default_factory=dict)
    by_record: Mapping[str, Drawing] = field(default_factory=dict)
    identity: RecordIdentity | None = None
    words: Words | None = None

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns of the original that determine a released record; those of the rows come first."""
        sources = [source for source, _ in self.by_code.values()]
        sources += [drawing.source for drawing in self.by_record.values()]
        if self.identity is not None and self.words is None:
            sources += self.identity.hashes
        return (*self.rows.columns, *(name for name in dict.fromkeys(sources) if name not in self.rows.columns))

    @property
    def numbers_records(self) -> bool:
        """Whether equal records must be distinguished."""
        return self.identity is not None and self.identity.repeats and self.words is None

    @property
    def records(self) -> int:
        """The number of released records."""
        added = len(next(iter(self.added.values()), ()))
        return int(self.rows.counts[self.kept].sum()) + added

    def applied(self, kept: "Kept") -> tuple[Codes, ...]:
        """Return the released codes of records, one array for each column."""
        words = self.words
        if words is None and self.identity is not None:
            words = self.identity.words(kept.codes, kept.ordinals)
        return tuple(self._cells(name, kept, words) for name in self.names)

    def _cells(self, name: str, kept: "Kept", words: Words | None) -> Codes:
        if name in self.by_row:
            shown: Codes = self.by_row[name][kept.places]
            return shown
        if name in self.by_record and words is not None:
            drawing = self.by_record[name]
            return drawing.cells(kept.codes[drawing.source], words)
        source, table = self.by_code[name]
        return table[kept.codes[source]]

    def along(self, name: str, source: str, codes: int, size: int) -> "Rewriting":
        """Return the instructions with one more column, which is released unchanged."""
        as_it_is = np.arange(codes, dtype=narrowest(max(size, 1)))
        by_code = {**self.by_code, name: (source, as_it_is)}
        return replace(self, by_code=by_code, names=(*self.names, name), sizes={**self.sizes, name: size})


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Records of the original that are kept: their ``places`` among the distinct rows, and their ``codes``.

    ``ordinals``: the number of each record among equal ones, if these must be distinguished.
    """

    places: NDArray[np.integer]
    codes: Mapping[str, Codes]
    ordinals: Words | None


@dataclass(frozen=True, slots=True, eq=False)
class Rewritten:
    """Rewritten records.

    ``engine``: holds them in ascending order of their codes. ``origins()``: the original record of each; −1 for
    synthetic records.
    """

    engine: "Engine"
    origins: Callable[[], NDArray[np.intp]]


class Engine(Protocol):
    """Rows of a table as codes, which can be counted and read in chunks."""

    @property
    def rows(self) -> int:
        """The number of records."""
        ...

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns in chunks of at most ``size`` records, in input order."""
        ...

    def tallied(self, columns: Sequence[str], size: int) -> Tallied:
        """Yield the codes of some columns in chunks and in any order, with counts; equal rows may be merged."""
        ...

    def distinct(self, columns: Sequence[str]) -> DistinctRows:
        """Return the distinct rows of some columns; without columns, there is one row that all records share."""
        ...

    def profiles(self, columns: Sequence[str], subject: str) -> Profiles:
        """Return the profiles of the persons in some columns."""
        ...

    def expand(self, small: DistinctRows | Profiles, values: NDArray[Any]) -> NDArray[Any]:
        """Expand one value per distinct row, or per profile, to one per record, in input order."""
        ...

    def distinct_below(self, columns: tuple[str, ...], most: int) -> DistinctRows:
        """Return the distinct rows of some columns; raise CapacityError if there are more than ``most``."""
        ...


def each_once(chunks: Iterable[tuple[Codes, ...]]) -> Tallied:
    """Yield chunks of records with a count of 1 for each record."""
    return ((chunk, np.ones(len(chunk[0]), np.int64)) for chunk in chunks if chunk)
