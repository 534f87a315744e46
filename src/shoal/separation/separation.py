"""Separations: ways to release sensitive values apart from the quasi-identifiers, and what each of them guarantees."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DeclarationError
from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes
from shoal.models.model import Model, Verdict
from shoal.perturbations.column_values import Draws
from shoal.progress import Hook, silent
from shoal.registry import Registry
from shoal.separation.sliceable import SliceableRecords
from shoal.separation.split import Numbers, Split
from shoal.separation.split_release import SplitRelease
from shoal.table.column import Column
from shoal.validation import Checked


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The places of a ``column``: one for each value of a person, or for each record if records are persons.

    ``draws``: the random word and the codes of each place. ``persons``: the person of each place; None if every place
    belongs to another one.
    """

    column: Column
    draws: Draws
    persons: NDArray[np.integer[Any]] | None = None

    @property
    def codes(self) -> Codes:
        """The value of each place."""
        return self.draws.codes[self.column.name]


@dataclass(frozen=True, slots=True)
class Separable:
    """A transformed table, as far as a separation may read it.

    ``quasi``, ``sensitive``, ``insensitive``: its columns by role. ``distinct``: the number of different values that
    requirements demand of a class, and ``least``, of individuals; 1 if they demand none. ``places(column)``: the places
    of a column. ``records()``: the records of individuals with one record each; an error if some have several.
    ``classes()``: the equivalence class of each distinct row. ``association(one, other)``: the strength of the relation
    of two columns, from 0 to 1 (Cramér's V). ``random(purpose, number)``: random words under the key. ``progress``: the
    hook to notify.
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    insensitive: tuple[str, ...]
    distinct: int
    least: int
    places: Callable[[str], Places]
    records: Callable[[], SliceableRecords]
    classes: Callable[[], Numbers]
    association: Callable[[str, str], float]
    random: Callable[[str, int], Words]
    progress: Hook = silent


class Separation(Checked):
    """The base of all separations. A subclass has a ``kind``, its options as fields, and :meth:`split`.

    ``says``: a sentence on what is released. ``guarantee``: a sentence on what is guaranteed, and under which
    condition. ``iso``: the operation in the terms of ISO/IEC 20889. ``is_diverse``: whether its buckets meet
    requirements on sensitive values, so that quasi-identifiers are not generalised for their sake.
    ``groups_columns``: whether quasi-identifiers may be in several tables, so that several buckets may match an
    individual, and the guarantee concerns an adversary who knows the quasi-identifiers, not the record.
    """

    kind: str
    says: ClassVar[str]
    guarantee: ClassVar[str]
    iso: ClassVar[str]
    is_diverse: ClassVar[bool] = True
    groups_columns: ClassVar[bool] = False

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Refuse a separation that lacks a required declaration."""
        super().__pydantic_init_subclass__(**options)
        for name in ("says", "guarantee", "iso"):
            if not isinstance(getattr(cls, name, None), str):
                raise DeclarationError(
                    "no-declaration",
                    "The separation {separation} lacks {name}: ClassVar[str].",
                    separation=cls.__name__,
                    name=name,
                )

    @abstractmethod
    def split(self, table: Separable) -> Split:
        """Return the columns that are released apart, and the buckets that link them to the others."""

    @property
    def promised(self) -> tuple[Model, ...]:
        """The models that its own options require, which are verified like those of the policy."""
        return ()

    @property
    def requires(self) -> Mapping[str, Mapping[str, Any]]:
        """The requirements of its own options that no model evaluates, with their parameters, by name."""
        return {}

    @property
    def protects(self) -> bool:
        """Whether its own options are a requirement, so that the policy needs no other."""
        return bool(self.promised or self.requires)

    def verdicts(self, released: SplitRelease) -> tuple[Verdict, ...]:  # noqa: ARG002
        """Return what the written tables attain of the requirements of its own options."""
        return ()

    @property
    def releases_identities(self) -> bool:
        """Whether quasi-identifiers may be released although no requirement concerns them."""
        return False

    @classmethod
    def called(cls) -> str:
        """Return the name of the separation in a policy."""
        return str(cls.model_fields["kind"].default)

    @property
    def short(self) -> str | dict[str, Any]:
        """The separation in the notation of a policy: its name, with the options that were set explicitly."""
        chosen = self.model_dump(mode="json", exclude_unset=True, exclude={"kind"})
        return {"kind": self.kind, **chosen} if chosen else self.kind


SEPARATIONS: Registry[type[Separation]] = Registry("separation", "shoal.separation")
