"""Promise of a release: the expected content of the written tables, and the requirements on them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shoal.classes.division import divides
from shoal.classes.members import Counts
from shoal.dataset.inheritance import Shows
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.translation import Codes
from shoal.models.model import Model
from shoal.population import Population
from shoal.separation.separation import Separation
from shoal.table.column import Column
from shoal.table.missing import Missing
from shoal.table.raw import Encoded
from shoal.table.table import Table

Asked = tuple[tuple[str, str, Model], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Original:
    """Information about the original that a released file does not contain.

    ``sensitive``: the sensitive columns of the original. ``reference``: the number of persons with each value of these
    columns. ``hierarchies``: the hierarchies of these columns. ``population``: the population of the original.
    ``missing``: the treatment of missing values. ``subject``: the person of each released record. It is either a column
    with a code for each record, in the written order, or a column of the engine that the released table does not show.
    ``thresholds``: the columns of the engine with the requirements of individuals. ``truths``: the columns of the
    engine with the true values of sensitive columns whose cells were changed: models are evaluated on these.
    """

    sensitive: Mapping[str, Column]
    reference: Mapping[str, Counts]
    hierarchies: Mapping[str, Hierarchy]
    population: Population | None
    missing: Missing
    subject: tuple[Column, Codes] | Column | None = None
    thresholds: Mapping[str, Column] = field(default_factory=dict)
    truths: Mapping[str, Column] = field(default_factory=dict)

    def without_truths(self) -> "Original":
        """Return the information without the columns whose cells were changed, which then keep the released values."""
        sensitive = {name: column for name, column in self.sensitive.items() if name not in self.truths}
        reference = {name: counts for name, counts in self.reference.items() if name in sensitive}
        return replace(self, sensitive=sensitive, reference=reference, truths={})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Kin:
    """Relations of a table to the other tables of a dataset.

    ``names``: the columns of the original table. ``shows``: the values that records pass on to the records that refer
    to them. ``whose``: the person of each released record. ``orphans``: the number of records whose reference
    identifies no record. ``followed``: the number of records suppressed together with the record that they refer to.
    """

    names: tuple[str, ...]
    shows: Shows
    whose: Encoded | None
    orphans: int
    followed: int

    @property
    def history(self) -> tuple[Encoded, Encoded] | None:
        """The person and the equivalence class of each record; None if either is unknown."""
        return None if self.whose is None or self.shows.classes is None else (self.whose, self.shows.classes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Promise:
    """Expected content of the written tables, and the requirements on it.

    ``tables``: the released tables by name. ``whole``: the table on which the requirements are evaluated: the only
    table, the join of the tables into which it was split, or the table with the columns that its records inherit from
    other tables. ``link``: the column by which split tables are joined, and
    ``form``, what they guarantee. ``pseudonyms``: the columns that show
    pseudonyms. ``original``: information that the files do not contain. ``asked``: the source, the description and the
    model of each requirement. ``kin``: the relations to the other tables.
    """

    tables: Mapping[str, Table]
    whole: Table
    original: Original
    asked: Asked = ()
    link: str | None = None
    form: Separation | None = None
    pseudonyms: tuple[str, ...] = ()
    kin: Kin | None = None

    @property
    def divides_identities(self) -> bool:
        """Whether quasi-identifiers are in several tables, which do not tell their combinations."""
        return self.link is not None and divides([table.names for table in self.tables.values()], self.whole.quasi)
