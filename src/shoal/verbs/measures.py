"""``shoal.measures``, and a function for every privacy model: ``shoal.k_anonymity(df, quasi=["age"])``.

The functions are generated from the registry, so a new model has one as soon as its file exists.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from inspect import Parameter, Signature
from typing import Any

from shoal.errors import ModelError, did_you_mean, similar
from shoal.models.attained import Attainment, shown
from shoal.models.model import MODELS, Model, Need
from shoal.models.pairs import with_pairs
from shoal.table.missing import Missing
from shoal.validation import validated
from shoal.verbs.inputs import Inputs, names_of

# Options of every function, in addition to the parameters of its model.
_COMMON = ("quasi", "sensitive", "subject", "missing", "hierarchies", "population")


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Return the functions of all models by name."""
    return {name.replace("-", "_"): _function(MODELS[name]) for name in MODELS}


def _function(model: type[Model]) -> Callable[..., Any]:
    signature = _signature(model)

    def measure(data: Any, /, **options: Any) -> int | float | dict[str, int | float]:
        _check_options(model, signature, options)
        common = {name: options.pop(name) for name in _COMMON if name in options}
        chosen = validated(model, options, where=f"The model {model.name}", error=ModelError)
        inputs = Inputs.of(data, **common)
        return shown(Attainment(replace(inputs, table=with_pairs(inputs.table, [chosen])).gatherer).of(chosen))

    measure.__name__ = measure.__qualname__ = model.name.replace("-", "_")
    measure.__doc__ = f"{inspect.cleandoc(model.__doc__ or '')}\n\n{_described(model, signature)}"
    measure.__module__ = "shoal"
    measure.__signature__ = signature  # type: ignore[attr-defined]
    return measure


def _check_options(model: type[Model], signature: Signature, options: Mapping[str, Any]) -> None:
    """Refuse unknown options, and options that are results of the model."""
    for name in options:
        if name in model.measured:
            raise ModelError(
                "option-is-result",
                "{option} is the result of this function and cannot be given.",
                remedy="To judge by a threshold, use shoal.assess with a policy that requires it.",
                option=name,
            )
        if name not in signature.parameters:
            known = [parameter for parameter in signature.parameters if parameter != "data"]
            raise ModelError(
                "unknown-option",
                "The model {model} has no option '{option}'.",
                remedy=similar(name, known, 20),
                model=model.name,
                option=name,
            )


_MEANING = {
    "data": "a table, any dataframe, a dict of columns, or the path of a file",
    "quasi": "the columns that an adversary may know",
    "sensitive": "the columns that must not be learned",
    "subject": "column that identifies the individual of a record (default: every record is an individual)",
    "missing": "when a missing quasi-identifier matches another: own, never or wildcard",
    "hierarchies": 'a hierarchy per column, such as {"icd10": {"kind": "icd10"}}',
    "population": "register of the population (table, frame or file), its size, or the fraction in the table",
    "reading": "how several sensitive columns are read: worst, others-known or combined",
}


def _described(model: type[Model], signature: Signature) -> str:
    """Return one line for each option."""
    own = {name: field.description for name, field in model.model_fields.items()}
    lines = [f"{name}: {_MEANING.get(name) or own.get(name)}" for name in signature.parameters]
    return "\n".join(lines)


def _signature(model: type[Model]) -> Signature:
    """Return the signature of a function: the common options that the model uses, and its own parameters."""
    left_out = {
        "sensitive": Need.SENSITIVE not in model.needs,
        "population": Need.POPULATION not in model.needs,
        "hierarchies": Need.HIERARCHY not in model.needs and not {"distance", "level"} & set(model.model_fields),
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


def measures(data: Any, /, *, models: Sequence[str] | None = None, **columns: Any) -> dict[str, Any]:
    """Measure several models at once, which is faster than one by one: the table is read and grouped once.

    ``models``: the names of the models (default: all that can be measured with the given options, except those that
    evaluate many combinations of columns: lkc-privacy, subset-k-anonymity). ``columns``: the options of the functions
    of single models: ``quasi``, ``sensitive``, ``subject``, ``missing``, ``hierarchies``, ``population``.

    >>> found = measures({"age": [34, 34, 71], "dx": ["flu", "ms", "flu"]}, quasi=["age"], sensitive=["dx"])
    >>> found["k-anonymity"], found["l-diversity"], found["alpha-k-anonymity"]
    (1, 1, {'alpha': 1.0, 'k': 1})
    """
    for name in columns:
        if name not in _COMMON:
            raise ModelError(
                "unknown-option",
                "There is no option '{option}'.",
                remedy=did_you_mean(name, _COMMON) or "Give parameters of a model to its own function.",
                option=name,
            )
    return Attainment(Inputs.of(data, **columns).gatherer).all(names_of(models))
