"""``shoal.compare_techniques``: one table treated by every technique at comparable risk."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any, Final

from shoal.analyses.estimate import Estimate
from shoal.analyses.technique_comparison import CLOSE, TechniqueComparison, TechniqueFigures
from shoal.attacks.attack import Attack
from shoal.attacks.battery import Attacked
from shoal.attacks.interval_disclosure import IntervalDisclosure
from shoal.attacks.linkage_rate import LinkageRate
from shoal.disclosure import USUAL
from shoal.errors import ModelError, PolicyError, ReleaseError, ShoalError
from shoal.models.k_anonymity import KAnonymity
from shoal.perturbations.perturbation import PERTURBATIONS, Perturbation
from shoal.policy.columns import ColumnPolicy
from shoal.policy.policy import Policy
from shoal.policy.requirements import AttackLimit
from shoal.progress import Hook, Progress, silent
from shoal.release.case import Case
from shoal.release.judgement import Guarantee
from shoal.release.making import released
from shoal.release.release import Release
from shoal.remedy import Setting
from shoal.table.column import Column
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.techniques.outliers import usual_way
from shoal.techniques.technique import TECHNIQUES, Gives, Truth, usual
from shoal.verbs.attack import attack
from shoal.verbs.compare import compare
from shoal.verbs.inputs import AnyPolicy, names_of, policy_of, table_of

AMOUNTS: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)  # amounts of perturbation that are tried
TARGETS: Final = 2_000  # individuals that are attacked, unless more are requested
_MEASURES = ("loss", "absolute-error", "correlations")


def compare_techniques(  # noqa: PLR0913 - keyword-only options
    data: Any,
    policy: AnyPolicy,
    *,
    target: str | None = None,
    survival: Sequence[str] | str | None = None,
    targets: int = TARGETS,
    seed: int = 0,
    progress: Hook | None = None,
    threads: int | None = None,
) -> TechniqueComparison:
    """Treat a table by every technique, and measure what each costs and what adversaries still achieve.

    Techniques that generalise meet the requirements of the policy on classes (k = 11 if there are none). Perturbations
    draw all quasi-identifiers at random, by the smallest amount for which the upper end of the linkage rate is at most
    1/k, or the limit of the policy. Nothing is released.

    ``target``: a column to predict by a model trained on the release. ``survival``: time, event and optionally a group,
    for survival curves before and after. ``targets``: the maximum number of attacked individuals. Random choices depend
    on ``seed`` and, if the policy names one, on its key.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.sex = "quasi"
    ... columns.dx = "sensitive"
    ... require = [{ model = "k-anonymity", k = 2 }]
    ... ''')
    >>> found = shoal.compare_techniques({"sex": ["f", "f", "m", "m"] * 25, "dx": ["flu", "ms"] * 50}, policy)
    >>> found.figures[0].technique, found.figures[0].is_true, found.figures[0].guarantee
    ('global', True, 'verified')
    """
    chosen = policy_of(policy).alone()
    columns = tuple(names_of(survival) or ())
    if columns and len(columns) not in {2, 3}:
        raise ModelError("bad-survival", "A survival analysis requires a time and an event, and optionally a group.")
    table = table_of(data, chosen).in_memory()
    trial = _Trial(table, chosen, target, columns, targets, seed, progress or silent, threads)
    trial.check()
    return trial.comparison()


@dataclass(frozen=True, eq=False)
class _Way:
    """A way to treat the table. ``attempts``: amounts of perturbation, smallest first, each with its policy.

    ``limit``: the largest upper end of the linkage rate; None if the policy's requirements on classes are met instead.
    """

    name: str
    is_true: bool
    attempts: Iterable[tuple[float | None, Policy]]
    limit: float | None = None

    @property
    def guarantee(self) -> Guarantee:
        """The kind of evidence for its protection."""
        return Guarantee.VERIFIED if self.limit is None else Guarantee.MEASURED


@dataclass(frozen=True, eq=False)
class _Trial:
    """One table, to be treated by every technique."""

    table: Table
    policy: Policy
    target: str | None
    survival: tuple[str, ...]
    targets: int
    seed: int
    progress: Hook
    threads: int | None

    def check(self) -> None:
        """Refuse columns that do not exist or cannot be analysed, before anything is computed."""
        if not self.policy.quasi_columns(self.table):
            raise PolicyError("no-quasi-identifier", "The policy names no quasi-identifier of the table.")
        if self.policy.search.publish is not None:
            raise PolicyError(
                "publish-of-techniques",
                "Techniques are compared by releases in one table.",
                remedy=Setting("search.publish", "table"),
            )
        if self.target is not None:
            self.table[self.target]  # raises if there is no such column
        if self.survival:
            compare(self.table, self.table, qualities=[], in_order=True).survival(*self.survival)

    def comparison(self) -> TechniqueComparison:
        """Try every technique; state the reason for those that are not possible."""
        figures, left_out = list[TechniqueFigures](), dict[str, str]()
        ways = [*self._generalising(), *self._perturbing()]
        for number, way in enumerate(ways):
            self.progress(Progress(f"trying {way.name}", number, len(ways)))
            try:
                figures.append(self._figures(way, *self._release(way)))
            except ShoalError as error:
                left_out[way.name] = error.message
        return TechniqueComparison(
            persons=self.policy.apply(self.table).person_count,
            required=", ".join(f"{model.name} ({model.demand()})" for _, _, model in self._required.requirements()),
            limit=self._limit,
            figures=tuple(figures),
            left_out=left_out,
            target=self.target,
            survival=self.survival,
            seed=self.seed,
        )

    @cached_property
    def _limit(self) -> float:
        """The largest upper end of the linkage rate: that of the policy, or the risk in the smallest class."""
        asked = [limit.at_most for limit in self.policy.attack_limits if limit.attack == LinkageRate.name]
        return min(asked, default=1 / (self.policy.k or USUAL))

    @cached_property
    def _required(self) -> Policy:
        """The policy with its requirements on classes only, or k-anonymity if there are none; nothing is perturbed."""
        asked: list[Any] = [asked for asked in self.policy.require if not isinstance(asked, AttackLimit)]
        columns = {name: column.model_copy(update={"perturb": None}) for name, column in self.policy.columns.items()}
        policy = self.policy.model_copy(update={"columns": columns, "require": asked})
        if any(policy.requirements()):
            return policy
        least = {"model": KAnonymity.name, "k": max(ceil(1 / self._limit), 2)}
        usual_ones = Policy.model_validate({"version": 1, "require": [least]}).require
        return policy.model_copy(update={"require": [*asked, *usual_ones]})

    def _generalising(self) -> Iterator[_Way]:
        """Yield the techniques whose cells are true, with the requirements on classes."""
        search = self._required.search
        for kind in TECHNIQUES.values():
            if kind.truth is Truth.TRUE and Gives.CLASSES in kind.gives:
                changed = {"recoding": kind(), "refine": False, "outliers": usual_way()}  # type: ignore[call-arg]
                policy = self._required.model_copy(update={"search": search.model_copy(update=changed)})
                yield _Way(kind.called(), True, [(None, policy)])

    def _perturbing(self) -> Iterator[_Way]:
        """Yield every kind of perturbation, with all quasi-identifiers drawn at random."""
        table = self.table
        columns = [table[name] for name in self.policy.quasi_columns(table)]
        for kind in PERTURBATIONS.values():
            if any(column.kind in kind.kinds for column in columns):
                for variant, perturbation in enumerate(kind.of_amount(AMOUNTS[0])):
                    name = _named(perturbation, [column for column in columns if column.kind not in kind.kinds])
                    yield _Way(name, False, self._attempts(kind, variant, columns), self._limit)

    def _attempts(
        self, kind: type[Perturbation], variant: int, columns: Sequence[Column]
    ) -> Iterator[tuple[float, Policy]]:
        """Yield ever larger amounts of a perturbation with their policies, as long as they differ."""
        last: dict[str, Perturbation] = {}
        for amount in AMOUNTS:
            perturbs = {column.name: _perturbation(kind, variant, column, amount) for column in columns}
            if perturbs != last:
                yield amount, self._drawn(perturbs)
            last = perturbs

    def _drawn(self, perturbs: Mapping[str, Perturbation]) -> Policy:
        """Return a policy that perturbs columns, and requires nothing but a limit for attacks."""
        columns = {**self._required.columns}
        columns.update({name: ColumnPolicy(role=Role.QUASI, perturb=each) for name, each in perturbs.items()})
        asked = AttackLimit(attack=LinkageRate.name, at_most=self._limit)
        search = self.policy.search.model_copy(
            update={"recoding": usual(), "refine": False, "outliers": usual_way(), "weights": {}, "levels": {}}
        )
        return self.policy.model_copy(update={"columns": columns, "require": [asked], "search": search})

    def _release(self, way: _Way) -> tuple[Release, float | None, Estimate]:
        """Return the release with the smallest amount that is allowed, the amount, and its linkage rate."""
        rate: Estimate | None = None
        for amount, policy in way.attempts:
            case = Case.of(self.table, policy)
            case = replace(case, key=f"techniques, seed {self.seed}".encode()) if case.is_fresh else case
            try:
                release = released(case, self.threads, silent)
            except ShoalError as error:
                if error.code != "nothing-perturbed":
                    raise
                continue  # this amount is too small to change a value
            rate = self._attacked(release, LinkageRate(targets=self.targets)).of(LinkageRate.name).success
            if way.limit is None or rate.high <= way.limit:
                return release, amount, rate
        raise ReleaseError(
            "attack-too-successful",
            "The upper end of the linkage rate stays above {limit:share}.",
            limit=way.limit,
        )

    def _attacked(self, release: Release, *attacks: Attack | str) -> Attacked:
        return attack(self.table, release, attacks=attacks, targets=self.targets, seed=self.seed)

    def _figures(self, way: _Way, release: Release, amount: float | None, rate: Estimate) -> TechniqueFigures:
        """Return the figures of a release."""
        comparison = compare(self.table, release, qualities=_MEASURES)
        attacked = self._attacked(release, "inference", IntervalDisclosure(tolerance=CLOSE)).results
        close = [result for result in attacked if result.attack == IntervalDisclosure.name]
        guesses = [result for result in attacked if result.attack != IntervalDisclosure.name]
        guess = max(guesses, key=lambda result: result.lift, default=None)
        loss, error, correlations = (comparison.quality[name].total for name in _MEASURES)
        curves = comparison.survival(*self.survival) if self.survival else []
        return TechniqueFigures(
            technique=way.name,
            amount=amount,
            is_true=way.is_true,
            guarantee=str(way.guarantee),
            suppressed=release.suppressed,
            loss=loss.cost if loss is not None and way.is_true else None,
            error=None if error is None else error.value,
            correlations=None if correlations is None else correlations.value,
            learned=None if self.target is None else comparison.learning(self.target, seed=self.seed),
            gap=max((curve.largest_gap for curve in curves if curve.largest_gap is not None), default=None),
            linked=rate,
            close=close[0].success.value if close else None,
            inferred=None if guess is None else guess.success.value,
            guessed=None if guess is None else guess.baseline,
            about=None if guess is None else guess.column,
        )


def _named(perturbation: Perturbation, others: Sequence[Column]) -> str:
    """Return the name of a perturbation with its variant, and with the perturbations of the other columns."""
    variant = [name for name, value in perturbation.options.items() if value is True]
    rest = dict.fromkeys(_other(column).called() for column in others)
    return " + ".join([", ".join([perturbation.kind, *variant]), *rest])


def _perturbation(kind: type[Perturbation], variant: int, column: Column, amount: float) -> Perturbation:
    """Return the perturbation of a column: of the given kind if that applies, otherwise of the first kind that does."""
    return kind.of_amount(amount)[variant] if column.kind in kind.kinds else _other(column).of_amount(amount)[0]


def _other(column: Column) -> type[Perturbation]:
    """Return the first kind of perturbation by an amount that applies to a column."""
    return next(kind for kind in PERTURBATIONS.values() if column.kind in kind.kinds and kind.of_amount(AMOUNTS[0]))
