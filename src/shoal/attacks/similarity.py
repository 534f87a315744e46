"""Similarity: the values that may be somebody's differ, but all mean nearly the same."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from shoal.analyses.estimate import Estimate
from shoal.attacks.attack import ATTACKS, Attack, Need
from shoal.attacks.beliefs import counted, prior
from shoal.attacks.people import People
from shoal.attacks.result import Adversary, Criterion, Point, Result
from shoal.attacks.scene import Scene
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.recoding.nodes import Floats, Ints


@ATTACKS.register("similarity")
class Similarity(Attack):
    """The share of people of whom it is known for sure in which category their sensitive value is.

    Ten different cancers are ten values, and one diagnosis. Categories are the nodes of the column's hierarchy; success
    counts on the coarsest level that says something, the curve goes over all levels. Li et al. 2007. Baseline: 0,
    unless the release has one category only.

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
    needs: ClassVar[frozenset[Need]] = frozenset({Need.KNOWN, Need.SENSITIVE})
    on_card: ClassVar[bool] = False

    def run(self, scene: Scene) -> Iterator[Result]:
        """Look at each sensitive column that has a hierarchy of more than its values and everything."""
        for column in scene.secret:
            ladder = scene.hierarchies.get(column)
            if ladder is None or ladder.height < 2:
                continue
            levels = [_categories(scene, column, ladder, level) for level in range(ladder.height)]
            people = scene.having(column)
            if not len(people):
                continue
            found = _certain(scene, people, column, levels)
            strangers = scene.strangers(column)
            others = None if strangers is None else _certain(scene, strangers, column, levels)[-1]
            everything = [float(len(np.unique(held[prior(scene, column) > 0])) == 1) for held in levels]
            yield self.result(
                scene,
                "the category of the value is known for sure",
                found[-1],
                everything[-1],
                others,
                column=column,
                persons=scene.over_original(people, found[-1]),
                axis="level of the hierarchy",
                curve=tuple(
                    Point(level, Estimate.share(float(part.mean()), max(len(part), 1)), everything[level])
                    for level, part in enumerate(found)
                ),
            )


def _categories(scene: Scene, column: str, ladder: Hierarchy, level: int) -> Ints:
    """Return the category of each value; one that the hierarchy does not know is one of its own."""
    labels = scene.original[column].labels().to_pylist()
    place = {label: int(node) for label, node in zip(labels, ladder.nodes(level), strict=True)}
    everybody, strange = scene.cells[column].column.labels().to_pylist(), len(ladder.levels[level])
    return np.array([place.get(label, strange + at) for at, label in enumerate(everybody)])


def _certain(scene: Scene, people: People, column: str, levels: list[Ints]) -> Floats:
    """Tell on each level of whom the category is known for sure, and rightly so."""
    found = np.zeros((len(levels), len(people)))
    for held in counted(scene, people, column):
        truth = people.codes[column][held.part].astype(np.intp)
        for level, categories in enumerate(levels):
            wrong = categories[truth][:, None] != categories[held.values][None, :]
            found[level, held.part] = (held.weights > 0).any(axis=1) & ~(wrong & (held.weights > 0)).any(axis=1)
    return found
