"""Names of columns: each must have one, and no two the same."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from shoal.errors import ReadError

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def without_index(names: Sequence[str]) -> list[str]:
    """Leave out the row index that pandas stores beside the data under a name of its own.

    >>> without_index(["age", "__index_level_0__"])
    ['age']
    """
    return [name for name in names if not _PANDAS_INDEX.fullmatch(name)]


def unused(name: str, taken: Iterable[str]) -> str:
    """Return a name that no column has."""
    while name in set(taken):
        name += "'"
    return name


def check_names(names: Sequence[Any]) -> None:
    """Refuse names that are empty, not text, or taken twice.

    Messages give positions, not names: in a file without a header the "names" are somebody's data.
    """
    odd = [place for place, name in enumerate(names, 1) if not isinstance(name, str)]
    if odd:
        raise ReadError(
            f"{_columns(odd)} no text as name.", hint="Rename, for example with df.columns = df.columns.astype(str)."
        )
    empty = [place for place, name in enumerate(names, 1) if not name.strip()]
    if empty:
        raise ReadError(
            f"{_columns(empty)} no name.",
            hint="A nameless first column is often a row index that R or pandas wrote: leave it out with "
            "unnamed='drop' (--unnamed drop), or number such columns with unnamed='number'.",
        )
    first: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if first.setdefault(name, place) != place:
            raise ReadError(
                f"Columns {first[name]} and {place} have the same name.",
                hint="Rename one of them, or check whether the file has a header row (header=False, --no-header).",
            )


def _columns(places: Sequence[int]) -> str:
    if len(places) == 1:
        return f"Column {places[0]} has"
    return f"Columns {', '.join(map(str, places[:5]))}{' …' if len(places) > 5 else ''} have"
