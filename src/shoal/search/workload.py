"""Workload: estimates of table size, memory and time, and the recommended engine.

Only a sample is read. The total number of distinct combinations is extrapolated from its growth within the sample: with
every doubling of the records it grows by a factor 2^β, where β decreases linearly from one doubling to the next.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from math import log2, prod
from typing import Any

import numpy as np

from shoal.engines.capacity import memory, most_rows
from shoal.kernels.grouping import group_rows
from shoal.kernels.tallying import RowTally
from shoal.kernels.translation import Codes, narrowest
from shoal.sheet import Presentable, Sheet
from shoal.table.frames import of_rows
from shoal.table.table import Table
from shoal.words import counted, listed, size_in_words, time_in_words

_SHARE = 0.4  # share of the memory that a table may occupy
_BASE = 250 << 20  # bytes occupied by Python and its libraries
_FEWEST = 1 << 12  # minimum number of records for estimating the growth
_STEPS = (64, 32, 16, 8, 4, 2, 1)  # sampling steps: every 64th record, …, every record

# Nanoseconds of one core, calibrated on a machine that counts 20 million rows of nine columns per second.
_READ, _COUNT, _WRITE, _VERIFY = 17.0, 5.0, 13.0, 15.0  # per cell
_SEARCH = 40.0  # per distinct combination and evaluated scheme, of which there are about a hundred
_REFERENCE = 5.0


@dataclass(frozen=True, slots=True)
class Stage:
    """A processing stage, with its memory in bytes and its time in seconds of one core."""

    name: str
    memory: float
    seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class Plan(Presentable):
    """Estimated resources.

    ``combinations``: the estimated number of distinct combinations. ``most``: the number that fits into memory.
    ``sampled``: the number of records in the sample. ``schemes``: the number of generalisation schemes, if a policy is
    given. ``engine``: the recommended engine.
    """

    __module__ = "shoal"

    records: int
    sampled: int
    columns: tuple[str, ...]
    combinations: int
    most: int
    schemes: int | None
    engine: str
    stages: tuple[Stage, ...]
    notes: tuple[str, ...]

    def searching(self, seconds: float) -> "Plan":
        """Return the plan with a measured time of the search."""
        stages = [replace(stage, seconds=seconds) if stage.name == "search" else stage for stage in self.stages]
        return replace(self, stages=tuple(stages))

    @property
    def fits(self) -> bool:
        """Whether the distinct combinations fit into memory."""
        return self.combinations <= self.most

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, as printed by ``shoal plan --json``."""
        return {**asdict(self), "fits": self.fits}

    def to_frame(self, kind: str | None = None) -> Any:
        """Return one row per stage: memory in bytes, and time in seconds of one core."""
        return of_rows([asdict(stage) for stage in self.stages], kind)

    def sheet(self) -> Sheet:
        """Return the estimated memory and time per stage."""
        rows = [(stage.name, size_in_words(stage.memory), time_in_words(stage.seconds)) for stage in self.stages]
        columns = counted(len(self.columns), "column")
        title = f"About {counted(self.records, 'record')} and {self.combinations:,} distinct combinations of {columns}."
        schemes = "" if self.schemes is None else f" Generalisation schemes: {self.schemes:,}."
        where = f' Recommended engine: "{self.engine}".' if self.fits else ""
        return Sheet(title + schemes + where, ("", "memory", "time (one core)"), tuple(rows), self.notes)


def workload(table: Table, records: int, names: tuple[str, ...], schemes: int | None) -> Plan:
    """Estimate the resources for assessing and anonymising ``records`` records, of which the table is a sample."""
    expected = combinations(table, names, records)
    size = _bytes(table, records)
    engine = "memory" if size < _SHARE * memory() else "disk"
    most = most_rows(len(names))
    stages = _stages(table, records, names, expected, size if engine == "memory" else 0)
    return Plan(records, table.records, names, expected, most, schemes, engine, stages, _notes(expected, most, table))


