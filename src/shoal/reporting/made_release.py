"""Findings about a release that ``anonymize`` made."""

from typing import Any

from shoal.attacks.battery import Attacked
from shoal.progress import Hook, Progress
from shoal.release.advice import AdviceBasis, advice, is_advised
from shoal.release.columns import as_written
from shoal.release.release import Release
from shoal.release.verification import with_persons
from shoal.reporting.findings import Findings, about_columns, assessed, by_buckets, of_original
from shoal.reporting.required import Required, verdicts
from shoal.reporting.split_findings import SplitFindings
from shoal.table.table import Table
from shoal.verbs.compare import compare


def of_release(release: Release, progress: Hook, advice_seconds: float | None = None, **more: Any) -> Findings:
    """Collect the findings about a release made by ``anonymize``; ``advice_seconds``: the time for alternatives."""
    policy, original = release.policy, release.given
    shown, known = _shown(release), release.part.promise.original
    progress(Progress("assessing the original", 0))
    before = of_original(original, policy)
    progress(Progress("assessing the release", 1))
    split, stored = _split(release, more.get("attacks")), as_written(shown)
    invented = bool((release.records < 0).any())
    after = assessed(
        with_persons(stored, shown, known),
        policy,
        None if invented else known.population,  # counterfeits are not in it
    )
    progress(Progress("comparing them", 2))
    drawn = release.part.as_sample().given
    is_tried = split is None and is_advised(original, shown)
    advised = advice(AdviceBasis.of(release), advice_seconds, progress) if is_tried else None
    earlier = verdicts(before)
    required = tuple(Required.of(judgement, earlier) for judgement in release.requirements)
    return Findings(
        policy=policy,
        original=original,
        drawn=drawn,
        released=shown,
        seen=with_persons(stored, shown, known.without_truths()),
        before=before,
        after=by_buckets(after, split),
        comparison=compare(original, release),
        requirements=required,
        part=release.part,
        ours=True,
        advice=advised,
        split=split,
        **about_columns(policy, original, shown, ours=True),
        **more,
    )


def _shown(release: Release) -> Table:
    """Return the released table; the owner can join the records of several tables."""
    whole = release.part.promise.whole
    return whole if release.link is None else whole.only([name for name in whole.names if name != release.link])


def _split(release: Release, attacks: Attacked | None) -> SplitFindings | None:
    """Return the facts about the tables of a release; None if there is one."""
    if release.link is None:
        return None
    tables = {name: table.in_memory() for name, table in release.tables.items()}
    original = release.given.in_memory()
    return SplitFindings.of(
        original, release, tables, release.link, release.policy, unique=release.unique, attacks=attacks
    )
