"""The promise of a release: the tables that must be found where they were written, and what is required of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from shoal.classes.members import Counts
from shoal.dataset.inheritance import Shows
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.translation import Codes
from shoal.models.model import Model
from shoal.population import Population
from shoal.table.column import Column
from shoal.table.missing import Missing
from shoal.table.raw import Encoded
from shoal.table.table import Table

Asked = tuple[tuple[str, str, Model], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Original:
    """What a released file cannot tell about the original.

    ``sensitive``: its sensitive columns; ``reference``: the number of persons with each of their values;
    ``hierarchies``: of these columns. ``subject``: the person of each released record: a column with a code for each
    record, in the order in which they are written; or a column that the released table does not show, but its engine
    has.
    """

    sensitive: Mapping[str, Column]
    reference: Mapping[str, Counts]
    hierarchies: Mapping[str, Hierarchy]
    population: Population | None
    missing: Missing
    subject: tuple[Column, Codes] | Column | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Kin:
    """The place of a table among several that belong together.

    ``names``: the columns of the original table. ``shows``: what records hand down to those that refer to them.
    ``whose``: the person of each released record. ``orphans``: the number of records whose reference leads nowhere.
    ``followed``: the number of records suppressed together with the record that they refer to.
    """

    names: tuple[str, ...]
    shows: Shows
    whose: Encoded | None
    orphans: int
    followed: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Promise:
    """``tables``: the tables as they go out, by name. ``whole``: one table with all that is judged.

    ``whole`` is the only table; or the join of the tables into which it was split; or it has, in addition, the columns
    that records inherit from other tables. ``link``: the column by which split tables are joined. ``pseudonyms``: the
    columns that show these. ``original``: what the files cannot tell. ``asked``: the source of each requirement, its
    description, and the model. ``kin``: the place of the table among several.
    """

    tables: Mapping[str, Table]
    whole: Table
    original: Original
    asked: Asked = ()
    link: str | None = None
    pseudonyms: tuple[str, ...] = ()
    kin: Kin | None = None
