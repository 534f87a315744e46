"""``shoal assess``: the risk of every person, on one screen."""

from dataclasses import asdict
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
    found = shoal.assess(
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
        known = shoal.also_known(roles, found.quasi, subject=subject, missing=rule)
        more = [asdict(one) for one in known]
    if json:
        document("assess", {**found.to_dict(), **({"also_known": more} if also_known else {})})
    else:
        show(found, console())
        show_also_known(more, console())
        for note in found.notes:
            remark(f"Note: {note}")
    if found.met is False:
        raise typer.Exit(1)


def show_also_known(found: list[dict[str, Any]], out: "Console") -> None:
    """Print what the classes are like if one more column is known."""
    if not found:
        return
    table = grid("if this is known, too", "k", "unique", "classes")
    for one in found:
        name = "(nothing more)" if one["column"] is None else one["column"]
        table.add_row(plain(name), f"{one['k']:,}", f"{one['unique']:,}", f"{one['classes']:,}")
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


def show(found: "Assessment", out: "Console") -> None:
    """Print the one screen."""
    who = "persons" if found.counts_persons else "records"
    about = f", {counted(found.persons, 'person')}" if found.counts_persons else ""
    out.print(f"[bold]{counted(found.records, 'record')}{about}[/bold]")
    out.print(f"[dim]An adversary may know {plain(', '.join(found.quasi))}.[/dim]", soft_wrap=True)
    out.print(f"\n[bold]k = {found.k:,}[/bold]  {found.meaning}", soft_wrap=True)
    _show_bands(found, out, who)
    _show_identity(found, out)
    _show_attributes(found, out)
    _show_context(found, out)
    _show_contributions(found, out)
    _show_requirements(found, out, who)


def _show_bands(found: "Assessment", out: "Console", who: str) -> None:
    sheet = grid(f"  {who} that look alike", "classes", who, "share", "")
    for band in found.bands:
        if band.classes:
            size = f"{band.smallest}" if band.largest == band.smallest else f"{band.smallest}–{band.largest or '…'}"
            share = band.persons / found.persons
            bar = f"[cyan]{'█' * round(20 * share)}[/cyan]"
            sheet.add_row(f"  {size}", f"{band.classes:,}", f"{band.persons:,}", f"{share:.1%}", bar)
    out.print(sheet)


def _show_identity(found: "Assessment", out: "Console") -> None:
    out.print("\n[bold]Identity[/bold]  [dim]can somebody be found?[/dim]")
    sheet = grid("", "highest", "on average", f"above {found.prosecutor.threshold:.3g}", "")
    for risk in (found.prosecutor, found.journalist, found.marketer):
        row = (
            f"  {risk.adversary}",
            odds(risk.maximum),
            odds(risk.average),
            f"{risk.above:,}",
            f"[dim]{risk.basis}[/dim]",
        )
        sheet.add_row(*row)
    out.print(sheet)
    out.print(f"  If everybody is tried, about {found.prosecutor.expected:,.1f} of {found.persons:,} are found.")
    if found.uniqueness is not None:
        known = found.uniqueness.counted
        share, how = (known, "counted") if known is not None else (found.uniqueness.dankar, found.uniqueness.rule)
        out.print(f"  Of the whole population, {share:.2%} are unique [dim]({how})[/dim].")
    if found.history is not None and found.history.persons < found.records:
        out.print(f"  Whoever knows all records of a person finds {float(found.history.unique):.1%} of them.")
    if found.events:
        curve = ", ".join(f"{one.known} → {odds(one.average)}" for one in found.events)
        out.print(f"  Whoever knows so many records of a person, on average: {curve}.")
    if found.special_uniques is not None:
        _show_special_uniques(found.special_uniques, out)
    if found.household is not None:
        out.print(f"  One member of a household is found: on average {odds(found.household.average)}.")
    if found.survey is not None:
        out.print(f"  With survey weights: at most {found.survey.maximum:.3f}, on average {found.survey.average:.3f}.")


def _show_special_uniques(found: "SpecialUniques", out: "Console") -> None:
    singled = ", ".join(f"{size} → {persons:,}" for size, persons in found.persons().items())
    out.print(f"  Singled out by so many columns and no fewer: {singled}.")
    parts = sorted(found.contributions.items(), key=lambda item: -item[1])[:5]
    if any(part for _, part in parts):
        shares = plain(", ".join(f"{name} {part:.0%}" for name, part in parts))
        out.print(f"  [dim]Columns that have a part in it: {shares}.[/dim]", soft_wrap=True)


def _show_attributes(found: "Assessment", out: "Console") -> None:
    if not found.attributes:
        return
    out.print("\n[bold]Attributes[/bold]  [dim]can something be learned about somebody?[/dim]")
    sheet = grid("  a guess is right", "highest", "on average", "without table", "certain for")
    for one in found.attributes:
        shares = (f"{float(share):.1%}" for share in (one.maximum, one.average, one.baseline))
        sheet.add_row(f"  {one.column}", *shares, f"{one.certain:,}")
    out.print(sheet)


def _show_context(found: "Assessment", out: "Console") -> None:
    if found.context is None:
        return
    out.print("\n[bold]Context[/bold]  [dim]the journalist's risk × how likely somebody tries[/dim]")
    for threat in found.context.threats:
        out.print(f"  {threat.name:<16} {found.context.data:.3f} × {threat.probability:.2f} = {threat.risk:.3f}")
    out.print(f"  {'overall':<16} {found.context.overall:.3f}")


def _show_contributions(found: "Assessment", out: "Console") -> None:
    if len(found.contributions) < 2:
        return
    out.print("\n[bold]What costs most[/bold]  [dim]if a column were one level coarser, or gone[/dim]")
    sheet = grid("", "k coarser", "alone", "k without", "alone")
    for one in found.contributions[:8]:
        coarser = (f"{one.coarser.k:,}", f"{one.coarser.alone:,}") if one.coarser else ("–", "–")
        sheet.add_row(f"  {one.column}", *coarser, f"{one.without.k:,}", f"{one.without.alone:,}")
    out.print(sheet)


def _show_requirements(found: "Assessment", out: "Console", who: str) -> None:
    if not found.requirements and not found.checklist:
        out.print("\n[dim]Nothing is required. Give a policy, --preset ema-0070 or -k 11.[/dim]")
        return
    if found.requirements:
        out.print("\n[bold]Requirements[/bold]")
    for judged in found.requirements:
        _show_requirement(judged, out, who.removesuffix("s"))
    if found.checklist:
        out.print("\n[bold]To be confirmed by a person[/bold]")
        for preset, item in found.checklist:
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
