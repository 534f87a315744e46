"""Presets: published requirements with source and year, which a policy can select by name.

A preset never states that a release complies with a law. It states which criterion is met, with which figure, and
against which adversary.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import Field

from shoal.errors import ShoalError, similar
from shoal.models.model import MODELS, Model
from shoal.validation import Checked, validated


class PresetCriterion(Checked):
    """One requirement of a preset: a model with its parameters."""

    says: str = Field(description="requirement in words")
    model: str = Field(description="privacy model that measures it")
    parameters: dict[str, Any] = Field(default_factory=dict)

    def requirement(self) -> Model:
        """Return the model with its thresholds."""
        chosen = MODELS[self.model]
        return validated(chosen, self.parameters, where=f"The criterion '{self.says}'", error=ShoalError)


class Preset(Checked):
    """A named set of requirements. ``checklist``: points that cannot be measured and that a person has to confirm."""

    name: str
    title: str
    source: str
    year: int
    adversary: str
    note: str
    criteria: tuple[PresetCriterion, ...] = ()
    checklist: tuple[str, ...] = ()


class _Presets(Mapping[str, Preset]):
    """All presets by name. A preset is added by adding a file."""

    def __getitem__(self, name: str) -> Preset:
        if name not in _files():
            raise ShoalError(
                "unknown-preset", "There is no preset '{name}'.", remedy=similar(name, _files(), 20), name=name
            )
        return _load(name)

    def __contains__(self, name: object) -> bool:
        return name in _files()

    def __iter__(self) -> Iterator[str]:
        return iter(_files())

    def __len__(self) -> int:
        return len(_files())


PRESETS = _Presets()


@cache
def _files() -> tuple[str, ...]:
    folder = files("shoal.presets").joinpath("data")
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")))


@cache
def _load(name: str) -> Preset:
    text = files("shoal.presets").joinpath("data", f"{name}.toml").read_text(encoding="utf-8")
    return validated(Preset, {"name": name, **tomllib.loads(text)}, where=f"The preset '{name}'", error=ShoalError)
