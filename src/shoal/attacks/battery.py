"""The battery: the attacks that suit what is given, one after another, on one release."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from shoal.attacks.attack import ATTACKS, Attack, Need
from shoal.attacks.result import Criterion, Result
from shoal.attacks.scene import Scene
from shoal.errors import AttackError, counted, listed
from shoal.progress import Progress
from shoal.sheet import Sheet, Shown
from shoal.table.frames import of_rows

DIRTY = {"typos": 0.05, "known": 0.9}  # what the dirty adversary of the battery has wrong, and knows


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attacked(Shown):
    """What came of all attacks. ``left_out``: attacks that could not be tried, and why. ``notes``: what to know."""

    __module__ = "shoal"

    results: tuple[Result, ...]
    left_out: Mapping[str, str]
    notes: tuple[str, ...]
    seed: int

    def card(self) -> dict[Criterion, Result | None]:
        """Return for each question of WP216 the attack that gained most over baseline and control, and surely."""
        found: dict[Criterion, Result | None] = {}
        for criterion in Criterion:
            held = [one for one in self.results if one.criterion is criterion and ATTACKS[one.attack].on_card]
            found[criterion] = max(held, key=lambda one: (one.is_sure, one.gain), default=None)
        return found

    def of(self, attack: str, column: str | None = None, *, variant: str | None = None) -> Result:
        """Return the first result of an attack, about a column or in a way, if one is named."""
        for one in self.results:
            if one.attack == attack and column in {None, one.column} and variant in {None, one.variant}:
                return one
        about = "".join(f" ({part})" for part in (column, variant) if part)
        raise AttackError(f"There is no result of {attack}{about}.")

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain data: what ``shoal attack --json`` prints."""
        card = {str(question): None if best is None else best.to_dict() for question, best in self.card().items()}
        return {
            "attacks": [result.to_dict() for result in self.results],
            "wp216": card,
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
            "seed": self.seed,
        }

    def to_frame(self, kind: str | None = None) -> Any:
        """Return one row for each result, without curves, details and notes."""
        nested = {"curve", "details", "notes"}
        rows = [{name: held for name, held in one.to_dict().items() if name not in nested} for one in self.results]
        return of_rows(rows, kind)

    def sheet(self) -> Sheet:
        """Return what each attack achieves."""
        rows = [
            (
                one.title,
                f"{one.success.value:.1%}",
                f"{100 * one.success.low:.1f}–{100 * one.success.high:.1f}",
                f"{one.baseline:.1%}",
                "" if one.control is None else f"{one.control.value:.1%}",
                f"{one.targets:,}",
            )
            for one in self.results
        ]
        yes = [question.value for question, best in self.card().items() if best is not None and best.is_sure]
        told = f"surely something is gained: {', '.join(yes)}" if yes else "nothing is surely gained"
        headings = ("attack", "success", "95 %", "baseline", "control", "targets")
        return Sheet(f"{counted(len(rows), 'result')}; {told}.", headings, tuple(rows))


def battery(scene: Scene, tried: Sequence[Attack], notes: tuple[str, ...]) -> Attacked:
    """Run attacks one after another; those that lack something are left out with the reason."""
    results: list[Result] = []
    left_out: dict[str, str] = {}
    for place, one in enumerate(tried):
        scene.progress(Progress(f"trying {one.name}", place, len(tried)))
        lacking = next((need for need in Need if need in one.needs and not _has(scene, need)), None)
        if lacking is not None:
            left_out[one.name] = f"It needs {lacking}."
            continue
        found = list(_timed(one.run(scene)))
        results += found
        if not found:
            left_out[one.name] = "The release has nothing that it could be tried on."
    return Attacked(tuple(results), left_out, notes, scene.seed)


def _timed(found: Iterator[Result]) -> Iterator[Result]:
    """Yield results with how long each took."""
    begun = time.perf_counter()
    for one in found:
        now = time.perf_counter()
        yield replace(one, seconds=now - begun)
        begun = now


def chosen_attacks(scene: Scene, attacks: Any) -> list[Attack]:
    """Return the attacks that were asked for; by default all that suit, and linkage by a dirty adversary, too."""
    if attacks is None:
        default = [kind() for kind in ATTACKS.values() if kind.default]
        return [*default, ATTACKS["linkage"](**DIRTY)] if len(scene.known) > 1 else default
    asked = [attacks] if isinstance(attacks, str | Attack) or not isinstance(attacks, Iterable) else list(attacks)
    if not asked:
        raise AttackError("No attack is named.", hint=f"There are {listed(list(ATTACKS))}.")
    return [_attack(one) for one in asked]


def _attack(asked: Any) -> Attack:
    if isinstance(asked, Attack):
        return asked
    if isinstance(asked, type) and issubclass(asked, Attack):
        return asked()
    if not isinstance(asked, str):
        raise AttackError("Attacks are given by name, or as attacks with parameters.")
    return ATTACKS[asked]()


def _has(scene: Scene, need: Need) -> bool:
    whose = scene.original.subject
    return {
        Need.KNOWN: bool(scene.known),
        Need.SENSITIVE: bool(scene.secret),
        Need.TRUTH: scene.truth is not None,
        Need.OUTSIDERS: scene.strangers() is not None,
        Need.SECOND: scene.second is not None and bool(scene.second.known),
        Need.EVENTS: whose is not None and whose in scene.release and len(scene.insiders) < scene.original.records,
        Need.LEARNING: find_spec("sklearn") is not None,
    }[need]
