"""Anonymization: from a table and a policy to a release that was verified."""

import os
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.classes.shown import counted_rows, showing
from shoal.errors import PolicyError, ReleaseError, did_you_mean
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.translation import Codes
from shoal.models.evidence import Gatherer
from shoal.models.model import Model, Need
from shoal.policy import Policy
from shoal.progress import Hook, Progress, silent
from shoal.qualities.loss import Loss
from shoal.qualities.quality import QUALITIES, Measured
from shoal.recoding.recoding import Recoding
from shoal.release.linked import followed
from shoal.release.manifest import fingerprint
from shoal.release.mapping import ValueMap
from shoal.release.pseudonyms import key_from
from shoal.release.register import released_register
from shoal.release.release import Release, verified_in_a_file
from shoal.release.sampling import effect, sampled
from shoal.release.transformed import Counterfeits, Transformed, shown_by, transformed
from shoal.release.verification import Original, Verified
from shoal.search.frontier import LIMITS, SIZES, Frontier
from shoal.search.frontier import frontier as find_frontier
from shoal.search.goal import Goal
from shoal.search.space import Space
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.reading import read
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.treatments.outliers import OUTLIERS
from shoal.treatments.refinement import refined
from shoal.treatments.treatment import TREATMENTS, Treatment

_MEASURES = ("loss", "nue", "precision", "discernibility", "average-class-size", "suppressed-records")


def anonymize(
    data: Any,
    policy: Policy | str | Path,
    *,
    progress: Hook | None = None,
    threads: int | None = None,
) -> Release:
    """Find the best release of a table that meets a policy, make it, and verify it.

    ``data``: a table, a frame or a file. The scheme is the best of all by the measure that the policy names; at most
    the share of persons that it allows is left out.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
    ... columns.dx = { role = "sensitive" }
    ... require = [{ model = "k-anonymity", k = 2 }]
    ... search = { suppression = 0 }
    ... ''')
    >>> release = shoal.anonymize({"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "gout"]}, policy)
    >>> release.scheme, release.suppressed, release.verified
    ({'age': 1}, 0, True)
    >>> release.to_frame("pyarrow").to_pydict()
    {'age': ['30-39', '30-39', '70-79', '70-79'], 'dx': ['flu', 'ms', 'flu', 'gout']}
    """
    run = _Run.of(data, policy, progress or silent, threads)
    return run.release()


def frontier(  # noqa: PLR0913 - keyword-only options
    data: Any,
    policy: Policy | str | Path,
    *,
    sizes: tuple[int, ...] = SIZES,
    limits: tuple[float, ...] = LIMITS,
    progress: Hook | None = None,
    threads: int | None = None,
) -> Frontier:
    """Find the best scheme for every k and every limit of suppression; the policy's other requirements hold for all.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
    ... ''')
    >>> found = shoal.frontier({"age": [31, 34, 71, 78]}, policy, sizes=(2, 3), limits=(0.0,))
    >>> [(point.k, point.scheme) for point in found.points]
    [(2, {'age': 1}), (3, {'age': 2})]
    """
    run = _Run.of(data, policy, progress or silent, threads)
    return find_frontier(run.goal(run.others()), sizes, limits, run.progress)


