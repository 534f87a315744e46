"""The dimension of the quasi-identifiers: the number of columns to generalise (Menten 2024, stage 2).

Columns are generalised one after another, in descending order of risk rate. Each step is measured by its gain (k, l, t,
increase in k) and its cost (non-uniform entropy). The best dimension is chosen in three ways: as the script of the
thesis prints it, as its printed function would choose if it were given all dimensions, and by the lowest cost among the
dimensions that meet the requirements.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import log
from typing import Any

from shoal.classes.classes import Classes
from shoal.classes.grouped import Coarsening
from shoal.errors import ColumnError, ModelError, PolicyError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.identification.g_distinct import g_distinct
from shoal.models.evidence import Evidence
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.model import Model, Need, Scope
from shoal.models.t_closeness import Distance, TCloseness
from shoal.qualities.nue import NonUniformEntropy, greatest_loss
from shoal.qualities.nue_conventional import ConventionalNonUniformEntropy
from shoal.recoding.matching import match
from shoal.recoding.of_tables import relate
from shoal.recoding.recoding import Recoding
from shoal.sheet import Presentable, Sheet
from shoal.table.frames import of_rows
from shoal.table.missing import Missing
from shoal.table.table import Table
from shoal.words import short

NATS = log(2)  # per bit
MOST_COLUMNS = 12  # maximum number of columns for which every subset is evaluated
_SAFE = 2  # smallest k of a dimension that the thesis considers


@dataclass(frozen=True, slots=True)
class Step:
    """Gain and cost of generalising some columns.

    ``k``: the smallest class size. ``privacy_gain``: the increase in k over the original. ``l``, ``t``: the values for
    each sensitive column. ``nue``: the conventional loss of each column in nats; ``percent``: their sum in percent of
    the maximum loss of all columns (``most``, in nats). ``generic``: the generic loss in nats. ``unique``: the number
    of unique persons. ``risk``: the average risk over the persons. ``satisfied``: whether all requirements are met.
    """

    columns: tuple[str, ...]
    k: int
    classes: int
    unique: int
    risk: Fraction
    l: Mapping[str, int]  # noqa: E741 - the usual name
    t: Mapping[str, Fraction | float]
    privacy_gain: int
    nue: Mapping[str, float]
    generic: float
    most: float
    satisfied: bool

    @property
    def dimension(self) -> int:
        """The number of generalised columns."""
        return len(self.columns)

    @property
    def loss(self) -> float:
        """The conventional loss of all columns in nats."""
        return float(sum(self.nue.values()))

    @property
    def percent(self) -> float:
        """The conventional loss in percent of the maximum loss."""
        return 100 * self.loss / self.most if self.most else 0.0

    @property
    def generic_percent(self) -> float:
        """The generic loss in percent of the maximum loss."""
        return 100 * self.generic / self.most if self.most else 0.0

    @property
    def inverse(self) -> float:
        """The retained information in percent: 100 minus the rounded loss, as in the thesis."""
        return 100 - round(self.percent, 2)

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain data."""
        return {
            "dimension": self.dimension,
            "columns": list(self.columns),
            "k": self.k,
            "classes": self.classes,
            "unique": self.unique,
            "risk": float(self.risk),
            "l": dict(self.l),
            "t": {name: float(t) for name, t in self.t.items()},
            "privacy_gain": self.privacy_gain,
            "nue": self.loss,
            "nue_percent": self.percent,
            "inverse_percent": self.inverse,
            "nue_by_column": dict(self.nue),
            "generic_nue": self.generic,
            "generic_percent": self.generic_percent,
            "satisfied": self.satisfied,
        }


