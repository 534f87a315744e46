"""Figures about the original that are published with a release."""

from pydantic import Field, StrictBool

from shoal.validation import Checked


class Publish(Checked):
    """Figures about the original in the public manifest and the external report, rounded; none by default."""

    suppressed: StrictBool = Field(default=False, description="publish the number of suppressed individuals")
    risk: StrictBool = Field(default=False, description="publish the re-identification risk of the original")
    attacks: StrictBool = Field(default=False, description="publish the results of attacks in the external report")
