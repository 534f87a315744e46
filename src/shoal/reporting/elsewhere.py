"""Findings about a release made elsewhere, judged as far as possible."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.comparison import Comparison
from shoal.attacks.battery import Attacked
from shoal.classes.shown import counted_rows
from shoal.errors import ReportError, ShoalError
from shoal.models.evidence import Gatherer
from shoal.models.model import Model, Need, Verdict
from shoal.plain import plain
from shoal.policy.policy import Policy
from shoal.policy.requirements import AttackLimit
from shoal.population import Population
from shoal.progress import Hook, Progress
from shoal.qualities.quality import Measured
from shoal.recoding.matching import Match
from shoal.release.advice import Advice, AdviceBasis, advice, is_advised, losses
from shoal.release.columns import as_written
from shoal.release.judgement import Guarantee, Judgement
from shoal.release.manifest import recorded
from shoal.release.measuring import measured_limits
from shoal.release.origins import kept_origins
from shoal.release.pairing import drawn_from, which
from shoal.release.part import ReleasePart
from shoal.release.promise import Original, Promise
from shoal.release.rejoined import joined_by_origins
from shoal.release.split_check import judged_apart
from shoal.release.verification import judged, with_persons
from shoal.reporting.findings import Findings, about_columns, assessed, by_buckets, of_original
from shoal.reporting.required import Required, Verdicts, verdicts
from shoal.reporting.split_findings import SplitFindings
from shoal.table.column import Column
from shoal.table.names import unused
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.verbs.compare import compare
from shoal.verbs.inputs import ReleasedTables, names_of, table_of
from shoal.words import listed, share


def of_tables(  # noqa: PLR0913 - two tables, and how their records are matched
    original: Any,
    released: Any,
    policy: Policy,
    progress: Hook,
    key: Sequence[str] | str | None = None,
    *,
    in_order: bool = False,
    match: Match | None = None,
    quality: Mapping[str, Measured] | None = None,
    part: ReleasePart | None = None,
    internal: Mapping[str, Any] | None = None,
    inherited: tuple[str, ...] = (),
    pseudonyms: tuple[str, ...] | None = None,
    advice_seconds: float | None = None,
    **more: Any,
) -> Findings:
    """Collect the findings about a released table by recounting it.

    ``match``: the match of the records, if known. ``quality``: the quality measures, if already computed. ``part``: the
    part of a release that the table shows, if ``anonymize`` made it. ``internal``: its internal manifest, if known.
    ``inherited``: the columns of other tables. ``pseudonyms``: the columns that show pseudonyms, if not those of the
    policy.
    """
    table = table_of(original, policy)
    tables = ReleasedTables.of(released).tables
    if len(tables) > 1:
        return of_several(table, tables, policy, progress, **more)
    if policy.search.publish is not None:
        raise ReportError(
            "one-table",
            "The policy describes a release in several tables, and only one table was found.",
            remedy="Keep the manifest and the other tables beside the file, or use the policy of a single table.",
        )
    release = _with_roles(tables[0], table, policy)
    progress(Progress("assessing the original", 0))
    before = of_original(table, policy)
    progress(Progress("comparing them", 1))
    matched = match or which(table, release, names_of(key), hierarchies=policy.hierarchies(table), in_order=in_order)
    drawn, of_drawn = drawn_from(table, matched)
    comparison = compare(drawn, release, policy, qualities=None if quality is None else [], matched=of_drawn)
    comparison = comparison if quality is None else replace(comparison, quality=quality)
    progress(Progress("assessing the release", 2))
    people = policy.sampled_population(table, before.persons) if _sized(policy) else None
    recount = _Recount.of(table, release, policy, people, matched)
    internal = internal or recorded(release, table, policy)
    ours = internal is not None
    columns = about_columns(policy, table, release, ours=ours)
    columns |= {} if pseudonyms is None else {"pseudonyms": pseudonyms}
    return Findings(
        policy=policy,
        original=table,
        drawn=drawn,
        released=release,
        seen=recount.seen,
        before=before,
        after=assessed(recount.judged, policy, people),
        comparison=comparison,
        requirements=(
            *_required(policy, verdicts(before), recount, internal),
            *(_limited(limit, more.get("attacks")) for limit in policy.attack_limits),
        ),
        ours=ours,
        part=part,
        advice=_advice(table, recount, matched, comparison, policy, advice_seconds, progress),
        inherited=inherited,
        **columns,
        **more,
    )


def of_several(table: Table, tables: Sequence[Table], policy: Policy, progress: Hook, **more: Any) -> Findings:
    """Collect the findings about a release in several tables, whose records its recorded origins join."""
    progress(Progress("assessing the original", 0))
    before, kept = of_original(table, policy), kept_origins(table, tables[0])
    links = [name for name in tables[0].names if name not in table and all(name in each for each in tables)]
    if kept is None or len(links) != 1:
        raise ReportError(
            "several-tables",
            "The release has {tables:table}, whose records only its owner can join.",
            remedy="Keep the owner's folder beside the release, and use the original and the policy that made it.",
            tables=len(tables),
        )
    progress(Progress("comparing them", 1))
    comparison = compare(table, tables[0], policy)
    drawn, matched = drawn_from(table, kept.match(table, tables[0]))
    progress(Progress("assessing the release", 2))
    whole = _with_roles(joined_by_origins(table, tables, kept), table, policy)
    people = policy.sampled_population(table, before.persons) if _sized(policy) else None
    recount = _Recount.of(table, whole, policy, people, replace(matched, drawn=None))
    parts = {file.stem: part for part in tables for file in part.source.files}
    promise = Promise(
        parts, whole, recount.known, tuple(policy.requirements()), link=links[0], form=policy.search.publish
    )
    judgements = (*judged(as_written(whole), promise), *judged_apart([*map(as_written, tables)], promise))
    sizes = counted_rows(recount.seen, recount.seen.quasi)[1]
    unique = sizes.within(sizes.counts == 1)
    split = SplitFindings.of(table, tables[0], parts, links[0], policy, unique=unique, attacks=more.get("attacks"))
    earlier, shown = verdicts(before), whole.only([name for name in whole.names if name != links[0]])
    return Findings(
        policy=policy,
        original=table,
        drawn=drawn,
        released=shown,
        seen=recount.seen,
        before=before,
        after=by_buckets(assessed(recount.judged, policy, people), split),
        comparison=comparison,
        requirements=(
            *(Required.of(judgement, earlier) for judgement in judgements),
            *(_limited(limit, more.get("attacks")) for limit in policy.attack_limits),
        ),
        ours=recorded(tables[0], table, policy) is not None,
        split=split,
        **about_columns(policy, table, shown, ours=True),
        **more,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Recount:
    """What is known about a released table, in order to judge it.

    ``released``: the table with its roles. ``known``: what verification needs to know about the original. ``seen``: the
    table with its individuals. ``judged``: the same with the true values of perturbed columns. ``strange``: the reason
    why its sensitive values cannot be judged; empty if they can.
    """

    released: Table
    known: Original
    seen: Table
    judged: Table
    strange: str = ""

    @classmethod
    def of(cls, table: Table, release: Table, policy: Policy, people: Population | None, matched: Match) -> "_Recount":
        """Return what is known about a release of a table."""
        perturbed = [name for name in release.sensitive if name in policy.perturbed]
        origins = _origins(release, matched)
        known = _known(table, release, policy, people, origins)
        if perturbed and origins is None:
            shown = release.assign(insensitive=perturbed)
            seen, strange = _with_individuals(shown, replace(known, sensitive=_only(known.sensitive, shown.sensitive)))
            why = f"the values of {listed(perturbed)} are perturbed, and the records could not be matched"
            return cls(release, known, seen, seen, strange or why)
        if not perturbed or origins is None:
            seen, strange = _with_individuals(release, known)
            return cls(release, known, seen, seen, strange)
        release, truths = _with_truths(release, table, perturbed, origins)
        known = replace(known, truths=truths)
        seen, strange = _with_individuals(release, known.without_truths())
        judged, why = _with_individuals(release, known)
        return cls(release, known, seen, judged, strange or why)


def _origins(release: Table, matched: Match) -> NDArray[np.int64] | None:
    """Return the original record of each released record; None if one has none."""
    if matched.rows is None:
        return None
    records = np.full(release.records, -1, np.int64)
    there = matched.rows >= 0
    records[matched.rows[there]] = np.flatnonzero(there)
    return None if (records < 0).any() else records


def _known(
    table: Table, release: Table, policy: Policy, people: Population | None, origins: NDArray[np.int64] | None
) -> Original:
    """Return what verification needs to know about the original."""
    whose: tuple[Column, NDArray[Any]] | None = None
    if table.subject is not None and release.subject is None and origins is not None:
        whose = table[table.subject], table.codes(table.subject)[origins]
    return Original(
        {name: table[name] for name in release.sensitive},
        {name: table.persons(name) for name in release.sensitive},
        _only(policy.hierarchies(table), release.sensitive),
        people,
        policy.data.missing,
        whose,
    )


def _only(facts: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the facts about some columns."""
    return {name: fact for name, fact in facts.items() if name in names}


