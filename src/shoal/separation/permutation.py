"""Permutation: within an equivalence class, sensitive values cannot be attributed to single records."""

from typing import ClassVar, Literal

from shoal.errors import PolicyError
from shoal.remedy import Setting, by
from shoal.separation.separation import SEPARATIONS, Separable, Separation
from shoal.separation.split import VALUES, RowBuckets, Split


@SEPARATIONS.register("permutation")
class Permutation(Separation):
    """Release the sensitive columns in a second table, in which each equivalence class is a bucket (Zhang et al. 2007).

    Sensitive values lose their relation to insensitive columns, which no class shares. Requirements are those of the
    classes: nothing is gained or lost.
    """

    kind: Literal["permutation"] = "permutation"
    says: ClassVar[str] = "The sensitive values of each equivalence class are in a second table, without their records."
    guarantee: ClassVar[str] = (
        "Within a class, the release does not state whose a sensitive value is. Requirements are verified for the "
        "classes."
    )
    iso: ClassVar[str] = "permutation"
    is_diverse: ClassVar[bool] = False

    def split(self, table: Separable) -> Split:
        """Use the classes as buckets."""
        if not table.sensitive:
            raise PolicyError(
                "nothing-to-separate",
                "No column is sensitive, so there is nothing to release in a second table.",
                remedy=by("Give a column the role sensitive", Setting("columns")),
            )
        return Split({VALUES: table.sensitive}, RowBuckets(table.classes()))
