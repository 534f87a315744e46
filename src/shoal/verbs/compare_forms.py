"""``shoal.compare_forms``: one table or several, at the same probability of a sensitive value."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from shoal.analyses.count_queries import NUMBER, QueryError, query_errors
from shoal.analyses.form_comparison import FormComparison, FormFigures
from shoal.attacks.bucket_inference import BucketInference
from shoal.attacks.result import Result
from shoal.errors import PolicyError, ShoalError
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.model import Need
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress, silent
from shoal.release.case import Case
from shoal.release.making import released
from shoal.release.release import Release
from shoal.remedy import Setting, by
from shoal.separation.permutation import Permutation
from shoal.separation.separation import SEPARATIONS
from shoal.table.table import Table
from shoal.techniques.technique import TECHNIQUES, Gives, Truth
from shoal.verbs.attack import attack
from shoal.verbs.inputs import AnyPolicy, Inputs, policy_of, table_of

TARGETS = 10_000  # individuals that are attacked, unless more are requested
_ONE = "table"  # the form in one table
_LEAST = 3  # l if the policy requires no diversity
_STEP = 1e-6  # by which the largest share of a value may exceed 1/l, so that no share is above it by rounding


def compare_forms(  # noqa: PLR0913 - keyword-only options
    data: Any,
    policy: AnyPolicy,
    *,
    l: int | None = None,  # noqa: E741 - the name in the literature
    queries: int = NUMBER,
    targets: int = TARGETS,
    seed: int = 0,
    progress: Hook | None = None,
    threads: int | None = None,
) -> FormComparison:
    """Release a table in every form that limits the probability of a sensitive value to 1/l, and compare them.

    The forms are one table, generalised until no value has more than 1/l of a class (by the technique whose counts are
    most accurate), and several tables: buckets and slicing. Requirements of the policy on quasi-identifiers are met by
    all; without any, several tables show them unchanged. Nothing is released.

    ``l``: default: the largest that the policy requires, or 3. ``queries``: the number of count queries. ``targets``:
    the maximum number of attacked individuals. Random choices depend on ``seed`` and, if the policy names one, on its
    key.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns = { age = "quasi", sex = "quasi", dx = "sensitive" }
    ... ''')
    >>> data = {"age": [31, 32, 33, 51] * 9, "sex": ["f", "m", "m"] * 12, "dx": ["flu", "ms", "gout", "flu"] * 9}
    >>> found = shoal.compare_forms(data, policy, l=2)
    >>> [form.form for form in found.figures]
    ['table', 'buckets', 'slicing']
    """
    chosen = policy_of(policy).alone()
    table = table_of(data, chosen).in_memory()
    trial = _Trial(table, chosen, l, queries, targets, seed, progress or silent, threads)
    return trial.comparison()


@dataclass(frozen=True, eq=False)
class _Attempt:
    """A release in one form. ``error``: the error of counts that are estimated from it."""

    form: str
    technique: str | None
    release: Release
    error: QueryError

    @property
    def in_one(self) -> bool:
        """Whether it stands for a release in one table."""
        return self.form == _ONE


@dataclass(frozen=True, eq=False)
class _Trial:
    """One table, to be released in every form."""

    table: Table
    policy: Policy
    given: int | None
    queries: int
    targets: int
    seed: int
    progress: Hook
    threads: int | None

    def comparison(self) -> FormComparison:
        """Try every form; state the reason for those that are not possible."""
        column, left_out = self._column, dict[str, str]()
        self._check_perturbed(column)
        ways = [*self._in_one_table(), *self._in_several()]
        attempts = list[_Attempt]()
        for number, (form, technique, policy) in enumerate(ways):
            title = form if technique is None else f"{form} ({technique})"
            self.progress(Progress(f"trying {title}", number, len(ways) + 1))
            try:
                attempts.append(self._attempt(form, technique, policy))
            except ShoalError as error:
                left_out[title] = f"{error.message} {error.hint}".strip()
        best = sorted((each for each in attempts if each.in_one), key=lambda each: each.error.median)[:1]
        self.progress(Progress("attacking", len(ways), len(ways) + 1))
        shown = [self._figures(each) for each in (*best, *(each for each in attempts if not each.in_one))]
        return FormComparison(
            persons=self.policy.apply(self.table).person_count,
            column=column,
            l=self._l,
            guessed=shown[-1][1] if shown else 0.0,
            figures=tuple(figures for figures, _ in shown),
            left_out={form: reason for form, reason in left_out.items() if not best or not form.startswith(_ONE)},
            seed=self.seed,
        )

    @property
    def _column(self) -> str:
        """The only sensitive column."""
        sensitive = self.policy.apply(self.table).sensitive
        if len(sensitive) != 1:
            raise PolicyError(
                "one-sensitive-column",
                "Forms are compared for one sensitive column, and the policy names {number}.",
                remedy="Give the others the role direct, so that they are not released."
                if sensitive
                else by("Give a column the role sensitive", Setting("columns")),
                number=len(sensitive),
            )
        return sensitive[0]

    def _check_perturbed(self, column: str) -> None:
        """Refuse a policy that draws values at random."""
        drawn = [*(name for name in self.policy.perturbed if name == column), *self.policy.drawn_quasi(self.table)]
        if drawn:
            raise PolicyError(
                "perturbed-and-separated",
                "Column '{column}' is perturbed, so forms of the release cannot be compared.",
                remedy="Compare them with a policy that does not perturb it.",
                column=drawn[0],
            )

    @property
    def _l(self) -> int:
        """The number of different values: as given, as the form of the policy states, or as it requires."""
        own = getattr(self.policy.search.publish, "l", None)
        required = max((model.distinct for _, _, model in self.policy.requirements()), default=1)
        return self.given or own or (ceil(required) if required > 1 else _LEAST)

    def _in_one_table(self) -> Iterator[tuple[str, str | None, Policy]]:
        """Yield the techniques whose cells are true; the values of a class are permuted, which tells the same."""
        share = 1 / self._l + _STEP
        alpha = Policy.model_validate(
            {"version": 1, "require": [{"model": AlphaKAnonymity.name, "alpha": share, "k": self._l}]}
        ).require
        for kind in TECHNIQUES.values():
            if kind.truth is Truth.TRUE and Gives.CLASSES in kind.gives:
                changed = {"recoding": kind(), "refine": False, "publish": Permutation()}  # type: ignore[call-arg]
                yield _ONE, kind.called(), self._with(changed, [*self._of_identities, *alpha])

    def _in_several(self) -> Iterator[tuple[str, str | None, Policy]]:
        """Yield the forms in several tables whose buckets are diverse."""
        generalised = self.policy.search.technique.called() if self._of_identities else None
        for name in SEPARATIONS:
            if SEPARATIONS[name].is_diverse:
                options = {"kind": name, "l": self._l, "identities_public": not self._of_identities}
                form = Policy.model_validate({"version": 1, "search": {"publish": options}}).search.publish
                yield name, generalised, self._with({"publish": form}, self._of_identities)

    @property
    def _of_identities(self) -> list[Any]:
        """The requirements that do not concern sensitive values."""
        return [model for _, _, model in self.policy.requirements() if Need.SENSITIVE not in model.needs]

    def _with(self, search: dict[str, Any], require: list[Any]) -> Policy:
        changed = self.policy.search.model_copy(update=search)
        return self.policy.model_copy(update={"search": changed, "require": require})

    def _attempt(self, form: str, technique: str | None, policy: Policy) -> "_Attempt":
        """Return a release, and the error of counts."""
        case = Case.of(self.table, policy)
        case = replace(case, key=f"forms, seed {self.seed}".encode()) if case.is_fresh else case
        release, inputs = released(case, self.threads, silent), Inputs.of(self.table, policy)
        tables = [table.in_memory() for table in release.tables.values()]
        hierarchies, link = inputs.hierarchies, str(release.link)
        error = query_errors(inputs.table, tables, link, hierarchies, number=self.queries, seed=self.seed)
        return _Attempt(form, technique, release, error)

    def _figures(self, attempt: "_Attempt") -> tuple[FormFigures, float]:
        """Return the figures of a form, and the baseline of the attack."""
        release, attacked = attempt.release, self._attacked(attempt.release)
        figures = FormFigures(
            form=attempt.form,
            technique=attempt.technique,
            tables=1 if attempt.in_one else len(release.tables),
            suppressed=release.suppressed,
            unique=None if release.part.promise.divides_identities else release.unique,
            error=attempt.error,
            inferred=attacked.success,
            control=None if attacked.control is None else attacked.control.value,
        )
        return figures, attacked.baseline

    def _attacked(self, release: Release) -> Result:
        attacks = [BucketInference()]
        return attack(self.table, release, attacks=attacks, targets=self.targets, seed=self.seed).results[0]
