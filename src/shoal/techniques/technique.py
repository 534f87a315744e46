"""A technique: a way to transform a table until it meets what is required, and what it declares about itself."""

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
    """What is decided about: all records that have the same values, each record, or each person."""

    ROW = "distinct row"
    RECORD = "record"
    PERSON = "person"


class Truth(StrEnum):
    """How true what a cell shows is of its record."""

    TRUE = "true"  # it holds the value, or a set that holds it
    REPRESENTATIVE = "representative"  # it is a value that stands for a class
    PERTURBED = "perturbed"  # it may be another value
    INVENTED = "invented"  # its record need not exist


class Gives(StrEnum):
    """What a technique makes of the records."""

    CLASSES = "classes"  # records form classes; those of a class show the same in all quasi-identifiers
    SCHEME = "scheme"  # all records are on the levels of one scheme, the best for any quality


class Allows(StrEnum):
    """What a policy may ask for beside a technique."""

    REFINE = "refine"  # generalisation is undone where it can be
    OUTLIERS = "outliers"  # persons who fit into no class may be dealt with otherwise than by leaving them out
    LEVELS = "levels"  # the levels of columns may be bounded
    FIXED = "fixed"  # columns may have to stay as they are, such as what another table shows already
    SEVERAL = "several"  # persons may have several records that differ


class Technique(Checked):
    """The base of all techniques. A subclass has a ``kind``, its options as fields, and :meth:`treat`.

    ``says``: a sentence about how the release was made. ``iso``: what is done to a quasi-identifier, in words of
    ISO/IEC 20889. ``untrue``: a sentence on what is not true any more, if its cells are not. ``touches``: the roles of
    columns that it may change. ``minds_quality``: it keeps as much as it can of the quality that is sought.
    ``is_usual``: a policy that names none gets this one. ``is_gentle``: who has no policy gets this one, if the table
    allows it.
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

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Refuse a technique that does not say what it is."""
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
        """Decide what every record shows."""

    @classmethod
    def called(cls) -> str:
        """Return the name by which a policy knows it."""
        return str(cls.model_fields["kind"].default)

    def account(self, facts: Mapping[str, Any]) -> str:  # noqa: ARG002 - for subclasses
        """Return a sentence on how the treatment was found. ``facts``: those of the treatment."""
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the owner should know about what these options disclose."""
        return ()

    @property
    def short(self) -> str | dict[str, Any]:
        """The technique as it stands in a policy: its name, and its options where they were chosen."""
        chosen = self.model_dump(mode="json", exclude_unset=True, exclude={"kind"})
        return {"kind": self.kind, **chosen} if chosen else self.kind


TECHNIQUES: Registry[type[Technique]] = Registry("recoding", "shoal.techniques")


def usual() -> Technique:
    """Return the technique of a policy that names none."""
    return next(technique for technique in TECHNIQUES.values() if technique.is_usual)()  # type: ignore[call-arg]


def gentlest(*, several: bool) -> Technique:
    """Return the technique for who has no policy; ``several``: whether persons have several records."""
    gentle = [technique for technique in TECHNIQUES.values() if technique.is_gentle]
    fitting = [technique for technique in gentle if not several or Allows.SEVERAL in technique.allows]
    return fitting[0]() if fitting else usual()  # type: ignore[call-arg]


def recodings(techniques: Iterable[type[Technique]]) -> str:
    """Say how a policy names one of some techniques, for hints.

    >>> recodings(giving(Gives.SCHEME))
    'recoding = "global"'
    """
    names = " or ".join(toml.value(technique.called()) for technique in techniques)
    return f"recoding = {names}"


def giving(what: Gives) -> list[type[Technique]]:
    """Return the techniques that give something."""
    return [technique for technique in TECHNIQUES.values() if what in technique.gives]


def allowing(what: Allows) -> list[type[Technique]]:
    """Return the techniques beside which something may be asked for."""
    return [technique for technique in TECHNIQUES.values() if what in technique.allows]