def combinations(table: Table, names: Sequence[str], records: int) -> int:
    """Estimate the number of distinct combinations among ``records`` records from a sample of them.

    D(N) = D(n) · 2^(β₁ + β₂ + …), with one β for each doubling from n to N; the βᵢ decrease along the line fitted to
    the doublings within the sample. The estimate is capped at the number of records and at the product of the numbers
    of values.

    >>> import shoal
    >>> combinations(shoal.read({"x": [1, 2, 1]}), ["x"], 3)
    2
    """
    codes, sizes = [table.codes(name) for name in names], [table[name].size for name in names]
    everything = len(table.distinct(names))
    if records <= table.records or table.records < _FEWEST:
        return everything if records <= table.records else min(round(everything * records / table.records), records)
    seen = [_different(codes, sizes, step) for step in _STEPS]
    growth = np.array([log2(after / before) for before, after in pairwise(seen)])
    slope, _ = np.polyfit(np.arange(len(growth)), growth, 1)
    beta, doublings, total = float(growth[-2:].mean() + slope / 2), log2(records / table.records), log2(everything)
    while doublings > 0:
        beta = min(max(beta + min(float(slope), 0.0), 0.0), 1.0)
        total += beta * min(doublings, 1.0)
        doublings -= 1
    return min(round(2**total), records, prod(sizes))


def _different(codes: Sequence[Codes], sizes: Sequence[int], step: int) -> int:
    some = [np.ascontiguousarray(codes_of[::step]) for codes_of in codes]
    return len(group_rows(some, sizes, len(some[0])))


def _bytes(table: Table, records: int) -> float:
    """Return the memory of the table in bytes: its codes, and the working memory for grouping its records."""
    cells = sum(narrowest(max(column.size, 1)).itemsize for column in table.columns)
    return _BASE + records * (cells + 12) + _dictionaries(table, records)


def _dictionaries(table: Table, records: int) -> float:
    """Estimate the memory of the dictionaries; in columns with mostly unique values, they grow with the records."""
    grown = [
        records / max(table.records, 1) if len(column.values) > 0.5 * table.records else 1.0 for column in table.columns
    ]
    return float(sum(column.values.nbytes * times for column, times in zip(table.columns, grown, strict=True)))


def _stages(table: Table, records: int, names: Sequence[str], expected: int, size: float) -> tuple[Stage, ...]:
    slower = max(_measured(table, names) / _REFERENCE, 1.0)  # a sample fits into the cache: ignore a speed-up
    cells, dictionaries = records * len(table.columns), _dictionaries(table, records)
    rows = expected * (48.0 + 4 * len(names))
    work = {
        "read": (dictionaries + 2.0 * records, cells * _READ),
        "count": (dictionaries + rows, records * len(names) * _COUNT),
        "assess": (dictionaries + 2.5 * rows, expected * len(names) * 60.0),
        "search": (dictionaries + 2.5 * rows, expected * _SEARCH * 100),
        "write": (dictionaries + 2.5 * rows, cells * _WRITE),
        "verify": (dictionaries + 2.5 * rows, cells * (_VERIFY + _COUNT)),
    }
    return tuple(Stage(name, max(_BASE + taken, size), slower * spent / 1e9) for name, (taken, spent) in work.items())


def _measured(table: Table, names: Sequence[str]) -> float:
    """Measure the time of counting one cell on this machine, in nanoseconds."""
    codes = [table.codes(name) for name in names]
    if table.records < _FEWEST:
        return _REFERENCE
    tally, start = RowTally([max(table[name].size, 1) for name in names]), time.process_time()
    tally.add(codes)
    return max(1e9 * (time.process_time() - start) / (table.records * len(names)), 0.2 * _REFERENCE)


def _notes(expected: int, most: int, table: Table) -> tuple[str, ...]:
    notes = [f"Based on a sample of {counted(table.records, 'record')}."]
    unique = [column.name for column in table.columns if len(column.values) > 0.9 * table.records > _FEWEST]
    if unique:
        notes.append(
            f"Nearly every record has a distinct value in {listed(unique)}, which needs memory. Read only the "
            f"columns you need."
        )
    if expected > most:
        notes.append(
            f"Only {most:,} combinations fit into the memory of this machine. Generalise a column before, omit one, "
            "or draw a sample."
        )
    return tuple(notes)
