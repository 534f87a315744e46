"""Column names: every column has a name, and names are unique."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from shoal.errors import ReadError
from shoal.remedy import Option, either

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def without_index(names: Sequence[str]) -> list[str]:
    """Remove the columns in which pandas stores a row index without a name.

    >>> without_index(["age", "__index_level_0__"])
    ['age']
    """
    return [name for name in names if not _PANDAS_INDEX.fullmatch(name)]


def unused(name: str, taken: Iterable[str]) -> str:
    """Return a name that is not taken, formed by appending apostrophes."""
    while name in set(taken):
        name += "'"
    return name


def numbered(name: str, taken: Iterable[str]) -> str:
    """Return a name that is not taken, with a number if it is.

    >>> numbered("bucket", ["age", "bucket"])
    'bucket_2'
    """
    others, number = set(taken), 2
    while (chosen := name if number == 2 and name not in others else f"{name}_{number}") in others:
        number += 1
    return chosen


def check_names(names: Sequence[Any]) -> None:
    """Reject names that are empty, not text, or duplicated.

    Messages give positions, not names: in a file without a header, the "names" are data of an individual.
    """
    odd = [place for place, name in enumerate(names, 1) if not isinstance(name, str)]
    if odd:
        raise ReadError(
            "name-not-text",
            "{columns} no text as name.",
            remedy="Rename them, for example with df.columns = df.columns.astype(str).",
            columns=_columns(odd),
        )
    empty = [place for place, name in enumerate(names, 1) if not name.strip()]
    if empty:
        raise ReadError(
            "no-name",
            "{columns} no name.",
            remedy=[
                "A first column without a name is often a row index written by R or pandas.",
                either(Option("unnamed", "drop"), Option("unnamed", "number")),
            ],
            columns=_columns(empty),
        )
    first: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if first.setdefault(name, place) != place:
            raise ReadError(
                "same-name",
                "Columns {first} and {second} have the same name.",
                remedy=either("Rename one of them", Option("header", False)),
                first=first[name],
                second=place,
            )


def _columns(places: Sequence[int]) -> str:
    if len(places) == 1:
        return f"Column {places[0]} has"
    return f"Columns {', '.join(map(str, places[:5]))}{' …' if len(places) > 5 else ''} have"
