"""The battery: the attacks that suit what is given, one after another, on one release."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from shoal.attacks.attack import ATTACKS, Attack, Need
from shoal.attacks.caveats import notes
from shoal.attacks.result import Criterion, Result
from shoal.attacks.scene import TARGETS, Scene
from shoal.attacks.truth import in_register
from shoal.errors import AttackError, counted, listed
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.hierarchy.spec import bind_all
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress, silent
from shoal.release.pairing import which
from shoal.release.release import Release
from shoal.sheet import Sheet, Shown
from shoal.table.reading import read
from shoal.table.table import Table

DIRTY = {"typos": 0.05, "known": 0.9}  # what the dirty adversary of the battery has wrong, and knows


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attacked(Shown):
    """What came of all attacks. ``left_out``: attacks that could not be tried, and why. ``notes``: what to know."""

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


def attack(  # noqa: PLR0913 - keyword-only options
    release: Any,
    original: Any,
    policy: Policy | str | Path | None = None,
    *,
    quasi: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    subject: str | None = None,
    external: Any = None,
    outsiders: Any = None,
    second: Any = None,
    key: Sequence[str] | str | None = None,
    in_order: bool = False,
    hierarchies: Mapping[str, Any] | None = None,
    attacks: Sequence[str | Attack] | None = None,
    targets: int = TARGETS,
    seed: int = 0,
    progress: Hook | None = None,
) -> Attacked:
    """Attack a release as an adversary would, and tell what is achieved.

    ``release``: what ``anonymize`` returned, or any table made from the original: coarser, suppressed, noisy or made
    up. ``external``: an identified register; ``outsiders``: people who are not in the data, with the same columns;
    ``second``: another release of the same people. ``key``: columns that identify a record in the original,
    the release and the register; ``in_order``: the release has the original's order. Without either, records are
    matched by an identifier column, by content, or last by position. ``attacks``: their names, or attacks with
    parameters; all that suit, if none are named.
    ``targets``: how many people are attacked at most, drawn by chance.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "flu"]}
    >>> coarse = {"age": ["30-39", "30-39", "70-79", "70-79"], "dx": ["flu", "ms", "flu", "flu"]}
    >>> found = shoal.attack(coarse, data, quasi=["age"], sensitive=["dx"], attacks=["homogeneity", "linkage"])
    >>> [(one.attack, one.success.value) for one in found.results]
    [('homogeneity', 0.5), ('linkage', 0.5)]
    """
    if targets < 1 or seed < 0:
        raise AttackError("At least one person must be attacked, and the seed must not be negative.")
    if isinstance(original, Release):
        raise AttackError("The release comes first, then the original.", hint="shoal.attack(release, original)")
    made = release if isinstance(release, Release) else None
    chosen = made.policy if made is not None and policy is None else None if policy is None else Policy.given(policy)
    table = _table(original, chosen).taking(quasi=quasi, sensitive=sensitive, subject=subject).held()
    ladders = {**_ladders(table, chosen), **bind_all(dict(hierarchies or {}), table)}
    strangers, register = (None if one is None else _plain(one) for one in (outsiders, external))
    if strangers is not None and table.subject is not None and table.subject in strangers:
        strangers = strangers.assign(subject=table.subject)
    released = made.table.held() if made is not None else _plain(release)
    other = None if second is None else second.table.held() if isinstance(second, Release) else _plain(second)
    _check_records(
        {
            "original": table,
            "release": released,
            "second release": other,
            "register": register,
            "table of outsiders": strangers,
        }
    )
    scene = Scene.of(
        table, released, outsiders=strangers, register=register, second=other, hierarchies=ladders, seed=seed
    )
    scene = replace(scene, most=targets, progress=progress or silent)
    named = _key(key, table, released, register)
    scene, how = _with_truth(scene, made, named, in_order=in_order)
    if register is not None and scene.register is not None:
        whose = in_register(table, register, named)
        scene = replace(scene, whose=None if whose is None else whose[scene.register.records])
    return _battery(scene, _chosen(scene, attacks), how, register)


def _check_records(tables: Mapping[str, Table | None]) -> None:
    for name, table in tables.items():
        if table is not None and not table.records:
            raise AttackError(f"The {name} has no records.")


def _key(key: Sequence[str] | str | None, original: Table, release: Table, register: Table | None) -> tuple[str, ...]:
    """Return the columns of a key; refuse those that the original or both of the others lack."""
    named = (key,) if isinstance(key, str) else tuple(key or ())
    for name in named:
        original[name]  # raises if there is none
        if name not in release and (register is None or name not in register):
            raise AttackError(
                f"The key names column '{name}', which only the original has.",
                hint="Name a column that the release or the register has, too; or say that they are in order.",
            )
    return named


def _battery(scene: Scene, tried: Sequence[Attack], how: str, register: Table | None) -> Attacked:
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
    return Attacked(tuple(results), left_out, tuple(notes(scene, how, register)), scene.seed)


def _timed(found: Iterator[Result]) -> Iterator[Result]:
    """Yield results with how long each took."""
    begun = time.perf_counter()
    for one in found:
        now = time.perf_counter()
        yield replace(one, seconds=now - begun)
        begun = now


def _chosen(scene: Scene, attacks: Any) -> list[Attack]:
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


def _table(original: Any, policy: Policy | None) -> Table:
    if policy is None:
        return _plain(original)
    return policy.apply(original) if isinstance(original, Table) else policy.read(original)


def _plain(data: Any) -> Table:
    return (data if isinstance(data, Table) else read(data)).held()


def _ladders(table: Table, policy: Policy | None) -> dict[str, Hierarchy]:
    return {} if policy is None else policy.hierarchies(table)


def _with_truth(scene: Scene, made: Release | None, key: Sequence[str], *, in_order: bool) -> tuple[Scene, str]:
    """Return the scene with the matched records, and a sentence on how they were matched."""
    named = key if key and all(name in scene.release for name in key) else None
    found = which(scene.original, made or scene.release, named, hierarchies=scene.hierarchies, in_order=in_order)
    how = found.sentence if found.rows is not None else f"{found.sentence} Give a key, or set in_order."
    return replace(scene, truth=None if found.rows is None else found.rows.astype(np.intp)), how