def _with_truths(
    release: Table, table: Table, names: Sequence[str], origins: NDArray[np.int64]
) -> tuple[Table, dict[str, Column]]:
    """Return a release whose engine also holds the true values of some columns, and the columns with these values."""
    truths = dict[str, Column]()
    for name in names:
        hidden = unused(f"true {name}", [*release.names, *(column.name for column in truths.values())])
        truths[name] = replace(table[name], name=hidden)
    shown = [Encoded(column, release.codes(column.name)) for column in release.columns]
    true = [Encoded(column, table.codes(name)[origins]) for name, column in truths.items()]
    return replace(release, engine=Table.of([*shown, *true], release.records, release.source).engine), truths


def _with_individuals(release: Table, known: Original) -> tuple[Table, str]:
    """Return a release with its individuals, and why its sensitive values cannot be judged; empty if they can."""
    try:
        seen, strange = with_persons(release, release, known), ""
    except ShoalError as error:  # sensitive values that the original does not have
        seen, strange = release, error.message
    return (seen if release.subject is None else seen.assign(subject=release.subject)), strange


def _advice(  # noqa: PLR0913, PLR0917 - two tables, their comparison, and the time
    table: Table,
    recount: _Recount,
    matched: Match,
    comparison: Comparison,
    policy: Policy,
    seconds: float | None,
    progress: Hook,
) -> Advice | None:
    if not is_advised(table, recount.released):
        return None
    records, seen = None, recount.judged
    if matched.rows is not None:
        records = np.full(seen.records, -1, np.int64)
        records[matched.rows[matched.rows >= 0]] = np.flatnonzero(matched.rows >= 0)
    left_out = max(table.person_count - seen.person_count, 0)
    return advice(
        AdviceBasis(table, seen, recount.known, records, left_out, policy, losses(comparison.quality)),
        seconds,
        progress,
    )


