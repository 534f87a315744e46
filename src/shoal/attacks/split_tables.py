"""Split tables: the tables of a release, which a column with the number of a bucket links."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from shoal.attacks.bucket_cells import JoinedTable
from shoal.attacks.bucketed import BucketedValues
from shoal.attacks.scene import Scene
from shoal.attacks.sliced import SlicedTables
from shoal.classes.division import divides
from shoal.errors import AttackError
from shoal.remedy import Option, by
from shoal.table.table import Table


@dataclass(frozen=True, eq=False)
class SplitTables:
    """A release in one or several tables. ``link``: the column of all tables with the number of the bucket.

    ``groups_columns``: whether several buckets may match an individual, even if one table has all quasi-identifiers.
    """

    first: Table
    others: tuple[Table, ...]
    original: Table
    link: str
    groups_columns: bool = False

    @classmethod
    def of(cls, tables: Sequence[Table], original: Table, link: str, *, groups_columns: bool = False) -> "SplitTables":
        """Check the tables of a release, of which the first one is that with the known records."""
        first, *others = (table.in_memory() for table in tables)
        split = cls(first, tuple(others), original, link, groups_columns)
        if others and any(link not in table for table in (first, *others)):
            raise AttackError(
                "no-bucket-column",
                "The tables of the release are linked by column '{column}', which one of them lacks.",
                remedy=by("Name the column with the number of the bucket", Option("link")),
                column=link,
            )
        if others and not split._apart:
            raise AttackError(
                "bucketed-columns",
                "No further table of the release contains a sensitive column of the original.",
                remedy=by("Name the sensitive columns", Option("sensitive")),
            )
        return split

    @property
    def whole(self) -> Table:
        """The release as one table, as far as its buckets tell which values belong to a record."""
        return self._joined.table if self._joined is not None else self.first

    def on(self, scene: Scene) -> Scene:
        """Return the scene with what the further tables tell."""
        if not self.others:
            return scene
        elsewhere = tuple(name for name in scene.hidden if not any(name in table for table in self.others))
        buckets = () if self._slices else self._buckets
        known = replace(scene, hidden=elsewhere, link=self.link, buckets=buckets, slices=self._slices)
        return known if self._joined is None else replace(known, cells=self._joined.cells(scene.cells))

    @property
    def _apart(self) -> tuple[str, ...]:
        """The sensitive columns that the first table does not have."""
        return tuple(name for name in self.original.sensitive if any(name in table for table in self.others))

    @property
    def divides_identities(self) -> bool:
        """Whether a further table contains quasi-identifiers."""
        return divides([table.names for table in (self.first, *self.others)], self.original.quasi)

    @cached_property
    def _buckets(self) -> tuple[BucketedValues, ...]:
        """The sensitive columns by bucket, if the first table has all quasi-identifiers."""
        if self.divides_identities:
            return ()
        tables = {name: next(table for table in self.others if name in table) for name in self._apart}
        return tuple(
            BucketedValues.of(self.first, table, self.link, self.original[name]) for name, table in tables.items()
        )

    @cached_property
    def _slices(self) -> tuple[SlicedTables, ...]:
        """The sensitive columns of a release by groups of columns."""
        if not (self.divides_identities or (self.groups_columns and self.others)):
            return ()
        tables = (self.first, *self.others)
        return tuple(SlicedTables.of(tables, self.link, self.original, name) for name in self._apart)

    @cached_property
    def _joined(self) -> JoinedTable | None:
        """The first table with the sensitive columns by bucket; None if there are none."""
        if not self._buckets:
            return None
        return JoinedTable.of(self.first, self._buckets, self.original.quasi, self.link)
