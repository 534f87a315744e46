"""Matching: which released record was which original one.

Whatever compares two tables asks here. Records are matched by a key or by a column that names all of them, by what they
show, and last by position. Where what they show denies that, they are not matched at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import RecodingError, counted, listed
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.grouping import group_rows
from shoal.recoding.content import MOST, Content
from shoal.recoding.nodes import Floats, Ints
from shoal.recoding.values import same_values
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.scale import scale
from shoal.table.table import Table

_TELLING = 0.9  # a column in which more cells than this fit anybody does not tell records apart
_FEW = 10  # records that are too few to tell chance from order
_SURE = 3  # standard deviations that are no chance


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """``rows[i]``: the released record that original record i has become; −1 if there is none.

    None: it is not known. ``how``: in words. ``key``: the columns that told. ``added``: how many released records are
    of nobody in the original.
    """

    rows: Ints | None
    how: str
    key: tuple[str, ...] = ()
    added: int = 0

    @classmethod
    def of(cls, rows: NDArray[np.integer], release: Table, how: str, key: tuple[str, ...] = ()) -> "Match":
        """Count the released records that are of nobody."""
        return cls(rows.astype(np.int64), how, key, release.records - int(np.count_nonzero(rows >= 0)))


def match(
    original: Table,
    release: Table,
    key: Sequence[str] | None = None,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    in_order: bool = False,
) -> Match:
    """Match records by a key; without one by a column that names all of them, by what they show, last by position.

    ``hierarchies``: how labels are to be read. ``in_order``: the release has the order of the original.

    >>> import shoal
    >>> before, after = shoal.read({"id": [7, 8, 9], "x": list("abc")}), shoal.read({"id": [9, 7], "x": list("**")})
    >>> match(before, after).rows.tolist()
    [1, -1, 0]
    >>> before, after = shoal.read({"x": [31, 34, 71], "y": list("abc")}), shoal.read({"x": [71, 31], "y": ["c", "*"]})
    >>> match(before, after).rows.tolist()
    [1, -1, 0]
    """
    if key is not None:
        return _by_key(original, release, tuple(key))
    if in_order:
        return _in_order(original, release)
    if not release.records:
        return Match(np.full(original.records, -1), "with nothing: the release has no records")
    named = [_by_key(original, release, (name,)) for name in _naming(original, release)]
    for found in named:
        if original.subject in found.key:
            return found
    return _by_content(Content.of(original, release, hierarchies or {}), named)


def _in_order(original: Table, release: Table) -> Match:
    if original.records != release.records:
        raise RecodingError(
            f"The release has {counted(release.records, 'record')} and the original {original.records:,}, so it cannot "
            "be in its order.",
            hint="Give a key that names the records, or neither: then they are matched by what they show.",
        )
    return Match(np.arange(original.records), "by position, row by row")


def _by_content(content: Content, named: Sequence[Match]) -> Match:
    """Take the first way in which what records show fits, be it any order; else a name or the position, if credible."""
    place = _position(content)
    for found in (*place, *named):
        if _fits(content, found):
            return found
    if place and _is_in_order(content, place[0]):
        return place[0]
    matched = content.matched()
    if matched is not None:
        return Match.of(matched, content.release, "by what they show")
    for found in (*_moved(content, named, place), *place):
        if _is_credible(content, found):
            return found
    return Match(None, f"not at all: {_why_not(content.original, content.release)}")


def _position(content: Content) -> list[Match]:
    """Return the match by position, if there may be one."""
    original, release = content.original, content.release
    same = original.records == release.records and _same_subjects(original, release)
    return [Match(np.arange(original.records), "by position, row by row")] if same else []


def _moved(content: Content, named: Sequence[Match], place: Sequence[Match]) -> list[Match]:
    """Return matches by names that fit no worse than by position, where they are not the same."""
    if not place:
        return list(named)
    fit = _mean_fit(content, place[0])
    moved = [found for found in named if not np.array_equal(_rows(found), _rows(place[0]))]
    return [found for found in moved if _mean_fit(content, found) >= fit]


def _rows(match: Match) -> Ints:
    return np.zeros(0, np.int64) if match.rows is None else match.rows


def _fit(content: Content, match: Match) -> dict[str, float]:
    """Return how well the columns fit that did not tell themselves which record is which."""
    return {name: share for name, share in content.fits(_rows(match)).items() if name not in match.key}


def _mean_fit(content: Content, match: Match) -> float:
    return float(np.mean(list(_fit(content, match).values()) or [0.0]))


def _fits(content: Content, match: Match) -> bool:
    """Tell whether what records show can be true of those that they are matched with, but for a few."""
    return all(share >= MOST for share in _fit(content, match).values())


def _is_in_order(content: Content, match: Match) -> bool:
    """Tell whether all columns that tell records apart fit far better than by chance: only few values were changed.

    Then another order in which more would fit means nothing: where there are few values, there is always one.
    """
    fits, telling = _telling(content, match)
    return bool(telling) and all(fits[name] >= (1 + telling[name]) / 2 for name in telling)


def _telling(content: Content, match: Match) -> tuple[dict[str, float], dict[str, float]]:
    """Return how well columns fit, and by chance would, those that tell records apart."""
    fits = _fit(content, match)
    chance = {name: content.by_chance(name) for name in fits}
    return fits, {name: share for name, share in chance.items() if share <= _TELLING}


def _is_credible(content: Content, match: Match) -> bool:
    """Tell whether records may be matched so, though many show what they did not have.

    That most of the columns that tell records apart fit says so. Values that all are still there, but with other
    records, deny it; otherwise most columns must have more to do with what records had than by chance.
    """
    fits, telling = _telling(content, match)
    if not telling or content.release.records < _FEW:
        return True
    if 2 * sum(fits[name] == 1 for name in telling) > len(telling):
        return True
    if any(fits[name] < 1 and _is_carried_over(content, name) for name in telling):
        return False
    related = [name for name in telling if _is_related(content, match, name, fits[name], telling[name])]
    return 2 * len(related) > len(telling)


def _is_carried_over(content: Content, name: str) -> bool:
    """Tell whether a column has the same values as before, and each as often."""
    cells = content.cells[name]
    if (cells.sizes[cells.nodes[cells.codes]] > 1).any():
        return False
    shown = np.bincount(cells.members[cells.starts[cells.nodes[cells.codes]]], minlength=cells.column.size)
    return np.array_equal(shown, np.bincount(content.values[name], minlength=cells.column.size))


def _is_related(content: Content, match: Match, name: str, fit: float, chance: float) -> bool:
    """Tell whether a column has more to do with what records had than by chance: cells that fit, or numbers near."""
    there = np.flatnonzero(_rows(match) >= 0)
    if fit - chance > _SURE * np.sqrt(chance * (1 - chance) / max(len(there), 1)):
        return True
    before, after = (_numbers(table, name) for table in (content.original, content.release))
    if before is None or after is None:
        return False
    pairs = np.stack([before[there], after[_rows(match)[there]]])
    pairs = pairs[:, np.isfinite(pairs).all(axis=0)]
    if pairs.shape[1] < _FEW or (np.ptp(pairs, axis=1) == 0).any():
        return False
    return bool(np.abs(np.asarray(np.corrcoef(pairs)))[0, 1] > _SURE / np.sqrt(pairs.shape[1]))


def _numbers(table: Table, name: str) -> Floats | None:
    places = scale(table[name])
    return None if places is None else np.asarray(places[table.codes(name)], np.float64)


def _why_not(original: Table, release: Table) -> str:
    if original.records != release.records:
        lost = abs(original.records - release.records)
        more = "fewer" if release.records < original.records else "more"
        return f"the release has {lost:,} records {more}, no column names them, and what they show does not tell"
    return "what the rows show does not fit the original's, in its order or in any other"


def _naming(original: Table, release: Table) -> list[str]:
    """Return the columns that name every record in both tables: whole numbers or texts, and no facts about people."""

    def names_all(table: Table, name: str) -> bool:
        return 0 < table.records == len(table[name].values) == table[name].size

    both = [name for name in original.names if name in release]
    named = [
        name
        for name in (both if len(both) > 1 else ())
        if names_all(original, name) and names_all(release, name)
        if (same_values(original[name], release[name]) >= 0).all()
    ]
    fitting = [name for name in named if original[name].kind in {Kind.INTEGER, Kind.TEXT}]
    return [name for name in fitting if name not in {*original.quasi, *original.sensitive}]


def _same_subjects(original: Table, release: Table) -> bool:
    """Tell whether rows are of the same persons in both tables; or of persons with other names, or it is not known."""
    subject = original.subject
    if subject is None or subject not in release or (same_values(original[subject], release[subject]) < 0).any():
        return True
    return bool((_translated(original[subject], release, subject) == original.codes(subject)).all())


def _by_key(original: Table, release: Table, key: tuple[str, ...]) -> Match:
    if not key:
        raise RecodingError("The key is empty.", hint="Name the columns that tell which record is which.")
    for table, what in ((original, "original"), (release, "release")):
        for name in key:
            if name not in table:
                raise RecodingError(f"The {what} has no column '{name}', which is to be the key.")
    sizes = [original[name].size + 1 for name in key]
    ours = [original.codes(name).astype(np.uint32) for name in key]
    theirs = [_translated(original[name], release, name) for name in key]
    both = [np.concatenate(parts) for parts in zip(ours, theirs, strict=True)]
    groups = group_rows(both, sizes, original.records + release.records)
    mine, its = groups.ids[: original.records], groups.ids[original.records :]
    strange = np.any([codes == size - 1 for codes, size in zip(theirs, sizes, strict=True)], axis=0)
    whole = np.all([codes < len(original[name].values) for codes, name in zip(ours, key, strict=True)], axis=0)
    _check_once(mine[whole], key, "original")
    _check_once(its[~strange], key, "release")
    rows = np.full(len(groups), -1)
    rows[its[~strange]] = np.flatnonzero(~strange)
    return Match.of(rows[mine], release, f"by {listed(key)}", key)


def _translated(column: Column, release: Table, name: str) -> NDArray[np.uint32]:
    """Return the codes of a released column as codes of the original; what is not there, or missing, gets one more."""
    places = same_values(column, release[name])
    places[len(release[name].values) :] = -1
    return np.where(places < 0, column.size, places).astype(np.uint32)[release.codes(name)]


def _check_once(ids: NDArray[np.uint32], key: tuple[str, ...], what: str) -> None:
    twice = len(ids) - len(np.unique(ids))
    if twice:
        raise RecodingError(
            f"The key {listed(key)} does not name the records of the {what}: {counted(twice, 'record')} share theirs "
            "with another.",
            hint="Name more columns, so that together they tell which record is which.",
        )