def _with_roles(release: Table, table: Table, policy: Policy) -> Table:
    """Assign the roles of the original to the columns of a released table."""
    if not any(name in release for name in table.quasi):
        raise ReportError(
            "no-quasi-identifier",
            "The release has none of the quasi-identifiers of the policy.",
            remedy="Check that it was made from this original, and that its columns have the same names.",
        )
    if not release.records:
        raise ReportError("no-records", "The release has no records.")
    table = policy.searched(table)
    roles = {
        "quasi": [name for name in table.quasi if name in release],
        "sensitive": [name for name in table.sensitive if name in release and len(release[name].values)],
        "insensitive": [name for name in table.with_role(Role.INSENSITIVE) if name in release],
    }
    whose = {} if table.subject is None or table.subject not in release else {"subject": table.subject}
    return replace(release, roles={}).assign(**{name: role for name, role in roles.items() if role}, **whose)


def _required(
    policy: Policy, earlier: Verdicts, recount: _Recount, internal: Mapping[str, Any] | None
) -> Iterator[Required]:
    """Judge a table by each requirement; where that is impossible, give the reason.

    ``internal``: the internal manifest. It records the verdicts on requirements that need a register, which can be
    verified only when a release is made.
    """
    known, judged, released = recount.known, recount.judged, recount.released.sensitive
    reference = {} if recount.strange else known.reference
    gatherer = Gatherer(judged, known.missing, known.hierarchies, known.population, reference)
    lost = policy.data.subject is not None and judged.subject is None
    registered = policy.population is not None and policy.population.file is not None
    for source, _, model in policy.requirements():
        column, about = getattr(model, "column", None), Need.SENSITIVE in model.needs
        name = f"{model.name} of {column}" if column else model.name
        if about and (not released or (column is not None and column not in released)):
            yield Required(source, name, model.demand(), None, None, "nothing sensitive is released", moot=True)
        elif lost:
            yield Required(source, name, model.demand(), None, None, "records cannot be assigned to individuals")
        elif about and recount.strange:
            yield Required(source, name, model.demand(), None, None, recount.strange)
        elif (registered and Need.POPULATION in model.needs) or Need.THRESHOLD in model.needs:
            verified = None if internal is None else _recorded_verdict(internal, source, model)
            what = "the thresholds of individuals" if Need.THRESHOLD in model.needs else "a register"
            why = "" if verified else f"a release can be compared with {what} only when it is made"
            yield Required(source, name, model.demand(), None, verified, why)
        else:
            yield from _judged(source, model, gatherer, judged, earlier)


