"""What a policy says about pseudonyms."""

from typing import Self

from pydantic import Field, model_validator

from shoal.validation import Checked


class Pseudonyms(Checked):
    """Identifiers that are replaced by keyed pseudonyms instead of being left out; the key stays with the owner."""

    columns: list[str] = Field(min_length=1, description="direct identifiers, or the subject")
    key_file: str | None = Field(default=None, description="the file that holds the key, beside the policy")
    key_variable: str | None = Field(default=None, description="the variable of the environment that holds it")

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if (self.key_file is None) == (self.key_variable is None):
            raise ValueError("give one of key_file and key_variable")
        return self
