"""What every privacy model brings: the value a table attains, a verdict, and what a search may rely on."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.errors import ModelError
from shoal.models.evidence import ColumnReading, Evidence, View
from shoal.registry import Registry
from shoal.remedy import Option, Setting, either
from shoal.table.missing import Missing
from shoal.validation import Checked
from shoal.words import values

Number: TypeAlias = int | float | Fraction
Whole: TypeAlias = NDArray[np.int64]


class Scope(StrEnum):
    """What a model judges: each class for itself, or the table as a whole."""

    CLASS = "class"
    TABLE = "table"


class Better(StrEnum):
    """Which way a measured value protects more."""

    MORE = "more"
    LESS = "less"

    def worst(self, values: Iterable[Number]) -> Number:
        """Return the value that protects least."""
        return min(values) if self is Better.MORE else max(values)


class Need(StrEnum):
    """What a model reads beside the classes."""

    SENSITIVE = "sensitive"
    HIERARCHY = "hierarchy"
    NUMBERS = "numbers"
    POPULATION = "population"
    REGISTER = "register"
    SUBSETS = "subsets"  # many combinations of quasi-identifiers: looked at only if somebody asks


@dataclass(frozen=True, slots=True)
class Monotone:
    """What a search may rely on when classes are merged.

    ``generalisation``: classes that all pass, merged, pass. ``suppression``: a class that passes, merged with one that
    does not, passes; so a coarser table never has to leave out more.
    """

    generalisation: bool
    suppression: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came out: ``value`` is what the table attains, ``parameters`` what was asked for.

    ``asked``: the same in words. ``classes`` and ``persons``: how many fail; all or none, if it is about the table.
    """

    model: str
    column: str | None
    parameters: Mapping[str, Any]
    value: Mapping[str, Number]
    asked: str
    satisfied: bool
    classes: int
    persons: int

    @property
    def title(self) -> str:
        """The model, and the column that it is about."""
        return f"{self.model} of {self.column}" if self.column else self.model

    @property
    def attained(self) -> str:
        """What the table attains, in words."""
        return values(dict(self.value)) or "not measured"

    @property
    def says(self) -> str:
        """Whether it is met."""
        return "met" if self.satisfied else "not met"


