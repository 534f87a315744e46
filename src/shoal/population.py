"""The population that a table is a sample of: a register of all its members, or only its size."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.classes.classes import Classes
from shoal.classes.members import Counts
from shoal.errors import ModelError
from shoal.exact import exact
from shoal.kernels.grouping import group_rows
from shoal.kernels.summing import summed
from shoal.kernels.translation import Codes, narrowest
from shoal.remedy import Option, by
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.missing import Missing
from shoal.table.reading import read
from shoal.table.scale import doubles
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Number of persons of the register in each class. ``unseen``: the number of persons in none of the classes."""

    counts: Counts
    unseen: int

    def ruled(self, classes: Classes) -> "Matched":
        """Apply ``missing = "never"``: a class with a missing value is one person, with one entry in the register.

        Further entries with the same missing values then match no class.
        """
        if classes.missing is not Missing.NEVER or not (lacking := classes.lacking).any():
            return self
        groups = group_rows(
            [key[lacking] for key in classes.keys],
            [attribute.size for attribute in classes.attributes],
            int(lacking.sum()),
        )
        entries, persons = self.counts[lacking][groups.first], summed(groups.ids, classes.copies[lacking], len(groups))
        counts = np.where(lacking, np.minimum(self.counts, classes.sizes), self.counts)
        return Matched(counts, self.unseen + int(np.maximum(entries - persons, 0).sum()))


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Population that a table is a sample of.

    ``size``: the number of persons. ``register``: a table with their quasi-identifiers, if there is one.

    >>> import shoal
    >>> sample = shoal.read({"age": [34, 34, 71]})
    >>> everybody = Population.of(shoal.read({"age": [34, 34, 34, 71, 50]}))
    >>> matched = everybody.matched(Classes.of(sample, ["age"]), sample)
    >>> matched.counts.tolist(), matched.unseen
    ([3, 1], 1)
    """

    size: int
    register: Table | None = None

    @classmethod
    def of(cls, register: Table, subject: str | None = None) -> "Population":
        """Return the population of a register.

        Persons are counted if the register has a subject column, its own or that of the sample.
        """
        if register.subject is None and subject is not None and subject in register:
            register = register.assign(subject=subject)
        return cls(_persons(register), register)

    @classmethod
    def given(cls, data: Any, sample: Table) -> "Population":
        """Return the population for the input of a user.

        ``data``: a population, a register (table, frame or file), its size, or a sampling fraction.

        >>> import shoal
        >>> Population.given(0.1, shoal.read({"age": [34, 34, 71]})).size
        30
        """
        if isinstance(data, Population):
            return data
        if isinstance(data, bool) or (isinstance(data, int | float | Fraction) and not _counts(data)):
            raise ModelError(
                "bad-population",
                "The population must be a number of individuals, or the fraction of them in the table (above 0, at "
                "most 1).",
            )
        if isinstance(data, int):
            return cls(data)
        if isinstance(data, float | Fraction):
            return cls.sampled(_persons(sample), exact(data))
        return cls.of(data if isinstance(data, Table) else read(data), sample.subject)

    @classmethod
    def sampled(cls, persons: int, fraction: Fraction) -> "Population":
        """Return the population of which ``persons`` persons are a fraction."""
        return cls(round(persons / fraction))

    def fraction(self, persons: int) -> Fraction:
        """Return the sampling fraction of a sample of ``persons`` persons."""
        if persons > self.size:
            raise ModelError(
                "population-too-small",
                "The population ({size:,}) is smaller than the table ({persons:individual}).",
                remedy="The population includes every individual who could be in the table.",
                size=self.size,
                persons=persons,
            )
        return Fraction(persons, self.size)

    def matched(self, classes: Classes, sample: Table) -> Matched:
        """Count the persons of the register in each class; the classes are those of the sample itself."""
        if self.register is None:
            raise ModelError("no-register", "Only the size of the population is known. A register is required.")
        lacking = [name for name in classes.quasi if name not in self.register]
        if lacking:
            raise ModelError(
                "register-without-column",
                "The register of the population has no column '{column}', which is a quasi-identifier.",
                column=lacking[0],
            )
        if self.register.records == 0:
            raise ModelError("no-records", "The register of the population has no records.")
        people = self.register_rows(sample, classes.quasi)
        matched = people.matched(classes.keys, [sample[name].size + 1 for name in classes.quasi]).ruled(classes)
        if not matched.counts.any():
            raise ModelError(
                "register-does-not-match",
                "No record of the table matches any record of the register of the population.",
                remedy="Check that both are written in the same way and on the same level of detail.",
            )
        return matched

    def register_rows(self, sample: Table, names: Sequence[str]) -> "RegisterRows":
        """Return the distinct rows of the register, encoded with the codes of the sample."""
        if self.register is None:
            raise ModelError("no-register", "Only the size of the population is known. A register is required.")
        rows = self.register.profiles(names)
        counts = summed(rows.members, np.repeat(rows.counts, np.diff(rows.starts)), len(rows.rows))
        codes = [
            _translated(self.register[name], sample[name], codes)
            for name, codes in zip(names, rows.rows.codes, strict=True)
        ]
        return RegisterRows(tuple(codes), counts)

    def covering(self, sample: Table, names: Sequence[str]) -> Table:
        """Return the sample with columns that include the values of the register, although no record has them.

        >>> import shoal
        >>> everybody = Population.of(shoal.read({"age": [34, 50]}))
        >>> everybody.covering(shoal.read({"age": [34, 71]}), ["age"])["age"].values.to_pylist()
        [34, 50, 71]
        """
        register = self.register
        if register is None:
            return sample
        widened = {name: _widened(sample[name], register[name]) for name in names if name in register}
        return sample.recoded({name: column for name, column in widened.items() if column is not None})


def _persons(table: Table) -> int:
    return len(table[table.subject].values) if table.subject else table.records


def _counts(number: float | Fraction) -> bool:
    """Return whether a number is a valid number of persons, or a valid fraction of them."""
    return number > 0 if isinstance(number, int) else 0 < number <= 1


@dataclass(frozen=True, slots=True, eq=False)
class RegisterRows:
    """Distinct rows of a register, encoded with the codes of the sample.

    ``codes[j][r]``: the code of row r in column j; a code above all others if the sample does not have the value.
    ``counts[r]``: the number of persons with row r.
    """

    codes: tuple[Codes, ...]
    counts: Counts

    def matched(self, keys: Sequence[Codes], sizes: Sequence[int]) -> Matched:
        """Count the persons in each class. ``keys[j]``: the codes of the classes in column j."""
        number, both = len(keys[0]), [np.concatenate(pair) for pair in zip(keys, self.codes, strict=True)]
        groups = group_rows(both, sizes, len(both[0]))
        counts = summed(groups.ids[number:], self.counts, len(groups))
        seen = np.zeros(len(groups), bool)
        seen[groups.ids[:number]] = True
        return Matched(counts[groups.ids[:number]], int(counts[~seen].sum()))

    def coarser(self, nodes: Sequence[NDArray[np.uint32]]) -> "RegisterRows":
        """Generalise the codes to ``nodes[j][code]``; values that are not in the sample keep a code of their own."""
        coarse = [
            np.append(into, into.max(initial=0) + 1)[codes] for into, codes in zip(nodes, self.codes, strict=True)
        ]
        return RegisterRows(tuple(codes.astype(np.uint32) for codes in coarse), self.counts)


def _widened(column: Column, other: Column) -> tuple[Column, Codes] | None:
    """Return a column with the values of a register added; None if there are none to add, or the types differ."""
    mine, theirs = _comparable(column, other), _comparable(other, column)
    if column.kind is Kind.CATEGORY or mine.type != column.values.type or theirs.type != column.values.type:
        return None
    together = pc.unique(pa.concat_arrays([column.values, theirs.cast(column.values.type)]))
    values = together.take(pc.sort_indices(together))
    if not len(values) > len(column.values):
        return None
    wider = Column(column.name, column.kind, values, column.missing, column.suppressed)
    place = pc.index_in(column.values, values).to_numpy(zero_copy_only=False).astype(np.int64)
    tail = np.arange(column.missing + column.suppressed) + len(values)
    return wider, np.concatenate([place, tail]).astype(narrowest(wider.size))


def _translated(theirs: Column, ours: Column, codes: Codes) -> Codes:
    """Return the codes of a register as codes of the sample; an additional code stands for values not in the sample."""
    place = pc.index_in(_comparable(theirs, ours), _comparable(ours, theirs)).fill_null(ours.size)
    table = np.full(theirs.size, ours.size, np.int64)
    table[: len(theirs.values)] = place.to_numpy()
    for there, here in ((theirs.missing_code, ours.missing_code), (theirs.suppressed_code, ours.suppressed_code)):
        if there is not None and here is not None:
            table[there] = here
    return table[codes].astype(narrowest(ours.size + 1))


def _comparable(column: Column, other: Column) -> pa.Array:
    if column.values.type == other.values.type:
        return column.values
    if column.kind.numeric and other.kind.numeric:
        return doubles(column.values)
    if column.is_text and other.is_text:
        return column.values.cast(pa.string())
    raise ModelError(
        "different-kinds",
        "Column '{column}' is of type {kind} in one of table and register, and of type {other} in the other.",
        remedy=by("Read both in the same way, for example as text", Option("text")),
        column=column.name,
        kind=column.kind,
        other=other.kind,
    )
