"""Buckets: who is in which bucket, and which sensitive values each bucket holds (Anatomy)."""

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.errors import PolicyError, did_you_mean
from shoal.kernels.translation import Codes, narrowest
from shoal.models.model import MODELS, Model
from shoal.perturbations.assigned import Assigned
from shoal.remedy import Setting, either
from shoal.separation.anatomy import anatomised
from shoal.separation.eligibility import check_eligible, diversity, most_diverse, not_eligible
from shoal.separation.separation import SEPARATIONS, Places, Separable, Separation
from shoal.separation.split import VALUES, PlaceBuckets, Split

_STRONG = 0.5  # Cramér's V from which a column tells too much about the values of a bucket


@SEPARATIONS.register("buckets")
class Buckets(Separation):
    """Put individuals with different sensitive values into buckets, and release the values by bucket (Anatomy).

    No value has two places in a bucket, and each bucket has at least l places (Xiao & Tao 2006):

        P(value) ≤ 1/l

    for an adversary who knows the bucket of an individual and nothing about the relation of sensitive values to the
    columns of the first table. This relation can be learned from the release: the attack bucket-inference measures how
    far. An individual with several values has a place for each of them, in different buckets.
    """

    kind: Literal["buckets"] = "buckets"
    l: int | None = Field(  # noqa: E741 - the name in the literature
        default=None,
        ge=2,
        title="Values per bucket (l)",
        description="smallest number of different values in a bucket (default: the largest l of the requirements)",
    )
    column: str | None = Field(
        default=None, title="Sensitive column", description="column released by bucket (default: the sensitive column)"
    )
    identities_public: bool = Field(
        default=False,
        title="Quasi-identifiers unchanged",
        description="whether quasi-identifiers may be released unchanged, if no requirement such as k-anonymity "
        "concerns them",
    )
    says: ClassVar[str] = "Sensitive values are in a second table, by bucket of individuals with different values."
    guarantee: ClassVar[str] = (
        "No value has more than 1/l of the places of a bucket. This limits the risk for an adversary who knows nothing "
        "about the relation of the value to other columns, which can be learned from the release."
    )
    iso: ClassVar[str] = "permutation (bucketisation)"

    @property
    def promised(self) -> tuple[Model, ...]:
        """l-diversity, if l is given."""
        return () if self.l is None else (MODELS["l-diversity"].model_validate({"l": self.l}),)

    @property
    def releases_identities(self) -> bool:
        """Whether the policy allows the release of unchanged quasi-identifiers."""
        return self.identities_public

    def split(self, table: Separable) -> Split:
        """Deal the values of the column into buckets."""
        name = self._column(table)
        _check_insensitive(table, name)
        places = table.places(name)
        of_place = self._dealt(table, name, places)
        numbers = np.argsort(table.random(f"numbers of the buckets of {name}", int(of_place.max()) + 1), kind="stable")
        numbered = numbers[of_place].astype(narrowest(len(numbers)))
        bucket = Assigned.of(places.draws, numbered)
        buckets = PlaceBuckets(name, len(numbers), bucket, places.codes, numbered)
        return Split({VALUES: (name,)}, buckets, notes=tuple(_related(table, name)))

    def _dealt(self, table: Separable, name: str, places: Places) -> Codes:
        """Return the bucket of each place; an error that names the largest possible l if there are none."""
        required = max(table.distinct, table.least)
        size = max(diversity(self.l, table.distinct), table.least)
        counts = np.bincount(places.codes, minlength=1).astype(np.int64)
        if places.persons is None:
            check_eligible(name, counts, self.l, required)
        random = table.random(f"buckets of {name}", 2 * len(places.draws))
        buckets = anatomised(places.codes, size, random, places.persons)
        if buckets is not None:
            return buckets
        smaller = range(min(size - 1, most_diverse(counts)), 1, -1)
        possible = (n for n in smaller if anatomised(places.codes, n, random, places.persons) is not None)
        reason = f"individuals with several values of column '{name}', or frequent values, prevent"
        raise not_eligible(reason, self.l, required, next(possible, 1))

    def _column(self, table: Separable) -> str:
        """Return the column that is released by bucket; it must be the only sensitive one."""
        if not table.sensitive:
            raise PolicyError(
                "nothing-to-separate",
                "No column is sensitive, so there is nothing to release by bucket.",
                remedy=either("Give a column the role sensitive", Setting("search.publish", "table")),
            )
        named = table.sensitive if self.column is None else (self.column,)
        if len(named) != 1 or named[0] not in table.sensitive:
            raise PolicyError(
                "bucketed-column",
                "Buckets hold one sensitive column, and {columns}.",
                remedy=did_you_mean(self.column, table.sensitive)
                if self.column is not None
                else either(
                    "Give the others the role direct, so that they are not released",
                    Setting("search.publish", "permutation"),
                ),
                columns=f"the table has {len(named)}" if self.column is None else f"'{self.column}' is none",
            )
        beside = [name for name in table.sensitive if name != named[0]]
        if beside:
            raise PolicyError(
                "sensitive-beside-buckets",
                "Column '{column}' is sensitive as well, and would be released beside the quasi-identifiers.",
                remedy=either(
                    "Give it the role direct, so that it is not released", Setting("search.publish", "permutation")
                ),
                column=beside[0],
            )
        return named[0]


def _related(table: Separable, name: str) -> Iterator[str]:
    """Yield a note for each quasi-identifier from which the value can be inferred, whatever the bucket."""
    for known in table.quasi:
        strength = table.association(name, known)
        if strength >= _STRONG:
            yield (
                f"Quasi-identifier '{known}' is strongly related to '{name}' (Cramér's V {strength:.2f}). An adversary "
                "who knows it can infer the value among those of a bucket; bucket-inference measures how far."
            )


def _check_insensitive(table: Separable, name: str) -> None:
    """Refuse columns beside the bucket number from which the value can be inferred."""
    for other in table.insensitive:
        strength = table.association(name, other)
        if strength >= _STRONG:
            raise PolicyError(
                "related-beside-buckets",
                "Column '{other}' is strongly related to '{column}' (Cramér's V {strength}), and would be released "
                "beside the number of the bucket, so that the value could be inferred.",
                remedy=either(
                    "Give it the role direct, so that it is not released", Setting("search.publish.kind", "slicing")
                ),
                other=other,
                column=name,
                strength=f"{strength:.2f}",
            )
