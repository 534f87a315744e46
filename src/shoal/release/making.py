"""Making of a release: search, transformation and verification of a case."""

import os
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ModelError, PolicyError, ReleaseError
from shoal.models.model import least_size
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress
from shoal.qualities.quality import QUALITIES, Quality
from shoal.release.account import facts, internal, notes
from shoal.release.assembly import assembled, mapping, original
from shoal.release.case import Case
from shoal.release.cost import measured
from shoal.release.dependence import dependent_labels
from shoal.release.derivable import check_accepted, check_derivable
from shoal.release.imitation_check import check_imitable
from shoal.release.part import ReleasePart
from shoal.release.perturbed import perturbed
from shoal.release.promise import Promise
from shoal.release.release import Release
from shoal.release.separated import check_identities, separated
from shoal.release.soundness import check_sound
from shoal.release.transformation import Transformation
from shoal.release.transformed import Transformed
from shoal.release.verification import verified
from shoal.remedy import Setting, either
from shoal.search.goal import Goal
from shoal.techniques.refinement import cheapest, refined
from shoal.techniques.technique import Allows, Gives, Technique, gentlest, giving
from shoal.techniques.treatment import Treatment
from shoal.words import share

_FRESH_KEY = (
    "Random numbers come from a new key: another run gives another release. A key in the section draw of the policy "
    "makes it repeatable."
)
_GROWTH = 1.25  # of the class size until requirements on sensitive values are met
NAME = "release"  # name of a single table
_MEASURES = ("loss", "nue", "precision", "discernibility", "average-class-size", "suppressed-records")


def released(case: Case, threads: int | None, progress: Hook) -> Release:
    """Search for the best release of a case, create it and verify it."""
    if not case.table.quasi:
        return _unsearched(case, progress)
    case = case.searchable()
    if case.met_by_size:
        return _of_sufficient_size(case, workers(threads), progress)
    try:
        return _attempt(case, workers(threads), progress)
    except ReleaseError as error:
        if error.code != "requirement-not-met" or Gives.SCHEME in case.policy.search.technique.gives:
            raise
        return _attempt(case.by_schemes(), workers(threads), progress)


def _of_sufficient_size(case: Case, threads: int, progress: Hook) -> Release:
    """Return the release with the smallest minimum class size that meets the requirements on sensitive values.

    Which records are generalised and suppressed is a function of the quasi-identifiers and this one number.
    """
    size = least_size(model for _, _, model in case.asked)
    size = max([size, *(ceil(model.distinct) for model in case.met_by_size)])
    while size <= case.persons:
        progress(Progress(f"classes of at least {size:,}", 0))
        try:
            return _attempt(case.with_size(size), threads, progress)
        except ReleaseError as error:
            if error.code != "requirement-not-met":
                break
        size = max(ceil(size * _GROWTH), size + 1)
    raise ReleaseError(
        "no-sufficient-size",
        "No class size meets the requirements on sensitive values if classes are formed from quasi-identifiers alone.",
        remedy=either(
            "Allow more suppression",
            "reduce the requirements",
            Setting("search.independent", False),
        ),
    )


def _attempt(case: Case, threads: int, progress: Hook) -> Release:
    check_identities(case)
    check_accepted(case)
    check_imitable(case)
    searched = Transformation.of(case, treatment_of(case, threads, progress))
    changed = perturbed(case.table, case.policy, case.key, searched)
    decided = separated(case, changed, progress)
    check_derivable(case, decided)
    return _made(case, decided, progress)


def _unsearched(case: Case, progress: Hook) -> Release:
    """Return the release of a table whose quasi-identifiers are all perturbed, so that there is nothing to search."""
    if case.asked:
        raise PolicyError(
            "all-perturbed",
            "The values of all quasi-identifiers are drawn at random, so requirements on classes cannot be evaluated.",
            remedy="Keep only requirements on attacks, or perturb fewer columns.",
        )
    if case.policy.search.publish is not None:
        raise PolicyError(
            "all-perturbed",
            "All quasi-identifiers are drawn at random, so the release cannot be divided into two tables.",
            remedy=Setting("search.publish", "table"),
        )
    unchanged = Transformation.unchanged(case.table.distinct([]))
    return _made(case, perturbed(case.table, case.policy, case.key, unchanged), progress)


