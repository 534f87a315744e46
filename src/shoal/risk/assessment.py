"""Assessment: the disclosure risks of a table, and the verdict on each requirement."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from shoal.classes.classes import Classes
from shoal.classes.grouped import Coarsening
from shoal.classes.identity import Identity
from shoal.errors import PolicyError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.threads import pool
from shoal.models.evidence import Evidence, Gatherer, View
from shoal.models.model import Model, Need, Verdict
from shoal.plain import in_numbers
from shoal.population import Population
from shoal.progress import Hook, Progress, silent
from shoal.risk.adversary import Risk, journalist, marketer, prosecutor
from shoal.risk.attribute import AttributeRisk, attribute_risk
from shoal.risk.caveats import caveats
from shoal.risk.context import ContextRisk, context_risk
from shoal.risk.distinction import distinction, separation
from shoal.risk.events import EventRisk, event_risks
from shoal.risk.history import HistoryRisk, history_risk
from shoal.risk.household import HouseholdRisk, household_risk
from shoal.risk.special_uniques import SpecialUniques, special_uniques
from shoal.risk.survey import SurveyRisk, survey_risk
from shoal.risk.uniqueness import PopulationUniqueness, population_uniqueness
from shoal.sheet import Presentable, Sheet
from shoal.table.missing import Missing
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.words import counted, listed, odds, share

_BANDS = ((1, 1), (2, 2), (3, 4), (5, 10), (11, 19), (20, None))


@dataclass(frozen=True, slots=True)
class Band:
    """A range of class sizes: the number of classes and of persons in it."""

    smallest: int
    largest: int | None
    classes: int
    persons: int


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of a quasi-identifier: class sizes if it is removed, and if it is generalised one level."""

    column: str
    without: "Crowd"
    coarser: "Crowd | None"


@dataclass(frozen=True, slots=True)
class Crowd:
    """Summary of class sizes: k, the number of classes, and the number of unique persons."""

    k: int
    classes: int
    alone: int

    @classmethod
    def of(cls, classes: Classes) -> "Crowd":
        """Summarise the sizes of classes."""
        alone = classes.members.within(classes.crowd == 1)
        return cls(int(classes.crowd.min()), classes.number, alone)


