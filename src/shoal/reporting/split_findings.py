"""Findings about a release in several tables, which the numbers of buckets link."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from shoal.analyses.count_queries import QueryError, query_errors
from shoal.attacks.attack import ATTACKS, AttackNeed
from shoal.attacks.battery import Attacked
from shoal.attacks.result import Result
from shoal.classes.division import divides
from shoal.disclosure import USUAL
from shoal.errors import ReportError
from shoal.policy.policy import Policy
from shoal.release.columns import as_written
from shoal.release.release import Release
from shoal.risk.assessment import Assessor
from shoal.risk.attribute import AttributeRisk
from shoal.separation.separation import Separation
from shoal.table.table import Table
from shoal.verbs.attack import attack


@dataclass(frozen=True, eq=False)
class SplitFindings:
    """Facts about the tables of a release.

    ``tables``: the released tables by name, the sensitive values last. ``link``: the column with the number of the
    bucket. ``form``: the form of the release. ``divides_identities``: whether quasi-identifiers are in several tables.
    ``unique``: the number of individuals who are unique in the released quasi-identifiers; None if these are in several
    tables. ``attributes``: the inference of sensitive values from the bucket of an individual. ``inference``: what an
    adversary infers who learns from the release. ``error``: the error of counts estimated from it.
    """

    tables: Mapping[str, Table]
    link: str
    form: Separation
    divides_identities: bool
    unique: int | None
    attributes: tuple[AttributeRisk, ...]
    inference: tuple[Result, ...] = ()
    error: QueryError | None = None

    @classmethod
    def of(  # noqa: PLR0913 - a release in several tables, and what is known of it
        cls,
        original: Table,
        release: Release | Table,
        tables: Mapping[str, Table],
        link: str,
        policy: Policy,
        *,
        unique: int,
        attacks: Attacked | None,
    ) -> "SplitFindings":
        """Collect the facts about the tables of a release, whose form is that of the policy."""
        form, (_, *others) = policy.search.publish, tables.values()
        if form is None:
            raise ReportError(
                "one-table-in-policy", "The release has several tables, and the policy describes one.", remedy=_REMEDY
            )
        divided = divides([table.names for table in tables.values()], original.quasi)
        searched, hierarchies = policy.searched(original), policy.hierarchies(original)
        done = () if attacks is None else attacks.results
        results = tuple(result for result in done if AttackNeed.BUCKETS in ATTACKS[result.attack].needs)
        if not results:
            names = [name for name in ATTACKS if AttackNeed.BUCKETS in ATTACKS[name].needs]
            results = attack(original, release, policy, attacks=names, values=others, link=link).results
        return cls(
            tables=tables,
            link=link,
            form=form,
            divides_identities=divided,
            unique=None if divided else unique,
            attributes=_attributes(others[-1], link, original, policy),
            inference=results,
            error=query_errors(searched, [*tables.values()], link, hierarchies),
        )

    def public(self, *, attacks: bool) -> "SplitFindings":
        """Return the facts that follow from the released tables; results of ``attacks`` only if they are published."""
        return replace(self, inference=self.inference if attacks else (), error=None)

    def holding(self, name: str) -> Table | None:
        """Return the further table with a column; None if the first one has it."""
        _, *others = self.tables.values()
        return next((table for table in others if name in table), None)


_REMEDY = "Use the policy from which the release was made."


def _attributes(values: Table, link: str, original: Table, policy: Policy) -> tuple[AttributeRisk, ...]:
    """Return the inference of sensitive values by an adversary who knows the bucket, and what is released beside them.

    The buckets are the classes, divided by the quasi-identifiers of their table.
    """
    known = [link, *(name for name in original.quasi if name in values)]
    sensitive = [name for name in original.sensitive if name in values]
    seen = replace(values, roles={}).assign(quasi=known, sensitive=sensitive)
    threshold = Fraction(1, policy.k or USUAL)
    return Assessor(table=as_written(seen), missing=policy.data.missing, threshold=threshold).assessment().attributes
