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
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, PrivateAttr, Tag, create_model, field_validator, model_validator
from pydantic_core import PydanticUndefined

from shoal import population as people
from shoal.errors import ColumnError, PolicyError, ReadError, did_you_mean, listed
from shoal.hierarchy.automatic import Automatic
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.hierarchy.spec import KINDS, Spec, bind
from shoal.models.exact import exact
from shoal.models.model import MODELS, Model
from shoal.presets.preset import PRESETS
from shoal.progress import Hook
from shoal.qualities.quality import QUALITIES
from shoal.table.missing import Missing
from shoal.table.options import Options
from shoal.table.reading import read
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.validation import Checked, validated


def _known_presets(schema: dict[str, Any]) -> None:
    schema["enum"] = list(PRESETS)


def _one_of(known: Iterable[str], noun: str, name: str) -> str:
    """Return a name that is known; refuse any other."""
    if name not in set(known):
        raise ValueError(f"there is no such {noun}. {did_you_mean(name, known) or f'Known are {listed(known, 30)}.'}")
    return name


def _known_qualities(schema: dict[str, Any]) -> None:
    schema["enum"] = list(QUALITIES)


AnyHierarchy: Any = Annotated[reduce(or_, KINDS.values()), Field(discriminator="kind")]
Share = Annotated[float, Field(ge=0, le=1)]


class Data(Checked):
    """What the table is: whose rows, which rule for missing values, how the file is read."""

    subject: str | None = Field(default=None, description="the column that says which person a row belongs to")
    household: str | None = Field(default=None, description="the column that says which household a person belongs to")
    weight: str | None = Field(default=None, description="the column of survey weights")
    missing: Missing = Field(default=Missing.OWN, description="when a missing value matches another")
    read: Options = Field(default=Options(), description="how the file is read, where it cannot be found out")


class ColumnPolicy(Checked):
    """What is said about one column."""

    role: Role = Field(description="direct, quasi, sensitive or insensitive")
    hierarchy: AnyHierarchy | None = Field(default=None, description="the ladder of ever coarser values")
    linked: str | None = Field(
        default=None, description="the quasi-identifier that says the same in other words, and that this one follows"
    )
    show: Literal["label", "midpoint", "mean", "median", "mode"] = Field(
        default="label", description="what a class shows where its values were made coarser: a label, or one value"
    )

    @field_validator("role", mode="before")
    @classmethod
    def _plain(cls, role: Any) -> Any:
        plain = [known for known in Role if not known.single]
        if role in set(Role) - set(plain):
            raise ValueError(f'the {role} is named under [data]: {role} = "…"')
        if role not in plain:
            hint = did_you_mean(str(role), plain)
            raise ValueError(f"must be one of {', '.join(plain)}" + (f". {hint}" if hint else ""))
        return role


class PresetRequirement(Checked):
    """The requirements of a preset, by its name."""

    preset: str = Field(description="the name of a preset; shoal presets lists them", json_schema_extra=_known_presets)

    @field_validator("preset")
    @classmethod
    def _known(cls, name: str) -> str:
        return _one_of(PRESETS, "preset", name)


def _requirement(model: type[Model]) -> Any:
    """Return the model as it stands in a policy: named, and with thresholds that must be given."""
    thresholds: dict[str, Any] = {}
    for name in model.measured:
        field = copy(model.model_fields[name])
        field.default = PydanticUndefined
        thresholds[name] = (field.annotation, field)
    named = Field(description="the name of the privacy model")
    fields: dict[str, Any] = {"model": (Literal[model.name], named), **thresholds}
    made = create_model(model.__name__, __base__=model, **fields)
    return Annotated[made, Tag(model.name)]


def _which(given: Any) -> str | None:
    """Tell which requirement is meant: the name of its model, or that it is a preset."""
    if not isinstance(given, Mapping):
        return "preset" if isinstance(given, PresetRequirement) else getattr(given, "name", None)
    return "preset" if "preset" in given else given.get("model")


AnyRequirement: Any = Annotated[
    reduce(or_, [Annotated[PresetRequirement, Tag("preset")], *map(_requirement, MODELS.values())]),
    Discriminator(
        _which,
        custom_error_type="no_such_choice",
        custom_error_message="there is no such privacy model",
        custom_error_context={"key": "model", "other": "preset", "known": ",".join(MODELS)},
    ),
]


def _first_line(model: Model) -> str:
    return (type(model).__mro__[1].__doc__ or "").strip().splitlines()[0].rstrip(".")


class Pseudonyms(Checked):
    """Identifiers that are replaced by keyed pseudonyms instead of being left out; the key stays with the owner."""

    columns: list[str] = Field(min_length=1, description="direct identifiers, or the subject")
    key_file: str | None = Field(default=None, description="the file that holds the key, beside the policy")
    key_variable: str | None = Field(default=None, description="the variable of the environment that holds it")

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if (self.key_file is None) == (self.key_variable is None):
            raise ValueError("give one of key_file and key_variable")
        return self


DEFAULT_BALANCE = 0.5


