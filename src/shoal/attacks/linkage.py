"""Linkage: to find out which released record is whose."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.analyses.estimate import Estimate
from shoal.attacks.attack import ATTACKS, Attack
from shoal.attacks.people import People
from shoal.attacks.result import Adversary, Criterion, Point, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats, Ints
from shoal.validation import Share


@ATTACKS.register("linkage")
class Linkage(Attack):
    """The share of people whose record is found by somebody who knows their quasi-identifiers.

    The adversary takes one of the released records that may be the person's, those whose cells hold the person's
    values, by chance: with m of them and the right one among them, the link is right with probability 1/m. Where the
    records of the release cannot be matched with the original, whoever is covered counts as released. Sweeney 2002.
    Baseline: any record of the release. Control: the same for people who are not in the data, each of whose links is
    wrong: how sure the adversary would be of it. The curve goes over how many of the quasi-identifiers are known, the
    first ones first.

    ``typos``: the share of the adversary's facts that are wrong. ``known``: the share of facts that the adversary has
    at all; where one is lacking, any value will do.

    >>> import shoal
    >>> data = {"age": [31, 34, 71], "sex": ["f", "m", "m"]}
    >>> before = shoal.read(data).assign(quasi=["age", "sex"])
    >>> scene = Scene.of(before, shoal.read({**data, "age": ["30-39", "30-39", "70-79"], "sex": ["*", "*", "m"]}))
    >>> result = next(Linkage().run(scene))
    >>> result.success.value, result.persons.tolist()
    (0.6666666666666666, [0.5, 0.5, 1.0])
    """

    name: ClassVar[str] = "linkage"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY

    typos: Share = Field(default=0.0, description="the share of the adversary's facts that are wrong")
    known: Share = Field(default=1.0, description="the share of facts that the adversary has")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Link the people of the original with records and, if there is a register, records with its people."""
        facts = self._facts(scene, scene.targets, "targets")
        steps = [self._linked(scene, facts, scene.known[:number]) for number in range(1, len(scene.known) + 1)]
        right, number = steps[-1]
        strangers = scene.strangers()
        others = None if strangers is None else self._sure(scene, strangers)
        baseline = 1 / max(scene.release.records, 1)
        yield self.result(
            scene,
            f"the right record is taken{self._dirt}",
            right,
            baseline,
            others,
            axis="quasi-identifiers known",
            curve=tuple(
                Point(place, Estimate.share(float(found.mean()), max(len(found), 1)), baseline)
                for place, (found, _) in enumerate(steps, 1)
            ),
            details={
                "unique_and_right": float((right == 1).mean()),
                "unique": float((number == 1).mean()),
                "no_candidate": float((number == 0).mean()),
                "median_candidates": float(np.median(number)) if len(number) else 0.0,
            },
            notes=_UNMATCHED if scene.truth is None else (),
        )
        if scene.register is not None and scene.whose is not None and set(scene.known) & set(scene.register.codes):
            yield self._identified(scene, scene.register, scene.whose)

    @property
    def _dirt(self) -> str:
        if not self.typos and self.known == 1:
            return ""
        return f", though {self.typos:.0%} of the facts are wrong and {1 - self.known:.0%} are lacking"

    def _facts(self, scene: Scene, people: People, who: str) -> People:
        """Return what the adversary holds for true: some facts are wrong, some are lacking."""
        if not self.typos and self.known == 1:
            return people
        rng, made = scene.rng(f"linkage {who}"), dict(people.codes)
        for name in (one for one in scene.known if one in made):  # a register need not have them all
            codes = made[name]
            wrong = rng.random(len(codes)) < self.typos
            drawn = rng.permutation(codes)
            told = np.where(wrong, drawn, codes).astype(np.uint32)
            made[name] = np.where(rng.random(len(codes)) < self.known, told, scene.cells[name].column.size)
        return People(made, people.records)

    def _sure(self, scene: Scene, people: People) -> Floats:
        """Return how sure the adversary is of a link, right or wrong."""
        return _one_of(_candidates(scene, self._facts(scene, people, "strangers"), scene.known))

    def _linked(self, scene: Scene, facts: People, columns: Sequence[str]) -> tuple[Floats, Ints]:
        """Return how likely each person is linked rightly, and the number of candidates."""
        number = _candidates(scene, facts, columns)
        return _one_of(number) * _among(scene, facts, columns), number

    def _identified(self, scene: Scene, register: People, whose: NDArray[np.intp]) -> Result:
        """Take one of the people of the register whom a record covers."""
        facts = self._facts(scene, register, "register")
        columns = [name for name in scene.known if name in register.codes]
        rows = scene.rows(columns)
        of_row = scene.covering(columns, rows, unknown=True).covered(facts.known(columns))
        targets = scene.targets
        there = np.full(scene.original.records, -1)
        there[whose[whose >= 0]] = np.flatnonzero(whose >= 0)
        mine = there[targets.records]
        entry = facts.some(np.maximum(mine, 0))
        entry = People(entry.codes, targets.records)
        released = np.full(len(targets), -1) if scene.truth is None else scene.truth[targets.records]
        covered = of_row[rows.origin][np.maximum(released, 0)]
        right = _one_of(covered) * ((mine >= 0) & (released >= 0)) * _among(scene, entry, columns)
        return self.result(
            scene,
            f"the right person of the register is taken{self._dirt}",
            right,
            1 / max(len(register), 1),
            column="register",
            details={"in_register": float((mine >= 0).mean()), "unique_and_right": float((right == 1).mean())},
        )


_UNMATCHED = ("records could not be matched: whoever is covered counts as released",)


def _candidates(scene: Scene, facts: People, columns: Sequence[str]) -> Ints:
    return scene.covering(columns, unknown=True).counts(facts.known(columns))


def _one_of(number: Ints) -> Floats:
    """Return how likely one of so many is the right one, if it is among them."""
    return np.where(number > 0, 1 / np.maximum(number, 1), 0.0)


def _among(scene: Scene, facts: People, columns: Sequence[str]) -> NDArray[np.bool_]:
    """Tell whether a person's own record is among the candidates."""
    if scene.truth is None:
        return np.ones(len(facts), bool)
    released = scene.truth[facts.records]
    among = released >= 0
    for name in columns:
        cells, codes = scene.cells[name], facts.codes[name]
        lacking = codes == cells.column.size
        own = cells.codes[np.maximum(released, 0)]
        among &= lacking | cells.holds(own, np.where(lacking, 0, codes))
    return among
