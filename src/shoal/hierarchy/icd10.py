"""ICD-10: code → subcategory → category → block → chapter.

The blocks and chapters of the WHO edition and of the US clinical modification are built in. National editions differ in
details: a category that belongs to no block is grouped by its first two characters, which needs no dictionary.
"""

import re
from bisect import bisect_right
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.hierarchy.hierarchy import Hierarchy, ladder
from shoal.hierarchy.spec import KINDS, Spec, refuse_unknown
from shoal.table.column import Column, as_text

# E11, C7A, QA0, E11.6, E1165, e11.65; German coders add †, *, !, + and -.
_CODE = re.compile(r"([A-Z](?:\d[0-9A-Z]|A\d))\.?([0-9A-Z]{0,4})[-.†*!+]*")
_NOTHING = ("", "", "", "")


@KINDS.register("icd10")
class Icd10(Spec):
    """ICD-10 codes: categories, blocks and chapters.

    ``edition``: "who" or "cm", which define some blocks differently (E11 belongs to E10-E14 or to E08-E13).
    ``unknown``: the treatment of values that are not ICD-10 codes: "refuse" or "suppress".

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> table = shoal.read({"icd10": ["E11.65"]})
    >>> [bind(Icd10(), table, "icd10").labels(level)[0].as_py() for level in range(6)]
    ['E11.65', 'E11.6', 'E11', 'E10-E14', 'IV', '*']
    """

    kind: Literal["icd10"] = "icd10"
    edition: Literal["who", "cm"] = Field(
        default="who", description="edition: who (WHO) or cm (clinical modification), which differ in some blocks"
    )
    unknown: Literal["refuse", "suppress"] = Field(
        default="refuse", title="Unknown values", description="treatment of values that are not ICD-10 codes"
    )

    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Bind to a column of codes."""
        del folder
        ladders = [steps(value, self.edition) for value in as_text(column.values).to_pylist()]
        unknown = [ladder is None for ladder in ladders]
        if self.unknown == "refuse":
            refuse_unknown(column, counts, unknown, "are not ICD-10 codes", "Correct them")
        return ladder(column, list(zip(*(ladder or _NOTHING for ladder in ladders), strict=True)), unknown)


def steps(value: str, edition: str) -> tuple[str, str, str, str] | None:
    """Return the subcategory, category, block and chapter of a code; None if it is not an ICD-10 code.

    >>> steps("i21", "who"), steps("C7A.00", "cm"), steps("hello", "who")
    (('I21', 'I21', 'I20-I25', 'IX'), ('C7A.0', 'C7A', 'C7A', 'II'), None)
    """
    match = _CODE.fullmatch(value.strip().upper())
    if match is None:
        return None
    category, rest = match.groups()
    subcategory = f"{category}.{rest[0]}" if rest else category
    return subcategory, category, *_block(category, edition)


def _block(category: str, edition: str) -> tuple[str, str]:
    single, starts, blocks = _blocks(edition)
    if category in single:
        return single[category]
    place = bisect_right(starts, category) - 1
    if place >= 0 and category <= blocks[place][1]:
        start, end, chapter = blocks[place]
        return f"{start}-{end}", chapter
    return f"{category[:2]}-", f"{category[:1]} (other)"


@cache
def _blocks(edition: str) -> tuple[dict[str, tuple[str, str]], list[str], list[tuple[str, str, str]]]:
    """Return block and chapter of individually listed categories, and the starts and ends of all other blocks."""
    text = files("shoal.hierarchy").joinpath(f"data/icd10-{edition}.txt").read_text(encoding="utf-8")
    single: dict[str, tuple[str, str]] = {}
    ranges: list[tuple[str, str, str]] = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        block, chapter = line.split()
        start, _, end = block.partition("-")
        if "=" in block:
            category, _, block = block.partition("=")
            single[category] = (block, chapter)
        elif start == end:
            single[start] = (start, chapter)
        else:
            ranges.append((start, end, chapter))
    ranges.sort()
    return single, [start for start, _, _ in ranges], ranges
