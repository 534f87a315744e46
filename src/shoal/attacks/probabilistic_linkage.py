"""Probabilistic linkage: records ranked by the weight of their agreement with the known attributes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.engines.protocol import DistinctRows
from shoal.kernels.lookups import Near, summed
from shoal.recoding.nodes import Floats
from shoal.table.scale import scale

MOST_COLUMNS = 16
_ROOM = 1 << 24  # pairs held in memory at a time
_ROUNDS = 100
_SAMPLE = 200  # individuals whose pairs the rates are estimated from
_SAME = 1e-4  # weights that differ by less are ties


@ATTACKS.register("probabilistic-linkage")
class ProbabilisticLinkage(Attack):
    """Share of individuals whose record has the highest matching weight of probabilistic record linkage.

    A person and a record agree in a column if the cell covers the person's value. The probability of agreement of true
    matches (m) is estimated by expectation–maximisation over the patterns of agreement; that of non-matches (u) is the
    frequency of the values that the cell covers. The weight of a pair is the sum of log(m/u) over the agreeing columns,
    so that a rare value weighs much and a suppressed one nothing, and of log((1−m)/(1−u)) over the others. Ties are
    broken at random. Fellegi & Sunter 1969; Winkler 1989. Unlike plain linkage, the attack tolerates wrong background
    knowledge and perturbed cells: if numbers may be perturbed, they agree within a tolerance, and the most successful
    of several is used. Baseline: a random record. Details: precision and recall of the links that are more
    likely correct than not.

    >>> import shoal
    >>> before = shoal.read({"age": [30, 40, 50], "sex": ["f", "m", "m"]}).assign(quasi=["age", "sex"])
    >>> changed = shoal.read({"age": [30, 40, 50], "sex": ["m", "m", "m"]})
    >>> next(ProbabilisticLinkage().run(Scene.of(before, changed, truth=np.arange(3)))).success.value
    1.0
    """

    name: ClassVar[str] = "probabilistic-linkage"
    adversary: ClassVar[Adversary] = Adversary.STATISTICAL
    bounded_by_size: ClassVar[bool] = True
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    baseline_is: ClassVar[str] = "a random record"
    judges_perturbed: ClassVar[bool] = True
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.TRUTH})

    targets: int = Field(default=1000, ge=1, description="maximum number of targets")
    tolerances: tuple[float, ...] = Field(
        default=(0.0, 0.05, 0.2),
        min_length=1,
        description="distances within which numbers agree, in standard deviations; the most successful one is used",
    )

    def run(self, scene: Scene) -> Iterator[Result]:
        """Weigh all pairs of individuals and records, with each tolerance if numbers may be perturbed."""
        people = scene.targets.drawn(self.targets, scene.rng(self.name))
        columns = scene.known[:MOST_COLUMNS]
        perturbed = any(_may_be_perturbed(scene, name) for name in columns)
        tolerances = self.tolerances if perturbed else (0.0,)
        links = [self._linked(scene.tolerant(tolerance), people, columns) for tolerance in tolerances]
        best = max(range(len(links)), key=lambda place: links[place].right.mean() if len(people) else 0)
        right, claimed, fitted = links[best].right, links[best].claimed, links[best].fitted
        yield self.result(
            scene,
            "the record with the highest weight is the true one",
            right,
            scene.by_chance(people),
            people=people,
            details={
                "precision": float(right[claimed].mean()) if claimed.any() else None,
                "recall": float((right * claimed).mean()),
                "agree_if_same": dict(zip(columns, fitted.same.round(4).tolist(), strict=True)),
                "agree_if_not": dict(zip(columns, fitted.other.round(4).tolist(), strict=True)),
                **({"tolerance": tolerances[best]} if perturbed else {}),
            },
        )

    def _linked(self, scene: Scene, people: KnownPeople, columns: tuple[str, ...]) -> "_Links":
        """Link each target to the records with the highest weight."""
        rows = scene.rows(columns)
        share = 1 / max(scene.release.records, 2)
        fitted = AgreementRates.of(
            _tallies(scene, people.drawn(_SAMPLE, scene.rng(self.name)), rows), len(columns), share
        )
        which, record = scene.own(people)
        right, claimed = np.zeros(len(people)), np.zeros(len(people), bool)
        for part, weight in _weights(scene, people, rows, fitted):
            best = weight.max(axis=1)
            first = weight >= best[:, None] - _SAME
            mine = slice(*np.searchsorted(which, (part.start, part.stop)))
            own = first[which[mine] - part.start, rows.origin[record[mine]]]
            own_weight = np.bincount(which[mine] - part.start, own, len(first))
            right[part] = own_weight / np.maximum((rows.counts * first).sum(axis=1), 1)
            claimed[part] = best >= np.log((1 - share) / share)  # more likely correct than not
        return _Links(right, claimed, fitted)


def _may_be_perturbed(scene: Scene, name: str) -> bool:
    """Return whether a column shows numbers of which some belong to no individual of the original.

    The adversary knows the individuals, and sees that these numbers are not theirs.
    """
    cells = scene.cells[name]
    return not cells.labels and scale(cells.column) is not None and bool((~_occurring(scene, name)[cells.nodes]).any())


def _occurring(scene: Scene, name: str) -> NDArray[np.bool_]:
    """Return whether each set of a column has a value that occurs among the individuals; the set of all values does."""
    occurring = np.ones(len(scene.cells[name].starts) - 1, bool)
    size = scene.cells[name].column.size
    occurring[:size] = np.bincount(scene.insiders.codes[name], minlength=size)[:size] > 0
    return occurring


@dataclass(frozen=True, slots=True, eq=False)
class _Links:
    """Links of targets: the probability that each is correct, and whether the adversary would claim it."""

    right: Floats
    claimed: NDArray[np.bool_]
    fitted: "AgreementRates"


def _parts(people: KnownPeople, rows: DistinctRows) -> Iterator[slice]:
    """Yield batches of individuals."""
    together = max(_ROOM // max(len(rows), 1), 1)
    for begin in range(0, len(people), together):
        yield slice(begin, min(begin + together, len(people)))


def _tallies(scene: Scene, people: KnownPeople, rows: DistinctRows) -> Floats:
    """Count the pairs of an individual and a record by pattern of agreement; bit j stands for column j."""
    tallies = np.zeros(1 << len(rows.columns))
    for part in _parts(people, rows):
        agreeing = np.zeros((part.stop - part.start, len(rows)), np.uint16)
        for bit, (name, codes) in enumerate(zip(rows.columns, rows.codes, strict=True)):
            sets = scene.cells[name].sets(codes)
            agreeing |= sets.holds(people.codes[name][part])[:, sets.of_row].astype(np.uint16) << np.uint16(bit)
        tallies += np.bincount(agreeing.ravel(), np.broadcast_to(rows.counts, agreeing.shape).ravel(), len(tallies))
    return tallies


def _weights(
    scene: Scene, people: KnownPeople, rows: DistinctRows, fitted: "AgreementRates"
) -> Iterator[tuple[slice, Near]]:
    """Yield, for batches of individuals, the weight of each row."""
    sets = [scene.cells[name].sets(codes) for name, codes in zip(rows.columns, rows.codes, strict=True)]
    for part in _parts(people, rows):
        lines, tables = [], []
        for place, (name, column) in enumerate(zip(rows.columns, sets, strict=True)):
            values, mine = np.unique(people.codes[name][part], return_inverse=True)
            often = np.clip(scene.cells[name].shares(scene.insiders.codes[name]), 1e-6, 1)
            agree, apart = np.log(fitted.same[place] / often), fitted.apart[place]
            tables.append(np.where(column.holds(values), np.maximum(agree, 0), apart).astype(np.float32))
            lines.append(mine)
        yield part, summed(tables, lines, [sets_of.of_row for sets_of in sets])


@dataclass(frozen=True, slots=True, eq=False)
class AgreementRates:
    """Probability of agreement in column j: ``same[j]`` of matches (m), ``other[j]`` of non-matches (u)."""

    same: Floats
    other: Floats

    @property
    def apart(self) -> Floats:
        """The weight of each column if it disagrees."""
        return np.asarray(np.log1p(-self.same) - np.log1p(-self.other))

    @classmethod
    def of(cls, tallies: Floats, columns: int, share: float) -> "AgreementRates":
        """Estimate the rates from the number of pairs with each pattern; ``share``: the share of matches.

        Nearly all pairs are non-matches, so their rate is estimated from all pairs.
        """
        agrees = (np.arange(len(tallies))[:, None] >> np.arange(columns) & 1).astype(np.float64)
        other = np.clip((tallies @ agrees) / max(tallies.sum(), 1.0), 1e-6, 1 - 1e-6)
        same = np.full(columns, 0.95)
        for _ in range(_ROUNDS):
            mine, before = tallies * _likely(agrees, same, other, share), same
            same = np.clip((mine @ agrees) / max(mine.sum(), 1e-12), np.maximum(other, 0.5), 1 - 1e-6)
            if np.abs(same - before).max(initial=0) < 1e-9:
                break
        return cls(same, other)


def _logs(agrees: Floats, rates: Floats) -> Floats:
    logs: Floats = agrees @ np.log(rates) + (1 - agrees) @ np.log1p(-rates)
    return logs


def _likely(agrees: Floats, same: Floats, other: Floats, share: float) -> Floats:
    odds = np.exp(np.clip(_logs(agrees, same) - _logs(agrees, other), -700, 700)) * share / (1 - share)
    return np.asarray(odds / (1 + odds))
