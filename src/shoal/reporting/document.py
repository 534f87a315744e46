"""The parts that a report is made of, whichever way it is written: texts, tables, pictures, chapters."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, Union

from shoal.charts.chart import Chart
from shoal.sheet import Sheet


class Tone(StrEnum):
    """How a text is meant."""

    PLAIN = "plain"
    LEAD = "lead"  # what the chapter says, in a sentence
    GOOD = "good"
    BAD = "bad"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what is to be said of each."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Points, one below the other; ``open``: each has a box to be ticked by a person."""

    items: tuple[str, ...]
    open: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture; what it shows is also said in words, for those who cannot see it."""

    chart: Chart

    @property
    def alternative(self) -> str:
        """The title and the subtitle of the picture."""
        head = self.chart.spec["title"]
        subtitle = head["subtitle"]
        parts = [head["text"], *([subtitle] if isinstance(subtitle, str) else subtitle)]
        return " ".join(f"{part.rstrip('.')}." for part in parts if part)


@dataclass(frozen=True, slots=True)
class Code:
    """A text for machines, folded away until somebody wants it."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Signature:
    """Lines to be filled in by hand."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """Pictures, or small tables, side by side where there is room."""

    blocks: tuple["Figure | Sheet", ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A chapter, or a part of one. ``anchor``: its name in links; no two are the same."""

    title: str
    anchor: str
    blocks: tuple["Block", ...]

    @classmethod
    def of(cls, title: str, anchor: str, blocks: Iterable["Block | None"]) -> "Section":
        """Put a chapter together; what there is nothing to say about is left out."""
        shown = (
            block for block in blocks if block is not None and not (isinstance(block, Beside) and not block.blocks)
        )
        return cls(title, anchor, tuple(shown))


Block: TypeAlias = Union[Text, Facts, Listing, Figure, Code, Signature, Sheet, Beside, Section]  # noqa: UP007 - refers to itself
