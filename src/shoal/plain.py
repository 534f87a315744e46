"""Plain functions: every privacy model as one function on any frame, such as ``shoal.k_anonymity(df, quasi=["age"])``.

They are made from the registry, so a new model has one the moment its file is there.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from inspect import Parameter, Signature
from math import inf
from typing import Any

from shoal.errors import ModelError, did_you_mean, listed
from shoal.hierarchy.spec import bind_all
from shoal.models.evidence import Gatherer
from shoal.models.model import MODELS, Model, Need, Number
from shoal.population import Population
from shoal.table.missing import Missing
from shoal.table.reading import read
from shoal.table.table import Table
from shoal.validation import validated

# What every function takes beside the model's own parameters.
_COMMON = ("quasi", "sensitive", "subject", "missing", "hierarchies", "population")


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Return all plain functions by name."""
    return {name.replace("-", "_"): _function(MODELS[name]) for name in MODELS}


def _function(model: type[Model]) -> Callable[..., Any]:
    signature = _signature(model)

    def measure(data: Any, /, **options: Any) -> int | float | dict[str, int | float]:
        _check_options(model, signature, options)
        common = {name: options.pop(name) for name in _COMMON if name in options}
        chosen = validated(model, options, where=f"The model {model.name}", error=ModelError)
        return _shown(measured(chosen, data, **common))

    measure.__name__ = measure.__qualname__ = model.name.replace("-", "_")
    measure.__doc__ = f"{inspect.cleandoc(model.__doc__ or '')}\n\n{_described(model, signature)}"
    measure.__module__ = "shoal"
    measure.__signature__ = signature  # type: ignore[attr-defined]
    return measure


def _check_options(model: type[Model], signature: Signature, options: Mapping[str, Any]) -> None:
    """Refuse options that would have no effect."""
    for name in options:
        if name in model.measured:
            raise ModelError(
                f"{name} is what this function measures: it cannot be given.",
                hint="To judge by a threshold, use shoal.assess with a policy that requires it.",
            )
        if name not in signature.parameters:
            known = [one for one in signature.parameters if one != "data"]
            hint = did_you_mean(name, known) or f"Options are {listed(known, 20)}."
            raise ModelError(f"The model {model.name} takes no option '{name}'.", hint=hint)


_MEANING = {
    "data": "a table, any dataframe, a dict of columns, or the path of a file",
    "quasi": "the columns that an adversary may know",
    "sensitive": "the columns that must not be learned",
    "subject": "the column that says which person a row belongs to; without it every record is a person",
    "missing": "when a missing quasi-identifier matches another: own, never or wildcard",
    "hierarchies": 'a hierarchy per column, such as {"icd10": {"kind": "icd10"}}',
    "population": "a register of everybody (table, frame, file), how many they are, or the fraction in the table",
    "reading": "how several sensitive columns are read: worst, others-known or combined",
}


def _described(model: type[Model], signature: Signature) -> str:
    """Return a line for each option."""
    own = {name: field.description for name, field in model.model_fields.items()}
    lines = [f"{name}: {_MEANING.get(name) or own.get(name)}" for name in signature.parameters]
    return "\n".join(lines)


def _signature(model: type[Model]) -> Signature:
    """Return what the function takes: common options as far as the model reads them, and its own parameters."""
    left_out = {
        "sensitive": Need.SENSITIVE not in model.needs,
        "population": Need.POPULATION not in model.needs,
        "hierarchies": not {"distance", "level"} & set(model.model_fields),
    }
    common = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=Missing.OWN.value if name == "missing" else None)
        for name in _COMMON
        if not left_out.get(name)
    ]
    own = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=field.get_default())
        for name, field in model.model_fields.items()
        if name not in model.measured and name != "column"
    ]
    return Signature([Parameter("data", Parameter.POSITIONAL_ONLY), *common, *own])


def measured(model: Model, data: Any, **columns: Any) -> dict[str, Number]:
    """Return the thresholds that a table attains: the worst over all that the model looks at."""
    return _worst(model, _Given.of(data, **columns))


