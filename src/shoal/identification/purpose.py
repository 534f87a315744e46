"""Purpose of a release: who will receive it, and what follows for the starter policy."""

from dataclasses import dataclass

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

    def role(self, finding: Finding) -> Role:
        """Return the role of a column: the proposed one, unless the recipients cannot use the attribute."""
        concept = finding.concept
        changes = concept is not None and concept.varies and finding.role is Role.QUASI
        return Role.INSENSITIVE if changes and not self.varying else finding.role


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
