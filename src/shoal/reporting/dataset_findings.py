"""Findings about the release of a dataset: those of each table, and those of the dataset as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from shoal.dataset.dataset import Dataset
from shoal.policy.policy import Policy
from shoal.reporting.findings import Findings, PublicFindings
from shoal.reporting.required import Required


@dataclass(frozen=True, slots=True)
class UnprotectedTable:
    """A table without quasi-identifiers, or without individuals.

    ``before``, ``after``: its numbers of records, in the original and in the release. ``why``: what it lacks.
    """

    before: int
    after: int
    why: str


@dataclass(frozen=True, eq=False, kw_only=True)
class DatasetFindings:
    """Facts about the release of a dataset.

    ``by_table``: the findings of the tables in which individuals can be looked up: each with the attributes that its
    records inherit. ``unprotected``: the other tables. ``unique_histories``: the number of individuals who are unique
    given all their released records, and the number of individuals; None if not disclosed or not known. ``dataset``:
    the original, for the owner only.
    """

    policy: Policy
    by_table: Mapping[str, PublicFindings]
    unprotected: Mapping[str, UnprotectedTable]
    references: tuple[str, ...]
    unique_histories: tuple[int, int] | None = None
    dataset: Dataset | None = None

    @cached_property
    def requirements(self) -> tuple[Required, ...]:
        """The requirements on all tables."""
        return tuple(chain.from_iterable(findings.requirements for findings in self.by_table.values()))

    @property
    def naming(self) -> tuple[str, ...]:
        """The released columns that identify persons directly, with their tables."""
        return tuple(f"{name}.{column}" for name, findings in self.by_table.items() for column in findings.naming)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The released columns without a role in the policy, with their tables."""
        return tuple(f"{name}.{column}" for name, findings in self.by_table.items() for column in findings.unknown)

    @property
    def ours(self) -> bool:
        """Whether ``anonymize`` made the release."""
        return all(findings.ours for findings in self.by_table.values())

    @property
    def met(self) -> bool:
        """Whether there are requirements, all are met, and no column identifies persons or is unknown."""
        return bool(self.by_table) and all(findings.met for findings in self.by_table.values())

    @property
    def least(self) -> int:
        """The largest k that is required of a table, or 11 if none is required."""
        return max((findings.least for findings in self.by_table.values()), default=1)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the original and of the policy, which a report must not overwrite."""
        tables = () if self.dataset is None else self.dataset.tables.values()
        return (*(file for table in tables for file in table.source.files), *self.policy.files())

    def public(self) -> "DatasetFindings":
        """Return the findings that a recipient may have."""
        tables = {
            name: findings.public() if isinstance(findings, Findings) else findings
            for name, findings in self.by_table.items()
        }
        unprotected = {name: replace(table, before=table.after) for name, table in self.unprotected.items()}
        return replace(self, by_table=tables, unprotected=unprotected, unique_histories=None, dataset=None)