class Model(Checked):
    """The base of all models. A subclass says what it measures and which classes fail.

    Parameters are fields. Those in ``measured`` are thresholds: they may be left out when a model only measures; each
    says which way is better.
    """

    name: ClassVar[str]
    measured: ClassVar[Mapping[str, Better]]
    scope: ClassVar[Scope] = Scope.CLASS
    needs: ClassVar[frozenset[Need]] = frozenset()
    reads_wildcards: ClassVar[bool] = False
    strict: ClassVar[bool] = False  # whether the thresholds themselves are not good enough
    always: ClassVar[tuple[str, ...]] = ()  # parameters without which a threshold says nothing
    counts_up: ClassVar[bool] = False  # whether it asks for at least so many of something: more persons never hurt
    averages: ClassVar[bool] = False  # whether a merged class is never worse than the worst of its parts, as shares are

    def views(self, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> list[View]:  # noqa: ARG002
        """Return what the model wants to see of a table; it must hold in every view."""
        return [View(quasi)]

    @abstractmethod
    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the strictest thresholds that the classes meet."""

    @abstractmethod
    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Tell which classes fail; if the table as a whole fails, all of them do."""

    def monotone(self, *, overlap: bool = False) -> Monotone:
        """Return what a search may rely on: nothing, unless the model declares ``counts_up`` or ``averages``.

        ``overlap``: a person may be in several classes, so that shares do not average.
        """
        merging = self.counts_up or (self.averages and not overlap)
        return Monotone(generalisation=merging, suppression=self.counts_up)

    def least(self, evidence: Evidence) -> int:
        """Return how many persons a class needs: with fewer it fails for sure."""
        return self.enough(evidence) or 1

    def enough(self, evidence: Evidence) -> int | None:  # noqa: ARG002 - what others need
        """Return from how many persons on a class passes, whatever else it is like; None if more than that counts."""
        return None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that were given."""
        return self.model_dump(exclude_none=True, exclude_defaults=True, exclude={"model", "column"})

    def complete(self) -> None:
        """Refuse to judge without thresholds."""
        lacking = [name for name in self.measured if getattr(self, name) is None]
        if lacking:
            raise ModelError(
                "missing-evidence",
                "The model {model} cannot be judged without {lacking}.",
                model=self.name,
                lacking=" and ".join(lacking),
            )

    def demand(self) -> str:
        """Return what is asked for, in words: ``k ≥ 11``, or ``c < 3, l = 2``."""
        signs = {Better.MORE: "≥", Better.LESS: "<" if self.strict else "≤"}
        given = self.model_dump(exclude_none=True, exclude={"model", "column"})
        asked = [
            f"{name} {signs[better]} {_written(given[name])}" for name, better in self.measured.items() if name in given
        ]
        others = [
            f"{name} = {_written(value)}"
            for name, value in given.items()
            if name not in self.measured and (name in self.always or value != type(self).model_fields[name].default)
        ]
        return ", ".join([*asked, *others])

    def verdict(self, evidence: Evidence) -> Verdict:
        """Judge the classes."""
        self.complete()
        self.admit(evidence)
        failing = self.failing(evidence)
        return Verdict(
            self.name,
            evidence.column,
            self.parameters,
            self.measure(evidence),
            self.demand(),
            not failing.any(),
            int(evidence.classes.copies[failing].sum()),
            evidence.classes.members.within(failing),
        )

    def admit(self, evidence: Evidence) -> None:
        """Refuse evidence that the model cannot read."""
        if evidence.classes.missing is Missing.WILDCARD and not self.reads_wildcards:
            raise ModelError(
                "wildcard-missing",
                "The model {model} cannot be measured if missing values match any value, because records then form "
                "no equivalence classes.",
                remedy=Setting("data.missing", "own"),
                model=self.name,
            )


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_written(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return " and ".join(map(str, value))
    return f"{value:.10g}" if isinstance(value, float) else str(value)


class AttributeModel(Model):
    """A model that protects sensitive values: ``column`` names one, otherwise all sensitive columns count."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.SENSITIVE})

    column: str | None = Field(default=None, description="sensitive column (default: all)")
    reading: ColumnReading = Field(default=ColumnReading.WORST, description="treatment of several sensitive columns")

    @model_validator(mode="after")
    def _one_reading(self) -> Self:
        if self.column is not None and self.reading is ColumnReading.COMBINED:
            raise ValueError("reading = combined is for several columns: name none, or choose another reading")
        return self

    def views(self, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> list[View]:
        """Return one view for each sensitive column, or one of their combinations."""
        named = (self.column,) if self.column is not None else sensitive
        if not named:
            raise ModelError(
                "no-sensitive-column",
                "The model {model} requires a sensitive column.",
                remedy=either("Give a column the role sensitive", Option("sensitive")),
                model=self.name,
            )
        if self.reading is ColumnReading.COMBINED and len(named) > 1:
            return [View(quasi, named, combined=True)]
        if self.reading is ColumnReading.OTHERS_KNOWN:
            return [View((*quasi, *(other for other in sensitive if other != name)), (name,)) for name in named]
        return [View(quasi, (name,)) for name in named]


class SizesModel(Model):
    """A threshold for the table as a whole that reads sizes of classes only; leaving out the smallest ones helps."""

    scope: ClassVar[Scope] = Scope.TABLE

    @abstractmethod
    def holds(self, classes: Whole, persons: Whole, alone: Whole) -> NDArray[np.bool_]:
        """Tell of tables with so many classes and persons, and persons who stand alone, which are good enough."""


MODELS: Registry[type[Model]] = Registry("privacy model", "shoal.models")
