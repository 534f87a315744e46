"""The requirements of a policy: privacy models with thresholds, and presets."""

from collections.abc import Mapping
from copy import copy
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, create_model, field_validator
from pydantic_core import PydanticUndefined

from shoal.attacks.attack import ATTACKS, Attack
from shoal.models.model import MODELS, Model
from shoal.presets.preset import PRESETS
from shoal.validation import Checked, Share, one_of
from shoal.words import first_sentence


def _known_presets(schema: dict[str, Any]) -> None:
    schema["enum"] = list(PRESETS)


class PresetRequirement(Checked):
    """The requirements of a preset, given by its name."""

    preset: str = Field(description="name of a preset", json_schema_extra=_known_presets)

    @field_validator("preset")
    @classmethod
    def _known(cls, name: str) -> str:
        return one_of(PRESETS, "preset", name)


def limited_attacks() -> dict[str, type[Attack]]:
    """Return the attacks whose success can be limited: those on the release."""
    return {name: ATTACKS[name] for name in ATTACKS if ATTACKS[name].targets_release}


def _known_attacks(schema: dict[str, Any]) -> None:
    schema["enum"] = list(limited_attacks())


class AttackLimit(Checked):
    """A maximum success rate of an attack on the release, compared with the upper end of its interval."""

    attack: str = Field(description="attack whose success is limited", json_schema_extra=_known_attacks)
    at_most: Share = Field(
        gt=0,
        title="Maximum success",
        description="0 to 1; compared with the upper limit of the 95% confidence interval",
    )
    column: str | None = Field(
        default=None, title="Column", description="column that the attack is about (default: all)"
    )

    @field_validator("attack")
    @classmethod
    def _known(cls, name: str) -> str:
        return one_of(limited_attacks(), "attack", name)


def _requirement(model: type[Model]) -> Any:
    """Return the model in the form of a policy: with its name, and with required thresholds that have no default."""
    thresholds: dict[str, Any] = {}
    for name in model.measured:
        field = copy(model.model_fields[name])
        field.default = PydanticUndefined if field.default is None else field.default
        thresholds[name] = (field.annotation, field)
    named = Field(description="name of the privacy model")
    fields: dict[str, Any] = {"model": (Literal[model.name], named), **thresholds}
    requirement = create_model(model.__name__, __base__=model, **fields)
    return Annotated[requirement, Tag(model.name)]


def _which(given: Any) -> str | None:
    """Return the type of a requirement: the name of its model, "preset" or "attack"."""
    if isinstance(given, Mapping):
        return next((key for key in ("preset", "attack") if key in given), None) or given.get("model")
    if isinstance(given, AttackLimit):
        return "attack"
    return "preset" if isinstance(given, PresetRequirement) else getattr(given, "name", None)


AnyRequirement: Any = Annotated[
    reduce(
        or_,
        [
            Annotated[PresetRequirement, Tag("preset")],
            Annotated[AttackLimit, Tag("attack")],
            *map(_requirement, MODELS.values()),
        ],
    ),
    Discriminator(
        _which,
        custom_error_type="no_such_choice",
        custom_error_message="there is no such privacy model",
        custom_error_context={"key": "model", "other": "preset or attack", "known": ",".join(MODELS)},
    ),
]


def first_line(model: Model) -> str:
    """Return a short description of a model."""
    return first_sentence(type(model).__mro__[1])