def _limited(limit: AttackLimit, attacked: Attacked | None) -> Required:
    """Judge an attack limit by the results of the attacks; None if none were run."""
    asked = f"at most {share(limit.at_most)}"
    name = limit.attack if limit.column is None else f"{limit.attack} of {limit.column}"
    unjudged = partial(Required, "policy", name, asked, None, None, guarantee=Guarantee.MEASURED)
    if attacked is None:
        return unjudged(why="this report was made without attacks")
    try:
        (judgement,) = measured_limits([limit], attacked)
    except ShoalError as error:
        return unjudged(why=error.message)
    return Required.of(judgement, {})


def _recorded_verdict(internal: Mapping[str, Any], source: str, model: Model) -> Verdict | None:
    """Return the verdict recorded when the release was made, if there is one."""
    column, wanted = getattr(model, "column", None), (source, model.name, plain(model.parameters))
    for entry in internal["requirements"]:
        same_column = entry["column"] == column or Need.THRESHOLD in model.needs
        if same_column and (entry["source"], entry["model"], entry["parameters"]) == wanted:
            value = {
                name: Fraction(number) if isinstance(number, str) else number for name, number in entry["value"].items()
            }
            return Verdict(model.name, column, model.parameters, value, model.demand(), entry["satisfied"], 0, 0)
    return None


def _judged(source: str, model: Model, gatherer: Gatherer, seen: Table, earlier: Verdicts) -> Iterator[Required]:
    try:
        for view in model.views(seen.quasi, seen.sensitive):
            yield Required.of(Judgement(source, "", model.verdict(gatherer.evidence(view))), earlier)
    except ShoalError as error:
        yield Required(source, model.name, model.demand(), None, None, error.message)


def _sized(policy: Policy) -> bool:
    """Return whether the policy describes the population without a register."""
    return policy.population is not None and policy.population.file is None