def measures(data: Any, /, *, models: Sequence[str] | None = None, **columns: Any) -> dict[str, Any]:
    """Measure several models at once, which is quicker than one by one: the table is read and grouped once.

    ``models``: their names; without names, all that can be measured with what is given, but for those that look at
    many combinations of columns (lkc-privacy, subset-k-anonymity). ``columns``: as in the plain
    functions: ``quasi``, ``sensitive``, ``subject``, ``missing``, ``hierarchies``, ``population``.

    >>> found = measures({"age": [34, 34, 71], "dx": ["flu", "ms", "flu"]}, quasi=["age"], sensitive=["dx"])
    >>> found["k-anonymity"], found["l-diversity"], found["alpha-k-anonymity"]
    (1, 1, {'alpha': 1.0, 'k': 1})
    """
    for name in columns:
        if name not in _COMMON:
            hint = did_you_mean(name, _COMMON) or "Parameters of a model can be given to its own function."
            raise ModelError(f"There is no option '{name}'.", hint=hint)
    given = _Given.of(data, **columns)
    wanted = [models] if isinstance(models, str) else models
    chosen = [
        MODELS[name]() for name in (MODELS if wanted is None else wanted) if wanted or given.suffices(MODELS[name])
    ]
    # Those that look at sensitive values go first: what they have counted serves the others, too.
    found = {
        model.name: _worst(model, given) for model in sorted(chosen, key=lambda one: Need.SENSITIVE not in one.needs)
    }
    return {model.name: _shown(found[model.name]) for model in chosen}


@dataclass(frozen=True, slots=True)
class _Given:
    """A table and the columns that are to be looked at."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    gatherer: Gatherer

    @classmethod
    def of(  # noqa: PLR0913 - the options of every plain function
        cls,
        data: Any,
        *,
        quasi: Sequence[str] | str | None = None,
        sensitive: Sequence[str] | str | None = None,
        subject: str | None = None,
        missing: str | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        population: Any = None,
    ) -> "_Given":
        """Read what was given; columns that are not named are taken from the table's roles."""
        table = data if isinstance(data, Table) else read(data)
        table = table.taking(quasi=quasi, sensitive=sensitive, subject=subject)
        rule = Missing.named(missing or Missing.OWN)
        everybody = None if population is None else Population.given(population, table)
        gatherer = Gatherer(table, rule, bind_all(hierarchies or {}, table), everybody)
        return cls(table.quasi, table.sensitive, gatherer)

    def suffices(self, model: type[Model]) -> bool:
        """Tell whether a model can be measured without asking for more."""
        population, ladders = self.gatherer.population, self.gatherer.hierarchies
        table, rule = self.gatherer.table, self.gatherer.missing
        lacks = {
            Need.SENSITIVE: not self.sensitive,
            Need.HIERARCHY: any(name not in ladders for name in self.sensitive),
            Need.NUMBERS: any(not table[name].kind.numeric or table[name].missing for name in self.sensitive),
            Need.POPULATION: population is None,
            Need.REGISTER: population is None or population.register is None,
            Need.SUBSETS: True,
        }
        readable = model.reads_wildcards or rule is not Missing.WILDCARD
        return readable and not any(lacks[need] for need in model.needs)


def _worst(model: Model, given: _Given) -> dict[str, Number]:
    found = []
    for view in model.views(given.quasi, given.sensitive):
        evidence = given.gatherer.evidence(view)
        model.admit(evidence)
        found.append(model.measure(evidence))
    return {name: better.worst(values[name] for values in found) for name, better in model.measured.items()}


def _shown(values: Mapping[str, Number]) -> int | float | dict[str, int | float]:
    """Return one number as it is, several by name."""
    plain = {name: _nearest(value) for name, value in values.items()}
    return next(iter(plain.values())) if len(plain) == 1 else plain


def _nearest(value: Number) -> int | float:
    try:
        return float(value) if isinstance(value, Fraction) else value
    except OverflowError:  # larger than any double
        return inf if value > 0 else -inf
