"""Matching of released records with original records.

Records are matched by a key if one is given. Without one, they are matched by an identifier column, by position or by
content. Such a match must agree with the content of the records, unless the identifier column is the subject. A match
by position that was asked for is marked as doubtful if the content contradicts it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.errors import RecodingError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.grouping import group_rows
from shoal.recoding.content import MOST, Content
from shoal.recoding.nodes import Floats, Ints
from shoal.recoding.values import same_values
from shoal.remedy import Option, either
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.scale import scale
from shoal.table.table import Table
from shoal.words import listed

_TELLING = 0.9  # a column is uninformative if a larger share of its cells fits a random record
_FEW = 10  # with fewer records, a test against chance has no power
_SURE = 3  # standard deviations above chance


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Match between original and released records.

    ``rows[i]``: the released record of original record i, −1 if there is none; None if records cannot be matched.
    ``how``: the method, or the reason why records cannot be matched. ``key``: the columns that identify records.
    ``added``: the number of released records without an original. ``drawn``: the sampled records of the original, if
    the release is known to be a sample. ``recorded``: whether the match was recorded when the release was made.
    ``doubtful``: whether the content of the records contradicts the requested match.
    """

    rows: Ints | None
    how: str
    key: tuple[str, ...] = ()
    added: int = 0
    drawn: NDArray[np.integer] | None = None
    recorded: bool = False
    doubtful: bool = False

    @classmethod
    def of(
        cls,
        rows: NDArray[np.integer],
        release: Table,
        how: str,
        *,
        key: tuple[str, ...] = (),
        drawn: NDArray[np.integer] | None = None,
    ) -> "Match":
        """Create a match, and count the released records without an original."""
        return cls(rows.astype(np.int64), how, key, release.records - int(np.count_nonzero(rows >= 0)), drawn)

    @property
    def sentence(self) -> str:
        """The method of matching, or the reason why records could not be matched, as a sentence."""
        if self.rows is None:
            reason = f"Records could not be matched: {self.how}."
            return (
                f"{reason} Measures that need the match are omitted; the others are computed from released labels, "
                "where a representative value such as a median counts as an exact value."
            )
        if self.doubtful:
            return f"Records are matched {self.how}, which their content contradicts: the figures may be wrong."
        return f"Records are matched {self.how}."


def match(
    original: Table,
    release: Table,
    key: Sequence[str] | None = None,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    in_order: bool = False,
) -> Match:
    """Match records by a key; without one, by an identifier column, by position or by content.

    ``hierarchies``: determine the values that a released label covers. ``in_order``: match by position.

    >>> import shoal
    >>> before, after = shoal.read({"id": [7, 8, 9], "x": list("abc")}), shoal.read({"id": [9, 7], "x": list("**")})
    >>> match(before, after).rows.tolist()
    [1, -1, 0]
    >>> before, after = shoal.read({"x": [31, 34, 71], "y": list("abc")}), shoal.read({"x": [71, 31], "y": ["c", "*"]})
    >>> match(before, after).rows.tolist()
    [1, -1, 0]
    """
    if key is not None:
        return _checked(_by_key(original, release, tuple(key)), release)
    if in_order:
        position = _in_order(original, release)
        credible = _is_credible(Content.of(original, release, hierarchies or {}), position)
        return replace(position, doubtful=not credible)
    if not release.records:
        return Match(np.full(original.records, -1), "with no record, because the release is empty")
    named = [_by_key(original, release, (name,)) for name in _naming(original, release)]
    for candidate in named:
        if original.subject in candidate.key:
            return candidate
    return _by_content(Content.of(original, release, hierarchies or {}), named)


def _checked(match: Match, release: Table) -> Match:
    """Refuse a key that matches no record, such as one of pseudonyms."""
    if release.records and not (_rows(match) >= 0).any():
        raise RecodingError(
            "key-matches-nothing",
            "No released record has a key ({key:listed}) of the original.",
            remedy="The key may contain pseudonyms. Name another key, or omit the key to match records by content.",
            key=match.key,
        )
    return match


def _in_order(original: Table, release: Table) -> Match:
    if original.records != release.records:
        raise RecodingError(
            "different-numbers",
            "Records cannot be matched by position: the release has {records:record} and the original {all:,}.",
            remedy=either(Option("key"), "match the records by content instead"),
            records=release.records,
            all=original.records,
        )
    return Match(np.arange(original.records), "by position")


def _by_content(content: Content, named: Sequence[Match]) -> Match:
    """Return the first match that the content of the records supports: by position, identifier or content."""
    place = _position(content)
    for candidate in (*place, *named):
        if _fits(content, candidate):
            return candidate
    if place and _is_in_order(content, place[0]):
        return place[0]
    matched = content.matched()
    if matched is not None:
        return Match.of(matched, content.release, "by content")
    for candidate in (*_moved(content, named, place), *place):
        if _is_credible(content, candidate):
            return candidate
    return Match(None, _why_not(content.original, content.release))


