"""Purpose of a release: who will receive it, and what follows for the starter policy."""

from dataclasses import dataclass, replace

from shoal.errors import PolicyError, similar
from shoal.identification.finding import Finding
from shoal.table.role import Role


@dataclass(frozen=True, slots=True)
class Purpose:
    """Recipients of a release, and the usual requirements for them.

    ``says``: the recipients in words. ``preset``: the published requirements. ``suppression``: the maximum share of
    suppressed individuals. ``public``: whether an attempt at re-identification is assumed to be certain. ``varying``:
    whether attributes that change soon, such as the body weight, count as quasi-identifiers.
    """

    name: str
    says: str
    preset: str
    suppression: float
    public: bool = False
    varying: bool = True

    def finding(self, finding: Finding) -> Finding:
        """Return the finding for this purpose: an attribute that changes soon may not count as a quasi-identifier."""
        concept = finding.concept
        changes = concept is not None and concept.varies and finding.role is Role.QUASI
        if self.varying or not changes:
            return finding
        reason = "Changes soon, and is not a quasi-identifier for this purpose."
        return replace(finding, role=Role.INSENSITIVE, reasons=(*finding.reasons[:1], reason))


PURPOSES = {
    purpose.name: purpose
    for purpose in (
        Purpose("public", "a release to the public", "ema-0070", 0.05, public=True),
        Purpose("controlled", "a release to recipients under contract", "controlled-access", 0.05),
        Purpose("internal", "use in a trusted environment", "trusted-environment", 0.02, varying=False),
    )
}
DEFAULT = "public"


def purpose_of(name: str) -> Purpose:
    """Return a purpose by name.

    >>> purpose_of("controlled").preset
    'controlled-access'
    """
    if name not in PURPOSES:
        raise PolicyError("unknown-purpose", "There is no purpose '{name}'.", remedy=similar(name, PURPOSES), name=name)
    return PURPOSES[name]
