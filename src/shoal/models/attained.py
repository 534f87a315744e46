"""Attained thresholds of all models that can be measured on a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from shoal.models.evidence import Gatherer
from shoal.models.model import MODELS, Model, Need, Number
from shoal.table.missing import Missing


@dataclass(frozen=True, slots=True)
class Attainment:
    """Measurement of models on one table; counts are shared between models."""

    gatherer: Gatherer

    def of(self, model: Model) -> dict[str, Number]:
        """Return the thresholds that the table attains: the worst over all views of the model."""
        attained = []
        table = self.gatherer.table
        for view in model.views(table.quasi, table.sensitive):
            evidence = self.gatherer.evidence(view)
            model.admit(evidence)
            attained.append(model.measure(evidence))
        return {name: better.worst(values[name] for values in attained) for name, better in model.measured.items()}

    def all(self, models: Sequence[str] | None = None) -> dict[str, Any]:
        """Return the thresholds of the named models, or of all models that require no further input."""
        chosen = [
            MODELS[name]() for name in (MODELS if models is None else models) if models or self.suffices(MODELS[name])
        ]
        # Models of sensitive values come first: their counts also serve the others.
        order = sorted(chosen, key=lambda model: Need.SENSITIVE not in model.needs)
        values = {model.name: self.of(model) for model in order}
        return {model.name: shown(values[model.name]) for model in chosen}

    def suffices(self, model: type[Model]) -> bool:
        """Return whether a model can be measured without further input."""
        population, ladders = self.gatherer.population, self.gatherer.hierarchies
        table, rule = self.gatherer.table, self.gatherer.missing
        lacks = {
            Need.SENSITIVE: not table.sensitive,
            Need.HIERARCHY: any(name not in ladders for name in table.sensitive),
            Need.NUMBERS: any(not table[name].kind.numeric or table[name].missing for name in table.sensitive),
            Need.POPULATION: population is None,
            Need.REGISTER: population is None or population.register is None,
            Need.THRESHOLD: True,
            Need.SUBSETS: True,
        }
        readable = model.reads_wildcards or rule is not Missing.WILDCARD
        return readable and not any(lacks[need] for need in model.needs)


def shown(values: Mapping[str, Number]) -> int | float | dict[str, int | float]:
    """Return a single value as it is, and several values by name."""
    plain = {name: _nearest(value) for name, value in values.items()}
    return next(iter(plain.values())) if len(plain) == 1 else plain


def _nearest(value: Number) -> int | float:
    try:
        return float(value) if isinstance(value, Fraction) else value
    except OverflowError:  # larger than any double
        return inf if value > 0 else -inf
