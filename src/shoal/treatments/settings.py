"""Settings: what a policy may say about a treatment."""

from collections.abc import Mapping
from typing import Protocol


class Settings(Protocol):
    """The settings that treatments read; :class:`shoal.policy.search.Search` has them."""

    @property
    def levels(self) -> Mapping[str, tuple[int, int]]:
        """The lowest and the highest level of a column."""
        ...

    @property
    def strict(self) -> bool:
        """Whether records with the same value stay together where it is cut."""
        ...

    @property
    def cuts(self) -> str:
        """Where numbers are cut: ``hierarchy`` or ``anywhere``."""
        ...

    @property
    def seconds(self) -> float:
        """How long to search where there are too many schemes to look at all."""
        ...
