"""``shoal compare``: information loss and privacy of releases, with several candidates side by side."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.assess import Quasi, Sensitive, Subject
from shoal.cli.output import Notes, console, document, each_table, grid, plain, progress_bar
from shoal.cli.pictures import draw
from shoal.words import counted, share, short

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.analyses.comparison import Comparison
    from shoal.charts import Chart
    from shoal.dataset.dataset import Dataset
    from shoal.qualities.quality import Measured
    from shoal.recoding.placing import Remark

Releases = Annotated[
    list[given.Place],
    typer.Argument(parser=given.place, metavar="RELEASE", help="One or more releases of the original."),
]
Policy = Annotated[Path | None, typer.Option("--policy", "-p", help="Policy file with roles and hierarchies.")]


@given.reading
def compare(  # noqa: PLR0913, PLR0917 - options of a command
    original: given.Original,
    releases: Releases,
    options: dict[str, Any],
    policy: Policy = None,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    subject: Subject = None,
    key: Annotated[
        str | None, typer.Option(help="Columns that identify a record in both tables, comma-separated.")
    ] = None,
    in_order: Annotated[bool, typer.Option("--in-order", help="Match records by position.")] = False,
    target: Annotated[str | None, typer.Option(help="Target of the classification metric.")] = None,
    qualities: Annotated[str | None, typer.Option(help="Quality measures, comma-separated (default: all).")] = None,
    learn: Annotated[
        str | None, typer.Option(help="Predict this column with models trained on the original and the release.")
    ] = None,
    outcome: Annotated[str | None, typer.Option(help="Outcome of a regression on the columns of --on.")] = None,
    time: Annotated[str | None, typer.Option(help="Column with the time of a survival analysis.")] = None,
    event: Annotated[
        str | None,
        typer.Option(help="Event of a survival analysis: a column with two values, or COLUMN=VALUE such as status=2."),
    ] = None,
    by: Annotated[str | None, typer.Option(help="Group survival curves by this column.")] = None,
    on: Annotated[
        str | None, typer.Option(help="Explanatory columns for --outcome, --time and --learn, comma-separated.")
    ] = None,
    subgroups: Annotated[
        str | None, typer.Option(help="Compare the suppressed share between the values of these columns.")
    ] = None,
    model: Annotated[str, typer.Option(help="Learning model: boosting, forest, linear or network.")] = "boosting",
    where: Annotated[
        str | None, typer.Option(help="Analyse only the records with this value: COLUMN=VALUE, such as visit=1.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the assignment to folds.")] = 0,
    pictures: Annotated[Path | None, typer.Option(help="Folder for charts of every column before and after.")] = None,
    force: given.Force = False,
    json: given.Json = False,
    verbose: given.Verbose = False,
) -> None:
    """Compare releases with their original.

    The comparison covers information loss, privacy models and, on request, analyses.

    Exit code 0: the comparison was made; its results are not judged. 2: it could not be made.
    """
    import shoal
    from shoal.cli import analyses

    asked = analyses.Asked(learn, outcome, time, event, by, given.names(on), given.names(subgroups), model, seed, where)
    chosen = shoal.Policy.load(policy) if policy is not None else None
    notes = Notes(verbose=verbose)
    if chosen is not None and chosen.tables:
        single = {"quasi": quasi, "sensitive": sensitive, "subject": subject, "key": key, "in-order": in_order}
        single |= {"target": target, "learn": learn, "outcome": outcome, "time": time, "event": event, "by": by}
        given.refuse_single({**single, "subgroups": subgroups, "where": where, "pictures": pictures})
        dataset = given.dataset_of(original, options, chosen, notes)
        _several(dataset, releases, given.names(qualities), notes, json=json)
        return
    stated = chosen is not None and "suppressed" in chosen.data.read.model_fields_set
    before = given.load(original, options if stated else {"suppressed": "*", **options}, chosen, notes)
    asked.check(before)
    comparisons = {}
    for path in releases:
        after = given.load(path, {"suppressed": "*", **options}, notes=notes)
        comparisons[path] = shoal.compare(
            before,
            after,
            chosen,
            quasi=given.names(quasi),
            sensitive=given.names(sensitive),
            subject=subject,
            key=given.names(key),
            in_order=in_order,
            target=target,
            qualities=given.names(qualities),
        )
    done = {path: analyses.analyse(comparison, asked) for path, comparison in comparisons.items()}
    if json:
        document("compare", result(comparisons, {path: analyses.result(analysed) for path, analysed in done.items()}))
    else:
        show(comparisons, console(), verbose=verbose)
        for path, analysed in done.items():
            if len(done) > 1 and analysed.any:
                console().print(f"\n[bold]{plain(path.name)}[/bold]")
            analyses.show(analysed, console())
        many = len(comparisons) > 1
        notes.show_last(note for path, each in comparisons.items() for note in _notes(path, each, many=many))
    if pictures is not None:
        draw(pictures, _charts(comparisons), force=force)


def _several(dataset: "Dataset", releases: list[Any], qualities: list[str] | None, notes: Notes, *, json: bool) -> None:
    """Compare the released tables of a dataset with their originals."""
    import shoal
    from shoal.errors import RecodingError

    if len(releases) > 1:
        raise RecodingError("one-release", "A dataset is compared with one release at a time.")
    with progress_bar() as hook:
        compared = shoal.compare(dataset, releases[0], qualities=qualities, progress=hook)
    if json:
        document("compare", compared.to_dict())
        return
    each_table(compared.tables, lambda table, out: show({releases[0]: table}, out), console())
    notes.show_last(compared.notes)


def result(comparisons: "dict[Path, Comparison]", analyses: dict[Path, dict[str, Any]]) -> dict[str, Any]:
    """Return the comparisons as plain data; a single one without a list around it."""
    documents = [
        {"release": str(path), **comparison.to_dict(), "analyses": analyses[path]}
        for path, comparison in comparisons.items()
    ]
    return documents[0] if len(documents) == 1 else {"releases": documents}


def show(comparisons: "dict[Path, Comparison]", out: "Console", *, verbose: bool = False) -> None:
    """Print the cost by measure, the privacy before and after, and the outcome of the cells of each column."""
    first = next(iter(comparisons.values()))
    names = [plain(name) for name in _names(list(comparisons)).values()]
    about = f"[dim]quasi-identifiers: {plain(', '.join(first.quasi))}[/dim]"
    released = " " if len(comparisons) > 1 else f", {first.released:,} released "
    out.print(f"[bold]{counted(first.records, 'record')}{released}[/bold] {about}", soft_wrap=True)
    _show_cost(comparisons, names, out)
    _show_perturbed(comparisons, names, out)
    _show_privacy(comparisons, names, out)
    _show_meanings(first, out, verbose=verbose)
    if len(comparisons) == 1 and first.columns:
        _show_columns(first, out)


def _show_cost(comparisons: "dict[Path, Comparison]", names: list[str], out: "Console") -> None:
    """Print the measures, grouped by aspect."""
    from shoal.qualities.quality import Aspect

    first = next(iter(comparisons.values()))
    out.print(
        "\n[bold]Information loss[/bold]  [dim]cost: 0 = no loss, 1 = total loss; value: in the unit of the "
        "measure[/dim]"
    )
    sheet = (
        grid("  measure: cost (value)", *names)
        if len(comparisons) > 1
        else grid("  measure", "cost", "value", "costliest column")
    )
    for aspect in Aspect:
        costs = {
            name: measured
            for name, measured in first.quality.items()
            if measured.aspect is aspect and measured.total is not None
        }
        if costs:
            sheet.add_row(f"  [dim]{aspect}[/dim]")
        for name, measured in costs.items():
            several = [_cell(other.quality.get(name)) for other in comparisons.values()]
            sheet.add_row(f"  {measured.title}", *(several if len(comparisons) > 1 else _single(measured, first.quasi)))
    out.print(sheet)


def _show_perturbed(comparisons: "dict[Path, Comparison]", names: list[str], out: "Console") -> None:
    """Print how much the values of each perturbed column changed."""
    shown = {(column, name) for each in comparisons.values() for column, of in each.perturbed.items() for name in of}
    if not shown:
        return
    out.print("\n[bold]Perturbed columns[/bold]  [dim]not included in the information loss[/dim]")
    sheet = grid("  column", "measure", *(names if len(comparisons) > 1 else ["value"]))
    for column, name in sorted(shown):
        scores = [each.perturbed.get(column, {}).get(name) for each in comparisons.values()]
        sheet.add_row(f"  {plain(column)}", name, *("–" if score is None else short(score.value) for score in scores))
    out.print(sheet)


def _show_meanings(comparison: "Comparison", out: "Console", *, verbose: bool) -> None:
    """Print the meaning of each measure and model on request, and otherwise how to ask for it."""
    from shoal.models.model import MODELS
    from shoal.qualities.quality import QUALITIES
    from shoal.words import first_sentence

    if not verbose:
        out.print("\n[dim]--verbose: the meaning of each measure and model[/dim]")
        return
    meanings = {name: first_sentence(QUALITIES[name]) for name in comparison.quality if name in QUALITIES}
    meanings |= {name: first_sentence(MODELS[name]) for name in comparison.before if name in MODELS}
    out.print("\n[bold]Measures and models[/bold]")
    for name, meaning in meanings.items():
        out.print(f"  {name}: {plain(meaning)}")


def _single(measured: "Measured", quasi: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cost, the value, and the quasi-identifier with the highest cost."""
    if measured.total is None:
        return ()
    costs = {name: measured.columns[name].cost for name in quasi if name in measured.columns}
    dearest = max(costs, key=lambda name: costs[name], default=None)
    where = f"[dim]{plain(dearest)} {short(costs[dearest])}[/dim]" if dearest and costs[dearest] > 0 else ""
    left = sum(name in measured.left_out for name in quasi)
    where += f" [dim](defined for {counted(len(quasi) - left, 'column')})[/dim]" if left else ""
    return short(measured.total.cost), measured.amount, where


