"""Matching: which released record was which original one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import RecodingError, counted, listed
from shoal.kernels.grouping import group_rows
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind
from shoal.table.scale import doubles, scale
from shoal.table.table import Table

Ints = NDArray[np.int64]
_ROUNDED = 1e-12  # by how much numbers may differ that are the same but for floating point


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


def match(original: Table, release: Table, key: Sequence[str] | None = None) -> Match:
    """Match records by a key; without one by position, unless a column that names all of them says otherwise.

    >>> import shoal
    >>> before, after = shoal.read({"id": [7, 8, 9], "x": list("abc")}), shoal.read({"id": [9, 7], "x": list("**")})
    >>> match(before, after).rows.tolist()
    [1, -1, 0]
    """
    if key is not None:
        return _by_key(original, release, tuple(key))
    if not release.records:
        return Match(np.full(original.records, -1), "with nothing: the release has no records")
    named = _naming(original, release)
    found = [_by_key(original, release, (name,)) for name in named]
    if original.subject in named:
        return found[named.index(str(original.subject))]
    if original.records == release.records:
        return _in_order(original, release, found)
    if found:
        return found[0]
    lost = abs(original.records - release.records)
    more = "fewer" if release.records < original.records else "more"
    return Match(None, f"not at all: the release has {lost:,} records {more}, and no column names them")


def same_values(original: Column, release: Column) -> Ints:
    """Return for each code of a released column the original code with the same value; −1 if there is none.

    Numbers are the same if they are equal, however they are written.

    >>> import shoal
    >>> before, after = shoal.read({"x": [1.0, 2.5]})["x"], shoal.read({"x": ["2.50", "1", "*"]})["x"]
    >>> same_values(before, after).tolist()
    [-1, 0, 1]
    """
    places = np.full(release.size, -1)
    places[: len(release.values)] = _placed(original, release)
    if original.missing_code is not None and release.missing_code is not None:
        places[release.missing_code] = original.missing_code
    if original.suppressed_code is not None and release.suppressed_code is not None:
        places[release.suppressed_code] = original.suppressed_code
    return places


def numbers(texts: pa.Array) -> NDArray[np.float64]:
    """Read texts as numbers; NaN where they are none."""
    plain = pc.match_substring_regex(texts, r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")
    read: NDArray[np.float64] = pc.if_else(plain, texts, None).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return read


def days(texts: pa.Array) -> NDArray[np.float64]:
    """Read texts as days since 1970, where they are whole ISO dates; NaN where they are none."""
    plain = pc.if_else(pc.match_substring_regex(texts, r"^\d{4}-\d{2}-\d{2}$"), texts, None)
    read = pc.strptime(plain, format="%Y-%m-%d", unit="s", error_is_null=True)
    found: NDArray[np.float64] = read.cast(pa.int64()).cast(pa.float64()).to_numpy(zero_copy_only=False) / 86_400
    return found


def _placed(original: Column, release: Column) -> Ints:
    """Look values up as they are written, then as numbers or moments."""
    if {original.kind, release.kind} == {Kind.DATE, Kind.DATETIME}:
        return _same_moments(original, release)
    texts = as_text(release.values)
    places = pc.fill_null(pc.index_in(texts, value_set=as_text(original.values)), -1)
    found: Ints = places.to_numpy(zero_copy_only=False).astype(np.int64)
    if not original.kind.numeric or (found >= 0).all() or original.kind is release.kind is Kind.INTEGER:
        return found
    held = doubles(original.values).to_numpy(zero_copy_only=False)
    sought = numbers(texts)
    after = np.clip(np.searchsorted(held, sought), 0, max(len(held) - 1, 0))
    for at in (after, np.maximum(after - 1, 0)) if len(held) else ():
        same = np.abs(held[at] - sought) <= (0.0 if original.kind is Kind.INTEGER else _ROUNDED * np.abs(sought))
        found = np.where((found < 0) & same & (np.abs(sought) < 2**53), at, found)
    return found


def _same_moments(original: Column, release: Column) -> Ints:
    """Look days up among moments, or moments among days: midnight is the day."""
    ours, theirs = scale(original), scale(release)
    if ours is None or theirs is None or not len(original.values):
        return np.full(len(release.values), -1)
    held, sought = ours[: len(original.values)], theirs[: len(release.values)]
    at = np.clip(np.searchsorted(held, sought), 0, len(held) - 1)
    return np.where(held[at] == sought, at, -1)


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


def _in_order(original: Table, release: Table, found: Sequence[Match]) -> Match:
    """Match by position, unless a column says otherwise and the other columns do not say that it is wrong."""
    if not _same_subjects(original, release):
        return Match(None, "not at all: rows are of other subjects than in the original, and no column names them")
    place = Match(np.arange(original.records), "by position, row by row")
    for one in found:
        moved = one.rows is not None and not np.array_equal(one.rows, place.rows)  # type: ignore[arg-type]
        if moved and _agreement(original, release, one, one.key) >= _agreement(original, release, place, one.key):
            return one
    return place


def _agreement(original: Table, release: Table, match: Match, key: Sequence[str]) -> float:
    """Return the share of cells outside of a key that show just what they were, if records are matched so."""
    names = [name for name in original.names if name in release and name not in key]
    there = np.zeros(0, bool) if match.rows is None else match.rows >= 0
    if match.rows is None or not names or not there.any():
        return 0.0
    shares = [
        (_translated(original[name], release, name)[match.rows[there]] == original.codes(name)[there]).mean()
        for name in names
    ]
    return float(np.mean(shares))


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
    found = rows[mine]
    added = release.records - int(np.count_nonzero(found >= 0))
    return Match(found, f"by {listed(key)}", key, added)


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