def workers(threads: int | None) -> int:
    """Return the number of threads: the given number, or one per core."""
    if threads is not None and threads < 1:
        raise ModelError("no-threads", "At least one thread is required.")
    return threads or os.cpu_count() or 1


def treatment_of(case: Case, threads: int, progress: Hook) -> Treatment:
    """Determine the treatment of all records."""
    form = case.policy.search.publish
    if not case.asked and not case.policy.attack_limits and not (form and form.protects):
        raise _nothing_asked(case.policy)
    how, goal = case.policy.search, case.goal(case.models, case.limit, threads)
    _check_several(how.technique, goal)
    treatment = how.technique.treat(goal, progress)
    if not isinstance(treatment, Treatment):
        raise ReleaseError(
            "unsound-technique",
            "The technique '{technique}' returns no treatment. Nothing is released.",
            technique=how.technique.kind,
        )
    if treatment.persons > case.limit or treatment.suppressed.all():
        raise _impossible(case, treatment.persons, threads, progress)
    if how.refine:
        treatment = cheapest(goal, refined(goal, treatment, progress), treatment) or treatment
    treatment = how.way.deal(goal, treatment, progress) if treatment.persons else treatment
    check_sound(case, treatment)
    return treatment


def _check_several(technique: Technique, goal: Goal) -> None:
    """Refuse a technique that requires one record per individual, if individuals have several different ones."""
    if Allows.SEVERAL not in technique.allows and goal.evidence.classes.overlap:
        raise ModelError(
            "several-records",
            "Some individuals have several records with different values. This technique requires one per individual.",
            remedy=either(Setting("search.recoding", gentlest().kind), "reduce the table to one record per individual"),
        )


def _nothing_asked(policy: Policy) -> PolicyError:
    """Return the error for a policy without a requirement that a transformation can meet."""
    if policy.require:
        return PolicyError(
            "only-rules",
            "The policy contains only a checklist, which no transformation can meet.",
            remedy=Setting("require", [{"model": "k-anonymity", "k": 11}]),
        )
    return PolicyError(
        "no-requirement",
        "The policy has no privacy requirement.",
        remedy=Setting("require", [{"model": "k-anonymity", "k": 11}]),
    )


def _impossible(case: Case, suppressed: int, threads: int, progress: Hook) -> ReleaseError:
    """Return the error for a goal that cannot be reached; it names the nearest goal that can."""
    goal = case.goal(case.models, case.persons, threads)
    if goal.needed > case.persons:
        return ReleaseError(
            "too-few-individuals",
            "A class requires {needed:individual}, and the table has {persons:,}.",
            remedy="Reduce the requirement.",
            needed=goal.needed,
            persons=case.persons,
        )
    return _other_technique(case, suppressed, threads) or _more_suppression(case, goal, progress)


def _other_technique(case: Case, suppressed: int, threads: int) -> ReleaseError | None:
    """Return the error that proposes global recoding, if this suppresses few enough individuals."""
    if Gives.SCHEME in case.policy.search.technique.gives:
        return None
    best = case.goal(case.models, case.limit, threads).optimum().best
    if best is None:
        return None
    return ReleaseError(
        "too-much-suppression",
        "This technique suppresses {suppressed:individual}, and at most {limit:,} are allowed. The best "
        "scheme for all records suppresses {fewer:,}.",
        remedy=either(Setting("search.recoding", giving(Gives.SCHEME)[0].called()), "allow more suppression"),
        suppressed=suppressed,
        limit=case.limit,
        fewer=best.suppressed,
    )


