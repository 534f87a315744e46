"""Perturbations: ways to release other values of a single column, and what each of them guarantees."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DeclarationError, PolicyError
from shoal.hierarchy.spec import Spec
from shoal.perturbations.column_values import ColumnValues
from shoal.registry import Registry
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.techniques.change import Coarsened, Drawn
from shoal.techniques.technique import Truth
from shoal.validation import Checked
from shoal.words import listed

NUMBERS = frozenset({Kind.INTEGER, Kind.NUMBER})
DATED = frozenset({Kind.DATE})
_EXACT = 2**53
ORDERED = frozenset(kind for kind in Kind if kind.ordered)


class Perturbation(Checked):
    """The base of all perturbations. A subclass has a ``kind``, its options as fields, and :meth:`change`.

    ``says``: a sentence on what happens to the values of a column. ``guarantee``: a sentence on what is guaranteed by
    the mechanism. ``iso``: the operation in the terms of ISO/IEC 20889. ``truth``: the truthfulness of its cells.
    ``kinds``: the kinds of columns that it applies to. ``needs_key``: whether values are drawn at random.
    """

    kind: str
    says: ClassVar[str]
    guarantee: ClassVar[str]
    iso: ClassVar[str]
    truth: ClassVar[Truth] = Truth.PERTURBED
    kinds: ClassVar[frozenset[Kind]] = NUMBERS

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Refuse a perturbation that lacks a required declaration."""
        super().__pydantic_init_subclass__(**options)
        for name in ("says", "guarantee", "iso"):
            if not isinstance(getattr(cls, name, None), str):
                raise DeclarationError(
                    "no-declaration",
                    "The perturbation {perturbation} lacks {name}: ClassVar[str].",
                    perturbation=cls.__name__,
                    name=name,
                )

    @abstractmethod
    def change(self, values: ColumnValues) -> Drawn | Coarsened:
        """Return the change to the cells of a column."""

    @property
    def is_random(self) -> bool:
        """Whether values are drawn at random, under the key."""
        return True

    @property
    def is_true(self) -> bool:
        """Whether each cell shows its value, or a set that contains it."""
        return self.truth is Truth.TRUE

    @classmethod
    def of_amount(cls, amount: float) -> "tuple[Perturbation, ...]":  # noqa: ARG003 - for subclasses
        """Return its variants with a given amount, from 0 (nothing changes); none if no amount can be given.

        Techniques are compared with the smallest amount that protects enough.
        """
        return ()

    def published(self, released: Column, counts: NDArray[np.int64]) -> Mapping[str, Any]:  # noqa: ARG002
        """Return what recipients need to know besides the options: a function of the released column and its counts."""
        return {}

    def stream(self, alike: tuple[str, ...]) -> str | None:  # noqa: ARG002 - for subclasses
        """Return the stream of random numbers that columns share; None if each has its own.

        ``alike``: the columns with the same perturbation.
        """
        return None

    @property
    def salt(self) -> str:
        """The options on which the random numbers depend.

        Random numbers that are only scaled by an option would cancel out of two releases with different options.
        """
        return ""

    def reads(self, known: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG002 - for subclasses
        """Return the other columns whose values it reads. ``known``: the quasi-identifiers."""
        return ()

    def refusal(self, *, has_several_values: bool) -> str | None:  # noqa: ARG002 - for subclasses
        """Return why a quasi-identifier cannot be perturbed so, if it cannot.

        ``has_several_values``: whether an individual has several values.
        """
        return None

    def hierarchy(self, above: Spec) -> Spec:  # noqa: ARG002 - for subclasses
        """Return the hierarchy of a quasi-identifier whose first level shows this perturbation.

        ``above``: the specification of the levels above it.
        """
        raise TypeError(f"{self.kind} shows no sets")

    def check(self, column: Column) -> None:
        """Refuse a column that the perturbation does not apply to."""
        if column.kind not in self.kinds:
            raise PolicyError(
                "perturbation-of-column",
                "Column '{column}' cannot be perturbed by kind = \"{kind}\", which applies to: {kinds:listed}. It "
                "contains {actual}.",
                remedy=_applying(column.kind),
                column=column.name,
                kind=self.kind,
                kinds=sorted(self.kinds),
                actual=column.kind,
            )
        if column.kind is Kind.INTEGER and len(column.values) and max(map(abs, _ends(column))) > _EXACT:
            raise PolicyError(
                "numbers-too-large",
                "Column '{column}' cannot be perturbed: its numbers have too many digits to be compared exactly.",
                remedy="Treat numbers that are codes as text, or remove the perturbation.",
                column=column.name,
            )

    @classmethod
    def called(cls) -> str:
        """Return the name of the perturbation in a policy."""
        return str(cls.model_fields["kind"].default)

    @property
    def options(self) -> dict[str, Any]:
        """The kind and the options that were set explicitly, in the notation of a policy."""
        return {"kind": self.kind, **self.model_dump(mode="json", exclude_unset=True, exclude={"kind"})}


PERTURBATIONS: Registry[type[Perturbation]] = Registry("perturbation", "shoal.perturbations")


def _ends(column: Column) -> tuple[int, int]:
    """Return the smallest and the largest whole number of a column."""
    ends = pc.min_max(column.values).as_py()
    return ends["min"], ends["max"]


def _applying(kind: Kind) -> str:
    """Return the hint that names the kinds of perturbation for columns of a kind."""
    names = [name for name in PERTURBATIONS if kind in PERTURBATIONS[name].kinds]
    return f"Applicable: {listed(names)}." if names else "No perturbation applies to it."
