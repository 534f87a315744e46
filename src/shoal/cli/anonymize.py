"""``shoal anonymize``: from a table and a policy to a verified release."""

from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.output import Notes, console, document, grid, plain, progress_bar, remark
from shoal.errors import WriteError
from shoal.fileset import check_place
from shoal.words import counted, short, time_in_words

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.policy.policy import Policy
    from shoal.release.advice import Advice
    from shoal.release.release import Release
    from shoal.search.frontier import Frontier
    from shoal.table.table import Table
    from shoal.techniques.technique import Technique


_LONG = 10  # seconds of a search from which its time is announced


@given.reading
def anonymize(  # noqa: PLR0913, PLR0917 - options of a command
    data: given.Source,
    options: dict[str, Any],
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="Policy file with roles, hierarchies and requirements.")
    ] = None,
    quasi: Annotated[str | None, typer.Option(help="Without a policy: quasi-identifiers, comma-separated.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Without a policy: sensitive columns, comma-separated.")] = None,
    insensitive: Annotated[
        str | None, typer.Option(help="Without a policy: insensitive columns, released unchanged.")
    ] = None,
    subject: Annotated[str | None, typer.Option(help="Without a policy: the subject column.")] = None,
    k: Annotated[int | None, typer.Option("-k", min=1, help="Without a policy: the k of k-anonymity.")] = None,
    suppression: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Without a policy: maximum suppressed share, 0 to 1."),
    ] = None,
    output: Annotated[
        given.Place,
        typer.Option(
            "--output", "-o", parser=given.place, metavar="OUT", help="Output file, folder or database table."
        ),
    ] = None,
    beside: Annotated[
        Path | None, typer.Option(help="Folder for the manifests if the release is written to a database.")
    ] = None,
    frontier: Annotated[
        bool,
        typer.Option(
            "--frontier",
            help="Show the lowest information loss for several k and suppression limits instead of a release.",
        ),
    ] = False,
    advice: Annotated[
        float,
        typer.Option(min=0, help="Seconds for advice: alternatives that are tried after the release; 0 for no advice."),
    ] = 5,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Make and verify the release, but write nothing.")] = False,
    force: given.Force = False,
    json: given.Json = False,
    verbose: given.Verbose = False,
) -> None:
    """Make the release with the lowest information loss that meets a policy.

    The release has the lowest information loss, is verified, and comes with its manifests.

    OUT is a file, or a table of a database: postgresql://user@host/research?table=release; the password is taken from
    the variable SHOAL_PASSWORD. If the policy describes several tables, DATA and OUT are folders or databases.

    Exit code 0: done, and every requirement is met in the written file. 2: it could not be done; nothing was written.
    """
    import shoal
    from shoal.release.advice import is_advised

    _check_place(data, policy, output, frontier=frontier, dry_run=dry_run)
    roles = {"quasi": quasi, "sensitive": sensitive, "insensitive": insensitive}
    asked: dict[str, Any] = {
        **{role: given.names(columns) for role, columns in roles.items()},
        "subject": subject,
        "k": k,
        "suppression": suppression,
    }
    chosen = None if policy is None else shoal.Policy.load(policy)
    if chosen is not None and chosen.tables:
        given.refuse_single(asked)
        place = None if dry_run else output
        ways = {"frontier": frontier, "force": force, "json": json, "verbose": verbose}
        _several(data, chosen, place, beside, options, **ways)
        return
    if isinstance(output, Path) and not dry_run:
        check_place(output, force=force)  # before a search that may take long
    notes = Notes(verbose=verbose)
    table = given.load(data, options, chosen, notes)
    began = monotonic()
    if chosen is not None:
        _announce(table, chosen)
    with progress_bar() as hook:
        if frontier and chosen is not None:
            points = shoal.frontier(table, chosen, progress=hook)
        else:
            release = shoal.anonymize(table, chosen, progress=hook, **asked)
    if frontier and chosen is not None:
        _tell_frontier(points, chosen.search.technique, json=json)
        return
    written = release.save(output, force=force, beside=beside) if output is not None and not dry_run else ()
    slow = monotonic() - began > advice  # an alternative would take as long
    wanted = advice > 0 and len(release.tables) == 1 and is_advised(table, release.table)
    if json:
        advised = {"advice": _advice(release, 0 if slow else advice).to_dict()} if wanted else {}
        document("anonymize", {**release.to_dict(), **advised, "files": [str(path) for path in written]})
        return
    show(release, console())
    notes.show_last(release.notes)
    for path in written:
        remark(f"Written: {path}")
    if wanted:
        _show_advice(_advice(release, 0 if slow else advice))


def _announce(table: "Table", policy: "Policy") -> None:
    """Print how long the search will take, if that may be long."""
    from shoal.verbs.plan import long_search

    seconds = long_search(table, policy)
    if seconds is not None and seconds > _LONG:
        remark(f"The search will take about {time_in_words(seconds)} (one core). Ctrl+C stops it.")


def _advice(release: "Release", seconds: float) -> "Advice":
    """Return advice on the release, after it has been written."""
    import shoal

    with progress_bar() as hook:
        return shoal.advise(release, seconds=seconds, progress=hook)