@dataclass(frozen=True, slots=True)
class Judged:
    """A requirement and its verdict. ``source``: the preset that contains it, or "policy".

    ``measured``: whether it could be measured; a requirement that could not is not met.
    """

    source: str
    says: str
    verdict: Verdict
    measured: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the requirement and its verdict as plain data."""
        verdict = self.verdict
        value = in_numbers(verdict.value)
        return {
            "source": self.source,
            "says": self.says,
            "measured": self.measured,
            "model": verdict.model,
            "column": verdict.column,
            "parameters": in_numbers(verdict.parameters),
            "asked": verdict.asked,
            "value": next(iter(value.values())) if len(value) == 1 else value or None,
            "satisfied": verdict.satisfied,
            "failing_classes": verdict.classes,
            "failing_persons": verdict.persons,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Assessment(Presentable):
    """The result of :func:`assess`. ``sizes``: the number of persons by class size."""

    __module__ = "shoal"

    records: int
    persons: int
    counts_persons: bool
    suppressed: int
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    missing: Missing
    classes: int
    k: int
    distinction: Fraction
    separation: Fraction
    sizes: Mapping[int, int]
    bands: tuple[Band, ...]
    requirements: tuple[Judged, ...]
    checklist: tuple[tuple[str, str], ...]
    prosecutor: Risk
    journalist: Risk
    marketer: Risk
    attributes: tuple[AttributeRisk, ...]
    contributions: tuple[Contribution, ...]
    context: ContextRisk | None
    uniqueness: PopulationUniqueness | None
    survey: SurveyRisk | None
    household: HouseholdRisk | None
    history: HistoryRisk | None
    events: tuple[EventRisk, ...]
    special_uniques: SpecialUniques | None
    notes: tuple[str, ...]

    @property
    def met(self) -> bool | None:
        """Whether every requirement is met; None without requirements."""
        return all(judged.verdict.satisfied for judged in self.requirements) if self.requirements else None

    @property
    def meaning(self) -> str:
        """The meaning of k for this table, in words."""
        who = "individual" if self.counts_persons else "record"
        if self.k == 1:
            unique = self.bands[0].persons
            are = "is" if unique == 1 else "are"
            return f"{unique:,} of {counted(self.persons, who)} {are} unique on the quasi-identifiers."
        return f"Every {who} shares the quasi-identifiers with at least {counted(self.k - 1, 'other')}."

    def to_dict(self) -> dict[str, Any]:
        """Return the assessment as plain data, as printed by ``shoal assess --json``."""
        return {
            "records": self.records,
            "subjects": self.persons,
            "counts": "persons" if self.counts_persons else "records",
            "suppressed": self.suppressed,
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "missing": self.missing,
            "classes": self.classes,
            "k": self.k,
            "distinction": float(self.distinction),
            "separation": float(self.separation),
            "meaning": self.meaning,
            "met": self.met,
            "requirements": [judged.to_dict() for judged in self.requirements],
            "checklist": [{"preset": preset, "item": item} for preset, item in self.checklist],
            "risk": {
                risk.adversary: {"max": risk.maximum, **_without(asdict(risk), "maximum", "adversary")}
                for risk in (self.prosecutor, self.journalist, self.marketer)
            },
            "attributes": [in_numbers(asdict(risk)) for risk in self.attributes],
            "class_sizes": [asdict(band) for band in self.bands],
            "contributions": [asdict(effect) for effect in self.contributions],
            "context": asdict(self.context) if self.context else None,
            "population_uniqueness": asdict(self.uniqueness) if self.uniqueness else None,
            "survey": _without(asdict(self.survey), "risks") if self.survey else None,
            "household": asdict(self.household) if self.household else None,
            "history": in_numbers(asdict(self.history)) if self.history else None,
            "events": [in_numbers(asdict(risk)) for risk in self.events],
            "special_uniques": None if self.special_uniques is None else self.special_uniques.to_dict(),
            "notes": list(self.notes),
        }

    def sheet(self) -> Sheet:
        """Return a summary of the risks and the requirements."""
        who = f", {counted(self.persons, 'individual')}" if self.counts_persons else ""
        risks = [
            (
                f"re-identification risk ({risk.adversary})",
                f"highest {odds(risk.highest)}, average {odds(risk.average)}",
                "",
            )
            for risk in (self.prosecutor, self.journalist, self.marketer)
        ]
        learned = [
            (
                f"disclosure of {attribute.column}",
                f"average {share(attribute.average)}, baseline {share(attribute.baseline)}",
                "",
            )
            for attribute in self.attributes
        ]
        return Sheet(
            f"{counted(self.records, 'record')}{who}: k = {self.k:,}. {self.meaning}",
            ("", "value", "asked"),
            (
                *risks,
                *learned,
                *(
                    (
                        requirement.verdict.title,
                        requirement.verdict.attained,
                        f"{requirement.verdict.asked}: {requirement.verdict.says}",
                    )
                    for requirement in self.requirements
                ),
            ),
            words=3,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Assessor:
    """One run of an assessment; counts that several measures need are computed once.

    ``requirements``: the source, the text and the model of each. ``checklist``: items that a person has to confirm.
    ``context``: the probability of each threat. ``unlisted``: columns without a role in the policy. ``limits``: attacks
    that the policy limits. ``perturbed``: the columns that the policy perturbs at random.
    """

    table: Table
    missing: Missing
    threshold: Fraction
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    population: Population | None = None
    requirements: tuple[tuple[str, str, Model], ...] = ()
    checklist: tuple[tuple[str, str], ...] = ()
    context: dict[str, float] | None = None
    unlisted: tuple[str, ...] = ()
    uniques: int | None = None
    progress: Hook = silent
    limits: tuple[str, ...] = ()
    perturbed: tuple[str, ...] = ()

    @cached_property
    def plain(self) -> Gatherer:
        """Evidence for models that need neither hierarchies nor a population."""
        return Gatherer(self.table, self.missing)

    @cached_property
    def gatherer(self) -> Gatherer:
        """Evidence for all other models."""
        return Gatherer(self.table, self.missing, self.hierarchies, self.population)

    def assessment(self) -> Assessment:
        """Measure all risks and evaluate every requirement."""
        self.progress(Progress("counting", 0))
        classes = self.plain.evidence(View(self.table.quasi, self.table.sensitive)).classes
        wild = self.missing is Missing.WILDCARD  # without classes, no count by class can be measured
        population = None if wild else self.population
        matched = population.matched(classes, self.table) if population and population.register else None
        self.progress(Progress("judging", 0))
        first = prosecutor(classes, self.threshold)
        second = journalist(classes, population, matched, self.threshold)
        table = self.table
        return Assessment(
            records=table.records,
            persons=classes.persons,
            counts_persons=table.subject is not None,
            suppressed=classes.suppressed,
            quasi=table.quasi,
            sensitive=table.sensitive,
            missing=self.missing,
            classes=classes.number,
            k=int(classes.crowd.min()),
            distinction=distinction(classes),
            separation=separation(classes),
            sizes=_sizes(classes),
            bands=_bands(classes),
            requirements=tuple(self._judged()),
            checklist=self.checklist,
            prosecutor=first,
            journalist=second,
            marketer=marketer(classes, population, matched, self.threshold),
            attributes=self._attributes(classes),
            contributions=self._contributions(classes),
            context=None if self.context is None else context_risk(second.maximum, self.context),
            uniqueness=population_uniqueness(classes, population) if population and not classes.overlap else None,
            survey=survey_risk(table, missing=self.missing) if table.with_role(Role.WEIGHT) and not wild else None,
            household=household_risk(table, missing=self.missing) if table.with_role(Role.HOUSEHOLD) else None,
            history=history_risk(table, missing=self.missing) if table.subject is not None and not wild else None,
            events=self._events(),
            special_uniques=(
                special_uniques(table, most=self.uniques, missing=self.missing) if self.uniques and not wild else None
            ),
            notes=(*caveats(self.table, self.missing, classes, matched), *self._policy_notes()),
        )

    def _events(self) -> tuple[EventRisk, ...]:
        """Measure the risk from known events if persons have several distinct records."""
        table = self.table
        several = table.subject is not None and len((profiles := table.profiles(table.quasi)).members) > len(profiles)
        return event_risks(table) if several and self.missing is Missing.OWN else ()

    def _judged(self) -> Iterable[Judged]:
        for source, says, model in self.requirements:
            if source != "policy" and self._unmeasured(model):
                nothing = Verdict(model.name, None, model.parameters, {}, model.demand(), False, 0, 0)
                yield Judged(source, f"{says} (not measured: no column is sensitive)", nothing, measured=False)
                continue
            column = getattr(model, "column", None)
            if column is not None and column not in self.table:
                raise PolicyError(
                    "requirement-of-unknown-column",
                    "A requirement names column '{column}', which the table does not have.",
                    column=column,
                )
            for view in model.views(self.table.quasi, self.table.sensitive):
                yield Judged(source, says, model.verdict(self._seen(model, view)))

    def _unmeasured(self, model: Model) -> bool:
        """Return whether a model requires sensitive values, but no column is sensitive."""
        return Need.SENSITIVE in model.needs and not self.table.sensitive

    def _seen(self, model: Model, view: View) -> Evidence:
        special = {Need.HIERARCHY, Need.POPULATION} & model.needs or getattr(model, "distance", "") == "hierarchical"
        return (self.gatherer if special else self.plain).evidence(view)

    def _attributes(self, classes: Classes) -> tuple[AttributeRisk, ...]:
        if self.missing is Missing.WILDCARD:
            return ()
        return tuple(attribute_risk(classes, name) for name in self.table.sensitive)

    def _contributions(self, classes: Classes) -> tuple[Contribution, ...]:
        if self.missing is Missing.WILDCARD:
            return ()
        contributions = list(pool().map(partial(self._contribution, classes), self.table.quasi))
        return tuple(
            sorted(
                contributions,
                key=lambda contribution: (
                    -contribution.without.k,
                    contribution.without.alone,
                    contribution.without.classes,
                ),
            )
        )

    def _contribution(self, classes: Classes, name: str) -> Contribution:
        size = next(attribute.size for attribute in classes.attributes if attribute.name == name)
        without = classes.rolled({name: Coarsening.dropped(size)})
        ladder = self.hierarchies.get(name)
        coarser = classes.rolled({name: Coarsening.to_level(ladder, 1)}) if ladder and ladder.height > 1 else None
        return Contribution(name, Crowd.of(without), Crowd.of(coarser) if coarser else None)

    def _policy_notes(self) -> Iterable[str]:
        if self.unlisted:
            yield f"Columns without a role, not assessed: {len(self.unlisted)}."
        if self.perturbed:
            yield (
                f"The policy perturbs {listed(self.perturbed)}. These figures use the values of this table, which may "
                "be false in a release. A report judges a release by the true values."
            )
        if self.limits:
            yield f"Limits of the success of attacks apply to a release, not to this table: {listed(self.limits)}."


def _without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _sizes(classes: Classes) -> dict[int, int]:
    """Count persons by class size; a person in several classes counts for the smallest."""
    identity = Identity.of(classes)
    sizes, place = np.unique(identity.crowd, return_inverse=True)
    persons = np.bincount(place, identity.persons, len(sizes)).astype(np.int64)
    return dict(zip(sizes.tolist(), persons.tolist(), strict=True))


def _bands(classes: Classes) -> tuple[Band, ...]:
    bands = []
    for smallest, largest in _BANDS:
        inside = (classes.crowd >= smallest) & (classes.crowd <= (largest or np.iinfo(np.int64).max))
        bands.append(Band(smallest, largest, int(classes.copies[inside].sum()), classes.members.within(inside)))
    return tuple(bands)
