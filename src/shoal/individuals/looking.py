"""Evaluation methods: count all combinations if they fit into memory, list them if they are few, search otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from shoal.errors import ModelError
from shoal.individuals.counted import look_counted
from shoal.individuals.known_events import look_events
from shoal.individuals.listed import look_listed
from shoal.individuals.question import Question
from shoal.individuals.searched import SECONDS, look_searched
from shoal.individuals.variable import Variable
from shoal.kernels.subsets import memory
from shoal.progress import Hook, Progress
from shoal.subsets import SubsetCounts

FEW, LITTLE = 20_000, 1e9  # combinations, and rows in them, up to which they are always listed


@dataclass(frozen=True, slots=True)
class CombinationPlan:
    """The evaluation method for combinations (``counted``, ``listed`` or ``searched``), with a remark for the user.

    ``combinations``: the number of combinations of known variables for one sensitive variable.
    """

    way: str
    combinations: int
    remark: str | None = None


def plan(
    counts: Mapping[str, SubsetCounts], hidden: Sequence[str], known: Sequence[str], question: Question
) -> CombinationPlan:
    """Choose an evaluation method, with a remark on its consequences; each variable has its own counts."""
    counted = counts[hidden[0]]
    others = [[other for other in known if other != name] for name in hidden]
    width = max(map(len, others))
    number = max(question.number(counted.subset(other)) for other in others)
    if question.combinations is not None or question.events > 1:
        return CombinationPlan("listed", number)
    if counted.counts is not None:
        return CombinationPlan("counted", number)
    few = number * len(hidden) <= FEW and number * len(hidden) * len(counted.rows) <= LITTLE
    if few or question.empty or any(question.q.values()) or any(_has_special_rows(counts[name]) for name in hidden):
        return CombinationPlan("listed", number)
    size = memory(len(counted.rows), len(counted.columns)) / 2**30
    seconds = SECONDS if question.seconds is None else question.seconds
    return CombinationPlan(
        "searched",
        number,
        f"{number:,} combinations of {width} variables would require {size:,.0f} GiB. The most disclosive one is "
        f"searched for instead, for at most {seconds:g} s.",
    )


def _has_special_rows(counted: SubsetCounts) -> bool:
    """Return whether persons have several rows, or values match nothing, which the search does not support."""
    rows = counted.rows
    return len(rows.weights) != len(rows) or any(code is not None for code in rows.apart)


def look(
    counted: Mapping[str, SubsetCounts], hidden: Sequence[str], known: Sequence[str], question: Question, progress: Hook
) -> dict[str, Variable]:
    """Evaluate sensitive variables, one after the other, each with its own counts."""
    some = counted[hidden[0]]
    for name in hidden:
        if not any(other != name for other in known):
            raise ModelError(
                "nothing-known",
                "No other variable may be known, so nothing can be inferred about '{variable}'.",
                remedy="Give more columns.",
                variable=name,
            )
    way = plan(counted, hidden, known, question).way
    if way == "searched":
        return look_searched(some, hidden, known, question, partial(_told, progress, "searching"))
    if question.events > 1:
        return look_events(counted, hidden, known, question, partial(_told, progress, "evaluating known events"))
    if way == "listed":
        return look_listed(counted, hidden, known, question, partial(_told, progress, "evaluating combinations"))
    variables = {}
    for done, name in enumerate(hidden):
        progress(Progress("evaluating variables", done, len(hidden)))
        variables[name] = look_counted(counted[name], name, [other for other in known if other != name], question)
    return variables


def _told(progress: Hook, note: str, done: int, total: int) -> None:
    progress(Progress(note, done, total))