def _show_advice(advice: "Advice") -> None:
    sentences, out = list(advice.sentences()), console()
    if sentences:
        out.print("\n[bold]Advice[/bold]")
    for sentence in sentences:
        out.print(f"  {plain(sentence)}")


def _check_place(data: Any, policy: Path | None, output: Any, *, frontier: bool, dry_run: bool) -> None:
    """Refuse a missing output, and an output that would overwrite the data."""
    if output is None and not (frontier or dry_run):
        raise WriteError("no-output", "No output is named.", remedy="Add -o OUT, --dry-run or --frontier.")
    if output is not None and frontier:
        raise WriteError(
            "output-of-frontier", "--frontier prints a table and writes no release.", remedy="Omit -o, or add --json."
        )
    if output is not None and given.same(output, data):
        raise WriteError(
            "overwrites-input", "The release would overwrite its own input.", remedy="Give another name with -o."
        )
    if policy is None and frontier:
        raise WriteError("no-policy", "--frontier requires a policy.", remedy="Add -p POLICY.")


def _several(  # noqa: PLR0913 - options of a command
    data: Any,
    policy: "Policy",
    output: Any,
    beside: Path | None,
    options: dict[str, Any],
    *,
    frontier: bool,
    force: bool,
    json: bool,
    verbose: bool,
) -> None:
    """Anonymise linked tables."""
    import shoal

    if frontier:
        raise WriteError(
            "several-tables", "A frontier is computed for a single table, and the policy describes several."
        )
    if options:
        raise WriteError(
            "several-tables",
            "The option '{option}' applies to a single table, and the policy describes several.",
            remedy="Set it in the policy, under [tables.NAME.read].",
            option=next(iter(options)),
        )
    with progress_bar() as hook:
        release = shoal.anonymize(shoal.Dataset.read(data, policy, progress=hook), progress=hook)
        written = release.save(output, force=force, beside=beside, progress=hook) if output is not None else ()
    if json:
        document("anonymize", {**release.to_dict(), "files": [str(path) for path in written]})
        return
    sheet = replace(release.sheet(), notes=())
    console().print(sheet.text(), markup=False, highlight=False, soft_wrap=True)
    Notes(verbose=verbose).show_last(release.notes)
    for path in written:
        remark(f"Written: {path}")


def show(release: "Release", out: "Console") -> None:
    """Print the transformation, the attained requirements and the information loss."""
    released, lost = (
        counted(release.part.promise.whole.records, "record"),
        counted(release.suppressed_records, "record"),
    )
    whose = (
        f" of {counted(release.suppressed, 'individual')}" if release.suppressed != release.suppressed_records else ""
    )
    out.print(f"[bold]{released} released[/bold], {lost}{whose} suppressed.")
    for sentence in _told(release):
        out.print(sentence)
    if release.levels:
        heights = release.part.transformation.heights
        sheet = grid("records per level", *map(str, range(max((heights[name] or 0) + 1 for name in release.levels))))
        for name, records in release.levels.items():
            top = heights[name]
            shown = [f"{number:,}{'*' * (level == top)}" if number else "·" for level, number in enumerate(records)]
            shown += ["·"] * ((top or 0) + 1 - len(shown))
            sheet.add_row(plain(name), *shown)
        out.print()
        out.print(sheet)
        out.print("[dim]0: original values; *: suppressed; ·: none; empty: no such level[/dim]")
    sheet = grid("requirement", "required", "attained", "")
    for requirement in release.requirements:
        verdict = requirement.verdict
        column = f" ({verdict.column})" if verdict.column else ""
        sheet.add_row(plain(verdict.model + column), verdict.asked, requirement.attained, requirement.outcome)
    out.print()
    out.print(sheet)
    sheet = grid("information loss by measure", "value", "cost (0–1)")
    for measured in release.quality.values():
        if measured.total is not None:
            sheet.add_row(measured.title, measured.amount, short(measured.total.cost))
    out.print()
    out.print(sheet)
    out.print("[dim]Cost: 0 = no loss, 1 = total loss[/dim]")


def _told(release: "Release") -> list[str]:
    """Return sentences on the technique, its outliers and the risk of a sample."""
    transformation, search = release.part.transformation, release.policy.search
    outliers = transformation.outliers
    sentences = [search.way.told(outliers)] if any(name in outliers for name in search.way.counts) else []
    sentences += filter(None, [search.technique.account(transformation.facts)])
    for who, risk in release.facts.get("sampling", {}).items():
        if who != "share":
            numbers = f"highest {short(risk['highest'])}, average {short(risk['average'])}"
            sentences.append(f"Re-identification risk of the sample ({who}): {numbers}.")
    return sentences


def _tell_frontier(points: "Frontier", technique: "Technique", *, json: bool) -> None:
    if "scheme" not in technique.gives:
        remark("The frontier is computed for global recoding, not for the technique of the policy.")
    if json:
        document("anonymize", points.to_dict())
    else:
        show_frontier(points, console())


def show_frontier(frontier: "Frontier", out: "Console") -> None:
    """Print the information loss for every k and suppression limit."""
    table = frontier.sheet()
    out.print(f"{table.title}:\n")
    sheet = grid(*table.headings)
    for row in table.rows:
        sheet.add_row(*row)
    out.print(sheet)
