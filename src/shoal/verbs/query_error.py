"""``shoal.query_error``: the error of counts that are estimated from a release."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.analyses.count_queries import NUMBER, QueryError, query_errors
from shoal.errors import RecodingError
from shoal.remedy import Option, by, either
from shoal.table.column import SUPPRESSED
from shoal.table.table import Table
from shoal.verbs.inputs import AnyPolicy, Inputs, ReleasedTables, policy_of


def query_error(  # noqa: PLR0913 - keyword-only options
    original: Any,
    release: Any,
    policy: AnyPolicy = None,
    *,
    quasi: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    values: Any = None,
    link: str | None = None,
    number: int = NUMBER,
    seed: int = 0,
) -> QueryError:
    """Estimate random counts from a release, and compare them with the original.

    Each query counts the records with given values of one to three quasi-identifiers and a sensitive column. Releases
    in one and in several tables are comparable: with the same seed, the queries are the same. ``values``: the further
    tables of a release in several tables (default: those that the manifest names), and ``link``: the column with the
    number of the bucket (default: as the manifest states, or ``bucket``). ``number``: the number of queries.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "flu"]}
    >>> coarse = {"age": ["30-39", "30-39", "70-79", "70-79"], "dx": ["flu", "ms", "flu", "flu"]}
    >>> shoal.query_error(data, coarse, quasi=["age"], sensitive=["dx"]).to_dict()["queries"]
    200
    """
    if number < 1:
        raise RecodingError("no-queries", "At least one query is required.")
    inputs = Inputs.of(
        original,
        policy_of(policy, release),
        quasi=quasi,
        sensitive=sensitive,
        hierarchies=hierarchies,
        suppressed=SUPPRESSED,
    )
    table = inputs.table.in_memory()
    if not table.quasi:
        raise RecodingError(
            "no-quasi-identifier",
            "No quasi-identifiers are named, which queries could use.",
            remedy=by("Name them", Option("quasi")),
        )
    released = ReleasedTables.of(release, values, link)
    _check(table, released)
    return query_errors(table, released.tables, released.link, inputs.hierarchies, number=number, seed=seed)


def _check(original: Table, released: ReleasedTables) -> None:
    """Refuse columns that the release does not have, and tables that are not those of one release."""
    for name in (*original.quasi, *original.sensitive):
        if not any(name in table for table in released.tables):
            raise RecodingError(
                "column-not-released",
                "Column '{column}' is in no table of the release.",
                remedy=either(
                    by("Name the further tables", Option("values")), by("name released columns only", Option("quasi"))
                ),
                column=name,
            )
    first, *others = released.tables
    for table in others:
        if released.link not in first or released.link not in table:
            raise RecodingError(
                "no-bucket-column",
                "The tables of the release are linked by column '{column}', which one of them lacks.",
                remedy=by("Name the column with the number of the bucket", Option("link")),
                column=released.link,
            )
