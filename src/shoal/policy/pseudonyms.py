"""Keyed sections of a policy: pseudonyms, date shifts and random draws."""

from typing import Self

from pydantic import Field, model_validator

from shoal.validation import Checked


class Keyed(Checked):
    """A keyed operation: only the holder of the key, the data owner, can repeat it."""

    key_file: str | None = Field(default=None, description="file with the key, relative to the policy")
    key_variable: str | None = Field(default=None, description="environment variable with the key")

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if (self.key_file is None) == (self.key_variable is None):
            raise ValueError("requires exactly one of key_file and key_variable")
        return self


class Pseudonyms(Keyed):
    """Identifiers that are replaced by keyed pseudonyms instead of being removed."""

    columns: list[str] = Field(
        default_factory=list, description="direct identifiers or the subject; references between tables are included"
    )


class Dates(Keyed):
    """Date shifts: all dates of a person move by the same number of days, so that intervals between them stay true."""

    columns: list[str] = Field(min_length=1, description="columns of dates to shift")
    days: int = Field(default=365, ge=1, le=36_500, description="maximum shift in days")


class Draw(Keyed):
    """The key of samples and counterfeits; by default, a new key is generated and stored with the owner's files."""
