"""The policy: a TOML file with the roles, hierarchies, requirements and limits of a dataset.

version = 1
[data]
subject = "patient_id"
[columns]
name       = { role = "direct" }
birth_date = { role = "quasi", hierarchy = { kind = "date" } }
[[require]]
model = "k-anonymity"
k = 11
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, field_validator, model_validator

from shoal import toml
from shoal.errors import ColumnError, PolicyError, ReadError, similar
from shoal.exact import exact
from shoal.fileset import note_inputs
from shoal.hierarchy.automatic import Automatic
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.hierarchy.spec import Spec, bind
from shoal.models.model import Model, Need
from shoal.policy.circumstances import Context, PopulationSettings
from shoal.policy.columns import ColumnPolicy, Data, role_or_table, short_form
from shoal.policy.pseudonyms import Dates, Draw, Pseudonyms
from shoal.policy.publish import Publish
from shoal.policy.references import check_references
from shoal.policy.requirements import AnyRequirement, AttackLimit, PresetRequirement, first_line
from shoal.policy.search import Search
from shoal.policy.tables import TablePolicy
from shoal.population import Population
from shoal.presets.preset import PRESETS
from shoal.progress import Hook
from shoal.table.reading import read
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.validation import Checked, validated


class Policy(Checked):
    """All decisions about a dataset. Load it from a TOML file and apply it to any extract of the data.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
    ... ''')
    >>> table = policy.apply(shoal.read({"age": [34, 71]}))
    >>> table.quasi, policy.hierarchies(table)["age"].labels(1).to_pylist()
    (('age',), ['30-39', '70-79'])
    """

    __module__ = "shoal"

    version: Literal[1] = Field(description="version of the file format")
    data: Data = Field(default=Data())
    columns: dict[str, ColumnPolicy] = Field(default_factory=dict, json_schema_extra=role_or_table)
    require: list[AnyRequirement] = Field(default_factory=list, description="privacy requirements of a release")
    search: Search = Field(default=Search())
    pseudonyms: Pseudonyms | None = None
    dates: Dates | None = None
    draw: Draw | None = None
    publish: Publish | None = None
    tables: dict[str, TablePolicy] = Field(default_factory=dict, description="tables of a dataset")
    population: PopulationSettings | None = None
    context: Context | None = None
    _folder: Path = PrivateAttr(default=Path())
    _file: Path | None = PrivateAttr(default=None)

    @field_validator("columns", mode="before")
    @classmethod
    def _short_form(cls, columns: Any) -> Any:
        return short_form(columns)

    @model_validator(mode="after")
    def _one_or_several(self) -> Self:
        if self.tables and self.columns:
            raise ValueError("columns of several tables belong under each of them: [tables.NAME.columns]")
        if not self.tables and self.pseudonyms is not None and not self.pseudonyms.columns:
            raise ValueError("pseudonyms: name the columns to replace by pseudonyms")
        check_references(self.tables)
        return self

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy file; files that it names are relative to its folder."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise ReadError(
                "no-policy-file",
                "There is no policy file '{path}'.",
                remedy="The command shoal init DATA writes one.",
                path=path,
            ) from None
        except (OSError, ValueError):
            raise ReadError(
                "policy-unreadable", "'{path}' cannot be read as a policy file (UTF-8 text).", path=path
            ) from None
        policy = cls.parse(text, where=f"The policy '{path}'").within(path.parent)
        policy._file = path.resolve()  # noqa: SLF001 - own attribute
        note_inputs(policy.files())
        return policy

    @classmethod
    def parse(cls, text: str, *, where: str = "The policy") -> Self:
        """Read a policy from TOML text."""
        try:
            given = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            given, reason = None, toml.problem(error)
        if given is None:
            raise PolicyError("not-toml", "{where} is not valid TOML: {reason}.", where=where, reason=reason)
        return validated(cls, given, where=where, error=PolicyError)

    @property
    def names_columns(self) -> bool:
        """Whether the policy assigns a role to any column."""
        return bool(self.columns or self.data.subject or self.data.household or self.data.weight)

    def apply(self, table: Table) -> Table:
        """Assign roles to the columns of a table.

        Every column that the policy names must exist, except for direct identifiers, which a release does not contain.
        A column that the policy does not name gets no role and is never released: see :meth:`unlisted`.
        """
        roles: dict[str, list[str]] = {}
        for name, column in self.columns.items():
            if column.role is not Role.DIRECT or not isinstance(table, Table) or name in table:
                roles.setdefault(column.role, []).append(name)
        for role in (Role.SUBJECT, Role.HOUSEHOLD, Role.WEIGHT):
            name = getattr(self.data, role)
            if name is not None:
                roles[role] = [name]
        if not isinstance(table, Table):
            raise PolicyError(
                "not-a-table", "A policy applies to a table.", remedy="Read the data first: shoal.read(frame)."
            )
        subject = self.data.subject
        if subject is not None and subject not in table:
            raise PolicyError(
                "no-subject",
                "The policy names '{column}' as the subject, and the table has no such column.",
                remedy="Check the name of the subject. A release has no subject column: give the original.",
                column=subject,
            )
        try:
            return replace(table, roles={}).assign(**roles)
        except ColumnError as error:
            raise error.within("The policy does not fit the table. ", PolicyError) from None

    def read(self, source: Any, *, progress: Hook | None = None) -> Table:
        """Read a file or a frame with the import settings of the policy, and apply the policy."""
        options = self.data.read.model_dump(exclude_unset=True)
        return self.apply(read(source, progress=progress, **options))

    def unlisted(self, table: Table) -> tuple[str, ...]:
        """Return the columns of a table that the policy does not name."""
        listed = {*self.columns, self.data.subject, self.data.household, self.data.weight}
        return tuple(name for name in table.names if name not in listed)

    @classmethod
    def given(cls, policy: Any) -> "Policy":
        """Return a policy that is given as such or by its path."""
        if isinstance(policy, str | Path):
            return cls.load(policy)
        if not isinstance(policy, Policy):
            raise PolicyError(
                "not-a-policy",
                "This is not a policy.",
                remedy="Give the path of a policy file, or shoal.Policy.parse(text).",
            )
        return policy

    def of(self, name: str) -> "Policy":
        """Return the part of the policy that concerns one table of several, as a policy of its own.

        It has no pseudonyms, which must be assigned across all tables.

        >>> policy = Policy.parse('''
        ... version = 1
        ... tables.patients.columns.age = "quasi"
        ... require = [{ model = "k-anonymity", k = 5 }]
        ... ''')
        >>> policy.of("patients").columns["age"].role, policy.of("patients").k
        (<Role.QUASI: 'quasi'>, 5)
        """
        if name not in self.tables:
            raise PolicyError(
                "table-not-described",
                "The policy does not describe a table '{table}'.",
                remedy=similar(name, self.tables),
                table=name,
            )
        own_policy = self.tables[name]
        shifted = [] if self.dates is None else [name for name in self.dates.columns if name in own_policy.columns]
        dates = self.dates.model_copy(update={"columns": shifted}) if self.dates is not None and shifted else None
        subject = own_policy.subject or self.data.subject
        data = self.data.model_copy(update={"subject": subject, "read": own_policy.read or self.data.read})
        own = {"columns": own_policy.columns, "data": data, "dates": dates, "pseudonyms": None, "tables": {}}
        asked = {
            "require": self.require if own_policy.require is None else own_policy.require,
            "search": own_policy.search or self.search,
        }
        return self.model_copy(update={**own, **asked}).within(self._folder)

    def quasi_columns(self, table: Table) -> tuple[str, ...]:
        """Return the quasi-identifiers of a table."""
        return tuple(name for name in table.names if name in self.columns and self.columns[name].role is Role.QUASI)

    @property
    def perturbed(self) -> tuple[str, ...]:
        """The perturbed columns."""
        return tuple(name for name, column in self.columns.items() if column.perturb is not None)

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns whose released values are drawn at random."""
        perturbs = {name: self.columns[name].perturb for name in self.perturbed}
        return tuple(name for name, perturb in perturbs.items() if perturb is not None and perturb.is_random)

    def drawn_quasi(self, table: Table) -> tuple[str, ...]:
        """Return the quasi-identifiers whose values are drawn at random.

        Classes say nothing about them: equal values need not be those of individuals with equal values. They are not
        searched, and attacks measure how well they protect.
        """
        known = {*self.quasi_columns(table)}
        return tuple(name for name in self.drawn if name in known)

    def searched(self, table: Table) -> Table:
        """Return a table with its roles, in which quasi-identifiers whose values are drawn count as insensitive."""
        drawn = self.drawn_quasi(table)
        return table.assign(insensitive=list(drawn)) if drawn else table

    @property
    def leaders(self) -> dict[str, str]:
        """The quasi-identifier that each linked column follows."""
        return {name: column.linked for name, column in self.columns.items() if column.linked is not None}

    def alone(self) -> Self:
        """Return the policy if it describes a single table; refuse a policy of several tables."""
        if self.tables:
            raise PolicyError(
                "several-tables",
                "The policy describes several tables: {tables:listed}. This step applies to a single table.",
                remedy="Give the folder of all tables (in Python: shoal.Dataset.read), or the policy of one table.",
                tables=self.tables,
            )
        return self

    def identified_by(self, subject: str | None, names: Collection[str]) -> Self:
        """Return the policy with another subject, without the subject, household and weight that a table lacks."""
        columns = {"subject": subject, "household": self.data.household, "weight": self.data.weight}
        kept = {role: name if name in names else None for role, name in columns.items()}
        return self.model_copy(update={"data": self.data.model_copy(update=kept)})

    def requiring(self, more: list[Any]) -> Self:
        """Return the policy with additional requirements."""
        return self.model_copy(update={"require": [*self.require, *more]}).within(self._folder)

    def sampled_population(self, table: Table, persons: int) -> Population | None:
        """Return the population of a table with this number of persons; None if the policy describes none."""
        given = self.population
        if given is None:
            return None
        if given.file is not None:
            try:
                register = read(self.beside(given.file))
            except ReadError as error:
                raise error.within("The register that the policy names under [population]: ", PolicyError) from None
            return Population.of(register, table.subject)
        if given.size is not None:
            return Population(given.size)
        return Population.sampled(persons, exact(given.fraction))

    def requirements(self) -> Iterator[tuple[str, str, Model]]:
        """Yield every required model with its source ("policy", or the name of a preset) and its description."""
        for asked in self.require:
            if isinstance(asked, PresetRequirement):
                preset = PRESETS[asked.preset]
                yield from ((preset.name, criterion.says, criterion.requirement()) for criterion in preset.criteria)
            elif isinstance(asked, Model):
                yield "policy", first_line(asked), asked
        if self.search.publish is not None:
            yield from (("policy", first_line(model), model) for model in self.search.publish.promised)

    @property
    def attack_limits(self) -> tuple[AttackLimit, ...]:
        """The limits for attacks, which are evaluated on a release."""
        return tuple(asked for asked in self.require if isinstance(asked, AttackLimit))

    @property
    def checklist(self) -> tuple[tuple[str, str], ...]:
        """The points that a person has to confirm, each with the preset that requires it."""
        presets = [asked.preset for asked in self.require if isinstance(asked, PresetRequirement)]
        return tuple((name, item) for name in presets for item in PRESETS[name].checklist)

    @property
    def k(self) -> int | None:
        """The largest k that is required of the classes of a release; None if no k is required."""
        asked = [
            getattr(model, "k", None)
            for _, _, model in self.requirements()
            if not {Need.POPULATION, Need.REGISTER} & model.needs
        ]
        return max((k for k in asked if isinstance(k, int) and k > 1), default=None)

    def document(self) -> dict[str, Any]:
        """Return the policy as plain data, from which it can be restored."""
        document = self.model_dump(mode="json", exclude_unset=True, exclude_none=True)
        _name_kinds(document, self.columns, self.require)
        for name, table_policy in self.tables.items():
            _name_kinds(document["tables"][name], table_policy.columns, table_policy.require or [])
        return document

    def within(self, folder: Path) -> Self:
        """Return the policy relative to a folder, which contains the files that it names."""
        policy = self.model_copy()
        policy._folder = folder  # noqa: SLF001 - own attribute
        return policy

    def beside(self, file: str) -> Path:
        """Return the path of a file that the policy names."""
        return self._folder / file

    def files(self) -> tuple[Path, ...]:
        """Return the policy file and all files that it names: hierarchies, a register, keys."""
        columns = [
            *self.columns.values(),
            *(column for table_policy in self.tables.values() for column in table_policy.columns.values()),
        ]
        named = [getattr(column.hierarchy, "file", None) for column in columns]
        named += [getattr(part, "file", None) for part in (self.population,)]
        named += [getattr(part, "key_file", None) for part in (self.pseudonyms, self.dates, self.draw)]
        own = () if self._file is None else (self._file,)
        return (*own, *(self.beside(file).resolve() for file in named if file is not None))

    @property
    def folder(self) -> Path:
        """The folder that contains the files named by the policy."""
        return self._folder

    def spec(self, name: str) -> Spec:
        """Return the hierarchy specification of a column: the given one, or an automatic one."""
        entry = self.columns.get(name)
        spec = Automatic() if entry is None or entry.hierarchy is None else entry.hierarchy
        perturb = None if entry is None or not entry.shows_sets else entry.perturb
        return spec if perturb is None else perturb.hierarchy(spec)

    def levels(self, hierarchies: Mapping[str, Hierarchy]) -> dict[str, tuple[int, int]]:
        """Return the lowest and the highest level of the quasi-identifiers whose levels are bounded."""
        bounds = dict(self.search.levels)
        for name in hierarchies:
            if name in self.columns and self.columns[name].shows_sets:
                low, high = bounds.get(name, (1, hierarchies[name].height))
                bounds[name] = max(low, 1), max(high, 1)
        return bounds

    def spread(self, name: str, labels: Sequence[str]) -> NDArray[np.float64] | None:
        """Return the share of its domain that each released label of a column covers; None if it cannot be derived."""
        return self.spec(name).spread(labels, self._folder)

    def hierarchies(self, table: Table) -> dict[str, Hierarchy]:
        """Bind hierarchies to a table: the given ones, and automatic ones for all other quasi-identifiers."""
        chosen = [
            name for name, column in self.columns.items() if column.hierarchy is not None or column.role is Role.QUASI
        ]
        return {name: bind(self.spec(name), table, name, self._folder) for name in chosen}


def _name_kinds(document: dict[str, Any], columns: dict[str, ColumnPolicy], require: list[Any]) -> None:
    """Add values that pydantic omits because they are not set explicitly: kinds of hierarchies, names of models."""
    for name, column in columns.items():
        if column.hierarchy is not None:
            document["columns"][name]["hierarchy"]["kind"] = column.hierarchy.kind
    for document_part, asked in zip(document.get("require", ()), require, strict=True):
        if isinstance(asked, Model):
            document_part["model"] = asked.name