class _Run:
    """One run: a table with roles, what is asked of it, and how it is searched."""

    def __init__(self, whole: Table, policy: Policy, progress: Hook, threads: int) -> None:
        population = policy.people(whole, whole.records) if policy.population and policy.population.file else None
        whole = population.covering(whole, whole.quasi) if population else whole
        self.whole, self.leaders = whole, _leaders(whole, policy)
        self.drawn = np.arange(whole.records)
        table = whole.assign(insensitive=list(self.leaders)) if self.leaders else whole
        if policy.search.sample is not None:
            table, self.drawn = sampled(table, policy.search.sample, policy.search.seed)
        self.table = table
        self.policy = policy
        self.progress = progress
        self.threads = threads
        self.hierarchies: dict[str, Hierarchy] = policy.hierarchies(table)
        self.asked = tuple(policy.requirements())
        self.space = Space.of(table, table.quasi, self.hierarchies, policy.search.levels)
        persons = len(np.unique(table.codes(table.subject))) if table.subject is not None else table.records
        people = population or policy.people(table, persons)
        self.gatherer = Gatherer(table, policy.data.missing, self.hierarchies, people)
        self.limit = floor(policy.search.suppression * persons)
        self.persons = persons
        self.show = {name: policy.columns[name].show for name in table.quasi if policy.columns[name].show != "label"}
        wrong = [name for name, said in policy.columns.items() if said.show != "label" and name not in table.quasi]
        if wrong:
            raise PolicyError(f"Column '{wrong[0]}' is to show one value for a class, but is no quasi-identifier.")

    @classmethod
    def of(cls, data: Any, policy: Policy | str | Path, progress: Hook, threads: int | None) -> "_Run":
        """Read the data the way the policy says, and give the columns their roles."""
        chosen = Policy.given(policy)
        table = data if isinstance(data, Table) else read(data, **chosen.data.read.model_dump(exclude_unset=True))
        table = chosen.apply(table)
        if not table.quasi:
            raise PolicyError(
                "The policy names no quasi-identifier, so there is nothing to transform.",
                hint='Give columns that others may know the role "quasi".',
            )
        if not table.records:
            raise PolicyError("The table has no records.")
        unknown = [name for name in chosen.search.weights if name not in table.quasi]
        if unknown:
            raise PolicyError(f"A weight is given to column '{unknown[0]}', which is no quasi-identifier.")
        return cls(table, chosen, progress, threads or os.cpu_count() or 1)

    def others(self) -> tuple[Model, ...]:
        """Return what is required besides k-anonymity."""
        return tuple(model for _, _, model in self.asked if model.name != "k-anonymity")

    def goal(self, models: tuple[Model, ...], limit: int | None = None) -> Goal:
        """Return what is sought."""
        for model in models:
            named = getattr(model, "column", None)
            if named is not None and named not in self.table.sensitive:
                raise PolicyError(f"A requirement names column '{named}', which the policy does not call sensitive.")
            if Need.SENSITIVE in model.needs and not self.table.sensitive:
                raise PolicyError(
                    f"The requirement {model.name} is about sensitive values, and no column is sensitive.",
                    hint='Give such a column the role "sensitive".',
                )
        how = self.policy.search
        quality = Loss(balance=how.balance) if how.quality == Loss.name else QUALITIES[how.quality]()
        held = self.limit if limit is None else limit
        return Goal(self.space, self.gatherer, models, quality, held, self.policy.search.weights, self.threads)

    def release(self) -> Release:
        """Search, transform, measure, verify."""
        if not self.asked:
            raise PolicyError(
                "The policy requires nothing, so anything would do.",
                hint='Give a requirement: [[require]] model = "k-anonymity", k = 11; or a preset.',
            )
        goal = self.goal(tuple(model for _, _, model in self.asked))
        return self._made(self._treatment(goal))

    def _treatment(self, goal: Goal) -> Treatment:
        """Decide what every record shows."""
        how = self.policy.search
        found = TREATMENTS[how.recoding](goal, how, self.progress)
        if found.persons > self.limit or found.suppressed.all():
            raise self._impossible()
        found = refined(goal, found, self.progress) if how.refine else found
        return OUTLIERS[how.outliers](goal, found, how, self.progress) if found.persons else found

    def _impossible(self) -> ReleaseError:
        """Say what can be had instead."""
        allowed = f"{self.policy.search.suppression:.4g} of the persons ({self.limit:,})"
        found = self.goal(tuple(model for _, _, model in self.asked), self.persons).optimum(self.progress).best
        if found is None or found.suppressed == self.persons:
            return ReleaseError(
                f"No scheme meets the requirements, even if all {self.persons:,} persons could be left out but one.",
                hint="Ask for less, or give columns coarser hierarchies.",
            )
        share = found.suppressed / self.persons
        return ReleaseError(
            f"No scheme meets the requirements if at most {allowed} may be left out.",
            hint=f"With {found.suppressed:,} persons left out ({share:.2%}) the best scheme does: allow "
            f"suppression = {np.ceil(share * 1000) / 1000:g}, ask for less, or give columns coarser hierarchies.",
        )

    def _made(self, treatment: Treatment) -> Release:
        """Write out what a treatment says, verify and measure it."""
        self.progress(Progress("making the release", 0))
        recoding = treatment.recoding(self.space)
        made = self._written(treatment, recoding)
        original = self._original(made, treatment.scheme)
        self.progress(Progress("verifying the release", 0))
        found = verified_in_a_file(made.table, original, self.asked)
        quality, scheme = self._quality(recoding), treatment.scheme
        facts = self._facts(treatment, recoding, quality, found, made.table)
        facts |= self._sampling(treatment, made)
        facts["columns"] = {name: str(role) for name, role in made.table.roles.items()}
        return Release(
            table=made.table,
            scheme=scheme,
            levels=facts["records_on_levels"],
            suppressed=treatment.persons,
            suppressed_records=facts["suppressed_records"],
            classes=facts["classes"],
            quality=quality,
            requirements=found,
            internal={
                **facts,
                **self._secrets(original, made),
                "search": {k: v for k, v in treatment.facts.items() if k != "outliers"},
            },
            public=facts,
            mapping=self._mapping(scheme, made),
            notes=tuple(self._notes(made)),
            original=original,
            asked=self.asked,
        )

    def _written(self, treatment: Treatment, recoding: Recoding) -> Transformed:
        """Put the released table together."""
        invented = Counterfeits(treatment.counterfeits, self.policy.search.seed)
        shown, rows = shown_by(recoding, self.show, self._persons_of(treatment)), treatment.rows
        for follower, leader in self.leaders.items():
            shown[follower] = followed(self.table, rows, recoding, leader, self.hierarchies[follower])
        keys = self._keys()
        made = transformed(self.table, rows, shown, recoding.suppressed, counterfeits=invented, keys=keys)
        quasi = [name for name in made.table.names if name in self.whole.quasi]
        return replace(made, table=made.table.assign(quasi=quasi))

    def _persons_of(self, treatment: Treatment) -> NDArray[np.int64]:
        """Return how many persons each row of a treatment stands for."""
        if self.table.subject is None:
            return treatment.rows.counts
        return counted_rows(self.table, self.table.quasi)[1].counts

    def _keys(self) -> dict[str, bytes]:
        """Return the columns that get pseudonyms, and the key."""
        said = self.policy.pseudonyms
        if said is None:
            return {}
        wrong = [name for name in said.columns if self.table.roles.get(name) not in {Role.DIRECT, Role.SUBJECT}]
        if wrong:
            raise PolicyError(f"Column '{wrong[0]}' is to get pseudonyms, but it is neither direct nor the subject.")
        file = None if said.key_file is None else self.policy.beside(said.key_file)
        return dict.fromkeys(said.columns, key_from(file, said.key_variable))

    def _sampling(self, treatment: Treatment, made: Transformed) -> dict[str, Any]:
        """Return what drawing a sample has come to."""
        if self.policy.search.sample is None:
            return {}
        told: dict[str, Any] = {"share": self.policy.search.sample}
        kept = self.drawn[made.records[made.records >= 0]]
        found = effect(self.whole, kept, self.hierarchies, treatment.scheme) if treatment.scheme else None
        if found is not None:
            for name in ("prosecutor", "journalist"):
                highest, average = getattr(found, name)
                told[name] = {"highest": highest, "average": average}
        return {"sampling": told}

    def _mapping(self, scheme: Mapping[str, int], made: Transformed) -> ValueMap | None:
        """Return what every value became, where that does not hang on other values of a record."""
        if not scheme or self.show or self.leaders or self.policy.pseudonyms:
            return None
        return ValueMap.of(self.table, self.hierarchies, scheme, made.table.names)

    def _original(self, made: Transformed, scheme: Mapping[str, int]) -> Original:
        sensitive = {name: self.table[name] for name in self.table.sensitive}
        reference = {name: self.table.persons(name) for name in sensitive}
        hierarchies = {name: held for name, held in self.hierarchies.items() if name in sensitive}
        subject = None
        if self.table.subject is not None:
            subject = _persons(self.table.codes(self.table.subject), made.records)
        missing, population = self.policy.data.missing, self.gatherer.population
        if population is not None and population.register is not None:  # it knows values as they were
            asked = any({Need.POPULATION, Need.REGISTER} & model.needs for _, _, model in self.asked)
            population = released_register(population, self.table, self.hierarchies, scheme) if asked else None
        return Original(sensitive, reference, hierarchies, population, missing, subject)

    def _quality(self, recoding: Recoding) -> dict[str, Measured]:
        names = dict.fromkeys([self.policy.search.quality, *_MEASURES])
        return {name: QUALITIES[name]().measure(recoding) for name in names}

    def _facts(
        self,
        treatment: Treatment,
        recoding: Recoding,
        quality: Mapping[str, Measured],
        found: tuple[Verified, ...],
        made: Table,
    ) -> dict[str, Any]:
        """Return what may go out with the release."""
        how = self.policy.search
        return {
            "shoal": version("shoal"),
            "records": made.records,
            "suppressed": treatment.persons,
            "suppressed_records": recoding.records - recoding.kept,
            "classes": _classes(made),
            "recoding": how.recoding,
            "refined": how.refine,
            "scheme": dict(treatment.scheme),
            "records_on_levels": treatment.on_levels(self.space),
            "heights": treatment.heights(self.space),
            "requirements": [
                {
                    "source": one.source,
                    "model": one.verdict.model,
                    "column": one.verdict.column,
                    "parameters": one.verdict.parameters,
                    "value": one.verdict.value,
                    "satisfied": one.verdict.satisfied,
                }
                for one in found
            ],
            "quality": {
                name: {"value": measured.total.value, "cost": measured.total.cost}
                for name, measured in quality.items()
                if measured.total is not None
            },
            "outliers": {"dealt_with": how.outliers, **treatment.facts.get("outliers", {})},
            "representatives": self.show,
            "pseudonyms": [] if self.policy.pseudonyms is None else self.policy.pseudonyms.columns,
            "truthful": self._truth(treatment),
            "verified": True,
        }

    def _truth(self, treatment: Treatment) -> str:
        """Say what was done to the truth."""
        told, outliers = ["Values were made coarser."], treatment.facts.get("outliers", {})
        if treatment.persons:
            told.append("Records were left out.")
        if outliers.get("moved"):
            told.append("Moved records show values of others that are near theirs.")
        if outliers.get("counterfeits"):
            told.append("Some records are invented.")
        if self.show:
            told.append("Some columns show one value for a whole class, which need not be true of each record.")
        if len(told) == 1 + bool(treatment.persons):
            told.append("No value was changed into another.")
        return " ".join(told)

    def _secrets(self, original: Original, made: Transformed) -> dict[str, Any]:
        """Return what stays with the owner: enough to make the release again, and to judge it again."""
        return {
            "policy": self.policy.document(),
            "input": {"records": self.table.records, "persons": self.persons, "fingerprint": fingerprint(self.whole)},
            "reference": {
                name: dict(zip(map(str, column.labels().to_pylist()), original.reference[name].tolist(), strict=True))
                for name, column in original.sensitive.items()
            },
            "left_out": dict(made.left_out),
        }

    def _notes(self, made: Transformed) -> list[str]:
        notes = [f"Column '{name}' does not go out: {why}." for name, why in made.left_out.items()]
        exact = [name for name, kind in self.show.items() if kind in {"median", "mode"}]
        if exact:
            notes.append(f"Column '{exact[0]}' shows a {self.show[exact[0]]}: an exact value of a member of the class.")
        if self.policy.search.recoding == "mondrian" and self.policy.search.cuts == "anywhere":
            notes.append(
                "Numbers are cut anywhere: the ends of their intervals are exact values of members of the class."
            )
        if self.table.subject is None:
            notes.append("No column says whose row it is: every record is taken for a person.")
        return notes


