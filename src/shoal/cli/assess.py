"""``shoal assess``: the risk of every person, on one screen."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.output import console, document, grid, plain, remark
from shoal.errors import counted
from shoal.words import odds

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.risk.assessment import Assessment, Judged
    from shoal.risk.special_uniques import SpecialUniques

Policy = Annotated[Path | None, typer.Option("--policy", "-p", help="The policy file: roles and requirements.")]
Quasi = Annotated[str | None, typer.Option(help="Quasi-identifiers, comma-separated: what others may know.")]
Sensitive = Annotated[str | None, typer.Option(help="Sensitive columns, comma-separated.")]
Subject = Annotated[str | None, typer.Option(help="The column that says which person a row belongs to.")]
Missing = Annotated[str | None, typer.Option(help="When a missing value matches another: own, never or wildcard.")]
Threshold = Annotated[str, typer.Option(help="Count persons with a risk above this, such as 0.2 or 1/11.")]


@given.reading
def assess(  # noqa: PLR0913, PLR0917 - options of a command
    data: given.Source,
    options: dict[str, Any],
    policy: Policy = None,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    subject: Subject = None,
    missing: Missing = None,
    threshold: Threshold = "0.2",
    k: Annotated[int | None, typer.Option("-k", "--k", help="Require k-anonymity with this k.")] = None,
    preset: Annotated[
        list[str] | None, typer.Option(help="Require a preset (may be repeated); see shoal presets.")
    ] = None,
    uniques: Annotated[
        int | None, typer.Option(min=1, help="Find out who is singled out by at most so many columns.")
    ] = None,
    also_known: Annotated[
        bool, typer.Option("--also-known", help="What if one more column is known? Tell it for each.")
    ] = False,
    json: given.Json = False,
) -> None:
    """Assess the risk of every person in a table.

    Exit code 0: the requirements are met. 1: some are not. 2: it could not be done.
    """
    import shoal

    chosen = _policy(policy, k, preset or [])
    table = given.load(data, options, chosen)
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
        for note in assessment.notes:
            remark(f"Note: {note}")
    if assessment.met is False:
        raise typer.Exit(1)


def show_also_known(rows: list[dict[str, Any]], out: "Console") -> None:
    """Print what the classes are like if one more column is known."""
    if not rows:
        return
    table = grid("if this is known, too", "k", "unique", "classes")
    for row in rows:
        name = "(nothing more)" if row["column"] is None else row["column"]
        table.add_row(plain(name), f"{row['k']:,}", f"{row['unique']:,}", f"{row['classes']:,}")
    out.print()
    out.print(table)


def _policy(path: Path | None, k: int | None, presets: list[str]) -> Any:
    """Return the policy, with what the options add to it."""
    from shoal.errors import PolicyError
    from shoal.policy.policy import Policy
    from shoal.validation import validated

    loaded = Policy.load(path) if path is not None else Policy(version=1)
    asked: list[dict[str, Any]] = [{"model": "k-anonymity", "k": k}] * (k is not None)
    asked += [{"preset": preset} for preset in presets]
    more = validated(Policy, {"version": 1, "require": asked}, where="What the options ask for", error=PolicyError)
    return loaded.requiring(more.require)


def show(assessment: "Assessment", out: "Console") -> None:
    """Print the one screen."""
    who = "persons" if assessment.counts_persons else "records"
    about = f", {counted(assessment.persons, 'person')}" if assessment.counts_persons else ""
    out.print(f"[bold]{counted(assessment.records, 'record')}{about}[/bold]")
    out.print(f"[dim]An adversary may know {plain(', '.join(assessment.quasi))}.[/dim]", soft_wrap=True)
    out.print(f"\n[bold]k = {assessment.k:,}[/bold]  {assessment.meaning}", soft_wrap=True)
    _show_bands(assessment, out, who)
    _show_identity(assessment, out)
    _show_attributes(assessment, out)
    _show_context(assessment, out)
    _show_contributions(assessment, out)
    _show_requirements(assessment, out, who)


def _show_bands(assessment: "Assessment", out: "Console", who: str) -> None:
    sheet = grid(f"  {who} that look alike", "classes", who, "share", "")
    for band in assessment.bands:
        if band.classes:
            size = f"{band.smallest}" if band.largest == band.smallest else f"{band.smallest}–{band.largest or '…'}"
            share = band.persons / assessment.persons
            bar = f"[cyan]{'█' * round(20 * share)}[/cyan]"
            sheet.add_row(f"  {size}", f"{band.classes:,}", f"{band.persons:,}", f"{share:.1%}", bar)
    out.print(sheet)


def _show_identity(assessment: "Assessment", out: "Console") -> None:
    out.print("\n[bold]Identity[/bold]  [dim]can somebody be found?[/dim]")
    sheet = grid("", "highest", "on average", f"above {assessment.prosecutor.threshold:.3g}", "")
    for risk in (assessment.prosecutor, assessment.journalist, assessment.marketer):
        row = (
            f"  {risk.adversary}",
            odds(risk.maximum),
            odds(risk.average),
            f"{risk.above:,}",
            f"[dim]{risk.basis}[/dim]",
        )
        sheet.add_row(*row)
    out.print(sheet)
    out.print(
        f"  If everybody is tried, about {assessment.prosecutor.expected:,.1f} of {assessment.persons:,} are found."
    )
    if assessment.uniqueness is not None:
        known = assessment.uniqueness.counted
        share, how = (
            (known, "counted") if known is not None else (assessment.uniqueness.dankar, assessment.uniqueness.rule)
        )
        out.print(f"  Of the whole population, {share:.2%} are unique [dim]({how})[/dim].")
    if assessment.history is not None and assessment.history.persons < assessment.records:
        out.print(f"  Whoever knows all records of a person finds {float(assessment.history.unique):.1%} of them.")
    if assessment.events:
        curve = ", ".join(f"{event.known} → {odds(event.average)}" for event in assessment.events)
        out.print(f"  Whoever knows so many records of a person, on average: {curve}.")
    if assessment.special_uniques is not None:
        _show_special_uniques(assessment.special_uniques, out)
    if assessment.household is not None:
        out.print(f"  One member of a household is found: on average {odds(assessment.household.average)}.")
    if assessment.survey is not None:
        out.print(
            f"  With survey weights: at most {assessment.survey.maximum:.3f}, "
            f"on average {assessment.survey.average:.3f}."
        )


def _show_special_uniques(special_uniques: "SpecialUniques", out: "Console") -> None:
    singled = ", ".join(f"{size} → {persons:,}" for size, persons in special_uniques.persons().items())
    out.print(f"  Singled out by so many columns and no fewer: {singled}.")
    parts = sorted(special_uniques.contributions.items(), key=lambda item: -item[1])[:5]
    if any(part for _, part in parts):
        shares = plain(", ".join(f"{name} {part:.0%}" for name, part in parts))
        out.print(f"  [dim]Columns that have a part in it: {shares}.[/dim]", soft_wrap=True)


def _show_attributes(assessment: "Assessment", out: "Console") -> None:
    if not assessment.attributes:
        return
    out.print("\n[bold]Attributes[/bold]  [dim]can something be learned about somebody?[/dim]")
    sheet = grid("  a guess is right", "highest", "on average", "without table", "certain for")
    for attribute in assessment.attributes:
        shares = (f"{float(share):.1%}" for share in (attribute.maximum, attribute.average, attribute.baseline))
        sheet.add_row(f"  {attribute.column}", *shares, f"{attribute.certain:,}")
    out.print(sheet)


def _show_context(assessment: "Assessment", out: "Console") -> None:
    if assessment.context is None:
        return
    out.print("\n[bold]Context[/bold]  [dim]the journalist's risk × how likely somebody tries[/dim]")
    for threat in assessment.context.threats:
        out.print(f"  {threat.name:<16} {assessment.context.data:.3f} × {threat.probability:.2f} = {threat.risk:.3f}")
    out.print(f"  {'overall':<16} {assessment.context.overall:.3f}")


def _show_contributions(assessment: "Assessment", out: "Console") -> None:
    if len(assessment.contributions) < 2:
        return
    out.print("\n[bold]What costs most[/bold]  [dim]if a column were one level coarser, or gone[/dim]")
    sheet = grid("", "k coarser", "alone", "k without", "alone")
    for contribution in assessment.contributions[:8]:
        coarser = (
            (f"{contribution.coarser.k:,}", f"{contribution.coarser.alone:,}") if contribution.coarser else ("–", "–")
        )
        sheet.add_row(
            f"  {contribution.column}", *coarser, f"{contribution.without.k:,}", f"{contribution.without.alone:,}"
        )
    out.print(sheet)


def _show_requirements(assessment: "Assessment", out: "Console", who: str) -> None:
    if not assessment.requirements and not assessment.checklist:
        out.print("\n[dim]Nothing is required. Give a policy, --preset ema-0070 or -k 11.[/dim]")
        return
    if assessment.requirements:
        out.print("\n[bold]Requirements[/bold]")
    for judged in assessment.requirements:
        _show_requirement(judged, out, who.removesuffix("s"))
    if assessment.checklist:
        out.print("\n[bold]To be confirmed by a person[/bold]")
        for preset, item in assessment.checklist:
            out.print(f"  ☐ {item} [dim]({preset})[/dim]", soft_wrap=True)


def _show_requirement(judged: "Judged", out: "Console", who: str) -> None:
    verdict = judged.verdict
    mark = "[green]met    [/green]" if verdict.satisfied else "[red]not met[/red]"
    about = f" of {verdict.column}" if verdict.column else ""
    value = ", ".join(f"{name} = {_written(number)}" for name, number in verdict.value.items()) or "not measured"
    out.print(f"  {mark} {verdict.model}{about}: {value} [dim](asked: {verdict.asked})[/dim]", soft_wrap=True)
    out.print(f"          [dim]{judged.source}: {judged.says}[/dim]", soft_wrap=True)
    if not verdict.satisfied and judged.measured:
        fails = f"{counted(verdict.persons, who)} in {counted(verdict.classes, 'class')}"
        out.print(f"          [dim]It fails for {fails}.[/dim]", soft_wrap=True)


def _written(number: Any) -> str:
    number = float(number) if isinstance(number, Fraction) else number
    return f"{number:.8g}" if isinstance(number, float) else str(number)
