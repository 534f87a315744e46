"""The search space: all schemes of the quasi-identifiers of a table, and the rows for evaluating them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from shoal.classes.members import Members
from shoal.classes.shown import counted_rows, showing
from shoal.engines.protocol import DistinctRows
from shoal.errors import PolicyError, did_you_mean
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.lattice import MOST_COLUMNS, Lattice
from shoal.kernels.scan import Scan
from shoal.kernels.summing import summed
from shoal.kernels.walk import Walk
from shoal.kernels.wide import WideWalk
from shoal.population import Population
from shoal.recoding.nodes import Domain
from shoal.recoding.rungs import Rungs
from shoal.search.ladder import Ladder
from shoal.table.table import Table

Scheme = dict[str, int]
MOST_SCHEMES = 1 << 62


@dataclass(frozen=True, eq=False)
class Space:
    """Numbered schemes. ``names``: the columns in the order of a walk, in descending number of nodes.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind_all
    >>> table = shoal.read({"age": [31, 34, 71], "sex": ["f", "m", "m"]})
    >>> ladders = bind_all({"age": {"kind": "interval", "widths": [10]}, "sex": {"kind": "suppression"}}, table)
    >>> space = Space.of(table, ["age", "sex"], ladders)
    >>> len(space), space.scheme(5), space.scheme(0)
    (6, {'age': 2, 'sex': 1}, {'age': 0, 'sex': 0})
    """

    table: Table
    quasi: tuple[str, ...]
    names: tuple[str, ...]
    ladders: tuple[Ladder, ...]

    @classmethod
    def of(
        cls,
        table: Table,
        quasi: Sequence[str],
        hierarchies: Mapping[str, Hierarchy],
        bounds: Mapping[str, tuple[int, int]] | None = None,
    ) -> "Space":
        """Build the space from all levels of the hierarchies, or from those within bounds."""
        bounds = bounds or {}
        unknown = [name for name in bounds if name not in quasi]
        if unknown:
            raise PolicyError(
                "levels-of-column",
                "Levels are given for column '{column}', which is not a quasi-identifier.",
                remedy=did_you_mean(unknown[0], quasi),
                column=unknown[0],
            )
        if len(quasi) > MOST_COLUMNS:
            raise PolicyError(
                "too-many-quasi-identifiers",
                "A search supports {most} quasi-identifiers, not {columns}.",
                remedy="Give another role to columns that need not be generalised.",
                most=MOST_COLUMNS,
                columns=len(quasi),
            )
        ladders = {name: Ladder.of(hierarchies[name], bounds.get(name)) for name in quasi}
        names = sorted(quasi, key=lambda name: -ladders[name].sizes[0])
        return cls(table, tuple(quasi), tuple(names), tuple(ladders[name] for name in names))

    def __len__(self) -> int:
        return self.schemes

    @cached_property
    def schemes(self) -> int:
        """The number of schemes, which may exceed what can be numbered."""
        return prod(self.shape)

    @property
    def is_countable(self) -> bool:
        """Whether the schemes can be numbered, and thus searched."""
        return self.schemes <= MOST_SCHEMES

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of levels per column, in the order of a walk."""
        return tuple(len(ladder.sizes) for ladder in self.ladders)

    def scheme(self, number: int) -> Scheme:
        """Return the level of each quasi-identifier in a scheme, given by its number."""
        places = np.unravel_index(number, self.shape)
        levels = {
            name: int(place) + ladder.low for name, place, ladder in zip(self.names, places, self.ladders, strict=True)
        }
        return {name: levels[name] for name in self.quasi}

    @cached_property
    def blanks_some(self) -> bool:
        """Whether a scheme may blank all quasi-identifiers of some rows but not of others."""
        hiding = [any(blank.any() for blank in ladder.blank()) for ladder in self.ladders]
        return all(hiding) and any(ladder.blanks_some for ladder in self.ladders)

    def number(self, scheme: Mapping[str, int]) -> int:
        """Return the number of a scheme."""
        places = [scheme[name] - ladder.low for name, ladder in zip(self.names, self.ladders, strict=True)]
        return int(np.ravel_multi_index(places, self.shape))

    def lattice(self, values: int = 0) -> Lattice:
        """Return the lattice for a walk; ``values``: the number of sensitive values that the walk reads."""
        steps, sizes = ([getattr(ladder, part) for ladder in self.ladders] for part in ("steps", "sizes"))
        return Lattice(tuple(steps), tuple(sizes), values)

    def _rows(self, sensitive: str | None = None) -> tuple[DistinctRows, Members]:
        """Return the distinct rows, with columns in the order of a walk, and their persons."""
        seen = self.quasi if sensitive is None else (*self.quasi, sensitive)
        rows, members, _ = counted_rows(self.table, seen)
        codes = [rows.codes[seen.index(name)] for name in (*self.names, *seen[len(self.quasi) :])]
        return replace(rows, columns=self.names, codes=tuple(codes)), members

    def _shown(self, rows: DistinctRows) -> NDArray[np.bool_]:
        return showing(rows, [self.table[name] for name in self.names])

    def walk(self, sensitive: str | None = None) -> Walk | None:
        """Return a walk over the rows of the table, with one sensitive column or none.

        None if a person may belong to several classes, or have several values in one class, because persons are then
        not additive; also if the keys or counts exceed the capacity of a walk.
        """
        lattice = self.lattice(self.table[sensitive].size if sensitive is not None else 0)
        rows, members = self._rows(sensitive)
        if members.persons is not None or not lattice.fits or int(rows.counts.sum()) >= 1 << 32:
            return None
        codes = [ladder.places[codes_of] for ladder, codes_of in zip(self.ladders, rows.codes, strict=False)]
        values = rows.codes[-1] if sensitive is not None else None
        rows_of = lattice.rows(codes, members.counts, rows.counts, values, self._shown(rows))
        lowest = [
            np.bincount(ladder.places, counts, ladder.sizes[0])
            for ladder, counts in zip(self.ladders, self._originals, strict=True)
        ]
        return Walk(lattice, rows_of, keeping=True, totals=lattice.raised(lowest))

    def scan(self) -> Scan | None:
        """Return a scan, which counts schemes one by one; None if persons are not additive."""
        rows, members = self._rows()
        if members.persons is not None:
            return None
        shown, lattice, places = self._shown(rows), self.lattice(), [ladder.places for ladder in self.ladders]
        kept = slice(None) if shown.all() else np.flatnonzero(shown)
        codes, counts = [codes_of[kept] for codes_of in rows.codes], (members.counts[kept], rows.counts[kept])

        def walk() -> Walk | WideWalk:
            return self.walk() or WideWalk(
                lattice, [of[codes_of] for of, codes_of in zip(places, codes, strict=True)], *counts
            )

        return Scan(lattice, codes, places, *counts, walk)

    def shown_rows(self) -> tuple[DistinctRows, Members]:
        """Return the distinct rows that are not blank, with columns in the order of a walk, and their persons."""
        rows, members = self._rows()
        shown = np.flatnonzero(self._shown(rows))
        codes = tuple(codes_of[shown] for codes_of in rows.codes)
        return replace(rows, codes=codes, counts=rows.counts[shown]), members.chosen(shown)

    def blank_nodes(self) -> Iterator[NDArray[np.int64]]:
        """Yield, per column, the blank node of each level, numbered across all columns; −1 if there is none."""
        for offset, ladder in zip(self.lattice().offsets, self.ladders, strict=False):
            blank = [np.flatnonzero(hidden) for hidden in ladder.hidden()]
            yield np.array([offset + blanks[0] if len(blanks) else -1 for blanks in blank], np.int64)

    def people_walk(self, population: Population) -> tuple[Walk, int]:
        """Return a walk over the persons of a register, and the number of them with values that the table lacks."""
        people, lattice = population.register_rows(self.table, self.names), self.lattice()
        known = np.all(
            [codes < self.table[name].size for name, codes in zip(self.names, people.codes, strict=True)], axis=0
        )
        places = [ladder.places[codes[known]] for ladder, codes in zip(self.ladders, people.codes, strict=True)]
        counts = people.counts[known]
        return Walk(lattice, lattice.rows(places, counts, counts), keeping=True), int(people.counts[~known].sum())

    @cached_property
    def _originals(self) -> list[NDArray[np.int64]]:
        """The number of records that are not suppressed, per column and code."""
        rows, _ = self._rows()
        counts = np.where(self._shown(rows), rows.counts, 0)
        return [
            summed(codes, counts, self.table[name].size) for name, codes in zip(self.names, rows.codes, strict=True)
        ]

    def rungs(self) -> list[Rungs]:
        """Return the rungs of each column."""
        return [
            Rungs.of(Domain.of(self.table[name], ladder.hierarchy), ladder.low, ladder.numbers, original)
            for name, ladder, original in zip(self.names, self.ladders, self._originals, strict=True)
        ]
