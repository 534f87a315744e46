"""Anonymization: from a table and a policy to a release that was verified."""

import os
from fractions import Fraction
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

from shoal.errors import ModelError, PolicyError, ReleaseError, counted
from shoal.models.k_anonymity import KAnonymity
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress, silent
from shoal.qualities.quality import QUALITIES
from shoal.release.account import facts, internal, notes
from shoal.release.assembly import assembled, cells_of, mapping, original
from shoal.release.case import Case
from shoal.release.cost import measured
from shoal.release.release import Release, verified
from shoal.search.frontier import LIMITS, SIZES, Frontier
from shoal.search.frontier import frontier as find_frontier
from shoal.search.schemes import MOST, Schemes
from shoal.search.schemes import schemes as find_schemes
from shoal.treatments.outliers import OUTLIERS
from shoal.treatments.refinement import refined
from shoal.treatments.treatment import TREATMENTS, Treatment

_MEASURES = ("loss", "nue", "precision", "discernibility", "average-class-size", "suppressed-records")


def anonymize(
    data: Any,
    policy: Policy | str | Path,
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
    case, workers = Case.of(data, policy), _workers(threads)
    treatment = _treatment(case, workers, progress or silent)
    return _made(case, treatment, progress or silent)


def frontier(  # noqa: PLR0913 - keyword-only options
    data: Any,
    policy: Policy | str | Path,
    *,
    sizes: tuple[int, ...] = SIZES,
    limits: tuple[float, ...] = LIMITS,
    most: int | None = None,
    progress: Hook | None = None,
    threads: int | None = None,
) -> Frontier:
    """Find the best scheme for every k and every limit of suppression; the policy's other requirements hold for all.

    More than ``most`` schemes are refused; if nothing is said, what would take more than some minutes.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
    ... ''')
    >>> found = shoal.frontier({"age": [31, 34, 71, 78]}, policy, sizes=(2, 3), limits=(0.0,))
    >>> [(point.k, point.scheme) for point in found.points]
    [(2, {'age': 1}), (3, {'age': 2})]
    """
    case, workers = Case.of(data, policy), _workers(threads)
    others = tuple(model for model in case.models if model.name != KAnonymity.name)
    return find_frontier(case.goal(others, case.limit, workers), sizes, limits, progress or silent, most=most)


def schemes(
    data: Any,
    policy: Policy | str | Path,
    *,
    most: int = MOST,
    progress: Hook | None = None,
    threads: int | None = None,
) -> Schemes:
    """Look at every scheme: what it costs, and how many persons it leaves out to meet what is required.

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
    case = Case.of(data, policy)
    goal = case.goal(case.models, case.persons, _workers(threads))
    return find_schemes(goal, case.limit, progress or silent, most=most)


def _workers(threads: int | None) -> int:
    if threads is not None and threads < 1:
        raise ModelError("At least one thread is needed.")
    return threads or os.cpu_count() or 1


def _treatment(case: Case, threads: int, progress: Hook) -> Treatment:
    """Decide what every record shows."""
    if not case.asked and case.policy.require:
        raise PolicyError(
            "All that the policy requires are rules about single columns, which no search can meet.",
            hint='Follow them, and give a requirement as well: [[require]] model = "k-anonymity", k = 11.',
        )
    if not case.asked:
        raise PolicyError(
            "The policy requires nothing, so anything would do.",
            hint='Give a requirement: [[require]] model = "k-anonymity", k = 11; or a preset.',
        )
    how, goal = case.policy.search, case.goal(case.models, case.limit, threads)
    found = TREATMENTS[how.recoding](goal, how, progress)
    if found.persons > case.limit or found.suppressed.all():
        raise _impossible(case, found.persons, threads, progress)
    finer = refined(goal, found, progress) if how.refine else found
    found = finer if finer.persons <= case.limit else found
    return OUTLIERS[how.outliers](goal, found, how, progress) if found.persons else found


def _impossible(case: Case, left_out: int, threads: int, progress: Hook) -> ReleaseError:
    """Say what can be had instead."""
    everybody = case.persons
    goal = case.goal(case.models, everybody, threads)
    if goal.needed > everybody:
        return ReleaseError(
            f"A class needs {counted(goal.needed, 'person')}, and the table has {everybody:,}.", hint="Ask for fewer."
        )
    fine = None if case.policy.search.recoding == "global" else case.goal(case.models, case.limit, threads).optimum()
    if fine is not None and fine.best is not None:
        return ReleaseError(
            f"This recoding leaves out {counted(left_out, 'person')}, and at most {case.limit:,} may be.",
            hint=f'Use recoding = "global", which leaves out {fine.best.suppressed:,}, or allow more to be left out.',
        )
    fewest = goal.coarsest()
    if fewest == everybody:
        found = goal.optimum(progress).best
        fewest = everybody if found is None else found.suppressed
    if fewest == everybody:
        return ReleaseError(
            f"No scheme meets the requirements, however many of the {everybody:,} persons are left out.",
            hint="Ask for less, or give columns coarser hierarchies.",
        )
    allowed = (
        f"at most {case.policy.search.suppression:.4g} of the persons ({case.limit:,})" if case.limit else "nobody"
    )
    return ReleaseError(
        f"No scheme meets the requirements if {allowed} may be left out.",
        hint=f"With {counted(fewest, 'person')} left out ({fewest / everybody:.2%}) there is one: allow "
        f"suppression = {_enough(fewest, everybody):g}, ask for less, or give columns coarser hierarchies.",
    )


def _enough(some: int, everybody: int) -> float:
    """Return a share that is no less than some of everybody, with few digits.

    >>> _enough(16, 3000), _enough(16, 1_000_000)
    (0.0054, 1.6e-05)
    """
    scale: int = 10 ** max(3, 1 + len(str(everybody // max(some, 1))))
    return ceil(Fraction(scale * some, everybody)) / scale


def _made(case: Case, treatment: Treatment, progress: Hook) -> Release:
    """Write out what a treatment says, verify and measure it."""
    progress(Progress("making the release", 0))
    recoding = treatment.recoding(case.space)
    cells = cells_of(case, treatment, recoding)
    made = assembled(case, treatment, cells)
    before = original(case, treatment.scheme, made)
    progress(Progress("verifying the release", 0))
    found = verified(made.table, before, case.asked)
    sought = case.quality
    asked = {sought.name: sought, **{name: QUALITIES[name]() for name in _MEASURES if name != sought.name}}
    quality = measured(case, treatment, cells, made, asked)
    told = facts(case, treatment, recoding, made, (quality, found))
    return Release(
        table=made.table,
        scheme=treatment.scheme,
        levels=told["records_on_levels"],
        suppressed=treatment.persons,
        suppressed_records=told["suppressed_records"],
        classes=told["classes"],
        quality=quality,
        requirements=found,
        internal=internal(case, treatment, made, before, told),
        facts=told,
        mapping=mapping(case, treatment.scheme, made),
        notes=notes(case, made),
        original=before,
        asked=case.asked,
        policy=case.policy,
        given=case.given,
        drawn=case.drawn,
        key=case.key if case.is_fresh and case.draws else None,
        origins=cache(lambda: case.given_records(made.origins())),
    )
