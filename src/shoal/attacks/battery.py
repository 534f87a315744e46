"""The battery: all applicable attacks on one release, run in sequence."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.result import Criterion, Result
from shoal.attacks.scene import Scene
from shoal.errors import AttackError
from shoal.progress import Progress
from shoal.sheet import Presentable, Sheet
from shoal.table.frames import of_rows
from shoal.words import counted, share

EVERY = "all"  # the request for all attacks, also those that are run only on request
DIRTY = {"typos": 0.05, "known": 0.9}  # shares of wrong and of known values of the dirty adversary


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attacked(Presentable):
    """The results of all attacks on a release.

    ``left_out``: attacks that could not be run, each with the reason. ``undecided``: the risks of WP216 that are not
    assessed without an attack that was not run, each with the name of this attack. ``notes``: caveats for the reader.
    """

    __module__ = "shoal"

    results: tuple[Result, ...]
    left_out: Mapping[str, str]
    notes: tuple[str, ...]
    seed: int
    undecided: Mapping[Criterion, str] = field(default_factory=dict)

    def card(self) -> dict[Criterion, Result | None]:
        """Return the strongest attack for each risk of WP216; None if the risk is not assessed.

        Attacks with a significant gain over baseline and control come first, then those with the largest gain. A risk
        is not assessed if no attack was run, or if an attack that decides it was not run and no other one succeeds.
        """
        strongest: dict[Criterion, Result | None] = {}
        for criterion in Criterion:
            judged = [
                result
                for result in self.results
                if result.criterion is criterion and not ATTACKS[result.attack].off_card
            ]
            best = max(judged, key=lambda result: (result.is_sure, result.gain), default=None)
            is_open = criterion in self.undecided and (best is None or not best.is_sure)
            strongest[criterion] = None if is_open else best
        return strongest

    def succeeding(self, accepted: float) -> tuple[Result, ...]:
        """Return the results with a significant gain, beyond the risk that the requirements accept.

        ``accepted``: the success of linkage that the requirements accept, such as 1/k.
        """
        return tuple(
            result
            for result in self.results
            if result.is_sure
            and not ATTACKS[result.attack].off_card
            and not (ATTACKS[result.attack].bounded_by_size and result.success.low <= accepted)
        )

    def why_not_assessed(self, criterion: Criterion) -> str:
        """Return the reason why a risk of WP216 is not assessed."""
        return f"{self.undecided[criterion]} was not run" if criterion in self.undecided else "no attack was run"

    @property
    def off_card(self) -> str:
        """A sentence on the attacks that do not count towards the risks of WP216; empty if there are none."""
        names = dict.fromkeys(result.attack for result in self.results if ATTACKS[result.attack].off_card)
        if not names:
            return ""
        reasons = "; ".join(f"{name} ({ATTACKS[name].off_card})" for name in names)
        return f"Not included in these risks: {reasons}."

    def of(self, attack: str, column: str | None = None, *, variant: str | None = None) -> Result:
        """Return the first result of an attack, optionally on a given column or of a given variant."""
        for result in self.results:
            if result.attack == attack and column in {None, result.column} and variant in {None, result.variant}:
                return result
        about = "".join(f" ({part})" for part in (column, variant) if part)
        raise AttackError(
            "attack-not-run", "There is no result of the attack '{attack}'{about}.", attack=attack, about=about
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain data, as printed by ``shoal attack --json``."""
        card = {str(question): None if best is None else best.to_dict() for question, best in self.card().items()}
        return {
            "attacks": [result.to_dict() for result in self.results],
            "wp216": card,
            "left_out": dict(self.left_out),
            "undecided": {str(question): name for question, name in self.undecided.items()},
            "notes": list(self.notes),
            "seed": self.seed,
        }

    def to_frame(self, kind: str | None = None) -> Any:
        """Return a data frame with one row per result, without curves, details and notes."""
        nested = {"curve", "details", "notes"}
        rows = [
            {name: value for name, value in result.to_dict().items() if name not in nested} for result in self.results
        ]
        return of_rows(rows, kind)

    def sheet(self) -> Sheet:
        """Return a summary of the success of each attack."""
        rows = [
            (
                result.title,
                share(result.success.value),
                result.interval,
                share(result.baseline),
                "" if result.control is None else share(result.control.value),
                f"{result.targets:,}",
            )
            for result in self.results
        ]
        yes = [question.value for question, best in self.card().items() if best is not None and best.is_sure]
        verdict = (
            f"significant gain over the baseline: {', '.join(yes)}" if yes else "no significant gain over the baseline"
        )
        headings = ("attack", "success", "95% CI", "baseline", "control", "targets")
        return Sheet(f"{counted(len(rows), 'result')}; {verdict}.", headings, tuple(rows))


