"""What a policy lets out beside the release."""

from pydantic import Field

from shoal.validation import Checked


class Publish(Checked):
    """Figures about the original that the public manifest gives, rounded; without this, none."""

    suppressed: bool = Field(default=False, description="about how many persons were left out")