def _more_suppression(case: Case, goal: Goal, progress: Hook) -> ReleaseError:
    """Return the error that states the smallest sufficient suppression, if there is one."""
    fewest = goal.coarsest()
    if fewest == case.persons:
        best = goal.optimum(progress).best
        fewest = case.persons if best is None else best.suppressed
    if fewest == case.persons:
        return ReleaseError(
            "impossible",
            "No generalisation scheme meets the requirements, even if all {persons:,} individuals may be suppressed.",
            remedy="Reduce the requirements, or add higher levels to the hierarchies.",
            persons=case.persons,
        )
    some = f"at most {share(case.policy.search.suppression)} of the individuals ({case.limit:,})"
    return ReleaseError(
        "too-little-suppression",
        "No generalisation scheme meets the requirements if {allowed} may be suppressed.",
        remedy=[
            "With {fewest:individual} suppressed ({part:share}), one does.",
            either(
                Setting("search.suppression", _enough(fewest, case.persons)),
                "reduce the requirements",
                "add higher levels to the hierarchies",
            ),
        ],
        allowed=some if case.limit else "no individual",
        fewest=fewest,
        part=fewest / case.persons,
    )


def _enough(some: int, everybody: int) -> float:
    """Return ``some / everybody``, rounded up to few digits.

    >>> _enough(16, 3000), _enough(16, 1_000_000)
    (0.0054, 1.6e-05)
    """
    scale: int = 10 ** max(3, 1 + len(str(everybody // max(some, 1))))
    return ceil(Fraction(scale * some, everybody)) / scale


def _made(case: Case, transformation: Transformation, progress: Hook) -> Release:
    """Apply a transformation, then verify and measure the result."""
    progress(Progress("making the release", 0))
    dependent = dependent_labels(case, transformation)
    released = assembled(case, transformation)
    promise = _promise(case, transformation, released)
    progress(Progress("verifying the release", 0))
    judgements = verified({NAME: promise}, case.policy)[NAME]
    quality = measured(case, transformation, released, _measures(case)) if case.table.quasi else {}
    account = facts(case, transformation, released, quality, judgements)
    is_drawn_anew = case.is_fresh and (case.draws or transformation.draws)
    part = ReleasePart(
        promise=promise,
        given=case.given,
        policy=case.policy,
        transformation=transformation,
        origins=_origins_of(case, released.origins_of[""]),
        whole_origins=_origins_of(case, released.origins),
        further_origins={part: _origins_of(case, origins) for part, origins in released.origins_of.items() if part},
        left_out={name: why for name, why in released.left_out.items() if name in case.given},
        classes=account["classes"],
        quality=quality,
        requirements=judgements,
        facts=account,
        internal=internal(case, transformation, released, promise.original, account),
        mapping=mapping(case, transformation.scheme, released),
        notes=(*notes(case, transformation, released, dependent), *([_FRESH_KEY] if is_drawn_anew else [])),
        drawn=case.drawn,
        key=case.key if is_drawn_anew else None,
    )
    return Release({NAME: part}, case.policy)


def _origins_of(case: Case, origins: Callable[[], NDArray[np.intp]]) -> Callable[[], NDArray[np.intp]]:
    """Return a function of the original record of each record of a released table."""
    return cache(lambda: case.given_records(origins()))


def _promise(case: Case, transformation: Transformation, released: Transformed) -> Promise:
    """Return the promise against which the written tables are verified."""
    pseudonyms = [] if case.policy.pseudonyms is None else case.policy.pseudonyms.columns
    return Promise(
        tables={f"{NAME}.{part}" if part else NAME: table for part, table in released.tables.items()},
        whole=released.table,
        asked=(*case.asked, *case.asked_of_sizes),
        original=original(case, transformation.scheme, released),
        link=released.link,
        form=case.policy.search.publish,
        pseudonyms=tuple(pseudonyms),
    )


def _measures(case: Case) -> dict[str, Quality]:
    """Return the quality measure of the search, and the measures that every release reports."""
    sought, form = case.quality, case.policy.search.publish
    others = [name for name in _MEASURES if name != sought.name]
    if form is not None and form.groups_columns:  # the tables may not tell which values belong together
        others = [name for name in others if not QUALITIES[name].across_columns]
    return {sought.name: sought, **{name: QUALITIES[name]() for name in others}}
