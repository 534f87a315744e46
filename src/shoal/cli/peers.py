"""``shoal peers``: how every person is protected by their peers, over all combinations of what may be known."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.assess import Missing, Policy, Subject
from shoal.cli.output import console, document, grid, progress_bar, remark

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.individuals.people import People


@given.reading
def peers(  # noqa: PLR0913, PLR0917 - options of a command
    data: given.Source,
    options: dict[str, Any],
    policy: Policy = None,
    sensitive: Annotated[str | None, typer.Option(help="Variables to be taken as sensitive; each in turn.")] = None,
    auxiliary: Annotated[str | None, typer.Option(help="Variables that may be known, comma-separated.")] = None,
    subject: Subject = None,
    missing: Missing = None,
    most: Annotated[int | None, typer.Option(min=1, help="At most so many variables are known.")] = None,
    empty: Annotated[bool, typer.Option("--empty", help="Look at an adversary who knows nothing, too.")] = False,
    p: Annotated[str, typer.Option("-p", help="Breached is whose share of protective peers is at most p.")] = "0",
    q: Annotated[str, typer.Option("-q", help="A value counts as possible if more than q of the peers have it.")] = "0",
    only: Annotated[
        list[str] | None, typer.Option(help="Look at this combination only (age,sex); can be given several times.")
    ] = None,
    tolerance: Annotated[
        str | None, typer.Option(help="Values that are so near count as learned: cost=100,admitted=3.")
    ] = None,
    known_within: Annotated[
        str | None, typer.Option(help="Values that are so near count as known: age=2,admitted=7.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="How long to search in a very wide table.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="In a very wide table, ask about so many persons.")] = None,
    seed: Annotated[int, typer.Option(help="Draw another sample.")] = 0,
    json: given.Json = False,
) -> None:
    """Measure the privacy of every person, over all combinations of what an adversary may know (Kroes 2021)."""
    import shoal

    chosen = shoal.Policy.load(policy) if policy is not None else None
    table = given.load(data, options, chosen)
    with progress_bar() as hook:
        people = shoal.peers(
            table,
            chosen,
            sensitive=given.names(sensitive),
            auxiliary=given.names(auxiliary),
            subject=subject,
            missing=missing,
            most=most,
            empty=empty,
            p=p,
            q=q,
            combinations=[given.names(one) or [] for one in only] if only else None,
            tolerance=distances(tolerance),
            known_within=distances(known_within),
            sample=sample,
            seed=seed,
            seconds=seconds,
            progress=hook,
        )
    if json:
        document("peers", result(people))
        return
    show(people, console())
    if people.plan.remark:
        remark(f"Note: {people.plan.remark}")
    if people.stopped():
        remark("Note: The search was stopped; somebody may be protected less than shown. Give --seconds or --most.")
    for assumption in people.assumptions:
        remark(f"Note: {assumption}")


def distances(text: str | None) -> dict[str, str] | None:
    """Read ``age=2,cost=100``."""
    if text is None:
        return None
    pairs = [pair.partition("=") for pair in text.split(",")]
    if any(not name or not sign or not distance for name, sign, distance in pairs):
        raise typer.BadParameter("Write name=distance, with commas between: age=2,cost=100.")
    return {name.strip(): distance.strip() for name, _, distance in pairs}


def result(people: "People") -> dict[str, Any]:
    """Return what was found as plain data."""
    return {
        "records": len(people),
        "persons": people.persons(),
        "sampled": people.sampled(),
        "p": float(people.p),
        "q": {name: float(value) for name, value in people.question.q.items()},
        "most_known": people.question.most,
        "combinations": people.plan.combinations,
        "way": people.plan.way,
        "variables": people.summary(),
        "assumptions": list(people.assumptions),
    }


def show(people: "People", out: "Console") -> None:
    """Print one line per variable, the least protected first."""
    found = sorted(people.summary().items(), key=lambda item: -item[1]["share_breached"])
    out.print(f"[bold]{people.persons():,} persons[/bold], each protected by those who share what is known about them")
    if people.p == 0:
        out.print("[dim]breached: some combination of known variables leaves no doubt[/dim]")
    sheet = grid("\n  learned about", "\nbreached", "mean\nPPP", "by 1\nfact", "by 2\nfacts", "by 3\nfacts", "by\nmore")
    for name, one in found:
        by = one["breached_by_facts"]
        few = [by.get(size, 0) for size in ("1", "2", "3")]
        counts = [*few, sum(by.values()) - sum(few) - by.get("0", 0)]
        sheet.add_row(f"  {name}", f"{one['share_breached']:.1%}", f"{one['mean']:.3f}", *(f"{n:,}" for n in counts))
    out.print(sheet)
    out.print("\n  [dim]by n facts: so many persons fall to n known variables, and to no fewer[/dim]")
