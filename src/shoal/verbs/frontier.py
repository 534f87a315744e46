"""``shoal.frontier``: the best scheme for every k and every suppression limit."""

from typing import Any

from shoal.models.k_anonymity import KAnonymity
from shoal.progress import Hook, silent
from shoal.release.making import workers
from shoal.search.frontier import LIMITS, SIZES, Frontier
from shoal.search.frontier import frontier as find_frontier
from shoal.verbs.anonymize import case_of
from shoal.verbs.inputs import AnyPolicy


def frontier(  # noqa: PLR0913 - keyword-only options
    data: Any,
    policy: AnyPolicy,
    *,
    sizes: tuple[int, ...] = SIZES,
    limits: tuple[float, ...] = LIMITS,
    most: int | None = None,
    progress: Hook | None = None,
    threads: int | None = None,
) -> Frontier:
    """Find the best scheme for every k and every suppression limit; the other requirements of the policy always hold.

    More than ``most`` schemes are refused (default: more than can be evaluated in some minutes).

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
    ... ''')
    >>> found = shoal.frontier({"age": [31, 34, 71, 78]}, policy, sizes=(2, 3), limits=(0.0,))
    >>> [(point.k, point.scheme) for point in found.points]
    [(2, {'age': 1}), (3, {'age': 2})]
    """
    case = case_of(data, policy)
    others = tuple(model for model in case.models if model.name != KAnonymity.name)
    goal = case.goal(others, case.limit, workers(threads))
    return find_frontier(goal, sizes, limits, progress or silent, most=most)
