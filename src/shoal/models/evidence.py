"""Evidence: the input of a model, that is, classes and any further data that the model needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from shoal.classes.classes import Classes
from shoal.classes.histogram import Histogram
from shoal.classes.members import Counts
from shoal.errors import ModelError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.population import Matched, Population
from shoal.remedy import ColumnSetting, Option, Setting, either
from shoal.table.missing import Missing
from shoal.table.table import Table


class ColumnReading(StrEnum):
    """Treatment of several sensitive columns.

    ``worst``: each separately; the worst one counts. ``others-known``: each in turn; the adversary knows the others.
    ``combined``: the sensitive values of a person together form one value (Peng 2021).
    """

    WORST = "worst"
    OTHERS_KNOWN = "others-known"
    COMBINED = "combined"


@dataclass(frozen=True, slots=True)
class View:
    """The columns that a model evaluates: the known columns, and the columns to protect."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    combined: bool = False

    @property
    def column(self) -> str | None:
        """The name of the histogram to evaluate; None unless there is exactly one."""
        if self.combined:
            return " + ".join(self.sensitive)
        return self.sensitive[0] if len(self.sensitive) == 1 else None


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Classes, with regard to one sensitive column or none."""

    classes: Classes
    column: str | None = None
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    population: Population | None = None
    matched: Matched | None = None

    @property
    def histogram(self) -> Histogram:
        """The histogram of the sensitive column."""
        if self.column is None:
            raise ModelError(
                "no-sensitive-column",
                "No sensitive column is given.",
                remedy=either("Give a column the role sensitive", Option("sensitive")),
            )
        return self.classes.histograms[self.column]

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of the sensitive column."""
        if self.column is None or self.column not in self.hierarchies:
            raise ModelError(
                "no-hierarchy",
                "The sensitive column '{column}' has no hierarchy.",
                remedy=either(ColumnSetting("hierarchy"), Option("hierarchies")),
                column=self.column,
            )
        return self.hierarchies[self.column]

    def fraction(self) -> Fraction:
        """Return the sampling fraction: the share of the population that is in the table."""
        if self.population is None:
            raise ModelError(
                "no-population",
                "The population is not described.",
                remedy=either(Setting("population.size"), Setting("population.file"), Option("population")),
            )
        return self.population.fraction(self.classes.persons)

    def in_register(self) -> Matched:
        """Return the number of individuals of the register that match each class."""
        if self.matched is None:
            raise ModelError(
                "no-register",
                "A register of the population is required.",
                remedy=either(Setting("population.file"), Option("population")),
            )
        return self.matched


@dataclass(slots=True, eq=False)
class Gatherer:
    """Collector of evidence about one table; counts are shared between models with the same view."""

    table: Table
    missing: Missing = Missing.OWN
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    population: Population | None = None
    reference: Mapping[str, Counts] = field(default_factory=dict)  # of the table from which this one was made
    _known: dict[View, Classes] = field(default_factory=dict)

    def evidence(self, view: View) -> Evidence:
        """Return the evidence for a view."""
        for seen, classes in self._known.items():
            if _shows(seen, view):
                return self._about(classes, view)
        self._known[view] = Classes.of(
            self.table,
            view.quasi,
            view.sensitive,
            missing=self.missing,
            combined=view.combined,
            reference=self.reference,
        )
        return self._about(self._known[view], view)

    def _about(self, classes: Classes, view: View) -> Evidence:
        matched = None
        if self.population is not None and self.population.register is not None:
            matched = self.population.matched(classes, self.table)
        return Evidence(classes, view.column, self.hierarchies, self.population, matched)


def _shows(seen: View, wanted: View) -> bool:
    if seen.combined or wanted.combined:
        return seen == wanted
    return seen.quasi == wanted.quasi and set(wanted.sensitive) <= set(seen.sensitive)