def _cell(measured: "Measured | None") -> str:
    if measured is None or measured.total is None:
        return "–"
    return f"{short(measured.total.cost)} [dim]({short(measured.total.value)})[/dim]"


def _show_privacy(comparisons: "dict[Path, Comparison]", names: list[str], out: "Console") -> None:
    from shoal.models.model import MODELS

    first = next(iter(comparisons.values()))
    if not first.before:
        return
    out.print(
        "\n[bold]Privacy models[/bold]  [dim]attained values; with several sensitive columns, the worst of them[/dim]"
    )
    sheet = grid("  model", "before", *(names if len(comparisons) > 1 else ["after"]), "better")
    sheet.columns[0].no_wrap = True
    for name, value in first.before.items():
        after = (_attained(name, comparison.after.get(name)) for comparison in comparisons.values())
        sheet.add_row(f"  {name}", _attained(name, value), *after, f"[dim]{_direction(name)}[/dim]")
    out.print(sheet)
    for notation in dict.fromkeys(MODELS[name].notation for name in first.before):
        if notation:
            out.print(f"  [dim]{notation}.[/dim]")


def _direction(model: str) -> str:
    """Return whether higher or lower values of a model are better."""
    from shoal.models.model import MODELS, Better

    words = {part: "higher" if better is Better.MORE else "lower" for part, better in MODELS[model].measured.items()}
    same = set(words.values())
    return same.pop() if len(same) == 1 else ", ".join(f"{part} {word}" for part, word in words.items())