def _persons(codes: Codes, records: NDArray[np.intp]) -> tuple[Column, Codes]:
    """Number the persons of some records; every invented record (−1) is somebody else."""
    invented = records < 0
    persons = codes[records].astype(np.int64)
    persons[invented] = int(codes.max()) + 1 + np.arange(np.count_nonzero(invented))
    numbers, of_record = np.unique(persons, return_inverse=True)
    return Column("person", Kind.INTEGER, pa.array(numbers)), of_record.astype(np.uint32)


def _leaders(table: Table, policy: Policy) -> dict[str, str]:
    """Return the columns that follow others, and whom."""
    found = {name: said.linked for name, said in policy.columns.items() if said.linked is not None}
    for follower, leader in found.items():
        if leader not in table:
            raise PolicyError(
                f"Column '{follower}' is linked to '{leader}', which is not there.",
                hint=did_you_mean(leader, policy.columns),
            )
        if follower not in table.quasi or leader not in table.quasi or leader in found:
            raise PolicyError(
                f"Column '{follower}' is linked to '{leader}': both must be quasi-identifiers, and '{leader}' must not "
                "follow another itself."
            )
    return found


def _classes(released: Table) -> int:
    """Count the classes of a released table; records that show nothing form none, unless all do."""
    rows = released.distinct(released.quasi)
    return int(np.count_nonzero(showing(rows, [released[name] for name in released.quasi])))
