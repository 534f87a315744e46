"""Techniques: methods that transform a table until it meets the requirements, and their declared properties."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, ClassVar

from shoal import toml
from shoal.errors import DeclarationError
from shoal.progress import Hook, silent
from shoal.registry import Registry
from shoal.search.goal import Goal
from shoal.table.role import Role
from shoal.techniques.treatment import Treatment
from shoal.validation import Checked


class Unit(StrEnum):
    """The unit of a decision: all records with the same values, each record, or each person."""

    ROW = "distinct row"
    RECORD = "record"
    PERSON = "person"


class Truth(StrEnum):
    """The truthfulness of released cells with respect to their records."""

    TRUE = "true"  # the cell shows its value, or a set that contains it
    REPRESENTATIVE = "representative"  # the cell shows a value that represents its class
    PERTURBED = "perturbed"  # the cell may show another value
    INVENTED = "invented"  # the record may be artificial


class Gives(StrEnum):
    """Structural properties of the records that a technique produces."""

    CLASSES = "classes"  # records form equivalence classes with the same quasi-identifier values
    SCHEME = "scheme"  # all records are generalised by one scheme, the best for any quality


class Allows(StrEnum):
    """Options of a policy that can be combined with a technique."""

    REFINE = "refine"  # generalisation is reduced where possible
    OUTLIERS = "outliers"  # outliers may be treated otherwise than by suppression
    LEVELS = "levels"  # the levels of columns may be bounded
    FIXED = "fixed"  # columns may be fixed, such as those that another table already shows
    SEVERAL = "several"  # persons may have several differing records


class Technique(Checked):
    """The base of all techniques. A subclass has a ``kind``, its options as fields, and :meth:`treat`.

    ``says``: a sentence on how the release was made. ``iso``: the operation on a quasi-identifier, in the terms of
    ISO/IEC 20889. ``untrue``: a sentence on which information is no longer true; required if cells are not truthful.
    ``touches``: the roles of the columns that the technique may change. ``minds_quality``: it tries to minimise the
    cost by the chosen quality measure. ``unit``: the unit of its decisions. ``truth``: the truthfulness of its cells.
    ``gives``: the properties of its result. ``allows``: the options that can be combined with it. ``is_usual``: the
    default of a policy that names no technique. ``is_gentle``: the default without a policy.
    ``any_number``: whether the technique works with any number of generalisation schemes, because it numbers none.
    """

    kind: str
    says: ClassVar[str]
    iso: ClassVar[str]
    untrue: ClassVar[str] = ""
    touches: ClassVar[frozenset[Role]] = frozenset({Role.QUASI})
    minds_quality: ClassVar[bool] = True
    unit: ClassVar[Unit] = Unit.ROW
    truth: ClassVar[Truth] = Truth.TRUE
    gives: ClassVar[frozenset[Gives]] = frozenset({Gives.CLASSES})
    allows: ClassVar[frozenset[Allows]] = frozenset()
    is_usual: ClassVar[bool] = False
    is_gentle: ClassVar[bool] = False
    any_number: ClassVar[bool] = False

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Refuse a technique that lacks a required declaration."""
        super().__pydantic_init_subclass__(**options)
        for name in ("says", "iso"):
            if not isinstance(getattr(cls, name, None), str):
                raise DeclarationError(
                    "no-declaration",
                    "The technique {technique} lacks {name}: ClassVar[str].",
                    technique=cls.__name__,
                    name=name,
                )
        if cls.truth is not Truth.TRUE and not cls.untrue:
            raise DeclarationError(
                "no-declaration",
                "The technique {technique} has {truth} cells, and does not say so in untrue.",
                technique=cls.__name__,
                truth=cls.truth,
            )

    @abstractmethod
    def treat(self, goal: Goal, progress: Hook = silent) -> Treatment:
        """Return the treatment that determines the released form of every record."""

    @classmethod
    def called(cls) -> str:
        """Return the name of the technique in a policy."""
        return str(cls.model_fields["kind"].default)

    def account(self, facts: Mapping[str, Any]) -> str:  # noqa: ARG002 - for subclasses
        """Return a sentence on how the treatment was found. ``facts``: the figures recorded by the treatment."""
        return ""

    @property
    def reads_values(self) -> bool:
        """Whether these options form classes from sensitive values, beyond the evaluation of requirements."""
        return False

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the data owner on information that these options disclose."""
        return ()

    @property
    def short(self) -> str | dict[str, Any]:
        """The technique in the notation of a policy: its name, with the options that were set explicitly."""
        chosen = self.model_dump(mode="json", exclude_unset=True, exclude={"kind"})
        return {"kind": self.kind, **chosen} if chosen else self.kind


TECHNIQUES: Registry[type[Technique]] = Registry("recoding", "shoal.techniques")


def usual() -> Technique:
    """Return the default technique of a policy."""
    return next(technique for technique in TECHNIQUES.values() if technique.is_usual)()  # type: ignore[call-arg]


def for_any_number() -> Technique:
    """Return the technique for more schemes than can be searched."""
    return next(technique for technique in TECHNIQUES.values() if technique.any_number)()  # type: ignore[call-arg]


def gentlest() -> Technique:
    """Return the default technique without a policy."""
    return next(technique for technique in TECHNIQUES.values() if technique.is_gentle)()  # type: ignore[call-arg]


def recodings(techniques: Iterable[type[Technique]]) -> str:
    """Return the policy setting that selects one of some techniques, for hints.

    >>> recodings(giving(Gives.SCHEME))
    'recoding = "global"'
    """
    names = " or ".join(toml.value(technique.called()) for technique in techniques)
    return f"recoding = {names}"


def giving(what: Gives) -> list[type[Technique]]:
    """Return the techniques whose result has a property."""
    return [technique for technique in TECHNIQUES.values() if what in technique.gives]


def allowing(what: Allows) -> list[type[Technique]]:
    """Return the techniques that can be combined with an option."""
    return [technique for technique in TECHNIQUES.values() if what in technique.allows]
