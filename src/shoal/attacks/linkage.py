"""Linkage: re-identification of individuals by their quasi-identifiers."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.kernels.ranges import expanded
from shoal.recoding.nodes import Floats, Ints
from shoal.validation import Share
from shoal.words import share


@ATTACKS.register("linkage")
class Linkage(Attack):
    """Share of individuals re-identified by their quasi-identifiers.

    The candidate records of a person are those whose cells cover the person's values. The adversary keeps the most
    specific ones, that is, those expected to cover the fewest individuals, and selects one at random: with m of them,
    of which r are the person's, the link is correct with probability r/m. Individuals without a released record are not
    re-identified. Sweeney 2002. Baseline: a random record of the release. The curve shows the success by number of
    known quasi-identifiers, in their order. With a register, the adversary proceeds in the opposite direction and
    selects one of the individuals that a record covers.

    ``typos``: share of wrong values in the background knowledge. ``known``: share of values that the adversary knows;
    an unknown value matches any cell.

    >>> import shoal
    >>> data = {"age": [31, 34, 71], "sex": ["f", "m", "m"]}
    >>> before = shoal.read(data).assign(quasi=["age", "sex"])
    >>> scene = Scene.of(before, shoal.read({**data, "age": ["30-39", "30-39", "70-79"], "sex": ["*", "*", "m"]}),
    ...                  truth=np.arange(3))
    >>> result = next(Linkage().run(scene))
    >>> result.success.value, result.persons.tolist()
    (0.6666666666666666, [0.5, 0.5, 1.0])
    """

    name: ClassVar[str] = "linkage"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    bounded_by_size: ClassVar[bool] = True
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    baseline_is: ClassVar[str] = "a random record; with a register, a random individual of it"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.TRUTH})
    reads_sets: ClassVar[bool] = True

    typos: Share = Field(default=0.0, description="share of wrong values in the background knowledge")
    known: Share = Field(default=1.0, description="share of values that the adversary knows")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Link individuals of the original to records and, given a register, records to its individuals."""
        facts = self._facts(scene, scene.targets, "targets")
        steps = [_linked(scene, facts, scene.known[:number]) for number in range(1, len(scene.known) + 1)]
        right, number = steps[-1]
        baseline = scene.by_chance(scene.targets)
        yield self.result(
            scene,
            f"the true record is selected{self._dirt}",
            right,
            baseline,
            variant=self._kind,
            axis="quasi-identifiers known",
            curve=tuple(self.point(place, shares, baseline) for place, (shares, _) in enumerate(steps, 1)),
            details={
                "unique_and_right": float((right == 1).mean()),
                "unique": float((number == 1).mean()),
                "no_candidate": float((number == 0).mean()),
                "median_candidates": float(np.median(number)) if len(number) else 0.0,
                **self._of_strangers(scene),
            },
        )
        if scene.register is not None and scene.whose is not None:
            columns = [name for name in scene.known if name in scene.register.codes]
            if columns:
                yield self._identified(scene, scene.register, scene.whose, columns)

    @property
    def _is_dirty(self) -> bool:
        return self.typos > 0 or self.known < 1

    @property
    def _kind(self) -> str:
        return "with errors" if self._is_dirty else ""

    @property
    def _dirt(self) -> str:
        if not self._is_dirty:
            return ""
        return f", with {share(self.typos)} of the known values wrong and {share(1 - self.known)} missing"

    def _facts(self, scene: Scene, people: KnownPeople, who: str) -> KnownPeople:
        """Return the background knowledge of the adversary, with wrong and unknown values."""
        if not self._is_dirty:
            return people
        rng, known = scene.rng(f"linkage {who}"), dict(people.codes)
        for name in (name for name in scene.known if name in known):  # a register may lack some columns
            codes = known[name]
            wrong = rng.random(len(codes)) < self.typos
            drawn = rng.permutation(codes)
            codes_told = np.where(wrong, drawn, codes).astype(np.uint32)
            known[name] = np.where(rng.random(len(codes)) < self.known, codes_told, scene.columns[name].size)
        return KnownPeople(known, people.records)

    def _of_strangers(self, scene: Scene) -> dict[str, float]:
        """Return the mean confidence in links of individuals outside the data, all of which are wrong."""
        strangers = scene.strangers()
        if strangers is None:
            return {}
        _, number = _candidates(scene, self._facts(scene, strangers, "strangers"), scene.known)
        return {"sure_of_strangers": float(np.mean(np.where(number > 0, 1 / np.maximum(number, 1), 0)))}

    def _identified(
        self, scene: Scene, register: KnownPeople, whose: NDArray[np.intp], columns: Sequence[str]
    ) -> Result:
        """Link a random record of each target to one of the individuals of the register that it covers."""
        facts = _unknown_if_missing(scene, self._facts(scene, register, "register"))
        scene, rows = scene.guessing(), scene.rows(columns)
        covered = scene.covering(columns, rows, unknown=True).covered(facts.known(columns))[rows.origin]
        entry, target = _entries(scene, whose)
        which, record = scene.own(scene.targets)
        person, place = _joined(target, which)  # every entry of a person with every record of that person
        inside = _covers(scene, facts.some(entry[person]), record[place], columns)
        chance = np.bincount(which[place], inside / np.maximum(covered[record[place]], 1), len(scene.targets))
        right = chance / np.maximum(np.bincount(which, minlength=len(scene.targets)), 1)
        listed = np.bincount(target, minlength=len(scene.targets)) > 0
        return self.result(
            scene,
            f"the true individual of the register is selected{self._dirt}",
            right,
            len(target) / max(len(register) * len(scene.targets), 1),
            variant=", ".join(part for part in ("register", self._kind) if part),
            details={"in_register": float(listed.mean()), "unique_and_right": float((right == 1).mean())},
        )


