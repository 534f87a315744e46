"""Slicing: groups of related columns in tables of their own, whose records are related by buckets only."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from shoal.errors import PolicyError
from shoal.kernels.translation import narrowest
from shoal.models.model import Verdict
from shoal.perturbations.assigned import Assigned
from shoal.remedy import Setting, either
from shoal.separation.association import Associations, Names
from shoal.separation.diversity import exact, probable
from shoal.separation.eligibility import check_eligible, diversity
from shoal.separation.separation import SEPARATIONS, Separable, Separation
from shoal.separation.sliceable import SliceableRecords
from shoal.separation.split import VALUES, RecordBuckets, Split
from shoal.separation.split_release import SplitRelease
from shoal.separation.tuple_partition import TuplePartition

_DIVERSE = "l-diverse slicing"


@SEPARATIONS.register("slicing")
class Slicing(Separation):
    """Release groups of related columns in separate tables, whose records are related by buckets only (Li et al. 2012).

    Columns with strong association are in one group. An adversary who knows all quasi-identifiers of an individual t
    concludes from the buckets B that contain each group of them

        P(t, s) = Σ_B p(t, B) · D(t, B)[s] ≤ 1/l

    for each sensitive value s. p(t, B) is the share of bucket B in all that match t, and D(t, B) the distribution of
    the sensitive values in it, beside the quasi-identifiers of their group.
    """

    kind: Literal["slicing"] = "slicing"
    l: int | None = Field(  # noqa: E741 - the name in the literature
        default=None,
        ge=2,
        title="Diversity (l)",
        description="no sensitive value of an individual has a probability above 1/l (default: the largest l of the "
        "requirements)",
    )
    groups: int = Field(
        default=2,
        ge=2,
        le=20,
        title="Groups of columns",
        description="number of groups of columns with strong association; quasi-identifiers that would make a "
        "sensitive value too probable form one more",
    )
    together: tuple[tuple[str, ...], ...] = Field(
        default=(), description="quasi-identifiers that are released together, group by group, instead of those groups"
    )

    @field_validator("together")
    @classmethod
    def _not_empty(cls, groups: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        if any(not names for names in groups):
            raise ValueError("together: a group of columns is empty")
        return groups

    @model_validator(mode="after")
    def _by_one_way(self) -> Self:
        if self.together and "groups" in self.model_fields_set:
            raise ValueError("groups and together exclude each other: delete one of them")
        return self

    identities_public: bool = Field(
        default=False,
        title="Quasi-identifiers unchanged",
        description="whether quasi-identifiers may be released unchanged, if no requirement such as k-anonymity "
        "concerns them",
    )
    says: ClassVar[str] = "Groups of related columns are in separate tables, linked by buckets of similar individuals."
    guarantee: ClassVar[str] = (
        "From the buckets that match an individual's quasi-identifiers, no sensitive value has a probability above "
        "1/l. This limits the risk for an adversary who knows nothing about the relation of the value to other "
        "columns, which can be learned from the release."
    )
    iso: ClassVar[str] = "permutation (slicing)"
    groups_columns: ClassVar[bool] = True

    @property
    def releases_identities(self) -> bool:
        """Whether the policy allows the release of unchanged quasi-identifiers."""
        return self.identities_public

    @property
    def requires(self) -> Mapping[str, Mapping[str, Any]]:
        """The diversity of what the matching buckets tell, if l is given."""
        return {} if self.l is None else {_DIVERSE: {"l": self.l}}

    def verdicts(self, released: SplitRelease) -> tuple[Verdict, ...]:
        """Return the smallest l that the tables attain for any individual, by sensitive column."""
        if self.l is None:
            return ()
        return tuple(self._verdict(released, name) for name in released.sensitive)

    def _verdict(self, released: SplitRelease, name: str) -> Verdict:
        size = int(self.l or 1)
        slices, tuples = released.slices(name)
        violated, beliefs = probable(slices, tuples, size)
        worst = int(np.argmax(beliefs.largest / np.maximum(beliefs.total, np.finfo(float).tiny)))
        highest = exact(slices, [codes[worst : worst + 1] for codes in tuples])
        persons = int(released.known.counts[violated].sum())
        value = {"l": float(1 / highest) if highest else float(size)}
        return Verdict(_DIVERSE, name, {"l": size}, value, f"l ≥ {size}", not persons, 0, persons)

    def split(self, table: Separable) -> Split:
        """Group the columns, and divide the records into buckets."""
        size = diversity(self.l, table.distinct)
        if not table.sensitive:
            raise PolicyError(
                "nothing-to-separate",
                "No column is sensitive, so there is nothing to protect by slicing.",
                remedy=either("Give a column the role sensitive", Setting("search.publish", "table")),
            )
        partition = self._partition(table.records(), size, table.distinct)
        of_record = partition.buckets(table.progress)
        numbers = np.argsort(table.random("numbers of the buckets", int(of_record.max()) + 1), kind="stable")
        numbered = numbers[of_record].astype(narrowest(len(numbers)))
        tables = {f"part{place}": names for place, names in enumerate(partition.groups[1:], 2)}
        values = (*partition.beside, *table.sensitive, *table.insensitive)
        bucket = Assigned.of(partition.records.draws, numbered)
        return Split({**tables, VALUES: values}, RecordBuckets(table.sensitive[0], len(numbers), bucket))

    def _partition(self, records: SliceableRecords, size: int, required: int) -> TuplePartition:
        """Return the partition of records in groups of columns, by the policy or by association.

        As many as possible of the quasi-identifiers in the group of the sensitive values are released beside them,
        those with the strongest relation first. Those that would make a value too probable, and those with a stronger
        relation to them than to the sensitive values, form a group of their own.
        """
        for name, (column, codes) in records.sensitive.items():
            counts = np.bincount(codes, minlength=column.size).astype(np.int64)
            check_eligible(name, counts, self.l, required)
        if self.together:
            return _possible(TuplePartition(records, self._given(records), (), size))
        near, values = Associations.of({**records.quasi, **records.sensitive}), tuple(records.sensitive)
        clusters = near.groups(self.groups)
        groups = tuple(names for names in clusters if not {*names} & {*values})
        related = [name for name in records.quasi if not any(name in names for names in groups)]
        related.sort(key=lambda name: -near.strongest(name, values))

        def beside(names: Names) -> TuplePartition:
            rest = tuple(name for name in related if name not in names)
            return TuplePartition(records, (*groups, rest) if rest else groups, names, size)

        partition = _possible(beside(()))
        for name in related:
            wider = beside((*partition.beside, name))
            partition = wider if wider.groups and wider.is_possible else partition
        rest = [name for name in related if name not in partition.beside]
        nearer = [name for name in partition.beside if near.strongest(name, rest) <= near.strongest(name, values)]
        return _possible(beside(tuple(nearer)))

    def _given(self, records: SliceableRecords) -> tuple[Names, ...]:
        """Return the groups of the policy, which must contain every quasi-identifier once."""
        named = [name for names in self.together for name in names]
        for name in (*named, *records.quasi):
            if named.count(name) != 1 or name not in records.quasi:
                raise PolicyError(
                    "groups-of-columns",
                    "Column '{column}' {reason}.",
                    remedy="Name every quasi-identifier once under together.",
                    column=name,
                    reason="is in no group"
                    if name not in named
                    else "is in several groups"
                    if name in records.quasi
                    else "is not a quasi-identifier",
                )
        return self.together


def _possible(partition: TuplePartition) -> TuplePartition:
    """Return a partition; an error if not even a single bucket meets the requirements."""
    if not partition.is_possible:
        raise PolicyError(
            "not-eligible",
            "The requirements on sensitive values are not met even if all individuals are in one bucket.",
            remedy="Reduce the requirements.",
        )
    return partition
