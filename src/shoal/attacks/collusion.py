"""Collusion: members of a class or bucket combine their own values to infer that of another member."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.best_guess import best_guess
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.models.model import least_size
from shoal.recoding.nodes import Floats, Ints
from shoal.table.scale import scale

_FOUR = 4  # colluders if the policy requires no size of classes
_POINTS = 10  # numbers of colluders on the curve
_ROUNDED = 0.01  # of the standard deviation: by so much a released mean may differ from the true one


@ATTACKS.register("collusion")
class Collusion(Attack):
    """Share of individuals whose value is inferred by other members of their class or bucket, who know their own.

    The colluders remove their own values from those that the release shows of the class or bucket, and guess the most
    frequent of the rest. If all but one collude, the last value is certain. The curve shows the success by number of
    colluders in each class, who are drawn at random; by default up to k − 1, where the policy requires k, otherwise 4.
    Targets: all others. Baseline: the most frequent value of the table, without the release.

    If a column shows the mean of the class, all members but one compute the last value: the number of members times the
    mean, less the sum of the others. Success: it deviates by at most ``tolerance`` standard deviations. Baseline: the
    best constant guess.

    >>> import shoal
    >>> before = shoal.read({"age": [30, 32, 37], "dx": ["flu", "ms", "flu"]}).assign(quasi="age", sensitive="dx")
    >>> after = shoal.read({"age": [33.0, 33.0, 33.0], "dx": ["flu", "ms", "flu"]})
    >>> [(one.column, one.success.value) for one in Collusion().run(Scene.of(before, after, truth=np.arange(3)))]
    [('age', 1.0), ('dx', 1.0)]
    """

    name: ClassVar[str] = "collusion"
    adversary: ClassVar[Adversary] = Adversary.ADAPTIVE
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "the most frequent value, or the best constant guess"
    default: ClassVar[bool] = False
    off_card: ClassVar[str] = "supposes that members of a class collude"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.TRUTH})

    colluders: int | None = Field(default=None, ge=0, description="number of colluders in each class")
    tolerance: float = Field(default=0.05, ge=0, lt=1, description="deviation of numbers, in standard deviations")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack the columns that show means, then the values of classes and buckets."""
        if scene.truth is None:
            return
        truth = scene.truth
        people = scene.insiders.some(truth[scene.insiders.records] >= 0)
        people = people.some(_alone(scene, people))
        released = truth[people.records]
        classes = scene.fates(people) if scene.known else np.zeros(len(people), np.int64)
        for name in scene.known:
            means = self._means(scene, people, released, classes, name)
            if means is not None:
                yield means
        buckets = {values.column.name: values.of_record for values in scene.buckets}
        for column in scene.original.sensitive:
            if column in buckets or column in scene.secret:
                groups = buckets[column][released] if column in buckets else classes
                yield from self._values(scene, people, np.asarray(groups, np.int64), column)

    def _values(self, scene: Scene, people: KnownPeople, groups: Ints, column: str) -> Iterator[Result]:
        missing = scene.columns[column].missing_code
        known = people.some(people.codes[column] != (-1 if missing is None else missing))
        groups = groups[people.codes[column] != (-1 if missing is None else missing)]
        if not len(known):
            return
        values, sizes = known.codes[column].astype(np.int64), _sizes(groups)
        number = self._usual(scene) if self.colluders is None else self.colluders
        rng = scene.rng(f"{self.name} {column}")
        points = np.unique(np.linspace(0, number, _POINTS).astype(int))
        reached = {int(point): _attacked(groups, values, int(point), rng) for point in points}
        attacked, right = reached[number]
        baseline = float(np.bincount(values).max() / len(values))
        yield self.result(
            scene,
            f"{number:,} other members of the class or bucket infer the value",
            right,
            baseline,
            column=column,
            people=known.some(attacked),
            axis="colluders",
            curve=tuple(self.point(point, shares, baseline) for point, (_, shares) in reached.items()),
            details={"colluders": number, "smallest": int(sizes.min())},
        )

    @staticmethod
    def _usual(scene: Scene) -> int:
        """Return one fewer than the size of classes that the policy requires."""
        return least_size(scene.requirements) - 1 or _FOUR

    def _means(
        self, scene: Scene, people: KnownPeople, released: NDArray[np.intp], classes: Ints, name: str
    ) -> Result | None:
        """Return the success of computing the last value of a class from its mean; None if the column shows none."""
        places, cells = scale(scene.columns[name]), scene.cells[name]
        if places is None or not cells.are_values:
            return None
        true, shown = places[people.codes[name]], cells.numbers[cells.codes[released]]
        _, which = np.unique(classes, return_inverse=True)
        sizes = np.bincount(which)
        spread = float(np.nanstd(true))
        means = np.bincount(which, true) / sizes
        is_mean = (np.abs(means[which] - shown) <= _ROUNDED * spread) & (sizes[which] > 1)
        if not spread or not np.isfinite(true).all() or is_mean.mean() < 0.5 or (true == shown).mean() > 0.5:
            return None
        others = np.bincount(which, true)[which] - true
        computed = sizes[which] * shown - others
        near = self.tolerance * spread
        return self.result(
            scene,
            "all other members of the class compute the value from the mean",
            (np.abs(computed - true) <= near).astype(np.float64),
            best_guess(true, near),
            column=name,
            people=people,
            details={"largest": int(sizes.max()), "smallest": int(sizes.min())},
        )


def _alone(scene: Scene, people: KnownPeople) -> NDArray[np.bool_]:
    """Return whether each individual has a single released record: others know several values of the class."""
    which, _ = scene.own(people)
    return np.asarray(np.bincount(which, minlength=len(people)) == 1)


def _sizes(groups: Ints) -> Ints:
    """Return the size of the group of each individual."""
    _, which, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return counts[which]


def _attacked(groups: Ints, values: Ints, colluders: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Floats]:
    """Return the individuals who do not collude, and the probability that the rest of their group is guessed rightly.

    So many members of each group collude, at most all but one. A guess between equally frequent values is right by
    chance.
    """
    order = np.lexsort([rng.random(len(groups)), groups])
    _, starts, counts = np.unique(groups[order], return_index=True, return_counts=True)
    which = np.repeat(np.arange(len(starts)), counts)
    rest = np.arange(len(groups)) - starts[which] >= np.minimum(colluders, counts - 1)[which]
    here, group = order[rest], which[rest]
    size = int(values.max()) + 1
    _, pair, times = np.unique(group * size + values[here], return_inverse=True, return_counts=True)
    most = np.zeros(len(starts), np.int64)
    np.maximum.at(most, group, times[pair])
    is_most = times[pair] == most[group]
    ties = np.bincount(group, is_most) / most
    return here, is_most / ties[group]
