"""``shoal.schemes``: the cost and the suppressed persons of every scheme."""

from typing import Any

from shoal.progress import Hook, silent
from shoal.release.making import workers
from shoal.search.schemes import MOST, Schemes
from shoal.search.schemes import schemes as find_schemes
from shoal.verbs.anonymize import case_of
from shoal.verbs.inputs import AnyPolicy


def schemes(
    data: Any,
    policy: AnyPolicy,
    *,
    most: int = MOST,
    progress: Hook | None = None,
    threads: int | None = None,
) -> Schemes:
    """Evaluate every scheme: its cost, and the number of persons it suppresses to meet the requirements.

    More than ``most`` schemes are refused.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
    ... require = [{ model = "k-anonymity", k = 2 }]
    ... ''')
    >>> found = shoal.schemes({"age": [31, 34, 71, 78]}, policy)
    >>> found.suppressed.tolist(), found.scheme(found.best)
    ([4, 0, 0], {'age': 1})
    """
    case = case_of(data, policy)
    goal = case.goal(case.models, case.persons, workers(threads))
    return find_schemes(goal, case.limit, progress or silent, most=most)