class Search(Checked):
    """What the search for a release may do, and what it tries to keep."""

    suppression: Share = Field(
        default=0.02, description="the share of persons that may be left out, or be dealt with as outliers"
    )
    quality: str = Field(
        default="loss", description="the measure of quality that is to be best", json_schema_extra=_known_qualities
    )
    balance: Share = Field(
        default=DEFAULT_BALANCE,
        description="between generalising, cheaper from 0.5 to 1, and suppressing, from 0.5 to 0; of loss",
    )
    recoding: Literal["global", "local", "mondrian", "subsets", "suppression"] = Field(
        default="global",
        description="global: all records are made coarser alike; local: each as little as it needs; mondrian: records "
        "are cut into classes at medians; suppression: single values are left out; subsets: so that k persons look "
        "alike to those who know any m columns",
    )
    refine: bool = Field(default=False, description="whether generalisation is undone, class by class, where it can be")
    strict: bool = Field(
        default=True, description="whether mondrian keeps records together that have the same value where it cuts"
    )
    cuts: Literal["anywhere", "hierarchy"] = Field(
        default="hierarchy",
        description="whether mondrian cuts numbers where their hierarchy does, or anywhere: then it shows exact ends",
    )
    weights: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default_factory=dict, description="how much a quasi-identifier counts for the quality; 1 if nothing is said"
    )
    levels: dict[str, tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]] = Field(
        default_factory=dict, description="the lowest and the highest level that a quasi-identifier may be on"
    )

    outliers: Literal["suppress", "cells", "relocate", "counterfeits"] = Field(
        default="suppress",
        description="what becomes of persons who fit into no class: they are left out, lose single values, are moved "
        "into the nearest class, or get counterfeits beside them",
    )
    seconds: float = Field(
        default=60, gt=0, description="how long to search where there are too many schemes to look at all"
    )
    sample: float | None = Field(default=None, gt=0, lt=1, description="the share of persons to draw; None: all")
    seed: int = Field(default=0, ge=0, description="decides what is drawn at random")

    @field_validator("quality")
    @classmethod
    def _known(cls, name: str) -> str:
        return _one_of(QUALITIES, "quality", name)

    @model_validator(mode="after")
    def _refines(self) -> Self:
        reversed_ = [name for name, (low, high) in self.levels.items() if low > high]
        if reversed_:
            raise ValueError(f"the levels of column '{reversed_[0]}' are reversed: give the lowest first")
        if self.balance != DEFAULT_BALANCE and self.quality != "loss":
            raise ValueError('balance is for quality = "loss"')
        if self.refine and self.recoding in {"mondrian", "subsets"}:
            raise ValueError('refine is for recoding = "global", "local" or "suppression"')
        if self.recoding == "subsets" and self.outliers != "suppress":
            raise ValueError('with recoding = "subsets", outliers are left out: outliers = "suppress"')
        if self.outliers in {"cells", "counterfeits"} and (self.refine or self.recoding != "global"):
            raise ValueError(f'outliers = "{self.outliers}" is for recoding = "global" without refine')
        return self


class Population(Checked):
    """Whom the table is a sample of: one of file, size and fraction."""

    file: str | None = Field(default=None, description="a file with the quasi-identifiers of everybody")
    size: int | None = Field(default=None, gt=0, description="how many people there are")
    fraction: float | None = Field(default=None, gt=0, le=1, description="the share of them that is in the table")

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if sum(value is not None for value in (self.file, self.size, self.fraction)) != 1:
            raise ValueError("give one of file, size and fraction")
        return self


class Context(Checked):
    """Who may try to re-identify somebody, and how likely it is that they do."""

    recipient: str | None = Field(default=None, description="who gets the release, under which terms")
    deliberate: Share | None = Field(default=None, description="probability of a deliberate attempt")
    inadvertent: Share | None = Field(default=None, description="probability that somebody recognises an acquaintance")
    breach: Share | None = Field(default=None, description="probability that the release gets into other hands")
    public: bool = Field(default=False, description="whether everybody gets the release: somebody will surely try")

    def probabilities(self) -> dict[str, float]:
        """Return how probable each threat is; in a public release an attempt is certain."""
        said = {name: getattr(self, name) for name in ("deliberate", "inadvertent", "breach")}
        known = {name: chance for name, chance in said.items() if chance is not None}
        return {**known, "public release": 1.0} if self.public else known


def _role_or_table(schema: dict[str, Any]) -> None:
    """Let the JSON Schema know the short form."""
    roles = {"enum": [role.value for role in Role if not role.single], "description": "the role alone"}
    schema["additionalProperties"] = {"anyOf": [roles, schema["additionalProperties"]]}


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
    columns: dict[str, ColumnPolicy] = Field(default_factory=dict, json_schema_extra=_role_or_table)
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
        policy = cls.parse(text, where=f"The policy '{path}'")
        policy._folder = path.parent  # noqa: SLF001 - its own
        return policy

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

        Every column that the policy names must be there. A column that it does not name gets no role and is never
        released: see :meth:`unlisted`.
        """
        roles: dict[str, list[str]] = {}
        for name, said in self.columns.items():
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
        policy = self.model_copy(update={"require": [*self.require, *more]})
        policy._folder = self._folder  # noqa: SLF001 - its own
        return policy

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
                yield "policy", _first_line(asked), asked

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
