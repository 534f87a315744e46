"""A finding: what was found out about one column."""

from dataclasses import dataclass
from typing import Any

from shoal.identification.concepts import Concept
from shoal.identification.shape import Shape
from shoal.table.role import Role


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What is known about a column.

    ``role`` is proposed, for ``reasons``. ``uniqueness``: the share of people whom the column makes unique, on average
    over all orders in which columns may become known; None if it was not counted; ``error``: the standard error.
    ``distinction``: different values by records. ``separation``: the share of pairs of records that it tells apart.
    ``g_distinct``: the risk rate of Menten 2024, in percent. ``missing``: the share of records without a value.
    ``told_by``: another column that tells what is in it. ``follows``: a quasi-identifier that says the same in other
    words, so that this one is to be treated with it. ``hipaa``: the letter of HIPAA's identifier that it holds.
    """

    name: str
    role: Role
    reasons: tuple[str, ...]
    concept: Concept | None
    shape: Shape
    missing: float
    distinction: float
    separation: float
    g_distinct: float
    uniqueness: float | None = None
    error: float | None = None
    told_by: str | None = None
    follows: str | None = None
    hipaa: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        concept = self.concept
        return {
            "role": self.role,
            "reasons": list(self.reasons),
            "concept": None if concept is None else concept.name,
            "known_to": None if concept is None else concept.known,
            "sensitive": None if concept is None else concept.sensitive,
            "hipaa": self.hipaa,
            "form": self.shape.form,
            "pattern": None if self.shape.pattern is None else self.shape.pattern.name,
            "values": self.shape.values,
            "missing": self.missing,
            "uniqueness": self.uniqueness,
            "error": self.error,
            "distinction": self.distinction,
            "separation": self.separation,
            "g_distinct": self.g_distinct,
            "told_by": self.told_by,
            "follows": self.follows,
        }
