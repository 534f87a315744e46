"""Composition: several releases of the same individuals, each harmless by itself."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.joined_releases import JoinedReleases
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats
from shoal.words import counted


@ATTACKS.register("composition")
class Composition(Attack):
    """Share of individuals who are re-identified, or whose value is inferred, by several releases together.

    Records of two releases may belong together if their cells have a common value in every column that both show. The
    adversary joins the releases on all columns, weighs the combinations so that no record is used more often than it
    occurs, and keeps those that are compatible with the known attributes of a person. Attacked are the identity (the
    most probable record of each release), every sensitive column, and the exact value of each quasi-identifier that a
    release generalises or lacks, from the other quasi-identifiers. Columns that contradict most pairs, because they
    were perturbed, do not exclude pairs but weigh them. Ganta, Kasiviswanathan & Smith 2008. Baseline: the same attack
    on the more disclosive of the single releases.

    >>> import shoal
    >>> data = {"age": [31, 34, 38], "sex": ["f", "m", "f"], "dx": ["flu", "ms", "gout"]}
    >>> before = shoal.read(data).assign(quasi=["age", "sex"], sensitive="dx")
    >>> one = shoal.read({"age": ["30-34", "30-34", "38"], "sex": ["*"] * 3, "dx": data["dx"]})
    >>> two = shoal.read({"age": ["*"] * 3, "sex": ["f", "m", "f"], "dx": data["dx"]})
    >>> of = {result.column: result for result in Composition().run(Scene.of(before, one, others=[two]))}
    >>> of["dx"].success.value, round(of["dx"].baseline, 2)
    (1.0, 0.67)
    """

    name: ClassVar[str] = "composition"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    baseline_is: ClassVar[str] = "the more disclosive of the single releases"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.OTHERS})
    reads_sets: ClassVar[bool] = True

    targets: int = Field(default=2000, ge=1, description="maximum number of targets")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack the identity, each sensitive column, and each quasi-identifier that is not released as it is."""
        scenes = (scene, *scene.others)
        people = scene.targets.drawn(self.targets, scene.rng(self.name))
        if not len(people):
            return
        together = JoinedReleases.of(scenes, people)
        alone = [JoinedReleases.of([one], together.people) for one in scenes]
        notes = () if together.is_joined else ("No record of one release could be joined with one of another.",)
        identity = self._identity(scene, together, alone)
        if identity is not None:
            yield identity
        for column in dict.fromkeys(name for one in scenes for name in one.secret):
            says = "the most probable value in all releases together is the true one"
            yield from self._value(scene, together, alone, column, says, notes)
        for column in _unreleased(scenes):
            says = "its exact value is inferred from the other quasi-identifiers and all releases together"
            yield from self._value(scene, together, alone, column, says, notes)

    def _identity(self, scene: Scene, together: JoinedReleases, alone: Sequence[JoinedReleases]) -> Result | None:
        """Attack the identity; None if no release is matched with the original."""
        scenes = [shown.scene for shown in together.shown]
        owners = [None if one.truth is None else one.owners for one in scenes]
        if all(persons is None for persons in owners):
            return None
        people, known = together.people, scene.original.quasi
        right, number = np.zeros(len(people)), np.zeros(len(people))
        for matching in together.matching(people, known):
            right[matching.part], number[matching.part] = matching.identified(people, owners)
        single = []
        for joined, persons in zip(alone, owners, strict=True):
            if persons is not None:
                parts = [matching.identified(people, [persons])[0] for matching in joined.matching(people, known)]
                single.append(float(np.concatenate(parts).mean()))
        return self.result(
            scene,
            f"the records of the individual are selected in {counted(len(scenes), 'release')}",
            right,
            max(single),
            variant="identity",
            people=people,
            details={
                "unique": float((number == 1).mean()),
                "single_releases": single,
                **_links(together, owners),
            },
        )

    def _value(  # noqa: PLR0913, PLR0917 - a column, and the releases that tell about it
        self,
        scene: Scene,
        together: JoinedReleases,
        alone: Sequence[JoinedReleases],
        column: str,
        says: str,
        notes: tuple[str, ...],
    ) -> Iterator[Result]:
        """Attack one column."""
        missing = scene.columns[column].missing_code
        everybody = together.people
        people = everybody if missing is None else everybody.some(everybody.codes[column] != missing)
        if not len(people):
            return
        known = [name for name in scene.original.quasi if name != column]
        right, certain, possible = _guessed(together, people, known, column)
        telling = [joined for joined in alone if column in joined.shown[0].scene.cells]
        single = [_guessed(joined, people, known, column) for joined in telling]
        yield self.result(
            scene,
            says,
            right,
            max(float(part[0].mean()) for part in single),
            column=column,
            people=people,
            variant="" if column in scene.original.sensitive else "unreleased value",
            details={
                "certain": float(certain.mean()),
                "certain_alone": max(float(part[1].mean()) for part in single),
                "values_left": float(possible.mean()),
                "values_left_alone": [float(part[2].mean()) for part in single],
            },
            notes=notes,
        )


def _guessed(
    joined: JoinedReleases, people: KnownPeople, known: Sequence[str], column: str
) -> tuple[Floats, Floats, Floats]:
    """Return the success of the best guess, whether only the true value is possible, and the number of values left."""
    right, certain, possible = np.zeros((3, len(people)))
    for matching in joined.matching(people, known):
        for guesses in matching.guessed(column):
            truth = people.codes[column][guesses.part]
            right[guesses.part], certain[guesses.part] = guesses.right(truth), guesses.certain(truth)
            possible[guesses.part] = guesses.possible
    return right, certain, possible


def _unreleased(scenes: Sequence[Scene]) -> Iterator[str]:
    """Yield the quasi-identifiers that some releases show, and at least one generalises or lacks."""
    for name in scenes[0].original.quasi:
        shown = [one.cells[name] for one in scenes if name in one.cells]
        exact = [bool((cells.sizes[cells.nodes[cells.codes]] == 1).all()) for cells in shown]
        if shown and not (len(shown) == len(scenes) and all(exact)):
            yield name


def _links(together: JoinedReleases, owners: Sequence[object]) -> dict[str, float]:
    """Return the share of records of the first release that have one possible partner, and how many of these are right.

    The share of right ones is given if all releases are matched with the original.
    """
    single = np.flatnonzero(together.single)
    scenes = [shown.scene for shown in together.shown]
    links = {"joined_one_to_one": len(single) / max(scenes[0].release.records, 1)}
    if all(persons is not None for persons in owners) and len(single):
        persons = []
        for one, shown, rows in zip(scenes, together.shown, together.rows, strict=True):
            first = np.zeros(len(shown), np.intp)
            first[shown.rows.origin] = np.arange(one.release.records)
            persons.append(one.owners[first[rows[single]]])
        same = [(persons[0] == others) & (others >= 0) for others in persons[1:]]
        links["joined_rightly"] = float(np.logical_and.reduce(same).mean())
    return links