def _candidates(scene: Scene, facts: KnownPeople, columns: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the specificity of the best candidates of each individual, and their number."""
    rows = scene.rows(columns)
    return scene.covering(columns, rows, unknown=True).best(facts.known(columns), scene.telling(rows, columns))


def _linked(scene: Scene, facts: KnownPeople, columns: Sequence[str]) -> tuple[Floats, Ints]:
    """Return the probability of a correct link for each individual, and the number of candidates."""
    best, number = _candidates(scene, facts, columns)
    rows = scene.rows(columns)
    which, record = scene.own(facts)
    mine = _covers(scene, facts.some(which), record, columns)
    mine &= scene.telling(rows, columns)[rows.origin[record]] == best[which]
    return np.bincount(which, mine, len(facts)) / np.maximum(number, 1), number


def _covers(scene: Scene, facts: KnownPeople, records: NDArray[np.intp], columns: Sequence[str]) -> NDArray[np.bool_]:
    """Return whether a released record is compatible with the known attributes, for each individual."""
    covers = np.ones(len(facts), bool)
    for name in columns:
        cells, codes = scene.cells[name], facts.codes[name]
        lacking = codes >= cells.column.size
        covers &= lacking | cells.holds(cells.codes[records], np.where(lacking, 0, codes))
    return covers


def _unknown_if_missing(scene: Scene, people: KnownPeople) -> KnownPeople:
    """Treat the missing values of a register as unknown."""
    codes = dict(people.codes)
    for name, codes_of in codes.items():
        missing = scene.columns[name].missing_code
        if missing is not None:
            codes[name] = np.where(codes_of == missing, scene.columns[name].size, codes_of.astype(np.uint32))
    return KnownPeople(codes, people.records)


def _entries(scene: Scene, whose: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return pairs of a register entry and the position of its person among the targets."""
    entry = np.flatnonzero(whose >= 0)
    persons = scene.person[scene.targets.records]
    order = np.argsort(persons)
    at = np.minimum(np.searchsorted(persons[order], scene.person[whose[entry]]), len(order) - 1)
    same = persons[order[at]] == scene.person[whose[entry]]
    return entry[same], order[at[same]]


def _joined(left: NDArray[np.intp], right: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of positions at which two arrays have equal elements; the second one must be sorted."""
    starts, ends = (np.searchsorted(right, left, side) for side in ("left", "right"))
    return expanded(starts, ends - starts)
