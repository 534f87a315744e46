"""Context risk: the threats to a release and their probabilities, beside the risk of the data (Peng 2021)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Threat:
    """A cause of re-identification attempts, its probability, and the risk if it is the only one."""

    name: str
    probability: float
    risk: float


@dataclass(frozen=True, slots=True)
class ContextRisk:
    """Data risk × context. ``overall`` is the risk of the most probable threat (El Emam 2013)."""

    data: float
    threats: tuple[Threat, ...]
    overall: float


def context_risk(data: float, probabilities: dict[str, float]) -> ContextRisk:
    """Return ``P(attempt) · P(re-identification | attempt)`` for each threat, and the largest.

    Without threats, the overall risk is the data risk.

    >>> context_risk(0.2, {"deliberate": 0.3, "breach": 0.25}).overall
    0.06
    """
    threats = tuple(Threat(name, chance, data * chance) for name, chance in probabilities.items())
    return ContextRisk(data, threats, max((threat.risk for threat in threats), default=data))
