"""Attribute inference: prediction of the sensitive value by a model trained on the release."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.analyses.learner import LEARNERS, Learner, fitted_to, one_thread
from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.features import AttackFeatures, classes, learner_for, shown_classes
from shoal.attacks.learned import FEWEST, TrainedModel
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.progress import Progress
from shoal.recoding.nodes import Ints


@ATTACKS.register("attribute-inference")
class AttributeInference(Attack):
    """Share of individuals whose sensitive value is predicted correctly by a model trained on the release.

    The model predicts each sensitive column from the quasi-identifiers; for a number, it predicts the quintile of the
    distribution. Success on individuals outside the data is general knowledge, which every useful release provides; the
    privacy risk is the difference. Baseline: always the most frequent value. Yeom et al. 2018.

    >>> import shoal
    >>> data = {"age": [*range(40)] * 5, "dx": (["flu"] * 20 + ["ms"] * 20) * 5}
    >>> before = shoal.read(data).assign(quasi="age", sensitive="dx")
    >>> next(AttributeInference().run(Scene.of(before, before))).success.value > 0.9
    True
    """

    name: ClassVar[str] = "attribute-inference"
    adversary: ClassVar[Adversary] = Adversary.STATISTICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "the most frequent value"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.SENSITIVE, AttackNeed.LEARNING})

    model: Learner | None = Field(
        default=None, description=f"learning model: {', '.join(LEARNERS)} (default: automatic)"
    )
    rows: int = Field(default=10_000, ge=10, description="maximum number of released records for training")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack each sensitive column."""
        features = AttackFeatures.of(scene, scene.known)
        for place, column in enumerate(scene.secret):
            scene.progress(Progress(f"learning {column}", place, len(scene.secret)))
            cells = scene.cells[column]
            of_value = classes(cells.column, scene.insiders.codes[column])
            shown = shown_classes(cells, of_value)[cells.codes]
            rows = _some(np.flatnonzero(shown >= 0), self.rows, scene.rng(f"{self.name} {column}"))
            if len(rows) < FEWEST or not len(scene.having(column)):
                continue
            chosen = learner_for(self.model, len(np.unique(shown[rows])))
            known = features.records(scene, rows, scene.rng(f"{self.name} {column} intervals"))
            with one_thread():
                model = fitted_to(chosen, False, known, shown[rows].astype(float), scene.seed)
            yield self._result(scene, column, TrainedModel(model, features, of_value), shown[rows], chosen)

    def _result(self, scene: Scene, column: str, learned: TrainedModel, shown: Ints, chosen: Learner) -> Result:
        values, counts = np.unique(shown, return_counts=True)
        people, strangers = learned.known(scene.targets, column), scene.strangers(column)
        right = learned.right(people, column)
        others = None if strangers is None else learned.right(learned.known(strangers, column), column)
        return self.result(
            scene,
            "a model trained on the release predicts the true value (numbers: the correct quintile)",
            right,
            float((learned.truth(people, column) == values[counts.argmax()]).mean()) if len(people) else 0.0,
            others,
            column=column,
            persons=scene.over_original(people, right),
            details={"model": chosen, "learned_from": len(shown), "classes": len(values)},
        )


def _some(places: NDArray[np.intp], most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a random sample of at most ``most`` places."""
    return places if len(places) <= most else np.sort(rng.choice(places, most, replace=False))
