"""Elements of a report, independent of the output format: texts, tables, charts and chapters."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, Union

from shoal.charts.chart import Chart
from shoal.sheet import Sheet


class Tone(StrEnum):
    """Purpose of a text."""

    PLAIN = "plain"
    LEAD = "lead"  # summary of the chapter in a sentence
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
    """Names, each with a description."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of points. ``open``: each point has a box to be ticked manually."""

    items: tuple[str, ...]
    open: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, with a text alternative for readers who cannot see it."""

    chart: Chart

    @property
    def finding(self) -> str:
        """The title of the chart, which states its main result."""
        return f"{self.chart.spec['title']['text'].rstrip('.')}."

    @property
    def alternative(self) -> str:
        """The title and the subtitle of the chart, for readers who cannot see it."""
        head = self.chart.spec["title"]
        subtitle = head["subtitle"]
        parts = [head["text"], *([subtitle] if isinstance(subtitle, str) else subtitle)]
        return " ".join(f"{part.rstrip('.')}." for part in parts if part)


@dataclass(frozen=True, slots=True)
class Code:
    """A machine-readable text, collapsed by default."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Signature:
    """Lines to be filled in by hand."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """Charts or small tables, side by side where space permits."""

    blocks: tuple["Figure | Sheet", ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A chapter or a part of one. ``anchor``: its unique name in links."""

    title: str
    anchor: str
    blocks: tuple["Block", ...]

    @classmethod
    def of(cls, title: str, anchor: str, blocks: Iterable["Block | None"]) -> "Section":
        """Assemble a section from blocks, omitting empty ones."""
        shown = (
            block for block in blocks if block is not None and not (isinstance(block, Beside) and not block.blocks)
        )
        return cls(title, anchor, tuple(shown))

    def within(self, outer: str) -> "Section":
        """Return the section as a part of another one, with anchors that are unique in the document."""
        parts = (block.within(outer) if isinstance(block, Section) else block for block in self.blocks)
        return Section(self.title, f"{outer}-{self.anchor}", tuple(parts))

    @property
    def parts(self) -> tuple["Section", ...]:
        """The parts of a section that consists of parts only."""
        parts = tuple(block for block in self.blocks if isinstance(block, Section))
        return parts if len(parts) == len(self.blocks) else ()


Block: TypeAlias = Union[Text, Facts, Listing, Figure, Code, Signature, Sheet, Beside, Section]  # noqa: UP007 - refers to itself
