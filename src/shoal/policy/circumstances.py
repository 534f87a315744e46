"""Policy sections on the population and on the context of re-identification attempts."""

from typing import Self

from pydantic import Field, model_validator

from shoal.validation import Checked, Share


class PopulationSettings(Checked):
    """The population from which the table is drawn, given by one of file, size and fraction."""

    file: str | None = Field(
        default=None, title="Register", description="file with the quasi-identifiers of the whole population"
    )
    size: int | None = Field(
        default=None, gt=0, title="Population size", description="number of individuals of the population"
    )
    fraction: float | None = Field(
        default=None,
        gt=0,
        le=1,
        title="Sampling fraction",
        description="share of the population that is in the table, 0 to 1",
    )

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if sum(value is not None for value in (self.file, self.size, self.fraction)) != 1:
            raise ValueError("requires exactly one of file, size and fraction")
        return self


class Context(Checked):
    """The recipient of the release, and the probabilities of re-identification attempts."""

    recipient: str | None = Field(default=None, description="recipient of the release and its terms")
    deliberate: Share | None = Field(default=None, description="probability of a deliberate attempt")
    inadvertent: Share | None = Field(default=None, description="probability that an acquaintance is recognised")
    breach: Share | None = Field(default=None, description="probability of a data breach")
    public: bool = Field(default=False, description="whether the release is public, so that an attempt is certain")

    def probabilities(self) -> dict[str, float]:
        """Return the probability of each threat; in a public release an attempt is certain."""
        given = {name: getattr(self, name) for name in ("deliberate", "inadvertent", "breach")}
        known = {name: chance for name, chance in given.items() if chance is not None}
        return {**known, "public release": 1.0} if self.public else known
