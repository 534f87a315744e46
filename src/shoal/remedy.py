"""Remedies: recommended actions after an error, in the terms of the interface that shows it.

An error names a setting of the policy or an option of a call. Python, the command line and the workbench each phrase
the remedy in their own terms: a keyword argument, a flag, or a field of a page.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from shoal import toml
from shoal.words import phrase

_ANY = "…"  # the value is the reader's choice


class Face(Protocol):
    """Interface, with its wording of remedies. An empty text means that the interface does not offer the action."""

    def setting(self, key: str, value: Any) -> str:
        """Return the instruction for a setting of the policy."""
        ...

    def column_setting(self, column: str, part: str, value: Any) -> str:
        """Return the instruction for a setting of a column."""
        ...

    def option(self, name: str, value: Any) -> str:
        """Return the instruction for an option of a call."""
        ...


class PythonFace:
    """Python: policies are files, options are keyword arguments."""

    def setting(self, key: str, value: Any) -> str:
        """Return the instruction for a setting in the policy file.

        >>> PythonFace().setting("search.suppression", 0.05)
        'set suppression = 0.05 under [search] in the policy'
        """
        return policy_line(key, value)

    def column_setting(self, column: str, part: str, value: Any) -> str:
        """Return the instruction for a setting of a column in the policy file."""
        return policy_column(column, part, value)

    def option(self, name: str, value: Any) -> str:
        """Return the instruction for the keyword argument.

        >>> PythonFace().option("force", True)
        'pass force=True'
        """
        return f"pass {name}={value if value == _ANY else repr(value)}"


PYTHON = PythonFace()


def policy_line(key: str, value: Any) -> str:
    """Return the instruction for a setting in a policy file.

    >>> policy_line("data.subject", "patient_id")
    'set subject = "patient_id" under [data] in the policy'
    """
    table, _, name = key.partition(".")
    written = _ANY if value == _ANY else toml.value(value)
    if _is_array_of_tables(value):
        lines = ", ".join(f"{name} = {toml.value(part)}" for name, part in value[0].items())
        return f"add [[{table}]] to the policy, with {lines}"
    if not name:
        return f"set {table} = {written} in the policy"
    return f"set {name} = {written} under [{table}] in the policy"


def _is_array_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def policy_column(column: str, part: str, value: Any) -> str:
    """Return the instruction for a setting of a column in a policy file.

    >>> print(policy_column("age", "role", "quasi"))
    set role = "quasi" for column 'age' under [columns] in the policy
    """
    written = _ANY if value == _ANY else toml.value(value)
    return f"set {part} = {written} for column '{column}' under [columns] in the policy"


class Action(ABC):
    """Action that a reader can take."""

    @abstractmethod
    def phrased(self, face: Face, **facts: Any) -> str:
        """Return a clause in the imperative; empty if the interface does not offer the action."""


@dataclass(frozen=True, slots=True)
class Setting(Action):
    """A setting of the policy, such as ``search.suppression``, and its recommended value."""

    key: str
    value: Any = _ANY

    def phrased(self, face: Face, **facts: Any) -> str:
        """Return the instruction of the interface for the setting."""
        return face.setting(phrase(self.key, **facts), self.value)


@dataclass(frozen=True, slots=True)
class ColumnSetting(Action):
    """A setting of the column that the error concerns, such as its role."""

    part: str
    value: Any = _ANY

    def phrased(self, face: Face, **facts: Any) -> str:
        """Return the instruction of the interface for the setting."""
        return face.column_setting(str(facts["column"]), self.part, self.value)


@dataclass(frozen=True, slots=True)
class Option(Action):
    """An option of a call, such as ``force``, and its recommended value."""

    name: str
    value: Any = _ANY

    def phrased(self, face: Face, **facts: Any) -> str:  # noqa: ARG002 - same signature as the other actions
        """Return the instruction of the interface for the option."""
        return face.option(self.name, self.value)


@dataclass(frozen=True, slots=True)
class CommonAdvice(Action):
    """CommonAdvice that is the same in every interface."""

    text: str

    def phrased(self, face: Face, **facts: Any) -> str:  # noqa: ARG002 - same signature as the other actions
        """Return the text."""
        return phrase(self.text, **facts)


@dataclass(frozen=True, slots=True)
class FixedText(Action):
    """Complete text without placeholders, which may contain names with braces."""

    text: str

    def __str__(self) -> str:
        return self.text

    def phrased(self, face: Face, **facts: Any) -> str:  # noqa: ARG002 - same signature as the other actions
        """Return the text."""
        return self.text


@dataclass(frozen=True, slots=True)
class Either(Action):
    """Alternative actions, of which the reader takes one."""

    steps: tuple[Action, ...]

    def phrased(self, face: Face, **facts: Any) -> str:
        """Return the alternatives that the interface offers.

        >>> either("Reduce k", Setting("search.suppression", 0.05)).phrased(PYTHON)
        'Reduce k, or set suppression = 0.05 under [search] in the policy'
        """
        clauses = list(dict.fromkeys(clause for step in self.steps if (clause := step.phrased(face, **facts))))
        return ", or ".join([*clauses[:1], *(_lowered(clause) for clause in clauses[1:])])


@dataclass(frozen=True, slots=True)
class Both(Action):
    """Two actions that the reader takes together."""

    first: Action
    second: Action

    def phrased(self, face: Face, **facts: Any) -> str:
        """Return both clauses; empty if the interface does not offer one of them."""
        first, second = self.first.phrased(face, **facts), self.second.phrased(face, **facts)
        return f"{first} and {_lowered(second)}" if first and second else ""


@dataclass(frozen=True, slots=True)
class By(Action):
    """CommonAdvice, and the action that follows it."""

    advice: str
    action: Action

    def phrased(self, face: Face, **facts: Any) -> str:
        """Return the advice with the action, or the advice alone if the interface does not offer the action."""
        clause, advice = self.action.phrased(face, **facts), phrase(self.advice, **facts)
        return f"{advice}: {clause}" if clause else advice


Remedy = str | Action | Sequence[str | Action]


def by(advice: str, action: Action) -> By:
    """Return advice with the action that follows it.

    >>> by("Read both as text", Option("text", ["age"])).phrased(PYTHON)
    "Read both as text: pass text=['age']"
    """
    return By(advice, action)


def either(*steps: str | Action) -> Either:
    """Return alternative actions; texts become advice."""
    return Either(tuple(CommonAdvice(step) if isinstance(step, str) else step for step in steps))


def advised(remedy: Remedy | None, face: Face, **facts: Any) -> str:
    """Return a remedy as text; each element of a sequence becomes a sentence.

    >>> advised(["The separator is {sep}.", Option("separator", ";")], PYTHON, sep="','")
    "The separator is ','. Pass separator=';'."
    """
    if remedy is None:
        return ""
    steps = [remedy] if isinstance(remedy, str | Action) else remedy
    clauses = [phrase(step, **facts) if isinstance(step, str) else step.phrased(face, **facts) for step in steps]
    return " ".join(_sentence(clause) for clause in clauses if clause)


def _sentence(clause: str) -> str:
    ends = clause[-1:] in {".", "?", "!", "…"}
    first = clause[:1] if clause.startswith("shoal") else clause[:1].upper()  # a call or a command
    return f"{first}{clause[1:]}{'' if ends else '.'}"


def _lowered(clause: str) -> str:
    is_word = len(clause) > 1 and clause[1].islower()
    return f"{clause[0].lower()}{clause[1:]}" if is_word else clause