def _attained(model: str, value: Any) -> str:
    """Return the attained value of a model with the name of its parameter."""
    from shoal.models.model import MODELS

    if value is None or isinstance(value, dict):
        return _written(value)
    kind = MODELS[model]
    fixed = ", ".join(f"{name} = {kind.model_fields[name].default}" for name in kind.always)
    return f"{next(iter(kind.measured))} {_written(value)}{f' ({fixed})' if fixed else ''}"


def _written(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_written(part)}" for name, part in value.items())
    return short(value)


def _show_columns(comparison: "Comparison", out: "Console") -> None:
    """Print the outcome of the cells; columns other than quasi-identifiers share a row if their outcomes are equal."""
    out.print("\n[bold]Cells[/bold]  [dim]shares of all original records[/dim]")
    sheet = grid("  column", "unchanged", "generalised", "suppressed", "changed")
    others: dict[tuple[str, ...], list[str]] = {}
    for name, fates in comparison.columns.items():
        whole = max(sum(asdict(fates).values()), 1)
        shares = tuple(share(number / whole) for number in asdict(fates).values())
        if name in comparison.quasi:
            sheet.add_row(f"  {plain(name)}", *shares)
        else:
            others.setdefault(shares, []).append(name)
    if others:
        sheet.add_row("  [dim]other columns[/dim]")
    for shares, names in others.items():
        sheet.add_row(f"  {plain(names[0] if len(names) == 1 else counted(len(names), 'column'))}", *shares)
    out.print(sheet)


def _notes(path: Path, comparison: "Comparison", *, many: bool) -> Iterator[str]:
    """Yield the notes on a comparison, the most important first."""
    where = f"{path.name}: " if many else ""
    yield from (f"{where}{note}" for note in comparison.notes)
    for text in comparison.remarks:
        yield f"{where}Column '{text.column}', {counted(text.records, 'record')}: {text.says}{_texts(text)}."
    omitted = "; ".join(f"{name} ({why.rstrip('.')})" for name, why in comparison.left_out.items())
    if omitted:
        yield f"{where}Measures not computed: {omitted}."


def _texts(remark: "Remark") -> str:
    """Return the number of texts that a remark concerns; ``--json`` lists them."""
    return f" ({counted(len(remark.texts), 'text')}; --json lists them)" if remark.texts else ""


def _names(paths: list[Path]) -> dict[Path, str]:
    """Return a short name for each release: its file name, unless two are the same."""
    stems = [path.stem for path in paths]
    return {path: path.stem if stems.count(path.stem) == 1 else given.long_name(path) for path in paths}


def _charts(comparisons: "dict[Path, Comparison]") -> "dict[str, Chart]":
    from shoal import charts

    names = _names(list(comparisons))
    drawn = {"costs": charts.costs({names[path]: comparison.quality for path, comparison in comparisons.items()})}
    for path, comparison in comparisons.items():
        for column in comparison.recoding.columns:
            drawn[f"{names[path]}-{column.name}"] = charts.before_after(column)
    return drawn
