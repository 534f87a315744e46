"""Inputs: the common preparation of data, policy and roles for all public functions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from shoal.errors import RecodingError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.hierarchy.spec import bind_all
from shoal.models.evidence import Gatherer
from shoal.policy.policy import Policy
from shoal.population import Population
from shoal.release.further_tables import further_tables, in_order_of_manifest
from shoal.release.release import Release
from shoal.separation.split import LINK
from shoal.table.column import SUPPRESSED
from shoal.table.missing import Missing
from shoal.table.reading import read
from shoal.table.table import Table

AnyPolicy: TypeAlias = Policy | str | Path | None  # a policy, its path, or none
NOTHING = Policy(version=1)


@dataclass(frozen=True, eq=False)
class Inputs:
    """A table with its roles, and its policy; the policy is empty if none was given.

    ``missing``: the rule for missing values. ``own_hierarchies``, ``own_population``: options that take precedence over
    the policy.

    >>> inputs = Inputs.of({"age": [34, 71], "dx": ["flu", "ms"]}, quasi="age", population=20)
    >>> inputs.table.quasi, inputs.missing.value, inputs.population.size
    (('age',), 'own', 20)
    """

    table: Table
    policy: Policy
    missing: Missing
    own_hierarchies: Mapping[str, Any] = field(default_factory=dict)
    own_population: Any = None

    @classmethod
    def of(  # noqa: PLR0913 - the options that verbs share
        cls,
        data: Any,
        policy: AnyPolicy = None,
        *,
        missing: str | Missing | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        population: Any = None,
        suppressed: str | None = None,
        **roles: Any,
    ) -> "Inputs":
        """Read the data according to the policy, and assign roles; roles given as arguments take precedence.

        ``data``: a table, a release, a frame, a file or the address of a database table. ``suppressed``: the text that
        means suppressed, unless the policy defines it.
        """
        chosen = policy_of(policy)
        table = table_of(data, chosen, suppressed=suppressed).taking(**roles)
        rule = chosen.data.missing if missing is None else Missing.named(missing)
        return cls(table, chosen, rule, hierarchies or {}, population)

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchies of the policy and of the arguments, bound to the table."""
        return {**self.policy.hierarchies(self.table), **bind_all(self.own_hierarchies, self.table)}

    @cached_property
    def population(self) -> Population | None:
        """The population that the table is a sample of, if it is known."""
        if self.own_population is not None:
            return Population.given(self.own_population, self.table)
        return (
            None
            if self.policy.population is None
            else self.policy.sampled_population(self.table, self.table.person_count)
        )

    @property
    def gatherer(self) -> Gatherer:
        """The collector of the evidence for models."""
        return Gatherer(self.table, self.missing, self.hierarchies, self.population)


def policy_of(policy: AnyPolicy, release: Any = None) -> Policy:
    """Return the policy of a single table: the given one, that of a release, or an empty one."""
    if policy is None:
        return release.policy if isinstance(release, Release) else NOTHING
    return Policy.given(policy).alone()


def table_of(data: Any, policy: Policy = NOTHING, *, suppressed: str | None = None) -> Table:
    """Return the data as a table, with the roles of the policy if it defines any."""
    options = {} if suppressed is None else {"suppressed": suppressed}
    if isinstance(data, Release):
        table = data.first
    elif isinstance(data, Table):
        table = data
    else:
        table = read(data, **{**options, **policy.data.read.model_dump(exclude_unset=True)})
    return policy.apply(table) if policy.names_columns else table


@dataclass(frozen=True, slots=True)
class ReleasedTables:
    """The tables of a release, the first one first. ``link``: the column with the number of the bucket."""

    tables: tuple[Table, ...]
    link: str

    @classmethod
    def of(cls, release: Any, others: Any = None, link: str | None = None) -> "ReleasedTables":
        """Read the tables of a release; ``*`` means suppressed.

        ``others``: its further tables (default: those of a release by ``anonymize``, or those that a manifest names).
        ``link``: the column that links them (default: as ``anonymize`` or the manifest states, or ``bucket``).
        """
        first = table_of(release, suppressed=SUPPRESSED)
        if others is not None:
            further = others if isinstance(others, list | tuple) else [others]
            read_tables = [table_of(table, suppressed=SUPPRESSED) for table in further]
            tables = (first, *in_order_of_manifest(first, read_tables))
            known = release.link if isinstance(release, Release) else further_tables(first)[1]
        elif isinstance(release, Release):
            tables, known = ((first, *release.split[1:]) if release.split else (first,)), release.link
        else:
            further, known = further_tables(first)
            tables = (first, *further)
        released = cls(tuple(table.in_memory() for table in tables), link or known or LINK)
        released.check_parts()
        return released

    def check_parts(self) -> None:
        """Refuse tables that have the same link, but not the same buckets: they are not those of one release."""
        first, *others = self.tables
        for table in others:
            if self.link in first and self.link in table and not _are_parts(first, table, self.link):
                raise RecodingError(
                    "other-buckets",
                    "The tables have other buckets, or other numbers of records in them.",
                    remedy="Give the tables of one release.",
                )


def _are_parts(first: Table, table: Table, link: str) -> bool:
    """Return whether two tables have the same buckets, and the second one has no more records in any of them."""
    sizes = [
        dict(zip(part[link].labels().to_pylist(), part.counts(link).tolist(), strict=True)) for part in (first, table)
    ]
    return sizes[0].keys() == sizes[1].keys() and all(sizes[0][bucket] >= size for bucket, size in sizes[1].items())


def names_of(names: Any) -> list[str] | None:
    """Return column names as a list, given as one name or several; None if none are given."""
    return None if names is None else [names] if isinstance(names, str) else list(names)
