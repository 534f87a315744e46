"""``shoal.peers``: the protection of every individual, over all combinations of background knowledge."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.dataset.dataset import Dataset
from shoal.dataset.result import DatasetResult
from shoal.errors import ModelError
from shoal.exact import exact
from shoal.individuals.counting import counts_of
from shoal.individuals.looking import look, plan
from shoal.individuals.people import People
from shoal.individuals.proximity import window
from shoal.individuals.question import MOST_EVENTS, Question
from shoal.individuals.sampling import drawn
from shoal.kernels.subsets import Window
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress, silent
from shoal.remedy import Option, Setting, either
from shoal.subsets import BUDGET, SubsetCounts
from shoal.table.table import Table
from shoal.verbs.inputs import AnyPolicy, Inputs, names_of
from shoal.verbs.on_datasets import also, of_views

Threshold: TypeAlias = Fraction | float | str


def _peers_dataset(  # noqa: PLR0913 - the options of the verb that apply to several tables
    data: Dataset,
    policy: AnyPolicy = None,
    *,
    missing: str | None = None,
    most: int | None = None,
    events: int = 1,
    empty: bool = False,
    p: Threshold = 0,
    q: Threshold = 0,
    sample: int | None = None,
    seed: int = 0,
    seconds: float | None = None,
    memory: int = BUDGET,
    progress: Hook | None = None,
) -> DatasetResult[People]:
    """Measure the protection of every person in each table, with what its records inherit from those they refer to."""
    options: dict[str, Any] = {
        "missing": missing,
        "most": most,
        "empty": empty,
        "p": p,
        "q": q,
        "sample": sample,
        "seed": seed,
        "seconds": seconds,
        "memory": memory,
        "progress": progress,
    }
    dataset = data.under(policy)
    tables, notes = of_views(
        dataset,
        lambda _, view: peers(view.table, view.policy, **{**options, **_events(view.policy, events)}),
        "measuring protection in",
        progress or silent,
        least=2,  # one to know, and one to infer
    )
    return DatasetResult(tables, notes=notes)


def _events(policy: Policy, events: int) -> dict[str, int]:
    """Return the number of known records; a table without individuals, such as a list of wards, has one per row."""
    return {"events": events if policy.data.subject is not None else 1}


@also(_peers_dataset)
def peers(  # noqa: PLR0913 - keyword-only options
    data: Any,
    policy: AnyPolicy = None,
    *,
    sensitive: Sequence[str] | str | None = None,
    auxiliary: Sequence[str] | str | None = None,
    subject: str | None = None,
    missing: str | None = None,
    most: int | None = None,
    events: int = 1,
    empty: bool = False,
    combinations: Sequence[Sequence[str]] | None = None,
    p: Threshold = 0,
    q: Threshold = 0,
    tolerance: Mapping[str, Threshold] | None = None,
    known_within: Mapping[str, Threshold] | None = None,
    sample: int | None = None,
    seed: int = 0,
    seconds: float | None = None,
    memory: int = BUDGET,
    progress: Hook | None = None,
) -> People:
    """Measure the protection of every person by their peers (Kroes 2021).

    By default every column in turn is sensitive, and all others may be known; ``sensitive`` and ``auxiliary`` restrict
    the columns. A policy restricts them to its quasi-identifiers and sensitive columns. ``most``: the maximum number of
    known variables. ``events``: the maximum number of known records of a person with several records. ``empty``:
    include an adversary without background knowledge. ``combinations``: evaluate these combinations only. ``p``, ``q``:
    the thresholds of upward and downward privacy; q = "joint" means p / (|dom| − 1). ``tolerance``: per column, the
    distance within which numbers and dates count as inferred; ``known_within``: the distance within which they count as
    known.

    If a table has too many columns to count all combinations, the most disclosive combination is searched for.
    ``seconds``: the time limit of the search (default: a minute); results that are not certain by then are reported.
    ``sample``: the number of persons to evaluate in this case. ``memory``: the maximum size in bytes of the counts of
    all combinations.

    >>> import shoal
    >>> people = peers({"dx": ["flu", "flu", "ms"], "sex": ["f", "f", "m"], "age": [30, 40, 40]})
    >>> people.summary()["dx"]["breached"], people.for_person(2)[0].minimal
    (3, (('sex',),))
    """
    for name, number in (("most", most), ("sample", sample)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise ModelError("bad-option", "{option} must be a whole number, 1 or more.", option=name)
    inputs = Inputs.of(data, policy, subject=subject, missing=missing)
    table = inputs.table
    listed = None if combinations is None else [names_of(combination) or [] for combination in combinations]
    if isinstance(combinations, str) or (listed is not None and not (listed and all(listed))):
        raise ModelError(
            "bad-combinations",
            "Combinations must be lists of columns, none of them empty.",
            remedy='For example [["age", "sex"], …].',
        )
    columns, hidden, known = _columns(table, sensitive, auxiliary, listed)
    hook = progress or silent
    learned = _windows(table, tolerance, hidden, "is not among the sensitive columns, so it has no tolerance")
    within = _windows(table, known_within, known, "is not among the known columns")
    limit = _share("p", p)
    _check_events(table, events, _number("q", q) if q != "joint" else q)
    counts = counts_of(table, columns, hidden, inputs.missing, learned, within, memory, hook)
    counted = counts[hidden[0]]
    question = Question(
        limit,
        {name: _joint(limit, table[name].size) if q == "joint" else _share("q", q) for name in hidden},
        most,
        empty,
        None if listed is None else tuple(dict.fromkeys(counted.subset(names) for names in listed)),
        None,
        seconds,
        min(events, int(np.bincount(counted.rows.holders).max())),
    )
    way = plan(counts, hidden, known, question)
    if way.way == "searched" and sample is not None:
        question = replace(question, sampled=_sampled(counted, sample, seed))
    if way.remark:
        hook(Progress(way.remark, 0))
    return People(counts, look(counts, hidden, known, question, hook), question, way)


def _check_events(table: Table, events: int, q: Threshold) -> None:
    """Refuse a number of known records that cannot be evaluated."""
    if isinstance(events, bool) or not isinstance(events, int) or not 1 <= events <= MOST_EVENTS:
        raise ModelError("bad-option", "events must be a whole number from 1 to {most}.", most=MOST_EVENTS)
    if events > 1 and q != 0:
        raise ModelError("not-computed", "q is a threshold of PoAC, which is not computed with several known records.")
    if events > 1 and table.subject is None:
        raise ModelError(
            "no-subject",
            "Known records of an individual can be counted only if a column identifies the individual of a record.",
            remedy=either(Setting("data.subject"), Option("subject")),
        )


def _share(name: str, given: Threshold) -> Fraction:
    share = _number(name, given)
    if not 0 <= share <= 1:
        raise ModelError("bad-option", "{option} must be a share between 0 and 1.", option=name)
    return share


def _number(name: str, given: Threshold) -> Fraction:
    try:
        return exact(given)
    except ValueError as error:
        message = str(error)
    raise ModelError("bad-option", "{option} {message}.", option=name, message=message)


def _sampled(counted: SubsetCounts, sample: int, seed: int) -> NDArray[np.int64] | None:
    weights = counted.rows.weights
    return drawn(weights, sample, seed) if sample < weights.sum() else None


def _windows(
    table: Table, near: Mapping[str, Threshold] | None, columns: Sequence[str], otherwise: str
) -> dict[str, Window]:
    for name in near or {}:
        table[name]  # raises if there is no such column
        if name not in columns:
            raise ModelError(
                "unknown-variable",
                "'{variable}' {problem}.",
                remedy="Remove it, or name the column there as well.",
                variable=name,
                problem=otherwise,
            )
    return {name: window(table[name], _number(f"The distance of '{name}'", far)) for name, far in (near or {}).items()}


def _columns(
    table: Table,
    sensitive: Sequence[str] | str | None,
    auxiliary: Sequence[str] | str | None,
    combinations: Sequence[Sequence[str]] | None,
) -> tuple[list[str], list[str], list[str]]:
    """Return all relevant columns, the sensitive ones, and the known ones."""
    roles = [*table.quasi, *table.sensitive] or [name for name in table.names if name != table.subject]
    hidden = names_of(sensitive) or roles
    listed = (
        None
        if combinations is None
        else list(dict.fromkeys(name for combination in combinations for name in combination))
    )
    known = (
        names_of(auxiliary) or listed or [name for name in roles if name not in hidden or sensitive is None] or roles
    )
    columns = [name for name in table.names if name in {*hidden, *known}]
    for name in (*hidden, *known):
        table[name]  # raises if there is no such column
    if table.subject in columns:
        raise ModelError(
            "subject-is-no-attribute",
            "'{column}' is the subject: it can be neither known nor inferred.",
            remedy="Remove it from the sensitive and the known columns.",
            column=table.subject,
        )
    if table.records == 0:
        raise ModelError("no-records", "The table has no records.")
    if len(columns) < 2:
        raise ModelError("too-few-columns", "At least two columns are required: one to know, and one to infer.")
    return columns, hidden, known


def _joint(p: Fraction, domain: int) -> Fraction:
    return p / max(domain - 1, 1)
