"""Base classes of privacy models: attained value, verdict, and the properties that a search relies on."""

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
    """The unit that a model evaluates: each class separately, or the table as a whole."""

    CLASS = "class"
    TABLE = "table"


class Better(StrEnum):
    """The direction in which a measured value protects more."""

    MORE = "more"
    LESS = "less"

    def worst(self, values: Iterable[Number]) -> Number:
        """Return the least protective value."""
        return min(values) if self is Better.MORE else max(values)


class Need(StrEnum):
    """Evidence that a model requires besides the classes."""

    SENSITIVE = "sensitive"
    HIERARCHY = "hierarchy"
    NUMBERS = "numbers"
    POPULATION = "population"
    REGISTER = "register"
    THRESHOLD = "threshold"  # a requirement of each individual, in a column
    SUBSETS = "subsets"  # many combinations of quasi-identifiers: evaluated on request only


@dataclass(frozen=True, slots=True)
class Monotone:
    """Properties that a search relies on when classes are merged.

    ``generalisation``: a union of passing classes passes. ``suppression``: the union of a passing and a failing class
    passes, so that a more general table never requires more suppression.
    """

    generalisation: bool
    suppression: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a model: ``value`` is the value attained by the table, ``parameters`` are the requirement.

    ``asked``: the requirement in words. ``classes``, ``persons``: the number of failing classes and of persons in them;
    all or none if the model evaluates the table as a whole.
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
        """The name of the model, with the sensitive column if there is one."""
        return f"{self.model} of {self.column}" if self.column else self.model

    @property
    def attained(self) -> str:
        """The attained value in words, never rounded across its threshold."""
        return values(self.value, self.parameters) or "not measured"

    @property
    def says(self) -> str:
        """The verdict in words: met or not met."""
        return "met" if self.satisfied else "not met"


class Model(Checked):
    """Base class of all models. A subclass defines the measure and the failing classes.

    Parameters are fields. Those in ``measured`` are thresholds, each with its better direction; they may be omitted if
    the model is only measured.
    """

    name: ClassVar[str]
    measured: ClassVar[Mapping[str, Better]]
    scope: ClassVar[Scope] = Scope.CLASS
    needs: ClassVar[frozenset[Need]] = frozenset()
    reads_wildcards: ClassVar[bool] = False
    strict: ClassVar[bool] = False  # whether the threshold itself already fails
    always: ClassVar[tuple[str, ...]] = ()  # parameters without which a threshold has no meaning
    notation: ClassVar[str] = ""  # the letters of the name in words, for models that are named after them
    counts_up: ClassVar[bool] = False  # whether it requires a minimum count, which more persons never violate
    averages: ClassVar[bool] = False  # whether a merged class is never worse than its worst part, as with shares

    def views(self, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> list[View]:  # noqa: ARG002
        """Return the views of a table that the model evaluates; it must hold in every view."""
        return [View(quasi)]

    @abstractmethod
    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the strictest thresholds that the classes meet."""

    @abstractmethod
    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of failing classes; if the table as a whole fails, all classes do."""

    def monotone(self, *, overlap: bool = False) -> Monotone:
        """Return the properties that a search may rely on.

        There are none, unless the model declares ``counts_up`` or ``averages``. ``overlap``: a person may be in several
        classes, so that shares do not average.
        """
        merging = self.counts_up or (self.averages and not overlap)
        return Monotone(generalisation=merging, suppression=self.counts_up)

    def pairs(self, sensitive: tuple[str, ...]) -> tuple[tuple[str, str], ...]:  # noqa: ARG002
        """Return the pairs of columns whose combinations the model evaluates."""
        return ()

    @property
    def distinct(self) -> float:
        """The minimum number of distinct sensitive values in a class; 1 if the model requires none."""
        return 1

    def least(self, evidence: Evidence) -> int:
        """Return the minimum class size; smaller classes always fail."""
        return self.enough(evidence) or 1

    def enough(self, evidence: Evidence) -> int | None:  # noqa: ARG002 - used by subclasses
        """Return the class size from which on every class passes; None if more than the size matters."""
        return None

    def individuals(self, evidence: Evidence, failing: NDArray[np.bool_]) -> int:
        """Return the number of individuals whose protection is too low: by default, all members of failing classes."""
        return evidence.classes.members.within(failing)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that differ from their defaults."""
        return self.model_dump(exclude_none=True, exclude_defaults=True, exclude={"model", "column"})

    def complete(self) -> None:
        """Raise an error if a threshold is missing."""
        lacking = [name for name in self.measured if getattr(self, name) is None]
        if lacking:
            raise ModelError(
                "missing-evidence",
                "The model {model} cannot be judged without {lacking}.",
                model=self.name,
                lacking=" and ".join(lacking),
            )

    def demand(self) -> str:
        """Return the requirement in words: ``k ≥ 11``, or ``c < 3, l = 2``."""
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
        """Evaluate the requirement on the classes."""
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
            self.individuals(evidence, failing),
        )

    def admit(self, evidence: Evidence) -> None:
        """Raise an error for evidence that the model cannot evaluate."""
        if evidence.classes.missing is Missing.WILDCARD and not self.reads_wildcards:
            raise ModelError(
                "wildcard-missing",
                "The model {model} cannot be measured if missing values match any value, because records then form "
                "no equivalence classes.",
                remedy=Setting("data.missing", "own"),
                model=self.name,
            )


def least_size(models: Iterable["Model"]) -> int:
    """Return the largest class size that models require; 1 if none requires any.

    >>> from shoal.models.k_anonymity import KAnonymity
    >>> least_size([KAnonymity(k=5), KAnonymity(k=11)]), least_size([])
    (11, 1)
    """
    return max((getattr(model, "k", None) or 1 for model in models), default=1)


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_written(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return " and ".join(map(str, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


class AttributeModel(Model):
    """A model that protects the sensitive values of one ``column``, or of all sensitive columns if none is named."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.SENSITIVE})

    column: str | None = Field(default=None, title="Sensitive column", description="sensitive column (default: all)")
    reading: ColumnReading = Field(
        default=ColumnReading.WORST,
        title="Several sensitive columns",
        description="worst: each on its own; others-known: the others count as known; combined: as one column",
    )

    @model_validator(mode="after")
    def _one_reading(self) -> Self:
        if self.column is not None and self.reading is ColumnReading.COMBINED:
            raise ValueError("reading = combined applies to several columns: name no column, or choose another reading")
        return self

    def views(self, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> list[View]:
        """Return one view per sensitive column, or one view of their combination."""
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
    """A threshold for the table as a whole that depends on class sizes only; suppression of the smallest helps."""

    scope: ClassVar[Scope] = Scope.TABLE

    @abstractmethod
    def holds(self, classes: Whole, persons: Whole, alone: Whole) -> NDArray[np.bool_]:
        """Return the mask of tables that meet the threshold, by number of classes, persons and unique persons."""


MODELS: Registry[type[Model]] = Registry("privacy model", "shoal.models")
