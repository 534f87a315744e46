"""The policy: the TOML file that says all of it — roles, hierarchies, requirements, limits.

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

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr, field_validator

from shoal import population as people
from shoal.errors import ColumnError, PolicyError, ReadError
from shoal.hierarchy.automatic import Automatic
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.hierarchy.spec import Spec, bind
from shoal.models.exact import exact
from shoal.models.model import Model, Need
from shoal.policy.circumstances import Context, Population
from shoal.policy.columns import ColumnPolicy, Data, role_or_table
from shoal.policy.pseudonyms import Pseudonyms
from shoal.policy.requirements import AnyRequirement, PresetRequirement, first_line
from shoal.policy.search import Search
from shoal.presets.preset import PRESETS
from shoal.progress import Hook
from shoal.table.reading import read
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.validation import Checked, validated


class Policy(Checked):
    """All that is decided about a dataset. Load it from a TOML file and apply it to any extract of the data.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
    ... ''')
    >>> table = policy.apply(shoal.read({"age": [34, 71]}))
    >>> table.quasi, policy.hierarchies(table)["age"].labels(1).to_pylist()
    (('age',), ['30-39', '70-79'])
    """

    version: Literal[1] = Field(description="the version of this file format")
    data: Data = Field(default=Data())
    columns: dict[str, ColumnPolicy] = Field(default_factory=dict, json_schema_extra=role_or_table)
    require: list[AnyRequirement] = Field(default_factory=list, description="what a release must fulfil")
    search: Search = Field(default=Search())
    pseudonyms: Pseudonyms | None = None
    population: Population | None = None
    context: Context | None = None
    _folder: Path = PrivateAttr(default=Path())

    @field_validator("columns", mode="before")
    @classmethod
    def _short_form(cls, columns: Any) -> Any:
        """Let ``sex = "quasi"`` stand for ``sex = { role = "quasi" }``."""
        if not isinstance(columns, dict):
            return columns
        return {name: {"role": said} if isinstance(said, str) else said for name, said in columns.items()}

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy file; files that it names are looked for beside it."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise ReadError(f"There is no policy file '{path}'.", hint="shoal init DATA writes one.") from None
        except (OSError, ValueError):
            raise ReadError(f"'{path}' cannot be read as a policy file (UTF-8 text).") from None
        return cls.parse(text, where=f"The policy '{path}'").within(path.parent)

    @classmethod
    def parse(cls, text: str, *, where: str = "The policy") -> Self:
        """Read a policy from TOML text."""
        try:
            given = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            place = re.search(r"\(at ([^)]*)\)", str(error))
            given = None
        if given is None:
            raise PolicyError(f"{where} is not valid TOML{f' at {place[1]}' if place else ''}.")
        return validated(cls, given, where=where, error=PolicyError)

    def apply(self, table: Table) -> Table:
        """Give the columns of a table their roles.

        Every column that the policy names must be there, but for direct identifiers: a release has none. A column that
        it does not name gets no role and is never released: see :meth:`unlisted`.
        """
        roles: dict[str, list[str]] = {}
        for name, said in self.columns.items():
            if said.role is not Role.DIRECT or not isinstance(table, Table) or name in table:
                roles.setdefault(said.role, []).append(name)
        for role in (Role.SUBJECT, Role.HOUSEHOLD, Role.WEIGHT):
            name = getattr(self.data, role)
            if name is not None:
                roles[role] = [name]
        if not isinstance(table, Table):
            raise PolicyError("A policy applies to a table.", hint="Read it first: shoal.read(frame).")
        try:
            return replace(table, roles={}).assign(**roles)
        except ColumnError as error:
            raise PolicyError(f"The policy does not fit the table. {error.message}", hint=error.hint) from None

    def read(self, source: Any, *, progress: Hook | None = None) -> Table:
        """Read a file or a frame the way the policy says, and apply it."""
        options = self.data.read.model_dump(exclude_unset=True)
        return self.apply(read(source, progress=progress, **options))

    def unlisted(self, table: Table) -> tuple[str, ...]:
        """Return the columns of a table that the policy says nothing about."""
        said = {*self.columns, self.data.subject, self.data.household, self.data.weight}
        return tuple(name for name in table.names if name not in said)

    @classmethod
    def given(cls, policy: Any) -> "Policy":
        """Take a policy, or the path of one."""
        if isinstance(policy, str | Path):
            return cls.load(policy)
        if not isinstance(policy, Policy):
            raise PolicyError("This is no policy.", hint="Give the path of a policy file, or shoal.Policy.parse(text).")
        return policy

    def requiring(self, more: list[Any]) -> Self:
        """Return the policy with more requirements."""
        return self.model_copy(update={"require": [*self.require, *more]}).within(self._folder)

    def people(self, table: Table, persons: int) -> people.Population | None:
        """Return the population that a table of so many persons is a sample of, if something is said about it."""
        said = self.population
        if said is None:
            return None
        if said.file is not None:
            return people.Population.of(read(self.beside(said.file)), table.subject)
        if said.size is not None:
            return people.Population(said.size)
        return people.Population.sampled(persons, exact(said.fraction))

    def requirements(self) -> Iterator[tuple[str, str, Model]]:
        """Yield every requirement: who asks for it ("policy", or a preset), what it says, and the model."""
        for asked in self.require:
            if isinstance(asked, PresetRequirement):
                preset = PRESETS[asked.preset]
                yield from ((preset.name, one.says, one.requirement()) for one in preset.criteria)
            else:
                yield "policy", first_line(asked), asked

    @property
    def k(self) -> int | None:
        """The largest k that is required of the classes of a release; None if none is."""
        asked = [
            getattr(model, "k", None)
            for _, _, model in self.requirements()
            if not {Need.POPULATION, Need.REGISTER} & model.needs
        ]
        return max((k for k in asked if isinstance(k, int) and k > 1), default=None)

    def document(self) -> dict[str, Any]:
        """Return the policy as plain data, from which it can be made again."""
        found = self.model_dump(mode="json", exclude_unset=True, exclude_none=True)
        for name, said in self.columns.items():
            if said.hierarchy is not None:
                found["columns"][name]["hierarchy"]["kind"] = said.hierarchy.kind
        for held, asked in zip(found.get("require", ()), self.require, strict=True):
            if not isinstance(asked, PresetRequirement):
                held["model"] = asked.name
        return found

    def within(self, folder: Path) -> Self:
        """Return the policy for a folder: files that it names are looked for there."""
        policy = self.model_copy()
        policy._folder = folder  # noqa: SLF001 - its own
        return policy

    def beside(self, file: str) -> Path:
        """Return the path of a file that the policy names."""
        return self._folder / file

    def hierarchies(self, table: Table) -> dict[str, Hierarchy]:
        """Bind the hierarchies to a table: those that are given, and an automatic one for other quasi-identifiers."""
        chosen: dict[str, Spec] = {
            name: said.hierarchy or Automatic()
            for name, said in self.columns.items()
            if said.hierarchy is not None or said.role is Role.QUASI
        }
        return {name: bind(spec, table, name, self._folder) for name, spec in chosen.items()}
