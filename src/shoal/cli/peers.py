"""``shoal peers``: the protection of every individual by peers, over all combinations of background knowledge."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.assess import Missing, Policy, Subject
from shoal.cli.output import Notes, console, document, each_table, grid, plain, progress_bar, remark
from shoal.cli.pictures import draw
from shoal.words import share, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from shoal.charts import Chart
    from shoal.dataset.dataset import Dataset
    from shoal.individuals.people import People
    from shoal.individuals.person_facts import PersonFacts
    from shoal.individuals.sweep import Sweep

_MANY = 1 << 30  # no limit on the number of known variables


@given.reading
def peers(  # noqa: PLR0913, PLR0917 - options of a command
    data: given.Source,
    options: dict[str, Any],
    policy: Policy = None,
    sensitive: Annotated[
        str | None,
        typer.Option(
            help="Variables to infer, one by one, comma-separated (default: quasi-identifiers and sensitive columns)."
        ),
    ] = None,
    auxiliary: Annotated[
        str | None,
        typer.Option(
            help="Known variables, comma-separated (default: the other quasi-identifiers and sensitive columns)."
        ),
    ] = None,
    subject: Subject = None,
    missing: Missing = None,
    most: Annotated[int | None, typer.Option(min=1, help="Maximum number of known variables.")] = None,
    events: Annotated[
        int,
        typer.Option(min=1, help="Maximum number of known records of an individual with several records."),
    ] = 1,
    empty: Annotated[bool, typer.Option("--empty", help="Include an adversary without background knowledge.")] = False,
    p: Annotated[
        str, typer.Option("--p", help="A value is disclosed if PPP, the proportion of protective peers, is at most p.")
    ] = "0",
    q: Annotated[
        str,
        typer.Option(
            "--q",
            help="Share from 0 to 1: a value counts as an alternative if more than q of the peers have it (PoAC, "
            "proportion of alternative candidates, in --json).",
        ),
    ] = "0",
    only: Annotated[
        list[str] | None, typer.Option(help="Evaluate this combination only (age,sex); may be repeated.")
    ] = None,
    tolerance: Annotated[str | None, typer.Option(help="Tolerance for inferred values: cost=100,admitted=3.")] = None,
    known_within: Annotated[str | None, typer.Option(help="Tolerance for known values: age=2,admitted=7.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="Time limit for the search in very wide tables.")] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Number of individuals to evaluate in very wide tables.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    access: Annotated[
        str | None, typer.Option(help="Accessibility of variables, 1 = easiest: age=1,sex=1,lab=3.")
    ] = None,
    person: Annotated[
        int | None, typer.Option(min=0, help="Show which attributes disclose values of this record (0 = first).")
    ] = None,
    sweep: Annotated[
        str | None, typer.Option(help="Sweep this variable over ever fewer intervals; requires one --sensitive.")
    ] = None,
    png: Annotated[Path | None, typer.Option(help="File for the heatmap of individuals and variables (PNG).")] = None,
    svg: Annotated[Path | None, typer.Option(help="File for the heatmap (SVG).")] = None,
    pictures: Annotated[Path | None, typer.Option(help="Folder for all charts.")] = None,
    force: given.Force = False,
    json: given.Json = False,
    verbose: given.Verbose = False,
) -> None:
    """Measure the protection of every individual.

    Every combination of known variables is evaluated (Kroes 2021).
    """
    import shoal

    accessible = None if access is None else ranks(access)
    chosen = shoal.Policy.load(policy) if policy is not None else None
    notes = Notes(verbose=verbose)
    asked: dict[str, Any] = {"missing": missing, "most": most, "events": events, "empty": empty, "p": p, "q": q}
    asked |= {"sample": sample, "seed": seed, "seconds": seconds}
    of_columns = {"sensitive": sensitive, "auxiliary": auxiliary, "subject": subject}
    dataset = given.load_dataset(data, options, chosen, notes)
    if dataset is not None:
        views: dict[str, Any] = {
            "tolerance": tolerance,
            "known_within": known_within,
            "only": only,
            "sweep": sweep,
            "access": access,
            "person": person,
        }
        given.refuse_single({**of_columns, **views, "png": png, "svg": svg, "pictures": pictures})
        _peers_of_dataset(dataset, asked, notes, json=json)
        return
    table = given.load(data, options, chosen, notes)
    with progress_bar() as hook:
        people = shoal.peers(
            table,
            chosen,
            sensitive=given.names(sensitive),
            auxiliary=given.names(auxiliary),
            subject=subject,
            combinations=[given.names(combination) or [] for combination in only] if only else None,
            tolerance=distances(tolerance),
            known_within=distances(known_within),
            **asked,
            progress=hook,
        )
        swept = _swept(people, sweep)
        drawn = _drawn(people, png, svg, force=force)
        if pictures is not None:
            draw(pictures, _charts(people, swept), force=force, kinds=(".svg", ".png"))
    if json:
        document("peers", {**people.to_dict(), **_extra(people, person, swept, accessible)})
        return
    _show(people, swept, person, notes)
    if accessible is not None:
        show_reach(people, accessible, console())
    for path in drawn:
        remark(f"Written: {path}")


def _peers_of_dataset(dataset: "Dataset", asked: dict[str, Any], notes: Notes, *, json: bool) -> None:
    """Print the protection of the individuals of each table."""
    import shoal

    with progress_bar() as hook:
        protection = shoal.peers(dataset, **asked, progress=hook)
    if json:
        document("peers", protection.to_dict())
        return
    each_table(protection.tables, show, console())
    notes.show_last(protection.notes)
    assumptions = dict.fromkeys(line for people in protection.tables.values() for line in people.assumptions)
    console().print("[dim]Assumptions: " + " ".join(assumptions) + "[/dim]", soft_wrap=True)


def _extra(
    people: "People", person: int | None, swept: "Sweep | None", accessible: dict[str, float] | None
) -> dict[str, Any]:
    """Return the requested additions to the JSON document."""
    more: dict[str, Any] = {"person": _facts(people, person)} if person is not None else {}
    more |= {"sweep": asdict(swept)} if swept is not None else {}
    return more | ({"within_reach": people.within_reach(accessible)} if accessible is not None else {})


def _show(people: "People", swept: "Sweep | None", person: int | None, notes: Notes) -> None:
    facts = None if person is None else people.for_person(person)  # refuses a record that does not exist
    show(people, console())
    if person is not None and facts is not None:
        show_person(person, facts, console())
    if swept is not None:
        show_sweep(swept, console())
    stopped = "The search was stopped, so individuals may be less protected than shown. Increase --seconds."
    searched = f"{people.plan.remark} Alternatives: --most 3, --seconds or --sample." if people.plan.remark else ""
    first = [searched, stopped if people.stopped() else ""]
    notes.show_last(filter(None, first))
    console().print("[dim]Assumptions: " + " ".join(people.assumptions) + "[/dim]", soft_wrap=True)


def _swept(people: "People", variable: str | None) -> "Sweep | None":
    if variable is None:
        return None
    if len(people.variables) != 1:
        raise typer.BadParameter("Add --sensitive with one variable.", param_hint="--sweep")
    return people.sweep(variable, next(iter(people.variables)))


def _drawn(people: "People", *paths: Path | None, force: bool) -> list[Path]:
    """Draw the heatmap into the requested files."""
    from shoal import charts

    asked = [path for path in paths if path is not None]
    return [charts.heatmap(people).save(path, force=force) for path in asked]


def _charts(people: "People", swept: "Sweep | None") -> "dict[str, Chart]":
    """Return all available pictures."""
    from shoal import charts

    drawn = {"persons": charts.heatmap(people), "facts": charts.facts(people)}
    for place, (name, variable) in enumerate(people.variables.items(), 1):
        if len(variable.known) > 1:
            drawn[f"unknown-{place}"] = charts.left_out(people, name)
    if swept is not None:
        drawn["sweep"] = charts.sweep(swept)
    return drawn


def shortened(name: str) -> str:
    """Shorten a long name in the middle, so that the numbers beside it fit on the screen."""
    return name if len(name) <= 28 else f"{name[:14]}…{name[-13:]}"


def distances(text: str | None) -> dict[str, str] | None:
    """Parse distances such as ``age=2,cost=100``."""
    if text is None:
        return None
    pairs = [pair.partition("=") for pair in text.split(",")]
    if any(not name or not sign or not distance for name, sign, distance in pairs):
        raise typer.BadParameter("Give distances as name=distance, comma-separated: age=2,cost=100.")
    return {name.strip(): distance.strip() for name, _, distance in pairs}


def ranks(text: str) -> dict[str, float]:
    """Parse ranks such as ``age=1,lab=3``."""
    try:
        return {name: float(rank) for name, rank in (distances(text) or {}).items()}
    except ValueError:
        pass
    raise typer.BadParameter("Ranks must be numbers: age=1,lab=3.")


def show(people: "People", out: "Console") -> None:
    """Print one line per variable, the least protected first."""
    ranked = sorted(people.summary().items(), key=lambda item: -item[1]["share_breached"])
    out.print(
        f"[bold]Protection of {people.persons():,} individuals by peers[/bold]  [dim]peers: individuals with the "
        f"same known values[/dim]"
    )
    if people.p == 0:
        out.print(
            "[dim]disclosed: by at least one combination of known variables; PPP: proportion of peers with another "
            "value[/dim]"
        )
    sheet = grid(
        "\n  inferred variable",
        "\ndisclosed",
        "mean of the\nlowest PPP",
        "\nby 1",
        "\nby 2",
        "\nby 3",
        "by\nmore",
    )
    sheet.columns[0].no_wrap = True  # names of inherited columns are long
    for name, summary in ranked:
        by, deepest = summary["breached_by_facts"], people.variables[name].deepest
        few = [by.get(str(size), 0) for size in (1, 2, 3)]
        most = people.question.most or _MANY
        counts = [
            "–" if size > most else f"{number:,}" if size <= deepest else "?" for size, number in enumerate(few, 1)
        ]
        more = f"{sum(by.values()) - sum(few) - by.get('0', 0):,}" if most > len(few) else "–"
        sheet.add_row(f"  {shortened(name)}", share(summary["share_breached"]), short(summary["mean"]), *counts, more)
    out.print(sheet)
    if any(variable.deepest < 3 for variable in people.variables.values()):
        out.print("\n  [dim]?: the search was stopped; these individuals are counted under more[/dim]")
    if people.question.most is not None:
        out.print("\n  [dim]–: not evaluated[/dim]")
    out.print("\n  [dim]by n: n is the smallest number of known variables that disclose the value[/dim]")


def _facts(people: "People", record: int) -> list[dict[str, Any]]:
    return [asdict(facts) for facts in people.for_person(record)]


def show_person(record: int, facts_of_person: "Sequence[PersonFacts]", out: "Console") -> None:
    """Print the smallest sets of variables that disclose the values of one person."""
    out.print(
        f"\n[bold]Record {record:,}[/bold]  [dim]smallest sets of known variables that disclose each variable[/dim]"
    )
    for facts in facts_of_person:
        shown = [plain(" + ".join(names)) or "no variable" for names in facts.minimal[:4]]
        more = f" [dim]and {len(facts.minimal) - 4:,} more[/dim]" if len(facts.minimal) > 4 else ""
        given_away = "; ".join(shown) + more if shown else f"[dim]protected: PPP of at least {short(facts.ppp)}[/dim]"
        out.print(f"  {plain(f'{shortened(facts.variable):<16}')} {given_away}", soft_wrap=True)


def show_sweep(swept: "Sweep", out: "Console") -> None:
    """Print the best partition for some numbers of intervals."""
    variable, sensitive = plain(swept.variable), plain(swept.sensitive)
    out.print(
        f"\n[bold]Generalisation of {variable}[/bold]  [dim]share of individuals whose {sensitive} is not "
        f"disclosed[/dim]"
    )
    sheet = grid("  intervals", "best partition", "its loss (0–1)", "its smallest class", "best equal-width partition")
    for number, best in enumerate(swept.best, 1):
        if best is None or number not in {1, 2, 3, 4, 6, 8, 12, 24, len(swept.best)}:
            continue
        equal = [step.partition.share for step in swept.equal_width if step.categories == number]
        width = share(max(equal)) if equal else "–"
        sheet.add_row(f"  {number}", share(best.share), short(best.loss), f"{best.smallest:,}", width)
    out.print(sheet)


def show_reach(people: "People", access: dict[str, float], out: "Console") -> None:
    """Print the number of persons breached by attributes up to each rank of accessibility."""
    out.print(
        "\n[bold]Individuals disclosed by accessible variables[/bold]  [dim]up to each rank of accessibility[/dim]"
    )
    reach = people.within_reach(access)
    sheet = grid("  inferred variable", *(f"up to rank {rank:g}" for rank in sorted(set(access.values()))))
    for name, by_rank in reach.items():
        sheet.add_row(f"  {shortened(name)}", *(f"{persons:,}" for persons in by_rank.values()))
    out.print(sheet)
