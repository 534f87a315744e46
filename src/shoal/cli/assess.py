"""``shoal assess``: the re-identification risk of a table, on one screen."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.output import Notes, console, document, each_table, grid, plain
from shoal.words import counted, odds, short
from shoal.words import share as share_of

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.risk.assessment import Assessment, Judged
    from shoal.risk.special_uniques import SpecialUniques

Policy = Annotated[Path | None, typer.Option("--policy", "-p", help="Policy file with roles and requirements.")]
Quasi = Annotated[
    str | None, typer.Option(help="Quasi-identifiers (attributes an adversary may know), comma-separated.")
]
Sensitive = Annotated[str | None, typer.Option(help="Sensitive columns, comma-separated.")]
Subject = Annotated[str | None, typer.Option(help="Column that identifies the individual of a record.")]
Missing = Annotated[
    str | None,
    typer.Option(help="Missing values: own (a category), never (match nothing) or wildcard (match every value)."),
]
Threshold = Annotated[
    str | None,
    typer.Option(help="Count individuals with a risk above this, such as 1/11 (default: 1/k of the policy, or 1/5)."),
]


@given.reading
def assess(  # noqa: PLR0913, PLR0917 - options of a command
    data: given.Source,
    options: dict[str, Any],
    policy: Policy = None,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    subject: Subject = None,
    missing: Missing = None,
    threshold: Threshold = None,
    k: Annotated[int | None, typer.Option("-k", "--k", min=1, help="Require k-anonymity with this k.")] = None,
    preset: Annotated[
        list[str] | None, typer.Option(help="Require a preset (may be repeated); see shoal presets.")
    ] = None,
    uniques: Annotated[
        int | None, typer.Option(min=1, help="Find individuals singled out by at most this many columns (SUDA).")
    ] = None,
    also_known: Annotated[
        bool, typer.Option("--also-known", help="Show the effect of each further column being known.")
    ] = False,
    json: given.Json = False,
    verbose: given.Verbose = False,
) -> None:
    """Assess the re-identification risk of a table.

    Exit code 0: the requirements are met. 1: some are not met. 2: the table could not be assessed.
    """
    import shoal

    chosen = _policy(policy, k, preset or [])
    notes = Notes(verbose=verbose)
    dataset = given.load_dataset(data, options, chosen, notes)
    if dataset is not None:
        given.refuse_single({"quasi": quasi, "sensitive": sensitive, "subject": subject, "also-known": also_known})
        result = shoal.assess(dataset, missing=missing, threshold=threshold, uniques=uniques)
        if json:
            document("assess", result.to_dict())
        else:
            each_table(result.tables, show, console())
            every = {note: None for assessment in result.tables.values() for note in assessment.notes}
            notes.show_last((*result.notes, *every))
        raise typer.Exit(1 if result.figures["met"] is False else 0)
    table = given.load(data, options, chosen, notes)
    assessment = shoal.assess(
        table,
        chosen,
        quasi=given.names(quasi),
        sensitive=given.names(sensitive),
        subject=subject,
        missing=missing,
        threshold=threshold,
        uniques=uniques,
    )
    more = []
    if also_known:
        roles = table if chosen is None else chosen.apply(table)
        rule = missing or ("own" if chosen is None else chosen.data.missing)
        known = shoal.also_known(roles, assessment.quasi, subject=subject, missing=rule)
        more = [row.to_dict() for row in known]
    if json:
        document("assess", {**assessment.to_dict(), **({"also_known": more} if also_known else {})})
    else:
        show(assessment, console())
        show_also_known(more, console())
        notes.show_last(assessment.notes)
    if assessment.met is False:
        raise typer.Exit(1)


def show_also_known(rows: list[dict[str, Any]], out: "Console") -> None:
    """Print the equivalence classes for each additional known column."""
    if not rows:
        return
    table = grid("additionally known", "k", "unique", "classes")
    for row in rows:
        name = "(none)" if row["column"] is None else row["column"]
        table.add_row(plain(name), f"{row['k']:,}", f"{row['unique']:,}", f"{row['classes']:,}")
    out.print()
    out.print(table)


def _policy(path: Path | None, k: int | None, presets: list[str]) -> Any:
    """Return the policy, with the requirements given as options."""
    from shoal.errors import PolicyError
    from shoal.policy.policy import Policy
    from shoal.validation import validated

    loaded = Policy.load(path) if path is not None else Policy(version=1)
    asked: list[dict[str, Any]] = [{"model": "k-anonymity", "k": k}] * (k is not None)
    asked += [{"preset": preset} for preset in presets]
    more = validated(Policy, {"version": 1, "require": asked}, where="An option", error=PolicyError)
    return loaded.requiring(more.require)


def show(assessment: "Assessment", out: "Console") -> None:
    """Print the assessment."""
    who = "individuals" if assessment.counts_persons else "records"
    about = f", {counted(assessment.persons, 'individual')}" if assessment.counts_persons else ""
    out.print(f"[bold]{counted(assessment.records, 'record')}{about}[/bold]")
    out.print(f"[dim]Quasi-identifiers: {plain(', '.join(assessment.quasi))}.[/dim]", soft_wrap=True)
    out.print(f"\n[bold]k = {assessment.k:,}[/bold]  {assessment.meaning}", soft_wrap=True)
    _show_bands(assessment, out, who)
    _show_identity(assessment, out, who)
    _show_attributes(assessment, out, who)
    _show_context(assessment, out)
    _show_contributions(assessment, out)
    _show_requirements(assessment, out, who)


def _show_bands(assessment: "Assessment", out: "Console", who: str) -> None:
    sheet = grid("  class size", "classes", who, "share", "")
    for band in assessment.bands:
        if band.classes:
            size = (
                f"{band.smallest}"
                if band.largest == band.smallest
                else f"{band.smallest}–{band.largest}"
                if band.largest
                else f"≥ {band.smallest}"
            )
            share = band.persons / assessment.persons
            bar = f"[cyan]{'█' * round(20 * share)}[/cyan]"
            sheet.add_row(f"  {size}", f"{band.classes:,}", f"{band.persons:,}", share_of(share), bar)
    out.print(sheet)


def _show_identity(assessment: "Assessment", out: "Console", who: str) -> None:
    out.print("\n[bold]Re-identification risk[/bold]")
    sheet = grid(
        "  adversary", "highest", "average", f"{who} with risk above {odds(assessment.prosecutor.threshold)}", "basis"
    )
    for risk in (assessment.prosecutor, assessment.journalist, assessment.marketer):
        row = (
            f"  {risk.adversary}",
            odds(risk.highest),
            odds(risk.average),
            "–" if risk.highest is None else f"{risk.above:,}",
            f"[dim]{risk.basis}[/dim]",
        )
        sheet.add_row(*row)
    out.print(sheet)
    out.print(
        f"  Expected re-identifications if all {assessment.persons:,} {who} are targeted: "
        f"{assessment.prosecutor.expected:,.0f}."
    )
    if assessment.uniqueness is not None:
        known = assessment.uniqueness.counted
        share, how = (
            (known, "counted") if known is not None else (assessment.uniqueness.dankar, assessment.uniqueness.rule)
        )
        out.print(f"  Unique in the population: {share_of(share)} of the {who} [dim]({how})[/dim].")
    if assessment.history is not None and assessment.history.persons < assessment.records:
        out.print(f"  Individuals unique if all their records are known: {share_of(assessment.history.unique)}.")
    if assessment.events:
        curve = ", ".join(f"{event.known} → {odds(event.average)}" for event in assessment.events)
        out.print(f"  Average risk by number of known records: {curve}.")
    if assessment.special_uniques is not None:
        _show_special_uniques(assessment.special_uniques, out)
    if assessment.household is not None:
        out.print(
            f"  Average risk that at least one member of a household is re-identified: "
            f"{odds(assessment.household.average)}."
        )
    if assessment.survey is not None:
        out.print(
            f"  Risk with survey weights: highest {short(assessment.survey.maximum)}, "
            f"average {short(assessment.survey.average)}."
        )


def _show_special_uniques(special_uniques: "SpecialUniques", out: "Console") -> None:
    singled = ", ".join(f"{size} → {persons:,}" for size, persons in special_uniques.persons().items())
    out.print(f"  Special uniques (SUDA) by size of the smallest unique combination of columns: {singled}.")
    parts = sorted(special_uniques.contributions.items(), key=lambda item: -item[1])[:5]
    if any(part for _, part in parts):
        shares = plain(", ".join(f"{name} {share_of(part)}" for name, part in parts))
        out.print(f"  [dim]Share of the SUDA score that involves each column: {shares}.[/dim]", soft_wrap=True)
        out.print("  [dim]SUDA score: sum over minimal unique combinations; those of fewer columns count more.[/dim]")


def _show_attributes(assessment: "Assessment", out: "Console", who: str) -> None:
    if not assessment.attributes:
        return
    out.print(
        "\n[bold]Attribute disclosure[/bold]  [dim]probability that the most frequent value of a class is the true "
        "value[/dim]"
    )
    sheet = grid("  attribute", "highest", "average", "baseline", f"{who} in classes with a common value")
    for attribute in assessment.attributes:
        shares = (share_of(share) for share in (attribute.maximum, attribute.average, attribute.baseline))
        sheet.add_row(f"  {attribute.column}", *shares, f"{attribute.certain:,}")
    out.print(sheet)


def _show_context(assessment: "Assessment", out: "Console") -> None:
    if assessment.context is None:
        return
    out.print("\n[bold]Overall risk[/bold]  [dim]journalist risk × probability of an attempt[/dim]")
    for threat in assessment.context.threats:
        out.print(
            f"  {threat.name:<16} {short(assessment.context.data)} × {short(threat.probability)} = {short(threat.risk)}"
        )
    out.print(f"  {'overall':<16} {short(assessment.context.overall)}")


def _show_contributions(assessment: "Assessment", out: "Console") -> None:
    if len(assessment.contributions) < 2:
        return
    out.print("\n[bold]Contribution of each quasi-identifier[/bold]")
    sheet = grid("  column", "k if generalised one level", "unique", "k if removed", "unique")
    for contribution in assessment.contributions[:8]:
        coarser = (
            (f"{contribution.coarser.k:,}", f"{contribution.coarser.alone:,}") if contribution.coarser else ("–", "–")
        )
        sheet.add_row(
            f"  {contribution.column}", *coarser, f"{contribution.without.k:,}", f"{contribution.without.alone:,}"
        )
    out.print(sheet)
    if len(assessment.contributions) > 8:
        out.print(f"  [dim]{len(assessment.contributions) - 8} further columns: add --json[/dim]")
    if any(contribution.coarser is None for contribution in assessment.contributions[:8]):
        out.print("  [dim]–: one level of generalisation suppresses all values, or no hierarchy is given[/dim]")


def _show_requirements(assessment: "Assessment", out: "Console", who: str) -> None:
    if not assessment.requirements and not assessment.checklist:
        out.print("\n[dim]No privacy requirement. Add --policy, --preset ema-0070 or -k 11.[/dim]")
        return
    if assessment.requirements:
        out.print("\n[bold]Privacy requirements[/bold]")
    for judged in assessment.requirements:
        _show_requirement(judged, out, who.removesuffix("s"))
    if assessment.checklist:
        out.print("\n[bold]To be confirmed manually[/bold]")
        for preset, item in assessment.checklist:
            out.print(f"  ☐ {item} [dim]({preset})[/dim]", soft_wrap=True)


def _show_requirement(judged: "Judged", out: "Console", who: str) -> None:
    verdict = judged.verdict
    mark = "[green]met    [/green]" if verdict.satisfied else "[red]not met[/red]"
    out.print(f"  {mark} {verdict.title}: {verdict.attained} [dim](required: {verdict.asked})[/dim]", soft_wrap=True)
    source = "" if judged.source == "policy" else f" (source: {judged.source})"
    out.print(f"          [dim]{judged.says}{source}[/dim]", soft_wrap=True)
    if not verdict.satisfied and judged.measured:
        fails = f"{counted(verdict.persons, who)} in {counted(verdict.classes, 'class')}"
        out.print(f"          [dim]Violated for {fails}.[/dim]", soft_wrap=True)
