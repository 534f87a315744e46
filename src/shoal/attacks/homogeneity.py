"""Homogeneity: all records that may be somebody's have the same sensitive value."""

from collections.abc import Iterator
from typing import ClassVar

from shoal.attacks.attack import ATTACKS, Attack, Need
from shoal.attacks.beliefs import believed, judged
from shoal.attacks.people import People
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats


@ATTACKS.register("homogeneity")
class Homogeneity(Attack):
    """The share of people whose sensitive value is known for sure to whoever knows their quasi-identifiers.

    Whoever finds k records that may be a person's need not know which one it is, if all of them have the same value.
    Machanavajjhala et al. 2007; Peng 2021. Baseline: how many of these certainties would be right by chance, if
    people's values had nothing to do with their quasi-identifiers. Control: the same share of people who are not in the
    data. Only who has a value is attacked.

    >>> import shoal
    >>> before = shoal.read({"age": [31, 34, 71], "dx": ["flu", "flu", "ms"]}).assign(quasi="age", sensitive="dx")
    >>> scene = Scene.of(before, shoal.read({"age": ["30-39", "30-39", "*"], "dx": ["flu", "flu", "ms"]}))
    >>> next(Homogeneity().run(scene)).success.value  # no other record than that with * can be the third person's
    1.0
    """

    name: ClassVar[str] = "homogeneity"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    needs: ClassVar[frozenset[Need]] = frozenset({Need.KNOWN, Need.SENSITIVE})
    without: ClassVar[str] = "by chance"

    def run(self, scene: Scene) -> Iterator[Result]:
        """Look at each sensitive column."""
        for column in scene.secret:
            people = scene.having(column)
            if not len(people):
                continue
            likely = believed(scene, people, column)
            right, chance = _known(scene, people, column)
            strangers = scene.strangers(column)
            others = None if strangers is None else _known(scene, strangers, column)[0]
            yield self.result(
                scene,
                "the value is known for sure",
                right,
                float(chance.mean()),
                others,
                column=column,
                persons=scene.over_original(people, likely),
                details={f"likelier_than_{share:g}": float((likely >= share).mean()) for share in (0.5, 0.8, 0.9)},
            )


def _known(scene: Scene, people: People, column: str) -> tuple[Floats, Floats]:
    """Return of whom the value is known for sure, and how likely that would be right by chance."""
    right, chance = judged(scene, people, column, [lambda held: held.alone])
    return right[0], chance[0]
