"""Similarity: the possible values of a person differ, but have nearly the same meaning."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.beliefs import chances, counted
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.recoding.nodes import Floats, Ints


@ATTACKS.register("similarity")
class Similarity(Attack):
    """Share of individuals for whom the category of the sensitive value is disclosed with certainty.

    Ten diagnoses may belong to one category. Categories are the nodes of the column's hierarchy. Success
    refers to the highest level below the top; the curve shows all levels. Li et al. 2007. Baseline: the share that
    would be correct by chance, if sensitive values were independent of the quasi-identifiers.

    >>> import shoal
    >>> data = {"age": [31, 34, 71], "dx": ["C50", "C61", "J10"]}
    >>> before = shoal.read(data).assign(quasi="age", sensitive="dx")
    >>> from shoal.hierarchy.spec import bind_all
    >>> kinds = bind_all({"dx": {"kind": "icd10"}}, before)
    >>> scene = Scene.of(before, shoal.read({**data, "age": ["30-39", "30-39", "71"]}), hierarchies=kinds)
    >>> result = next(Similarity().run(scene))
    >>> result.success.value, round(result.curve[0].success.value, 2)  # chapters, and codes
    (1.0, 0.33)
    """

    name: ClassVar[str] = "similarity"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "expected if sensitive values were independent of the quasi-identifiers"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.SENSITIVE})
    reads_sets: ClassVar[bool] = True
    off_card: ClassVar[str] = "infers a group of similar values, not the value"

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack each sensitive column whose hierarchy has a level between the values and the top."""
        for column in scene.secret:
            ladder = scene.hierarchies.get(column)
            if ladder is None or ladder.height < 2:
                continue
            levels = [_categories(scene, column, ladder, level) for level in range(ladder.height)]
            people = scene.having(column)
            if not len(people):
                continue
            certain, chance = _certain(scene, people, column, levels)
            strangers = scene.strangers(column)
            others = None if strangers is None else _certain(scene, strangers, column, levels)[0][-1]
            yield self.result(
                scene,
                "the category of the true value is disclosed with certainty",
                certain[-1],
                float(chance[-1].mean()),
                others,
                column=column,
                people=people,
                persons=scene.over_original(people, certain[-1]),
                axis="level of the hierarchy",
                curve=tuple(
                    self.point(level, part, float(by_chance.mean()))
                    for level, (part, by_chance) in enumerate(zip(certain, chance, strict=True))
                ),
            )


def _categories(scene: Scene, column: str, ladder: Hierarchy, level: int) -> Ints:
    """Return the category of each value; a value outside the hierarchy is a category of its own."""
    categories = len(ladder.levels[level]) + np.arange(scene.columns[column].size)
    categories[scene.places[column]] = ladder.nodes(level)
    return categories


def _certain(scene: Scene, people: KnownPeople, column: str, levels: list[Ints]) -> tuple[Floats, Floats]:
    """Return, per level, whether the true category of each individual is certain, and its probability by chance."""
    certain, chance = np.zeros((2, len(levels), len(people)))
    often = chances(scene, column)
    shares = [np.bincount(categories, often, categories.max() + 1) for categories in levels]
    for weighed in counted(scene, people, column):
        truth, there = people.codes[column][weighed.part].astype(np.intp), weighed.weights > 0
        for level, categories in enumerate(levels):
            mine = categories[weighed.values][there.argmax(axis=1)] if len(weighed.values) else categories[truth]
            sure = there.any(axis=1) & ~(there & (categories[weighed.values] != mine[:, None])).any(axis=1)
            certain[level, weighed.part] = sure & (mine == categories[truth])
            chance[level, weighed.part] = sure * shares[level][mine]
    return certain, chance
