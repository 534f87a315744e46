"""``shoal identify``: a role for each column, with reasons."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.init import Purpose
from shoal.cli.output import console, document, each_table, grid, plain, progress_bar, remark
from shoal.cli.pictures import draw
from shoal.errors import WriteError
from shoal.words import share as share_of
from shoal.words import short

_NAME = 24  # characters of a name that are not divided on narrow screens

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.charts import Chart
    from shoal.identification.contribution import Key
    from shoal.identification.g_distinct import GDistinct
    from shoal.identification.identification import Identification
    from shoal.identification.of_dataset import DatasetIdentification

Method = Annotated[
    str,
    typer.Option(
        help="Method: evidence (names and values), or g-distinct (risk rates of Menten 2024: the mean "
        "of 1 / frequency over the distinct values)."
    ),
]
Compat = Annotated[
    str | None, typer.Option(help="menten-2024: reproduce the figures of Menten 2024, with rounded rates (g-distinct).")
]


@given.reading
def identify(  # noqa: PLR0913, PLR0917 - options of a command
    data: given.Source,
    options: dict[str, Any],
    write: Annotated[Path | None, typer.Option(help="Write a starter policy to this file.")] = None,
    purpose: Purpose = "public",
    subject: Annotated[str | None, typer.Option(help="Column that identifies the individual of a record.")] = None,
    orders: Annotated[
        int | None,
        typer.Option(
            min=4,
            help="Number of random permutations of the columns to estimate contributions to uniqueness "
            "(Shapley values), if there are too many subsets of columns.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of random choices.")] = 0,
    method: Method = "evidence",
    alpha: Annotated[
        float, typer.Option(help="g-distinct: columns with a risk rate above α percent are sensitive.")
    ] = 25.0,
    beta: Annotated[
        float, typer.Option(help="g-distinct: risk rates from β to α percent are quasi-identifiers.")
    ] = 1.0,
    direct: Annotated[str | None, typer.Option(help="Columns known to be direct identifiers, comma-separated.")] = None,
    compat: Compat = None,
    pictures: Annotated[Path | None, typer.Option(help="Folder for charts of the contributions to uniqueness.")] = None,
    json: given.Json = False,
    force: given.Force = False,
) -> None:
    """Propose a role for each column, with reasons."""
    from shoal.identification.purpose import purpose_of
    from shoal.verbs.identify import identify

    purpose_of(purpose)  # refuses an unknown purpose before anything is computed
    if write is not None and write.exists() and data.exists() and write.samefile(data):
        raise WriteError(
            "overwrites-input", "The policy would overwrite the data.", remedy="Give another name with --write."
        )
    dataset = given.load_dataset(data, options)
    if dataset is not None:
        single = {"subject": subject, "direct": direct, "compat": compat, "pictures": pictures}
        given.refuse_single({**single, "method": method if method != "evidence" else None})
        with progress_bar() as hook:
            _several(
                identify(dataset, orders=orders, seed=seed, progress=hook), data, options, purpose, write, json, force
            )
        return
    table = given.load(data, options)
    with progress_bar() as hook:
        identification = identify(
            table,
            subject=subject,
            direct=given.names(direct) or (),
            method=method,
            alpha=alpha,
            beta=beta,
            compat=compat,
            orders=orders,
            seed=seed,
            progress=hook,
        )
    if write is not None:
        _write(identification.starter(data.name, options, purpose=purpose), write, table.source.files, force=force)
    if pictures is not None:
        draw(pictures, _charts(identification), force=force)
    if json:
        document("identify", identification.to_dict())
        return
    show(identification, console())
    if identification.rates is not None:
        _tell_rates(identification.rates)
    if write is not None:
        remark(f"Written: {write}. Review the proposed roles line by line.")


def _several(  # noqa: PLR0913, PLR0917 - options of the command
    found: "DatasetIdentification",
    data: Any,
    options: dict[str, Any],
    purpose: str,
    write: Path | None,
    json: bool,
    force: bool,
) -> None:
    """Print the proposed roles and references of linked tables, and write their starter policy."""
    if write is not None:
        inputs = [file for table in found.tables.values() for file in table.table.source.files]
        _write(found.starter(data.name, options, purpose=purpose), write, tuple(inputs), force=force)
    if json:
        document("identify", found.to_dict())
        return
    out = console()
    each_table(found.tables, show, out)
    show_references(found, out)
    if write is not None:
        remark(f"Written: {write}. Review the proposed roles line by line.")


def show_references(found: "DatasetIdentification", out: "Console") -> None:
    """Print the references between tables, and the column that identifies individuals."""
    out.print("\n[bold]References between tables[/bold]")
    for reference in found.references:
        out.print(f"  {plain(str(reference))}")
    if not found.references:
        out.print("  none")
    out.print("\n[bold]Individuals[/bold]")
    for table, column in found.subjects.items():
        out.print(f"  identified by {plain(f'{table}.{column}')}")
    if not found.subjects:
        out.print("  No column identifies individuals: every record is counted as an individual.")


def _write(text: str, path: Path, never: tuple[Path, ...], *, force: bool) -> None:
    from shoal.fileset import replacing

    with replacing(path, force=force, never=never) as beside:
        beside.write_text(text, encoding="utf-8")


def show(identification: "Identification", out: "Console") -> None:
    """Print the proposed roles, and the evidence on combinations of columns."""
    from shoal.identification.identification import CONTRIBUTION

    table = grid("column", "role", "reasons and remarks", "contrib.\n(pp)")
    for column in table.columns[1:3]:
        column.justify = "left"
    table.columns[0].min_width = min(max(map(len, identification.columns), default=0), _NAME)
    table.columns[0].max_width = 40
    for name, finding in identification.columns.items():
        reasons = plain(" ".join((*finding.reasons, finding.confidence.remark)).rstrip())
        table.add_row(plain(name), str(finding.role), reasons, finding.points)
    out.print(table)
    if identification.question is not None:
        out.print(f"\n[bold]{plain(identification.question)}[/bold]")
    parts = identification.contribution
    if parts is not None:
        out.print(f"[dim]{CONTRIBUTION}[/dim]")
        known = ", ".join(f"{number}: {share_of(share)}" for number, share in enumerate(parts.by_number[1:7], 1))
        drawn = "" if parts.orders is None else f" (estimated from {parts.orders} random column orders)"
        out.print(f"\nAverage share of unique individuals by number of known columns{drawn}:\n  {known}")
    if identification.keys:
        exact = parts is not None and parts.exact
        shown = identification.keys[:3]
        more = f" ({len(shown)} of {identification.key_number} sets)" if identification.key_number > len(shown) else ""
        out.print(
            f"\n{'Minimal' if exact else 'Small'} sets of columns that make at least 90% of the individuals "
            f"unique{more}{'' if exact else ', found by a heuristic search'}:"
        )
        for key in shown:
            out.print(f"  {plain(' + '.join(key.columns))} ({_told(key)})")
    if identification.links:
        out.print("\nDependent columns. If both are quasi-identifiers, consider generalising them together (linked):")
        for link in identification.links:
            out.print(f"  {plain(str(link))}")
    flagged = [item for item in identification.hipaa if item.columns]
    out.print(f"\nHIPAA Safe Harbor: {len(flagged)} of 18 identifiers present")
    for item in flagged:
        out.print(f"  {item.letter}  {item.says}: {plain(', '.join(item.columns))}")


def _told(key: "Key") -> str:
    """Return the uniqueness and the separation of a key in words."""
    apart = "" if key.separation is None else f"; {share_of(key.separation)} of all pairs of individuals differ"
    return f"{share_of(key.share)} unique{apart}"


def _charts(identification: "Identification") -> "dict[str, Chart]":
    from shoal import charts

    if identification.contribution is None:
        return {"linked-columns": charts.linked_columns(identification)}
    return {
        "contributions": charts.contributions(identification),
        "known-columns": charts.known_columns(identification),
        "linked-columns": charts.linked_columns(identification),
    }


def _tell_rates(g_distinct: "GDistinct") -> None:
    console().print("\nRisk rate: mean of 1 / frequency over the distinct values of a column.")
    table = grid("column", "risk rate", "values", "role by risk rate")
    for rate in g_distinct.rates:
        table.add_row(plain(rate.name), f"{short(rate.rate)}%", f"{rate.values:,}", str(rate.role))
    console().print(table)
    for name, share in g_distinct.excluded.items():
        remark(f"Not evaluated: {name} ({share_of(share)} missing).")
    for note in g_distinct.advice():
        remark(f"Note: {note}")
