"""``shoal.anonymize``: the best release of a table that meets a policy."""

from typing import Any

from shoal.progress import Hook, silent
from shoal.release.case import Case
from shoal.release.making import released
from shoal.release.release import Release
from shoal.verbs.inputs import AnyPolicy, policy_of, table_of


def anonymize(
    data: Any,
    policy: AnyPolicy,
    *,
    progress: Hook | None = None,
    threads: int | None = None,
) -> Release:
    """Find the best release of a table that meets a policy, make it, and verify it.

    ``data``: a table, a frame or a file. The scheme is the best of all by the measure that the policy names; at most
    the share of persons that it allows is left out.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
    ... columns.dx = { role = "sensitive" }
    ... require = [{ model = "k-anonymity", k = 2 }]
    ... search = { suppression = 0 }
    ... ''')
    >>> release = shoal.anonymize({"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "gout"]}, policy)
    >>> release.scheme, release.suppressed, release.verified
    ({'age': 1}, 0, True)
    >>> release.to_frame("pyarrow").to_pydict()
    {'age': ['30-39', '30-39', '70-79', '70-79'], 'dx': ['flu', 'ms', 'flu', 'gout']}
    """
    return released(case_of(data, policy), threads, progress or silent)


def case_of(data: Any, policy: AnyPolicy) -> Case:
    """Return a table and its policy as a case for a search."""
    chosen = policy_of(policy)
    return Case.of(table_of(data, chosen), chosen)
