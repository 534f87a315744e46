"""Finding: the proposed role of one column, and the evidence for it."""

from dataclasses import dataclass
from typing import Any

from shoal.identification.concepts import Concept
from shoal.identification.proposal import Confidence
from shoal.identification.shape import Shape
from shoal.table.role import Role
from shoal.words import short


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """Proposed role of a column, and the evidence for it.

    ``role``: the proposed role; ``reasons``: the reasons for it; ``confidence``: the confidence in it. ``uniqueness``:
    the share of individuals that the column makes unique, averaged over all orders in which columns may become known;
    None if it was not counted. ``error``: its standard error. ``distinction``: the number of distinct values divided by
    the number of records; ``separation``: the share of pairs of records that the column distinguishes; both over
    persons if the subject is known. ``g_distinct``: the risk rate of Menten 2024, in percent. ``missing``: the share of
    records without a value. ``told_by``: another column that determines this one. ``follows``: a quasi-identifier with
    the same information, with which this column must be generalised. ``hipaa``: the letter of the HIPAA identifier that
    the column holds.
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
    confidence: Confidence = Confidence.HIGH

    @property
    def points(self) -> str:
        """The contribution to uniqueness in percentage points; empty if it was not counted."""
        return "" if self.uniqueness is None else short(100 * self.uniqueness)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        concept = self.concept
        return {
            "role": self.role,
            "confidence": self.confidence,
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
