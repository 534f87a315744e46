"""Counterfeits: the artificial records of a release, which fill small classes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import Rewriting
from shoal.kernels.translation import Codes, narrowest
from shoal.recoding.nodes import Ints
from shoal.release.drawing import drawn_numbers
from shoal.release.imitation import DONORS, Imitation
from shoal.table.column import Column
from shoal.table.table import Table


@dataclass(frozen=True, eq=False)
class Counterfeits:
    """Artificial records, one for each entry of ``rows``, with the released quasi-identifiers of that row.

    ``key``: the secret key of all random draws. ``pseudonyms``: those of no person, for each column that gets some.
    ``closed``: columns in which counterfeits have no values that do not occur in the table.
    """

    table: Table
    rows: Ints
    key: bytes
    pseudonyms: Mapping[str, Codes]
    closed: frozenset[str]

    def added(self, how: Rewriting, columns: dict[str, Column]) -> Rewriting:
        """Add counterfeits: cells of their rows, pseudonyms of no person, and values that imitate true records.

        Columns with new values are replaced in ``columns``.
        """
        rows, number = self._ordered(how), len(self.rows)
        made = self._imitation(how, columns, rows).imitated()
        invented = {name: codes[rows] for name, codes in how.by_row.items()}
        by_code, sizes = dict(how.by_code), dict(how.sizes)
        for name, (source, places) in how.by_code.items():
            if name in self.pseudonyms:
                invented[name] = self.pseudonyms[name]
            elif source not in made:  # the column of person numbers
                size = columns[name].size
                invented[name] = np.arange(size - number, size).astype(narrowest(size))
            elif (moved := made[source].moved) is not None:
                columns[name], invented[name] = made[source].column, made[source].codes
                by_code[name], sizes[name] = (source, moved), columns[name].size
            else:
                invented[name] = places[made[source].codes]
        identities = drawn_numbers(self.key, "counterfeits", number)
        for name, drawing in how.by_record.items():
            invented[name] = drawing.cells(made[name].codes, identities)
        return replace(how, by_code=by_code, sizes=sizes, added=invented)

    def _ordered(self, how: Rewriting) -> NDArray[np.intp]:
        """Return the rows in the order of the released cells: that of the input does not matter."""
        rows = np.asarray(self.rows, np.intp)
        return rows[np.lexsort([codes[rows] for codes in how.by_row.values()])]

    def _imitation(self, how: Rewriting, columns: Mapping[str, Column], rows: NDArray[np.intp]) -> Imitation:
        """Return what they imitate: the released cells of the quasi-identifiers, and the values beside them."""
        row_of = self.table.engine.expand(how.rows, np.arange(len(how.rows)))
        donors = self._donors(row_of, how)
        others = [source for name, (source, _) in how.by_code.items() if name not in self.pseudonyms]
        beside = dict.fromkeys(name for name in (*others, *how.by_record) if name != self.table.subject)
        return Imitation(
            columns={**{name: columns[name] for name in how.by_row}, **{name: self.table[name] for name in beside}},
            codes={
                **{name: codes[row_of[donors]] for name, codes in how.by_row.items()},
                **{name: self.table.codes(name)[donors] for name in beside},
            },
            given={name: codes[rows] for name, codes in how.by_row.items()},
            closed=self.closed | {*how.by_record},
            random=partial(drawn_numbers, self.key),
        )

    def _donors(self, row_of: NDArray[np.intp], how: Rewriting) -> NDArray[np.intp]:
        """Return the released records that they imitate: those of their rows, and a sample of all.

        Records are in the order of their values, so that the order of the input does not matter.
        """
        kept = np.flatnonzero(how.kept[row_of])
        kept = kept[np.lexsort([self.table.codes(name)[kept] for name in self.table.names])]
        if len(kept) <= DONORS:
            return kept
        sampled = kept[np.argsort(drawn_numbers(self.key, "donors", len(kept)), kind="stable")[:DONORS]]
        return np.asarray(kept[np.isin(kept, sampled) | np.isin(row_of[kept], self.rows)])