def battery(scene: Scene, tried: Sequence[Attack], notes: tuple[str, ...]) -> Attacked:
    """Run the attacks in sequence; skip those whose needs are not met, and record the reason."""
    results: list[Result] = []
    left_out: dict[str, str] = {}
    for place, attack in enumerate(tried):
        scene.progress(Progress(f"running {attack.name}", place, len(tried)))
        lacking = next((need for need in AttackNeed if need in attack.needs and not _has(scene, need)), None)
        if lacking is not None:
            left_out[attack.name] = f"It requires {lacking}."
            continue
        outcomes = list(_timed(attack.run(scene)))
        results += outcomes
        if not outcomes:
            left_out[attack.name] = "The release has no column that it applies to."
    judged = sum(not ATTACKS[result.attack].off_card for result in results)
    results = [replace(result, comparisons=max(judged, 1)) for result in results]
    done = {result.attack for result in results}
    decisive = [kind for kind in ATTACKS.values() if kind.name not in done and kind.must_run(scene)]
    return Attacked(tuple(results), left_out, notes, scene.seed, {attack.criterion: attack.name for attack in decisive})


def _timed(results: Iterator[Result]) -> Iterator[Result]:
    """Yield the results with their running times."""
    begun = time.perf_counter()
    for result in results:
        now = time.perf_counter()
        yield replace(result, seconds=now - begun)
        begun = now


def chosen_attacks(scene: Scene, attacks: Any) -> list[Attack]:
    """Return the requested attacks. ``all``: every attack, also those that are run only on request.

    Without a request, these are all attacks marked as default and, if several columns are known, linkage by an
    adversary with incomplete and partly wrong background knowledge.
    """
    if attacks is None:
        default = [kind() for kind in ATTACKS.values() if kind.default]
        return [*default, ATTACKS["linkage"](**DIRTY)] if len(scene.known) > 1 else default
    asked = [attacks] if isinstance(attacks, str | Attack) or not isinstance(attacks, Iterable) else list(attacks)
    if EVERY in asked:
        others = [_attack(name) for name in asked if name != EVERY]
        every = [*chosen_attacks(scene, None), *(kind() for kind in ATTACKS.values() if not kind.default)]
        given = {attack.name for attack in others}
        return [*(attack for attack in every if attack.name not in given), *others]
    if not asked:
        raise AttackError(
            "no-attack", "No attack is named.", remedy="Available attacks: {attacks:listed}.", attacks=list(ATTACKS)
        )
    return [_attack(name) for name in asked]


def _attack(asked: Any) -> Attack:
    if isinstance(asked, Attack):
        return asked
    if isinstance(asked, type) and issubclass(asked, Attack):
        return asked()
    if not isinstance(asked, str):
        raise AttackError("not-an-attack", "Attacks must be given by name, or as attack objects with parameters.")
    return ATTACKS[asked]()


def _has(scene: Scene, need: AttackNeed) -> bool:
    whose = scene.original.subject
    return {
        AttackNeed.KNOWN: bool(scene.known),
        AttackNeed.SENSITIVE: bool(scene.secret),
        AttackNeed.TRUTH: scene.truth is not None,
        AttackNeed.OUTSIDERS: scene.strangers() is not None,
        AttackNeed.SHADOWS: scene.shadows is not None,
        AttackNeed.OTHERS: bool(scene.others),
        AttackNeed.EVENTS: whose is not None
        and whose in scene.release
        and len(scene.insiders) < scene.original.records,
        AttackNeed.COUNTERFEITS: scene.is_sure and bool(scene.counterfeits.any()),
        AttackNeed.BUCKETS: bool(scene.slices) or (bool(scene.buckets) and scene.is_sure),
        AttackNeed.LEARNING: find_spec("sklearn") is not None,
    }[need]
