"""``shoal attack``: the success of an adversary against a release."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.assess import Quasi, Sensitive, Subject
from shoal.cli.output import Notes, console, document, each_table, grid, plain, progress_bar
from shoal.cli.pictures import draw
from shoal.errors import AttackError
from shoal.words import counted, share

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.attacks.battery import Attacked
    from shoal.attacks.result import Result
    from shoal.dataset.dataset import Dataset

Policy = Annotated[Path | None, typer.Option("--policy", "-p", help="Policy file with roles and hierarchies.")]


_WIDE = 110  # columns of a terminal that shows the number of targets


@given.reading
def attack(  # noqa: PLR0913, PLR0917 - options of a command
    original: given.Original,
    release: Annotated[
        given.Place,
        typer.Argument(parser=given.place, metavar="RELEASE", help="The release, made by shoal or by another tool."),
    ],
    options: dict[str, Any],
    policy: Policy = None,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    subject: Subject = None,
    external: Annotated[
        given.Place,
        typer.Option(
            "--register",
            "--external",
            parser=given.place,
            metavar="DATA",
            help="Identified register that an adversary could use.",
        ),
    ] = None,
    outsiders: Annotated[
        given.Place,
        typer.Option(
            parser=given.place, metavar="DATA", help="Individuals outside the data, with the same columns (control)."
        ),
    ] = None,
    also: given.OtherReleases = None,
    key: Annotated[
        str | None, typer.Option(help="Columns that identify a record in both tables, comma-separated.")
    ] = None,
    in_order: Annotated[bool, typer.Option("--in-order", help="Match records by position.")] = False,
    values: given.FurtherTables = None,
    link: given.Link = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="Attacks to run, comma-separated, or 'all', also those that take long (default: the usual ones)."
        ),
    ] = None,
    targets: Annotated[int, typer.Option(min=1, help="Maximum number of targets.")] = 10_000,
    ceilings: given.Ceilings = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of random choices.")] = 0,
    pictures: Annotated[Path | None, typer.Option(help="Folder for charts of the results.")] = None,
    force: given.Force = False,
    json: given.Json = False,
    verbose: given.Verbose = False,
) -> None:
    """Run attacks on a release, each with baseline and interval.

    Exit code 0: the attacks were run; their results are not judged. 2: they could not be run.
    """
    import shoal

    chosen = None if policy is None else shoal.Policy.load(policy)
    notes = Notes(verbose=verbose)
    if chosen is not None and chosen.tables:
        single = {"quasi": quasi, "sensitive": sensitive, "subject": subject, "key": key, "in-order": in_order}
        given.refuse_single(
            {
                **single,
                "register": external,
                "outsiders": outsiders,
                "also": also,
                "ceilings": ceilings,
                "values": values,
                "pictures": pictures,
            }
        )
        settings = {"attacks": given.names(only), "targets": targets, "seed": seed}
        _of_dataset(given.dataset_of(original, options, chosen, notes), release, settings, notes, json=json)
        return
    table = given.load(original, options, chosen, notes)
    with progress_bar() as hook:
        attacked = shoal.attack(
            table,
            given.load(release, options, notes=notes),
            chosen,
            quasi=given.names(quasi),
            sensitive=given.names(sensitive),
            subject=subject,
            external=None if external is None else given.load(external, options, notes=notes),
            outsiders=None if outsiders is None else given.load(outsiders, options, notes=notes),
            also=[given.load(other, options, notes=notes) for other in also or []],
            key=given.names(key),
            in_order=in_order,
            values=[given.load(table, options, notes=notes) for table in values] if values else None,
            link=link,
            attacks=given.names(only),
            targets=targets,
            ceilings=ceilings,
            seed=seed,
            progress=hook,
        )
    if only is not None and not attacked.results:
        reasons = _not_run(attacked)
        raise AttackError("no-attack", "None of the attacks could be run: {reasons}.", reasons=reasons)
    if pictures is not None:
        drawn = {"attacks": shoal.charts.attacks(attacked), "wp216": shoal.charts.wp216(attacked), **_curves(attacked)}
        draw(pictures, drawn, force=force)
    if json:
        document("attack", attacked.to_dict())
        return
    show(attacked, console())
    notes.show_last(_notes(attacked))


def _of_dataset(dataset: "Dataset", release: Any, settings: dict[str, Any], notes: Notes, *, json: bool) -> None:
    """Attack the tables of a dataset, and print the results."""
    import shoal

    with progress_bar() as hook:
        tried = shoal.attack(dataset, release, progress=hook, **settings)
    if json:
        document("attack", tried.to_dict())
        return
    each_table(tried.tables, show, console())
    found = {note: None for one in tried.tables.values() for note in _notes(one)}
    notes.show_last((*tried.notes, *found))


def _notes(attacked: "Attacked") -> Iterator[str]:
    """Yield the notes on attacks, the most important first."""
    yield from attacked.notes
    if attacked.left_out:
        yield f"Attacks not run: {_not_run(attacked)}."
    yield from (f"{result.title}: {note}" for result in attacked.results for note in result.notes)


def _not_run(attacked: "Attacked") -> str:
    """Return the attacks that were not run, each with the reason."""
    reasons = ((name, why[:1].lower() + why[1:].rstrip(".")) for name, why in attacked.left_out.items())
    return "; ".join(f"{name} ({why})" for name, why in reasons)


def _curves(attacked: "Attacked") -> dict[str, Any]:
    from shoal import charts

    drawn = [result for result in attacked.results if len(result.curve) > 1]
    return {_file_name(result): charts.knowledge(result) for result in drawn}


def _file_name(result: "Result") -> str:
    """Return the file name of the chart of an attack, without its suffix."""
    variant = result.variant.replace(", ", "-").replace(" ", "-")
    return "-".join(part for part in (result.attack, variant, result.column) if part)


def _way(result: "Result") -> str:
    """Return the name of an attack and its variant, without its target."""
    return f"{result.attack} ({result.variant})" if result.variant else result.attack


def _show_ceilings(attacked: "Attacked", out: "Console") -> None:
    """Print the success on the original and on a fully suppressed release, if it was measured."""
    measured = [result for result in attacked.results if result.ceiling is not None]
    if not measured:
        return
    table = grid("attack", "suppressed", "release", "original")
    for result in measured:
        floor = "–" if result.floor is None else share(result.floor.value)
        ceiling = "–" if result.ceiling is None else share(result.ceiling.value)
        table.add_row(plain(result.title), floor, share(result.success.value), ceiling)
    out.print("\nSuccess if all quasi-identifiers are suppressed, on the release, and on the original:")
    out.print(table)


def show(attacked: "Attacked", out: "Console") -> None:
    """Print the success of each attack, and the risks of WP216."""
    from shoal.attacks.attack import ATTACKS

    controlled = any(result.control is not None for result in attacked.results)
    wide = out.width >= _WIDE
    references = ("baseline", *(("control",) if controlled else ()))
    names = ("attack", *(("targets",) if wide else ()), "success (95% CI)", *references, "gain (pp, 95% CI)")
    table = grid(*names)
    table.columns[0].overflow = "fold"
    gain = 22 if wide or not controlled else 16  # five columns in 80 characters: long intervals take two lines
    if not wide:
        table.columns[0].max_width = 20 if not controlled else 17
    for column, width in zip(
        table.columns[1:], (*((7,) if wide else ()), 17, 8, *((7,) if controlled else ()), gain), strict=True
    ):
        column.min_width = width
    for result in attacked.results:
        success = result.success
        control = "–" if result.control is None else share(result.control.value)
        table.add_row(
            plain(result.title),
            *((f"{result.targets:,}",) if wide else ()),
            f"{share(success.value)} ({result.interval})",
            share(result.baseline),
            *((control,) if controlled else ()),
            result.gained_points,
        )
    out.print(table)
    _show_ceilings(attacked, out)
    out.print("\nSuccess and baseline:")
    for name, result in {_way(result): result for result in attacked.results}.items():
        out.print(f"  {plain(name)}: {plain(result.says)}; baseline: {ATTACKS[result.attack].baseline_is}")
    out.print(
        "\nRisks of WP216, each with the attack with the largest gain relative to 100% − baseline, among "
        "the significant ones if there are any:"
    )
    for question, best in attacked.card().items():
        outcome = f"not assessed: {attacked.why_not_assessed(question)}"
        if best is not None:
            present = "present" if best.is_sure else "no significant gain"
            whole = counted(best.targets, ATTACKS[best.attack].unit)
            figures = f"{share(best.success.value)} of {whole}, baseline {share(best.baseline)}"
            if best.ceiling is not None:
                figures += f", on the original {share(best.ceiling.value)}"
            outcome = f"{present}; attack {best.title}: {figures}"
        out.print(f"  risk of {question}: {plain(outcome)}")
    if attacked.off_card:
        out.print(f"  [dim]{attacked.off_card}[/dim]")
