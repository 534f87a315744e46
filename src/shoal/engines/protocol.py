"""What an engine delivers: distinct rows with counts, profiles of persons, and the way back to single rows.

Everything else in shoal works on these small tables, so a billion rows on a cluster and a thousand in a notebook
meet here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.siphash import SipKey, Words, siphash
from shoal.kernels.translation import Codes, narrowest

Tallied = Iterator[tuple[tuple[Codes, ...], NDArray[np.int64]]]  # codes in pieces, and how often each row comes


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """The different rows of a table under some columns, in ascending order of their codes.

    ``codes[j][d]``: the code of distinct row d in column j. ``counts[d]``: how many records share it.
    ``origin``: what the engine needs to get back to single records; nobody else looks at it.
    """

    columns: tuple[str, ...]
    codes: tuple[Codes, ...]
    counts: NDArray[np.int64]
    origin: Any = None

    def __len__(self) -> int:
        return len(self.counts)

    def tallied(self, columns: Sequence[str], size: int) -> Tallied:
        """Yield the codes of some columns, so many at a time, and how often they come."""
        codes = [self.codes[self.columns.index(name)] for name in columns]
        for start in range(0, len(self), size):
            yield tuple(column[start : start + size] for column in codes), self.counts[start : start + size]


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """Persons with the same set of distinct rows, collapsed to one profile with a count.

    ``counts[p]``: how many persons have profile p. Its distinct rows are
    ``members[starts[p] : starts[p + 1]]``, ascending. ``origin``: as with distinct rows.
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
    """Cells that are drawn, record by record: from codes of ``source``, and from a random number for each record."""

    source: str
    key: SipKey
    draw: Callable[[Codes, Words], Codes]


@dataclass(frozen=True, slots=True, eq=False)
class RecordIdentity:
    """Which record it is: ``hashes[name][code]`` of the columns that tell. So draws hang on no order of records.

    ``repeats``: records that are alike in all of them are told apart by their number; otherwise they are one person's,
    for whom the same is drawn.
    """

    hashes: Mapping[str, Words]
    repeats: bool = True

    def words(self, codes: Mapping[str, Codes], ordinals: Words | None) -> Words:
        """Return one word for each record; ``ordinals``: its number among those that are alike."""
        parts = [hashes[codes[name]] for name, hashes in self.hashes.items()]
        return siphash((0, 0), parts if ordinals is None else [*parts, ordinals])


@dataclass(frozen=True, slots=True, eq=False)
class Rewriting:
    """``rows``: the distinct rows that decide; ``kept[d]``: whether records of row d stay.

    ``by_row[name][d]``: the code that records of row d show in a column. ``by_code[name]``: a column of the original,
    and what each of its codes becomes, whatever else the record has. ``by_record[name]``: how the cells of a column are
    drawn; ``identity``: which record it is, for these. ``names``: the columns that there will be, in their order;
    ``sizes``: how many different codes each may hold. ``added``: codes of records that are invented.
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

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns of the original that say what a record becomes: those of the rows come first."""
        sources = [source for source, _ in self.by_code.values()]
        if self.identity is not None:
            sources += [*(drawing.source for drawing in self.by_record.values()), *self.identity.hashes]
        return (*self.rows.columns, *(name for name in dict.fromkeys(sources) if name not in self.rows.columns))

    @property
    def numbers_records(self) -> bool:
        """Whether records that are alike must be told apart."""
        return self.identity is not None and self.identity.repeats

    @property
    def records(self) -> int:
        """How many records there will be."""
        added = len(next(iter(self.added.values()), ()))
        return int(self.rows.counts[self.kept].sum()) + added

    def applied(
        self, places: NDArray[np.integer], codes: Mapping[str, Codes], ordinals: Words | None = None
    ) -> tuple[Codes, ...]:
        """Return what records become: ``places``: which distinct row each is; ``codes``: of columns of the original.

        ``ordinals``: the number of each record among those that are alike, if they are to be told apart.
        """
        words = None if self.identity is None else self.identity.words(codes, ordinals)
        return tuple(self._cells(name, places, codes, words) for name in self.names)

    def _cells(self, name: str, places: NDArray[np.integer], codes: Mapping[str, Codes], words: Words | None) -> Codes:
        if name in self.by_row:
            shown: Codes = self.by_row[name][places]
            return shown
        if name in self.by_record and words is not None:
            drawing = self.by_record[name]
            return drawing.draw(codes[drawing.source], siphash(drawing.key, [words]))
        source, table = self.by_code[name]
        return table[codes[source]]

    def along(self, name: str, source: str, codes: int, size: int) -> "Rewriting":
        """Return the same, with one more column, which is as it was."""
        as_it_is = np.arange(codes, dtype=narrowest(max(size, 1)))
        by_code = {**self.by_code, name: (source, as_it_is)}
        return replace(self, by_code=by_code, names=(*self.names, name), sizes={**self.sizes, name: size})


@dataclass(frozen=True, slots=True, eq=False)
class Rewritten:
    """``engine``: holds the records as they have become, in ascending order of their codes.

    ``origins()``: which record of the original each of them was; −1 if it is invented.
    """

    engine: "Engine"
    origins: Callable[[], NDArray[np.intp]]


class Engine(Protocol):
    """Holds the rows of a table as codes, counts them, and hands them out in pieces."""

    @property
    def rows(self) -> int:
        """How many records there are."""
        ...

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns, so many records at a time, in input order."""
        ...

    def tallied(self, columns: Sequence[str], size: int) -> Tallied:
        """Yield the codes of some columns in any order, and how often they come: what is alike need come only once."""
        ...

    def distinct(self, columns: Sequence[str]) -> DistinctRows:
        """Return the different rows under these columns; with no column there is one row that all share."""
        ...

    def profiles(self, columns: Sequence[str], subject: str) -> Profiles:
        """Return the persons' profiles under these columns."""
        ...

    def expand(self, small: DistinctRows | Profiles, values: NDArray[Any]) -> NDArray[Any]:
        """Turn one value per distinct row, or per profile, into one per record, in input order."""
        ...

    def distinct_below(self, columns: tuple[str, ...], most: int) -> DistinctRows:
        """Return the different rows under these columns; CapacityError when there are more than so many."""
        ...


def each_once(chunks: Iterable[tuple[Codes, ...]]) -> Tallied:
    """Say of records that come as they are that each comes once."""
    return ((chunk, np.ones(len(chunk[0]), np.int64)) for chunk in chunks if chunk)
