"""ColumnValues of a column as a perturbation reads them, without a release: every record is a person."""

import numpy as np

import shoal
from shoal.perturbations.column_values import ColumnValues, Draws


def values_of(table, name, *, key=0, known=(), alike=()):
    """Return the values of a column of a table, with random words that depend on the key."""
    words = np.sort(np.random.default_rng(key).integers(0, 2**64, table.records, dtype=np.uint64, endpoint=False))
    records = np.random.default_rng(key + 1_000_000).permutation(table.records)

    def draws(*others):
        return Draws(words, {other: table.codes(other)[records] for other in dict.fromkeys((name, *others))})

    def tally():
        return np.bincount(draws().codes[name], minlength=table[name].size)

    columns = {column.name: column for column in table.columns}

    def ends():
        return tally()[: len(table[name].values)], tally()[: len(table[name].values)]

    return ColumnValues(table[name], draws, tally, ends, columns, tuple(known), tuple(alike))


def released(perturbation, table, name, **options):
    """Return the original and the released values of a column, as Python objects, one pair for each person."""
    values = values_of(table, name, **options)
    draws, change = values.draws(), perturbation.change(values)
    codes = draws.codes[name]
    after = change.codes[codes] if hasattr(change, "codes") else change.draw(codes, draws.words)
    return [column.cells().take(of.astype(np.int64).tolist()).to_pylist() for column, of in (
        (table[name], codes),
        (change.column, after),
    )]  # fmt: skip


def read(**columns):
    """Return a table of some columns."""
    return shoal.read({name: list(column) for name, column in columns.items()})
