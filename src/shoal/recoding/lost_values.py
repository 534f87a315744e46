"""Lost values: categories of the original that no released record has."""

from collections.abc import Collection, Iterator

import numpy as np

from shoal.table.role import Role
from shoal.table.table import Table

_FEW = 20  # maximum number of values of a column whose lost values are worth a note


def on_lost_values(before: Table, after: Table, changed: Collection[str] = ()) -> Iterator[str]:
    """Yield a note on the categories of sensitive and insensitive columns that no released record has.

    ``changed``: columns that show other values, so that those of the original need not occur.

    >>> import shoal
    >>> before = shoal.read({"age": [31, 31, 75], "died": ["no", "no", "yes"]}).assign(quasi="age", sensitive="died")
    >>> list(on_lost_values(before, shoal.read({"age": [31, 31], "died": ["no", "no"]})))
    ['Values that no released record has, because all records with them are suppressed: died (1 of 2).']
    """
    lost = []
    for name in (*before.sensitive, *before.with_role(Role.INSENSITIVE)):
        if name not in after or name in changed or len(before[name].values) > _FEW:
            continue
        original, released = _values(before, name), _values(after, name)
        if released < original:
            lost.append(f"{name} ({original - released} of {original})")
    if lost:
        yield f"Values that no released record has, because all records with them are suppressed: {', '.join(lost)}."


def _values(table: Table, name: str) -> int:
    """Return the number of values that at least one record has."""
    return int(np.count_nonzero(table.counts(name)[: len(table[name].values)]))
