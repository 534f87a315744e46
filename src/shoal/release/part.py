"""A part of a release: the tables made from one original table, with the evidence for them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.policy.policy import Policy
from shoal.qualities.quality import Measured
from shoal.release.judgement import Judgement
from shoal.release.mapping import ValueMap
from shoal.release.promise import Promise
from shoal.release.sampling import taken
from shoal.release.transformation import Transformation
from shoal.table.raw import Encoded
from shoal.table.table import Table
from shoal.words import counted


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasePart:
    """The tables made from one original table, with the evidence for them.

    ``promise``: the released tables, against which the written files are verified. ``transformation``: the
    transformation of the records. ``classes``: the number of equivalence classes. ``quality``: the quality measures.
    ``requirements``: all requirements, with their outcome and the kind of evidence. ``mapping``: the released value of
    every original value, for global recoding. ``policy``: the policy of this table. ``left_out``: the columns that are
    not released, and the reason for each.

    For the owner only: ``facts``: the figures of the internal manifest. ``internal``: the internal manifest. ``given``:
    the original table. ``origins``: computes the original record of each released record, of the first
    table if there are several; ``whole_origins``: of the whole that is promised; ``further_origins``: of each further
    table, as far as its rows are records. ``drawn``: the sampled
    records of the original. ``key``: the key of all random draws, ``pseudonym_key``: that of the pseudonyms, if the
    policy names none.
    """

    promise: Promise
    given: Table
    policy: Policy
    transformation: Transformation
    origins: Callable[[], NDArray[np.intp]]
    whole_origins: Callable[[], NDArray[np.intp]] | None = None
    further_origins: Mapping[str, Callable[[], NDArray[np.intp]]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    classes: int = 0
    quality: Mapping[str, Measured] = field(default_factory=dict)
    requirements: tuple[Judgement, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    internal: Mapping[str, Any] = field(default_factory=dict)
    mapping: ValueMap | None = None
    notes: tuple[str, ...] = ()
    drawn: NDArray[np.intp] | None = None
    key: bytes | None = None
    pseudonym_key: bytes | None = None

    def __repr__(self) -> str:
        """Return the names of the tables; the key and the original must not be printed by accident."""
        return f"ReleasePart({', '.join(self.promise.tables)})"

    @property
    def tables(self) -> Mapping[str, Table]:
        """The released tables by name, with the roles of their columns for who reads them."""
        link, (first, *others) = self.promise.link, self.promise.tables.items()
        if link is None:
            return self.promise.tables
        return dict([(first[0], first[1].assign(insensitive=[link])), *others])

    @property
    def table(self) -> Table:
        """The only table of the part. A split original has several."""
        (table,) = self.promise.tables.values()
        return table

    @property
    def scheme(self) -> Mapping[str, int]:
        """The level of each quasi-identifier; empty for local recoding."""
        return self.transformation.scheme

    @property
    def levels(self) -> Mapping[str, list[int]]:
        """The number of records on each level of each quasi-identifier."""
        return self.transformation.levels

    @property
    def suppressed(self) -> int:
        """The number of suppressed persons."""
        return self.transformation.persons

    @property
    def suppressed_records(self) -> int:
        """The number of suppressed records."""
        return self.transformation.suppressed_records

    @property
    def records(self) -> NDArray[np.intp]:
        """The original record of each released record; −1 for a counterfeit."""
        return self.origins()

    @property
    def history(self) -> tuple[Encoded, Encoded] | None:
        """The person and the equivalence class of each released record of one of several tables, if known."""
        return None if self.promise.kin is None else self.promise.kin.history

    @property
    def remarks(self) -> tuple[str, ...]:
        """All notes for the owner, the most important first."""
        return tuple(_remarks(self))

    @property
    def is_searched(self) -> bool:
        """Whether a search was made to meet requirements; otherwise the table is released unchanged."""
        return bool(self.facts)

    def as_sample(self) -> "ReleasePart":
        """Return this part with the sampled records as its original."""
        if self.drawn is None:
            return self
        place = np.full(self.given.records + 1, -1, np.intp)
        place[self.drawn] = np.arange(len(self.drawn))
        origins = place[self.origins()]
        return replace(self, given=taken(self.given, self.drawn)[0], drawn=None, origins=lambda: origins)

    def judged_also(self, judgements: tuple[Judgement, ...]) -> "ReleasePart":
        """Return this part with additional judgements."""
        requirements = (*self.requirements, *judgements)
        documents = [judgement.to_dict() for judgement in requirements]
        return replace(
            self,
            requirements=requirements,
            facts={**self.facts, "requirements": documents},
            internal={**self.internal, "requirements": documents},
        )


def _remarks(part: ReleasePart) -> Iterator[str]:
    """Yield the notes on a part for the owner, the most important first."""
    kin, reasons = part.promise.kin, dict[str, list[str]]()
    if kin is not None and kin.orphans:
        yield f"Suppressed, because they refer to no record: {counted(kin.orphans, 'record')}."
    if kin is not None and kin.followed:
        yield f"Suppressed with the record that they refer to: {counted(kin.followed, 'record')}."
    if kin is not None and not len(part.records):
        yield "No record of this table is released."
    elif not part.is_searched:
        yield "No requirement applies to this table."
    for name, why in part.left_out.items():
        reasons.setdefault(why, []).append(name)
    if reasons:
        columns = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
        yield f"Columns not released: {columns}."
    yield from part.notes