def _position(content: Content) -> list[Match]:
    """Return the match by position, if the tables have the same number of records and no contradicting subjects."""
    original, release = content.original, content.release
    same = original.records == release.records and _same_subjects(original, release)
    return [Match(np.arange(original.records), "by position")] if same else []


def _moved(content: Content, named: Sequence[Match], place: Sequence[Match]) -> list[Match]:
    """Return the matches by identifier that differ from the match by position and fit the content at least as well."""
    if not place:
        return list(named)
    fit = _mean_fit(content, place[0])
    moved = [candidate for candidate in named if not np.array_equal(_rows(candidate), _rows(place[0]))]
    return [candidate for candidate in moved if _mean_fit(content, candidate) >= fit]


def _rows(match: Match) -> Ints:
    return np.zeros(0, np.int64) if match.rows is None else match.rows


def _fit(content: Content, match: Match) -> dict[str, float]:
    """Return the share of fitting cells of each column outside the key."""
    return {name: share for name, share in content.fits(_rows(match)).items() if name not in match.key}


def _mean_fit(content: Content, match: Match) -> float:
    return float(np.mean(list(_fit(content, match).values()) or [0.0]))


def _fits(content: Content, match: Match) -> bool:
    """Return whether at least 99 % of the cells of every column fit the matched records."""
    return all(share >= MOST for share in _fit(content, match).values())


def _is_in_order(content: Content, match: Match) -> bool:
    """Return whether all informative columns fit far better than by chance, so that few values were changed.

    A match by content is not attempted then: with few distinct values, some other order always fits better.
    """
    fits, telling = _telling(content, match)
    return bool(telling) and all(fits[name] >= (1 + telling[name]) / 2 for name in telling)


def _telling(content: Content, match: Match) -> tuple[dict[str, float], dict[str, float]]:
    """Return the share of fitting cells of each column, and the share expected by chance of each informative column."""
    fits = _fit(content, match)
    chance = {name: content.by_chance(name) for name in fits}
    return fits, {name: share for name, share in chance.items() if share <= _TELLING}


def _is_credible(content: Content, match: Match) -> bool:
    """Return whether a match is credible although many values were changed.

    A match is credible without informative columns, with few records, or if most informative columns fit completely. It
    is not credible if a column has the same values as before in another order. Otherwise most informative columns must
    be associated with the original values beyond chance.
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
    """Return whether a column has the same values with the same frequencies as the original."""
    cells = content.cells[name]
    if (cells.sizes[cells.nodes[cells.codes]] > 1).any():
        return False
    shown = np.bincount(cells.members[cells.starts[cells.nodes[cells.codes]]], minlength=cells.column.size)
    return np.array_equal(shown, np.bincount(content.values[name], minlength=cells.column.size))


def _is_related(content: Content, match: Match, name: str, fit: float, chance: float) -> bool:
    """Return whether a column is associated with the original beyond chance: fitting cells, or correlated numbers."""
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
        rows = f"the release has {lost:,} {more} rows"
        return f"{rows}, the tables share no identifier, and the records cannot be matched by content"
    return "the content of the release does not fit the original in any order"


def _naming(original: Table, release: Table) -> list[str]:
    """Return the identifier columns of both tables.

    These are integers or texts that are distinct in every record and are neither quasi-identifiers nor sensitive. All
    released values must occur in the original.
    """

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
    """Return whether the subjects agree row by row; True if the release shows no subjects, or pseudonyms."""
    subject = original.subject
    if subject is None or subject not in release or (same_values(original[subject], release[subject]) < 0).any():
        return True
    return bool((_translated(original[subject], release, subject) == original.codes(subject)).all())


def _by_key(original: Table, release: Table, key: tuple[str, ...]) -> Match:
    if not key:
        raise RecodingError("empty-key", "The key is empty.", remedy="Name the columns that identify a record.")
    for table, what in ((original, "original"), (release, "release")):
        for name in key:
            if name not in table:
                raise RecodingError(
                    "key-without-column",
                    "The {table} has no column '{column}', which the key names.",
                    table=what,
                    column=name,
                )
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
    return Match.of(rows[mine], release, f"by {listed(key)}", key=key)


def _translated(column: Column, release: Table, name: str) -> NDArray[np.uint32]:
    """Return the codes of a released column as codes of the original; unknown and missing values get the next code."""
    places = same_values(column, release[name])
    places[len(release[name].values) :] = -1
    return np.where(places < 0, column.size, places).astype(np.uint32)[release.codes(name)]


def _check_once(ids: NDArray[np.uint32], key: tuple[str, ...], what: str) -> None:
    twice = int(np.count_nonzero(np.bincount(ids)[ids] > 1)) if len(ids) else 0
    if twice:
        raise RecodingError(
            "key-not-unique",
            "The key {key:listed} does not identify the records of the {table}: {records:record} share their key "
            "with another.",
            remedy="Name more columns, which together identify a record.",
            key=key,
            table=what,
            records=twice,
        )
