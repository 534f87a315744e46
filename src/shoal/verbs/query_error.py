"""``shoal.query_error``: the error of counts that are estimated from a release."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.analyses.count_queries import NUMBER, QueryError, query_errors
from shoal.errors import RecodingError
from shoal.remedy import Option, by
from shoal.table.column import SUPPRESSED
from shoal.verbs.inputs import AnyPolicy, Inputs, policy_of, tables_of


def query_error(  # noqa: PLR0913 - keyword-only options
    original: Any,
    release: Any,
    policy: AnyPolicy = None,
    *,
    quasi: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    values: Any = None,
    link: str = "bucket",
    number: int = NUMBER,
    seed: int = 0,
) -> QueryError:
    """Estimate random counts from a release, and compare them with the original.

    Each query counts the records with given values of one to three quasi-identifiers and a sensitive column. Releases
    in one and in several tables are comparable: with the same seed, the queries are the same. ``values``: the further
    tables of a release in several tables (default: those that the manifest names), and ``link``: the column with the
    number of the bucket. ``number``: the number of queries.

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
    released = [part.in_memory() for part in tables_of(release, values, suppressed=SUPPRESSED)]
    return query_errors(table, released, link, inputs.hierarchies, number=number, seed=seed)
