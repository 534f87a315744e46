"""Output of a report as Markdown, for example for version control."""

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from shoal.reporting.audience import Audience
from shoal.reporting.document import Beside, Block, Code, Facts, Figure, Listing, Section, Signature, Text, Tone
from shoal.sheet import Sheet
from shoal.words import printable


def as_markdown(title: str, audience: Audience, sections: Sequence[Section]) -> str:
    """Return the report as Markdown."""
    kind = "External version" if audience.external else "Internal version, confidential"
    lines = [f"# {_plain(title)}", f"{kind}. Made by shoal {version('shoal')}."]
    for section in sections:
        lines += _section(section, 2)
    return "\n\n".join(lines) + "\n"


def _section(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * level} {_plain(section.title)}"
    for block in section.blocks:
        yield from _section(block, level + 1) if isinstance(block, Section) else _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Text(text, tone):
            yield {Tone.LEAD: "*{}*", Tone.GOOD: "**{}**", Tone.BAD: "**{}**"}.get(tone, "{}").format(_plain(text))
        case Facts(items):
            yield "\n".join(f"- **{_plain(name)}**: {_plain(text)}" for name, text in items)
        case Listing(items, open):
            yield "\n".join(f"- {'[ ] ' if open else ''}{_plain(item)}" for item in items)
        case Figure():
            yield f"> {_plain(block.finding)}"
        case Code(title, text):
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            yield f"**{_plain(title)}**\n\n{fence}\n{_literal(text.rstrip())}\n{fence}"
        case Signature(lines):
            yield "\n\n".join(f"{line}: ______________________________" for line in lines)
        case Sheet():
            yield from _sheet(block)
        case Beside(blocks):
            for part in blocks:
                yield from _block(part)


def _sheet(sheet: Sheet) -> Iterator[str]:
    if sheet.title:
        yield f"**{_plain(sheet.title)}**"
    sides = [":--" if place < sheet.words else "--:" for place in range(len(sheet.headings))]
    rows = [sheet.headings, sides, *sheet.rows]
    yield "\n".join(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows)
    yield from (f"*{_plain(note)}*" for note in sheet.notes)


def _cell(text: str) -> str:
    return text if text in {":--", "--:"} else _plain(text).replace("|", "\\|")


def _literal(text: str) -> str:
    """Escape the start of tags in code, since some Markdown readers interpret tags everywhere.

    The escape has the same meaning in strings of TOML and Python.
    """
    return re.sub(r"<(?=[A-Za-z/!?])", r"\\u003C", text)


def _plain(text: str) -> str:
    """Escape a text so that no part of it is interpreted as markup."""
    cleaned = printable(" ".join(text.split()))
    return "".join(f"\\{sign}" if sign in "\\`*_<>#[]" else sign for sign in cleaned)
