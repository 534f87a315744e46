"""Measurement of limits for attacks on a release."""

from collections.abc import Iterable

from shoal.attacks.attack import ATTACKS
from shoal.attacks.battery import Attacked
from shoal.attacks.result import Result
from shoal.errors import ReleaseError
from shoal.models.model import Verdict
from shoal.policy.requirements import AttackLimit
from shoal.release.judgement import Guarantee, Judgement
from shoal.remedy import either
from shoal.words import first_sentence, listed


def measured_limits(limits: Iterable[AttackLimit], attacked: Attacked) -> tuple[Judgement, ...]:
    """Judge limits for attacks by the measured results.

    A limit is met if no interval of its attack exceeds it.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78] * 50, "dx": ["flu", "ms", "flu", "flu"] * 50}
    >>> coarse = {"age": ["30-39", "30-39", "70-79", "70-79"] * 50, "dx": data["dx"]}
    >>> attacked = shoal.attack(data, coarse, quasi=["age"], sensitive=["dx"], attacks=["linkage"])
    >>> [judged.verdict.satisfied for judged in measured_limits([AttackLimit(attack="linkage", at_most=0.1)], attacked)]
    [True]
    """
    return tuple(_judged(limit, attacked) for limit in limits)


def _judged(limit: AttackLimit, attacked: Attacked) -> Judgement:
    results = [result for result in attacked.results if _is_about(limit, result)]
    if not results:
        why = _why_not(limit, attacked)
        raise ReleaseError(
            "attack-not-run",
            "The requirement on the attack '{attack}' could not be measured. {why}",
            remedy="Remove the requirement, or choose an attack that can run on this release.",
            attack=limit.attack,
            why=why,
        )
    worst = max(results, key=lambda result: result.success.high)
    verdict = Verdict(
        model=limit.attack,
        column=limit.column,
        parameters={"at_most": limit.at_most},
        value={"success": worst.success.value, "low": worst.success.low, "high": worst.success.high},
        asked=f"at most {limit.at_most:.1%}",
        satisfied=worst.success.high <= limit.at_most,
        classes=0,
        persons=0,
    )
    return Judgement("policy", first_sentence(ATTACKS[limit.attack]), verdict, Guarantee.MEASURED)


def _why_not(limit: AttackLimit, attacked: Attacked) -> str:
    """Return why there is no result for a limit."""
    columns = {result.column: None for result in attacked.results if result.attack == limit.attack}
    if not columns:
        return attacked.left_out.get(limit.attack, "The attack was not run.")
    named = [name for name in columns if name is not None]
    return f"It is about {listed(named)}." if named else "It is not about a single column: remove 'column'."


def _is_about(limit: AttackLimit, result: Result) -> bool:
    return result.attack == limit.attack and limit.column in {None, result.column}


def check_limits(judgements: Iterable[Judgement]) -> None:
    """Refuse a release on which an attack exceeds its limit."""
    for judgement in judgements:
        if not judgement.verdict.satisfied:
            verdict = judgement.verdict
            raise ReleaseError(
                "attack-too-successful",
                "The attack '{attack}' succeeds for up to {high:share} of the targets (upper end of the 95% "
                "interval). The limit is {limit:share}.",
                remedy=either(
                    "Increase k or l", "perturb more", "choose another form of the release", "increase the limit"
                ),
                attack=verdict.model,
                high=float(verdict.value["high"]),
                limit=verdict.parameters["at_most"],
            )
