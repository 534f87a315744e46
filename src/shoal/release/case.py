"""Case: a table and its policy, with everything that is derived from both before the search."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import floor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attacks.attack import ATTACKS
from shoal.classes.shown import counted_rows
from shoal.errors import PolicyError, did_you_mean
from shoal.exact import exact
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.identification.concepts import concepts
from shoal.identification.patterns.pattern import Pattern
from shoal.identification.shape import Form, Shape
from shoal.models.evidence import Gatherer
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import Model, Need, least_size
from shoal.models.pairs import with_pairs
from shoal.policy.policy import Policy
from shoal.population import Population
from shoal.qualities.quality import LevelQuality, Quality, quality_named
from shoal.release.drawing import draw_key
from shoal.release.perturbation_check import check_perturbations, perturbations
from shoal.release.pseudonyms import key_of
from shoal.release.requirement_check import check_requirement
from shoal.release.sampling import sampled
from shoal.release.shifted import shifted
from shoal.remedy import ColumnSetting, Option, Setting, by, either
from shoal.search.goal import Goal
from shoal.search.space import Space
from shoal.table.column import SUPPRESSED, Column, as_text
from shoal.table.kind import Kind
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.techniques.technique import Gives, for_any_number, giving

_FAR = 20 * 366  # days


@dataclass(frozen=True, eq=False)
class Case:
    """A table and its policy, checked and prepared for the search.

    ``given``: the original table. ``whole``: the original table with shifted dates, whose columns also contain the
    values of the register. ``table``: the sampled records, with the columns to be searched. ``drawn``: the sampled
    records of the original; None if all are used. ``leaders``: the leading column of each linked column. ``key``: the
    secret key of all random draws. ``is_fresh``: whether the key is new, because the policy names none. ``register``:
    the population, if the policy names a file of it. ``remarks``: notes on changes to the policy.
    ``further``: models that a scheme must meet besides the requirements, for the sake of other tables.
    """

    given: Table
    whole: Table
    table: Table
    drawn: NDArray[np.intp] | None
    policy: Policy
    leaders: Mapping[str, str]
    key: bytes = field(repr=False)
    is_fresh: bool
    register: Population | None = field(default=None, repr=False)
    remarks: tuple[str, ...] = ()
    further: tuple[Model, ...] = ()

    @classmethod
    def of(cls, table: Table, policy: Policy) -> "Case":
        """Check a table against its policy, and draw a sample if the policy requires one."""
        table = policy.apply(table)
        _check(table, policy)
        check_perturbations(table, policy)
        _check_columns(table, policy)
        leaders = _leaders(table, policy)
        register = (
            policy.sampled_population(table, table.records) if policy.population and policy.population.file else None
        )
        whole = register.covering(table, table.quasi) if register else table
        whole = _with_dates(whole, policy)
        searched, drawn = policy.searched(whole.assign(insensitive=list(leaders)) if leaders else whole), None
        searched = with_pairs(searched, [model for _, _, model in policy.requirements()])
        key, is_fresh = draw_key(policy)
        if policy.search.sample is not None:
            searched, drawn = sampled(searched, policy.search.sample, key)
            if not len(drawn):
                raise PolicyError(
                    "empty-sample",
                    "The sample contains no individual.",
                    remedy=by("Increase the share", Setting("search.sample")),
                )
        return cls(table, whole, searched, drawn, policy, leaders, key, is_fresh, register)

    @property
    def draws(self) -> bool:
        """Whether the release may contain random draws: a sample or added records."""
        return self.policy.search.sample is not None or self.policy.search.way.adds_records

    def given_records(self, records: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the record of the original table for each of some sampled records; −1 stays −1."""
        return records if self.drawn is None else np.where(records < 0, -1, self.drawn[records])

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchies of the quasi-identifiers, and of other columns for which the policy names one."""
        self.table.distinct(self.table.quasi)  # the counts of single values are derived from these rows
        return self.policy.hierarchies(self.table)

    @cached_property
    def asked(self) -> tuple[tuple[str, str, Model], ...]:
        """All requirements: the source, the description and the model of each."""
        return tuple(self.policy.requirements())

    @property
    def models(self) -> tuple[Model, ...]:
        """The models that every scheme must meet: those of all requirements, and further ones.

        Requirements on sensitive values do not count if these are released by buckets, which meet them, or if classes
        must not depend on them.
        """
        otherwise = {*map(id, self.asked_of_values), *map(id, self.met_by_size)}
        own = (model for _, _, model in self.asked if id(model) not in otherwise)
        return (*own, *(model for _, _, model in self.asked_of_sizes), *self.further)

    @cached_property
    def met_by_size(self) -> tuple[Model, ...]:
        """The models of sensitive values that larger classes meet, because classes must not depend on these values."""
        if not self.policy.search.independent or self.asked_of_values:
            return ()
        return tuple(model for _, _, model in self.asked if Need.SENSITIVE in model.needs)

    def with_size(self, size: int) -> "Case":
        """Return the case with a minimum class size."""
        return replace(self, further=(*self.further, KAnonymity.model_validate({"k": size})))

    @cached_property
    def asked_of_values(self) -> tuple[Model, ...]:
        """The models that buckets of sensitive values must meet instead of the classes."""
        form = self.policy.search.publish
        if form is None or not form.is_diverse:
            return ()
        return tuple(model for _, _, model in self.asked if Need.SENSITIVE in model.needs)

    @cached_property
    def asked_of_sizes(self) -> tuple[tuple[str, str, Model], ...]:
        """The class sizes that models of sensitive values demand, which buckets do not give to quasi-identifiers."""
        least = least_size(self.asked_of_values)
        if least < 2:
            return ()
        model = KAnonymity.model_validate({"k": least})
        return (("policy", "as part of a requirement on sensitive values", model),)

    @property
    def unique(self) -> int:
        """The number of persons with a record whose quasi-identifiers no other person has."""
        _, members, _ = counted_rows(self.table, self.table.quasi)
        return members.within(members.counts == 1)

    @cached_property
    def space(self) -> Space:
        """The space of admissible generalisation schemes."""
        return Space.of(self.table, self.table.quasi, self.hierarchies, self.policy.levels(self.hierarchies))

    def searchable(self) -> "Case":
        """Return the case with a technique that can treat it, if there are too many schemes for that of the policy."""
        search = self.policy.search
        if self.space.is_countable or search.technique.any_number:
            return self
        other = for_any_number()
        changed = {"recoding": other, "refine": False}
        remark = (
            f"{len(self.table.quasi)} quasi-identifiers give too many generalisation schemes to search. Another "
            f"technique was used: {other.says}"
        )
        policy = self.policy.model_copy(update={"search": search.model_copy(update=changed)})
        return replace(self, policy=policy, remarks=(*self.remarks, remark))

    def by_schemes(self) -> "Case":
        """Return the case with the technique that searches schemes for all records.

        The union of classes with equal labels may violate a requirement that each of them meets, such as guarding
        nodes. A scheme is judged with its final classes.
        """
        technique = giving(Gives.SCHEME)[0]
        remark = (
            f"Classes with equal labels together violated a requirement that each of them met. Another technique was "
            f"used: {technique.says}"
        )
        search = self.policy.search.model_copy(update={"recoding": technique(), "refine": False})  # type: ignore[call-arg]
        policy = self.policy.model_copy(update={"search": search})
        return replace(self, policy=policy, remarks=(*self.remarks, remark))

    @cached_property
    def persons(self) -> int:
        """The number of persons in the table."""
        return self.table.person_count

    @property
    def limit(self) -> int:
        """The maximum number of suppressed persons."""
        return floor(exact(self.policy.search.suppression) * self.persons)

    @cached_property
    def gatherer(self) -> Gatherer:
        """The gatherer of the evidence that models read."""
        everybody = self.whole.person_count  # all persons, even if only a sample is released
        people = self.register or self.policy.sampled_population(self.table, everybody)
        return Gatherer(self.table, self.policy.data.missing, self.hierarchies, people)

    @property
    def show(self) -> dict[str, str]:
        """The columns that show one representative value per class, and its kind."""
        columns = self.policy.columns
        return {name: columns[name].show for name in self.table.quasi if columns[name].show != "label"}

    def goal(self, models: tuple[Model, ...], limit: int, threads: int) -> Goal:
        """Return the goal of a search that may suppress at most ``limit`` persons."""
        for model in models:
            check_requirement(model, self.table, self.policy, self.register)
        how = self.policy.search
        return Goal(self.space, self.gatherer, models, self.quality, limit, how.weights, threads, how.seconds)

    @property
    def quality(self) -> Quality:
        """The quality measure that the search optimises."""
        how = self.policy.search
        quality = quality_named(how.quality, balance=how.balance, target=how.target)
        for name in quality.beside:
            is_released = self.table.roles.get(self.table[name].name) in {Role.SENSITIVE, Role.INSENSITIVE}
            if not is_released or name in perturbations(self.table, self.policy):
                raise PolicyError(
                    "target-not-released",
                    "The target '{column}' is not released unchanged.",
                    remedy="Name a column with the role sensitive or insensitive.",
                    column=name,
                )
        if how.weights and Gives.SCHEME in how.technique.gives and not isinstance(quality, LevelQuality):
            raise PolicyError(
                "weights-of-quality",
                "Weights apply to measures of single columns, and {quality} is not one.",
                remedy=either("Remove the weights", Setting("search.quality", "loss")),
                quality=quality.name,
            )
        return quality


def _with_dates(table: Table, policy: Policy) -> Table:
    """Shift the dates of the columns that the policy names."""
    dates = policy.dates
    if dates is None:
        return table
    for name in dates.columns:
        _check_placeholders(table[name])
        if table.roles.get(name) is not Role.INSENSITIVE:
            raise PolicyError(
                "dates-not-insensitive",
                "The dates of column '{column}' cannot be shifted, because it is not insensitive.",
                remedy="Quasi-identifiers are generalised instead. The distribution of sensitive values must be kept.",
                column=name,
            )
    return shifted(table, dates.columns, key_of(policy, dates), dates.days)


def _check_placeholders(column: Column) -> None:
    """Refuse placeholder dates: a placeholder is recognisable after shifting, and discloses the shift."""
    if column.kind not in {Kind.DATE, Kind.DATETIME} or not len(column.values):
        return
    days = np.asarray(column.values.cast(pa.timestamp("s"), safe=False).cast(pa.int64())) // 86_400
    if np.diff(days).max(initial=0) > _FAR:
        raise PolicyError(
            "placeholder-dates",
            "Column '{column}' cannot be shifted, because it contains dates more than twenty years from all others, "
            "such as placeholders for missing dates.",
            remedy=[
                "Once shifted, they would disclose the number of days.",
                by("Read them as missing", Option("markers", ["9999-12-31"])),
            ],
            column=column.name,
        )


def _check(table: Table, policy: Policy) -> None:
    if not table.quasi:
        raise PolicyError(
            "no-quasi-identifier",
            "No column is a quasi-identifier, so there is nothing to transform.",
            remedy=[
                "Give the role quasi to columns that an adversary may know.",
                "If there are none, no column needs to be generalised.",
            ],
        )
    if not table.records:
        raise PolicyError("no-records", "The table has no records.")
    _check_limits(table, policy)
    for name in policy.search.weights:
        if name not in table.quasi:
            raise PolicyError(
                "weight-of-column",
                "Column '{column}' has a weight but is not a quasi-identifier.",
                remedy=did_you_mean(name, table.quasi),
                column=name,
            )
    for name, column in policy.columns.items():
        if column.show != "label" and Gives.CLASSES not in policy.search.technique.gives:
            recoding = f'recoding = "{policy.search.technique.kind}"'
            raise PolicyError(
                "no-classes-to-show",
                "Column '{column}' cannot show a value per class, because {recoding} forms no classes.",
                column=name,
                recoding=recoding,
            )
        if column.show not in {"label", "midpoint"} and policy.search.way.adds_records:
            raise PolicyError(
                "show-with-counterfeits",
                "Column '{column}' cannot show a {show}: in a class with counterfeits, it would be that of few real "
                "individuals.",
                remedy=either(ColumnSetting("show", "midpoint"), "treat outliers differently"),
                column=name,
                show=column.show,
            )
        if column.show != "label" and (name not in table.quasi or column.linked is not None):
            raise PolicyError(
                "show-of-column",
                "Column '{column}' cannot show a value per class, because it is not a quasi-identifier or is linked "
                "to another.",
                column=name,
            )


def _check_limits(table: Table, policy: Policy) -> None:
    """Refuse a limit for an attack on a column that the attack is not about."""
    for limit in policy.attack_limits:
        untrue = [name for name in table.quasi if name in policy.columns and policy.columns[name].show != "label"]
        untrue += policy.drawn_quasi(table)
        if untrue and ATTACKS[limit.attack].reads_sets:
            raise PolicyError(
                "limit-of-representatives",
                "The attack '{attack}' cannot be limited, because it takes released values for true ones, and those of "
                "column '{column}' are representative or perturbed.",
                remedy=Setting("require", [{"attack": "linkage-rate", "at_most": limit.at_most}]),
                attack=limit.attack,
                column=untrue[0],
            )
        roles = ATTACKS[limit.attack].about
        names = [name for role in roles for name in table.with_role(role)]
        if limit.column is not None and limit.column not in names:
            raise PolicyError(
                "column-of-limit",
                "The limit for the attack '{attack}' names column '{column}', which is not {roles}.",
                remedy=did_you_mean(limit.column, names),
                attack=limit.attack,
                column=limit.column,
                roles=" or ".join("a quasi-identifier" if role is Role.QUASI else str(role) for role in sorted(roles)),
            )


def prepared(table: Table, policy: Policy) -> Table:
    """Assign roles to the columns and shift dates, for a table that is released without a search."""
    roled = policy.apply(table)
    check_perturbations(roled, policy)
    _check_columns(roled, policy)
    return _with_dates(roled, policy)


def _check_columns(table: Table, policy: Policy) -> None:
    """Refuse columns that must not be released unchanged."""
    _check_naming(table, policy)
    _check_stars(table)


def _check_naming(table: Table, policy: Policy) -> None:
    """Refuse columns that appear to identify individuals, unless the policy declares that they do not."""
    for name in (*table.sensitive, *table.with_role(Role.INSENSITIVE)):
        if policy.columns[name].names_nobody or not table[name].is_text:
            continue
        shape = Shape.of(table[name], table.counts(name))
        pattern = shape.pattern if shape.pattern is not None and _identifies(shape.pattern) else None
        if shape.form is Form.TEXT or pattern is not None:
            what = "is free text" if pattern is None else f"contains {pattern.says}"
            raise PolicyError(
                "may-identify",
                "Column '{column}' {what}, and may identify individuals.",
                remedy=either(
                    "Give it the role direct, so that it is not released",
                    by("if all values were reviewed and identify no individual", ColumnSetting("names_nobody", True)),
                ),
                column=name,
                what=what,
            )


def _identifies(pattern: Pattern) -> bool:
    """Return whether values with this pattern identify individuals."""
    return pattern.sure or concepts()[pattern.concept].role is Role.DIRECT


def _check_stars(table: Table) -> None:
    """Refuse values that a recipient of the release would interpret as suppressed."""
    for name in (*table.sensitive, *table.with_role(Role.INSENSITIVE)):
        column = table[name]
        if column.is_text and pc.index(as_text(column.values), SUPPRESSED).as_py() >= 0:
            raise PolicyError(
                "value-like-suppressed",
                "Column '{column}' contains the value {sign}, which means suppressed in a release.",
                remedy=either("Change this value in the data", Option("suppressed", SUPPRESSED)),
                column=name,
                sign=SUPPRESSED,
            )


def _leaders(table: Table, policy: Policy) -> dict[str, str]:
    """Return the leading column of each linked column."""
    leaders = policy.leaders
    for follower, leader in leaders.items():
        if leader not in table:
            raise PolicyError(
                "link-to-unknown-column",
                "Column '{column}' is linked to '{leader}', which does not exist.",
                remedy=did_you_mean(leader, policy.columns),
                column=follower,
                leader=leader,
            )
        if follower not in table.quasi or leader not in table.quasi or leader in leaders:
            raise PolicyError(
                "bad-link",
                "Column '{column}' is linked to '{leader}'. Both must be quasi-identifiers, and '{leader}' must not "
                "be linked itself.",
                remedy="If one of them has another role now, remove the link of column '{column}' to '{leader}'.",
                column=follower,
                leader=leader,
            )
        for settings, what in ((policy.search.levels, "Levels are"), (policy.search.weights, "A weight is")):
            if follower in settings:
                raise PolicyError(
                    "setting-of-linked-column",
                    "{what} given for column '{column}', which follows '{leader}'.",
                    what=what,
                    column=follower,
                    leader=leader,
                )
        if any({Need.POPULATION, Need.REGISTER} & model.needs for _, _, model in policy.requirements()):
            raise PolicyError(
                "links-and-population", "Linked columns cannot be combined with requirements on a population."
            )
    return leaders
