"""Sheet: a small table for readers, the same in a terminal, in a notebook and in a report."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from html import escape as _escape

from shoal.words import printable

_STYLE = {
    "table": "border-collapse:collapse;font-variant-numeric:tabular-nums",
    "th": "text-align:{side};font-weight:600;padding:3px 14px 3px 0;border-bottom:1px solid #7b8794",
    "td": "text-align:{side};padding:3px 14px 3px 0;vertical-align:top",
}


def escape(text: str) -> str:
    """Return text escaped for HTML."""
    return _escape(printable(text))


@dataclass(frozen=True, slots=True)
class Sheet:
    """Small table with a title and notes.

    ``rows``: texts, one for each of the ``headings``. The first ``words`` columns contain words, the others numbers.

    >>> print(Sheet("Two are left.", ("column", "values"), (("age", "7"), ("sex", "12"))).text())
    Two are left.
    column  values
    age          7
    sex         12
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    words: int = 1

    def text(self) -> str:
        """Return the sheet as plain text."""
        lines = [self.headings, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)] if self.headings else []
        body = [self._line(line, widths) for line in lines] if self.rows else []
        return "\n".join([*([self.title] if self.title else []), *body, *self.notes])

    def _line(self, texts: tuple[str, ...], widths: list[int]) -> str:
        cells = [
            text.ljust(width) if place < self.words else text.rjust(width)
            for place, (text, width) in enumerate(zip(texts, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    def html(self) -> str:
        """Return the sheet as an HTML fragment with inline styles, for notebooks."""
        head = f"<p><strong>{escape(self.title)}</strong></p>" if self.title else ""
        foot = "".join(f'<p style="opacity:.75">{escape(note)}</p>' for note in self.notes)
        return f"<div>{head}{self._grid()}{foot}</div>"

    def _grid(self) -> str:
        if not self.rows:
            return ""
        head = self._cells("th", self.headings)
        body = "".join(f"<tr>{self._cells('td', row)}</tr>" for row in self.rows)
        return f'<table style="{_STYLE["table"]}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'

    def _cells(self, tag: str, texts: tuple[str, ...]) -> str:
        sides = ["left" if place < self.words else "right" for place in range(len(texts))]
        return "".join(
            f'<{tag} style="{_STYLE[tag].format(side=side)}">{escape(text)}</{tag}>'
            for side, text in zip(sides, texts, strict=True)
        )


class Presentable(ABC):
    """Result that displays itself: as text in a terminal, as a table in a notebook."""

    __slots__ = ()

    @abstractmethod
    def sheet(self) -> Sheet:
        """Return a summary of the result."""

    def __repr__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        return self.sheet().html()
