"""Findings about a release made elsewhere, judged as far as possible."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.comparison import Comparison
from shoal.attacks.battery import Attacked
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
from shoal.release.advice import MOST_RECORDS, Advice, AdviceBasis, advice, losses
from shoal.release.judgement import Guarantee, Judgement
from shoal.release.manifest import recorded
from shoal.release.measuring import measured_limits
from shoal.release.pairing import drawn_from, which
from shoal.release.part import ReleasePart
from shoal.release.promise import Original
from shoal.release.verification import with_persons
from shoal.reporting.findings import Findings, about_columns, rest, threshold
from shoal.reporting.required import Required, Verdicts, verdicts
from shoal.table.column import SUPPRESSED, Column
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.verbs.assess import assess
from shoal.verbs.compare import compare
from shoal.verbs.inputs import names_of, table_of
from shoal.words import share


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
    release = _with_roles(table_of(released, suppressed=SUPPRESSED), table)
    progress(Progress("assessing the original", 0))
    before = assess(table, policy, threshold=threshold(policy))
    progress(Progress("comparing them", 1))
    matched = match or which(table, release, names_of(key), hierarchies=policy.hierarchies(table), in_order=in_order)
    drawn, of_drawn = drawn_from(table, matched)
    comparison = compare(drawn, release, policy, qualities=None if quality is None else [], matched=of_drawn)
    comparison = comparison if quality is None else replace(comparison, quality=quality)
    progress(Progress("assessing the release", 2))
    people = policy.sampled_population(table, before.persons) if _sized(policy) else None
    known = _known(table, release, policy, people, matched)
    seen, strange = _seen(release, known)
    internal = internal or recorded(release, table, policy)
    ours = internal is not None
    columns = about_columns(policy, table, release, ours=ours)
    columns |= {} if pseudonyms is None else {"pseudonyms": pseudonyms}
    after = assess(seen, rest(policy), threshold=threshold(policy), population=people)
    return Findings(
        policy=policy,
        original=table,
        drawn=drawn,
        released=release,
        seen=seen,
        before=before,
        after=after,
        comparison=comparison,
        requirements=(
            *_required(policy, verdicts(before), seen, known, strange, internal),
            *(_limited(limit, more.get("attacks")) for limit in policy.attack_limits),
        ),
        ours=ours,
        part=part,
        advice=_advice(table, seen, known, matched, comparison, policy, advice_seconds, progress),
        inherited=inherited,
        **columns,
        **more,
    )


def _known(table: Table, release: Table, policy: Policy, people: Population | None, matched: Match) -> Original:
    """Return what verification needs to know about the original."""
    hierarchies = policy.hierarchies(table)
    return Original(
        {name: table[name] for name in release.sensitive},
        {name: table.persons(name) for name in release.sensitive},
        {name: hierarchy for name, hierarchy in hierarchies.items() if name in release.sensitive},
        people,
        policy.data.missing,
        _whose(table, release, matched),
    )


def _seen(release: Table, known: Original) -> tuple[Table, str]:
    """Return a release with its individuals, and why its sensitive values cannot be judged; empty if they can."""
    try:
        seen, strange = with_persons(release, release, known), ""
    except ShoalError as error:  # sensitive values that the original does not have
        seen, strange = release, error.message
    return (seen if release.subject is None else seen.assign(subject=release.subject)), strange


def _advice(  # noqa: PLR0913, PLR0917 - two tables, their comparison, and the time
    table: Table,
    seen: Table,
    known: Original,
    matched: Match,
    comparison: Comparison,
    policy: Policy,
    seconds: float | None,
    progress: Hook,
) -> Advice | None:
    if table.records > MOST_RECORDS:
        return None
    records = None
    if matched.rows is not None:
        records = np.full(seen.records, -1, np.int64)
        records[matched.rows[matched.rows >= 0]] = np.flatnonzero(matched.rows >= 0)
    left_out = max(table.person_count - seen.person_count, 0)
    return advice(
        AdviceBasis(table, seen, known, records, left_out, policy, losses(comparison.quality)), seconds, progress
    )


def _with_roles(release: Table, table: Table) -> Table:
    """Assign the roles of the original to the columns of a released table."""
    quasi = [name for name in table.quasi if name in release]
    if not quasi:
        raise ReportError(
            "no-quasi-identifier",
            "The release has none of the quasi-identifiers of the policy.",
            remedy="Check that it was made from this original, and that its columns have the same names.",
        )
    if not release.records:
        raise ReportError("no-records", "The release has no records.")
    roles = {
        "quasi": quasi,
        "sensitive": [name for name in table.sensitive if name in release and len(release[name].values)],
        "insensitive": [name for name in table.with_role(Role.INSENSITIVE) if name in release],
    }
    whose = {} if table.subject is None or table.subject not in release else {"subject": table.subject}
    return replace(release, roles={}).assign(**{name: role for name, role in roles.items() if role}, **whose)


def _whose(table: Table, release: Table, matched: Match) -> tuple[Column, NDArray[Any]] | None:
    """Return the person of each released record, if the release has no subject column and all records are matched."""
    if table.subject is None or release.subject is not None or matched.rows is None:
        return None
    codes = np.full(release.records, -1, np.int64)
    there = matched.rows >= 0
    codes[matched.rows[there]] = table.codes(table.subject)[there]
    return None if (codes < 0).any() else (table[table.subject], codes.astype(np.uint32))


def _required(  # noqa: PLR0913, PLR0917 - requirements, and facts about both tables
    policy: Policy,
    earlier: Verdicts,
    seen: Table,
    known: Original,
    strange: str,
    internal: Mapping[str, Any] | None,
) -> Iterator[Required]:
    """Judge a table by each requirement; where that is impossible, give the reason.

    ``internal``: the internal manifest. It records the verdicts on requirements that need a register, which can be
    verified only when a release is made.
    """
    gatherer = Gatherer(seen, known.missing, known.hierarchies, known.population, {} if strange else known.reference)
    lost = policy.data.subject is not None and seen.subject is None
    registered = policy.population is not None and policy.population.file is not None
    for source, _, model in policy.requirements():
        column, about = getattr(model, "column", None), Need.SENSITIVE in model.needs
        name = f"{model.name} of {column}" if column else model.name
        if about and (not seen.sensitive or (column is not None and column not in seen.sensitive)):
            yield Required(source, name, model.demand(), None, None, "nothing sensitive is released", moot=True)
        elif lost:
            yield Required(source, name, model.demand(), None, None, "records cannot be assigned to individuals")
        elif about and strange:
            yield Required(source, name, model.demand(), None, None, strange)
        elif (registered and Need.POPULATION in model.needs) or Need.THRESHOLD in model.needs:
            verified = None if internal is None else _recorded_verdict(internal, source, model)
            what = "the thresholds of individuals" if Need.THRESHOLD in model.needs else "a register"
            why = "" if verified else f"a release can be compared with {what} only when it is made"
            yield Required(source, name, model.demand(), None, verified, why)
        else:
            yield from _judged(source, model, gatherer, seen, earlier)


def _limited(limit: AttackLimit, attacked: Attacked | None) -> Required:
    """Judge an attack limit by the results of the attacks."""
    try:
        (judgement,) = measured_limits([limit], attacked or Attacked((), {}, (), 0))
    except ShoalError as error:
        asked = f"at most {share(limit.at_most)}"
        return Required("policy", limit.attack, asked, None, None, error.message, guarantee=Guarantee.MEASURED)
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