@dataclass(frozen=True, slots=True)
class Choice:
    """Columns to generalise; None if no choice is acceptable. ``because``: the reason."""

    columns: tuple[str, ...] | None
    because: str

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain data."""
        columns = self.columns
        return {
            "dimension": None if columns is None else len(columns),
            "columns": None if columns is None else list(columns),
            "because": self.because,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Dimension(Presentable):
    """Steps of generalising ever more quasi-identifiers, and the recommended dimensions.

    ``before``: the step without generalisation. ``steps``: one for each prefix of ``order``, or for each of its
    subsets. ``published``, ``repaired``, ``principled``: the recommendations by the script of the thesis, by its
    printed function, and by the lowest cost that meets the requirements.
    """

    __module__ = "shoal"

    order: tuple[str, ...]
    before: Step
    steps: tuple[Step, ...]
    published: Choice
    repaired: Choice
    principled: Choice

    def to_dict(self) -> dict[str, Any]:
        """Return the steps and the choices as plain data, as printed by ``shoal dimension --json``."""
        return {
            "order": list(self.order),
            "before": self.before.to_dict(),
            "steps": [step.to_dict() for step in self.steps],
            "best": {
                "published": self.published.to_dict(),
                "repaired": self.repaired.to_dict(),
                "principled": self.principled.to_dict(),
            },
        }

    def to_frame(self, kind: str | None = None) -> Any:
        """Return one row for each step, the first without generalisation."""
        nested = {"l", "t", "nue_by_column"}
        steps = [step.to_dict() for step in (self.before, *self.steps)]
        rows = [{name: value for name, value in step.items() if name not in nested} for step in steps]
        return of_rows([{**row, "columns": ", ".join(row["columns"])} for row in rows], kind)

    def sheet(self) -> Sheet:
        """Return the gain and the cost of each step."""
        rows = [
            (
                ", ".join(step.columns) or "nothing",
                f"{step.k:,}",
                f"{step.unique:,}",
                short(float(step.risk)),
                short(step.generic),
                "yes" if step.satisfied else "no",
            )
            for step in (self.before, *self.steps)
        ]
        columns = self.principled.columns
        best = "none" if columns is None else ", ".join(columns) or "nothing"
        headings = ("generalised", "k", "unique", "average risk", "loss (nats)", "requirements")
        return Sheet(f"Recommended generalisation: {best} ({self.principled.because})", headings, tuple(rows))


@dataclass(frozen=True, eq=False)
class Treated:
    """Table with some columns generalised: its equivalence classes, and the recoding of every record."""

    columns: tuple[str, ...]
    classes: Classes
    recoding: Recoding


@dataclass(frozen=True, eq=False)
class Weighing:
    """Measurement of generalised tables: the required models, and the distance between sensitive values."""

    sensitive: tuple[str, ...]
    required: tuple[Model, ...]
    hierarchies: Mapping[str, Hierarchy]
    distance: Distance = Distance.EQUAL

    def step(self, treated: Treated, before: int | None = None) -> Step:
        """Measure a generalised table. ``before``: the k of the original."""
        classes = treated.classes
        evidence = {name: Evidence(classes, name, self.hierarchies) for name in self.sensitive}
        k = int(KAnonymity().measure(Evidence(classes, None, self.hierarchies))["k"])
        nue = {
            name: ConventionalNonUniformEntropy().column(treated.recoding[name]).value * NATS
            for name in treated.columns
        }
        generic = [NonUniformEntropy().column(treated.recoding[name]).value for name in treated.columns]
        persons = int(classes.members.counts.sum())
        return Step(
            columns=treated.columns,
            k=k,
            classes=classes.number,
            unique=classes.members.within(classes.sizes == 1),
            risk=Fraction(classes.number, persons),
            l={name: int(LDiversity().measure(seen)["l"]) for name, seen in evidence.items()},
            t={name: self._t(seen) for name, seen in evidence.items()},
            privacy_gain=k - (k if before is None else before),
            nue=nue,
            generic=sum(generic) * NATS,
            most=sum(greatest_loss(column) for column in treated.recoding.columns) * NATS,
            satisfied=self._holds(classes),
        )

    def _t(self, evidence: Evidence) -> Fraction | float:
        t = TCloseness(distance=self.distance).measure(evidence)["t"]
        return t if isinstance(t, Fraction) else float(t)

    def _holds(self, classes: Classes) -> bool:
        return not any(
            model.failing(Evidence(classes, view.column, self.hierarchies)).any()
            for model in self.required
            for view in model.views(classes.quasi, self.sensitive)
        )


def ranked(table: Table) -> tuple[str, ...]:
    """Return the quasi-identifiers in descending order of risk rate."""
    others = [name for name in table.names if name not in table.quasi]
    return tuple(rate.name for rate in g_distinct(table, direct=others, most_missing=1).rates)


def levels_of(ladders: Mapping[str, Hierarchy], given: Mapping[str, int]) -> dict[str, int]:
    """Return the level of each column: the given one, or the highest level below the top, if there is one."""
    for name, level in given.items():
        if name not in ladders:
            raise ColumnError.unknown(name, ladders)
        if level not in range(ladders[name].height + 1):
            raise PolicyError(
                "no-such-level",
                "Column '{column}' has no level {level}.",
                remedy="Its hierarchy has the levels 0 to {top}.",
                column=name,
                level=level,
                top=ladders[name].height,
            )
    return {name: given.get(name, max(ladder.height - 1, 1)) for name, ladder in ladders.items()}


def judges(required: Iterable[Model], quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> tuple[Model, ...]:
    """Return the required models, or k-anonymity with k = 2 if there are none.

    Models that cannot be judged on the equivalence classes of a generalised table are refused.
    """
    models = tuple(required) or (KAnonymity(k=_SAFE),)
    for model in models:
        plain = all(view.quasi == quasi and len(view.sensitive) <= 1 for view in model.views(quasi, sensitive))
        if model.scope is not Scope.CLASS or not plain or model.needs & {Need.POPULATION, Need.REGISTER, Need.SUBSETS}:
            raise PolicyError(
                "model-needs-more",
                "The dimension cannot be chosen by {model}, which requires more than the equivalence classes of a "
                "table.",
                remedy="Use k-anonymity, l-diversity, t-closeness, or another model judged on equivalence classes.",
                model=model.name,
            )
    return models


def by_levels(  # noqa: PLR0913 - keyword-only options
    table: Table,
    order: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    levels: Mapping[str, int],
    *,
    missing: Missing = Missing.OWN,
    subsets: bool = False,
) -> Iterator[Treated]:
    """Yield the original table, then the table with ever more columns generalised to their levels.

    ``subsets``: yield every subset of the columns instead of the prefixes of the order.
    """
    if subsets and len(order) > MOST_COLUMNS:
        raise ModelError(
            "too-many-subsets",
            "{columns:column} have too many subsets to evaluate.",
            remedy="Name at most {most} quasi-identifiers, or evaluate prefixes only.",
            columns=len(order),
            most=MOST_COLUMNS,
        )
    base = Classes.of(table, missing=missing)
    chosen = [order[:number] for number in range(len(order) + 1)]
    if subsets:
        chosen = [columns for number in range(len(order) + 1) for columns in combinations(order, number)]
    for columns in chosen:
        scheme = {name: levels[name] if name in columns else 0 for name in table.quasi}
        coarser = {name: Coarsening.to_level(hierarchies[name], level) for name, level in scheme.items()}
        yield Treated(tuple(columns), base.rolled(coarser), Recoding.of_scheme(table, hierarchies, scheme))


def by_tables(
    original: Table, tables: Sequence[Table], order: Sequence[str], *, missing: Missing = Missing.OWN
) -> Iterator[Treated]:
    """Yield the original, then tables that were generalised elsewhere, one for each further column of the order."""
    if len(tables) != len(order):
        raise ModelError(
            "number-of-tables",
            "One table per quasi-identifier is required: {tables} are given for {columns}.",
            remedy="Give one table for each quasi-identifier: with the first one generalised, with the first two, "
            "and so on.",
            tables=len(tables),
            columns=len(order),
        )
    for number, table in enumerate([original, *tables]):
        if table.records != original.records:
            raise ModelError(
                "number-of-records",
                "Table {number} has {records:record}, the original has {all:,}.",
                remedy="Each table must have all records of the original.",
                number=number,
                records=table.records,
                all=original.records,
            )
        for name in (*original.quasi, *original.sensitive):
            table[name]
        related = relate(original, table, original.quasi, original.quasi, match(original, table), {})
        classes = Classes.of(table, original.quasi, original.sensitive, missing=missing)
        yield Treated(tuple(order[:number]), classes, related.recoding)


def chosen(order: Sequence[str], before: Step, steps: Sequence[Step]) -> Dimension:
    """Return the steps with the recommended dimensions."""
    prefixes = [step for step in steps if step.columns == tuple(order[: step.dimension])]
    return Dimension(
        tuple(order), before, tuple(steps), _published(prefixes), _repaired(prefixes), _principled([before, *steps])
    )


def _published(steps: Sequence[Step]) -> Choice:
    """Choose as the script of the thesis does.

    The script empties its list of dimensions each time, so it considers only the last one.
    """
    if steps[-1].k < _SAFE:
        return Choice(None, "it fails, because the last step has k = 1")
    return Choice(steps[-1].columns, "the last step, the only one that it considers")


def _repaired(steps: Sequence[Step]) -> Choice:
    """Choose as the printed function of the thesis does (Figure 5), given all dimensions."""
    safe = [step for step in steps if step.k >= _SAFE]
    if not safe:
        return Choice(None, "no step has k ≥ 2")
    best = safe[0]
    for step in safe:
        no_worse = step.privacy_gain >= best.privacy_gain and step.inverse >= best.inverse
        if no_worse and abs(step.privacy_gain - step.inverse) < abs(best.privacy_gain - best.inverse):
            best = step
    if best is safe[0]:
        return Choice(best.columns, "the first with k ≥ 2: further columns only increase the loss")
    return Choice(best.columns, "not worse than the first with k ≥ 2, and closer to a balance of gain in k and loss")


def _principled(steps: Sequence[Step]) -> Choice:
    """Choose the lowest cost among the steps that meet the requirements; of equal costs, the fewest columns."""
    fitting = [step for step in steps if step.satisfied]
    if not fitting:
        return Choice(None, "no step meets the requirements (without a policy: k ≥ 2)")
    best = min(fitting, key=lambda step: (step.generic, step.dimension))
    if not best.columns:
        return Choice((), "no generalisation required: the requirements are met")
    return Choice(
        best.columns,
        f"smallest information loss ({short(best.generic_percent)}%) among those that meet the requirements",
    )
