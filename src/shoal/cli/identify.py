"""``shoal identify``: what each column is, and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.output import console, document, grid, plain, progress_bar, remark
from shoal.cli.pictures import draw
from shoal.errors import WriteError

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.charts import Chart
    from shoal.identification.contribution import Key
    from shoal.identification.g_distinct import GDistinct
    from shoal.identification.identification import Identification

Method = Annotated[
    str, typer.Option(help="What decides. evidence: all that is found out; g-distinct: the risk rates of Menten 2024.")
]
Compat = Annotated[str | None, typer.Option(help="g-distinct, to the digit as published: menten-2024.")]


@given.reading
def identify(  # noqa: PLR0913, PLR0917 - options of a command
    data: given.Source,
    options: dict[str, Any],
    write: Annotated[Path | None, typer.Option(help="Write a policy to start from into this file.")] = None,
    subject: Annotated[str | None, typer.Option(help="The column that says which person a row belongs to.")] = None,
    orders: Annotated[
        int | None, typer.Option(min=4, help="Orders of columns to draw where not all subsets can be counted.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides what is drawn at random.")] = 0,
    method: Method = "evidence",
    alpha: Annotated[float, typer.Option(help="g-distinct: rates above are sensitive.")] = 25.0,
    beta: Annotated[float, typer.Option(help="g-distinct: rates from here to alpha are quasi-identifiers.")] = 1.0,
    direct: Annotated[str | None, typer.Option(help="Columns that are known to name persons, comma-separated.")] = None,
    compat: Compat = None,
    pictures: Annotated[Path | None, typer.Option(help="Draw what makes people unique into this folder.")] = None,
    json: given.Json = False,
    force: given.Force = False,
) -> None:
    """Find out what each column is, and propose a role for it."""
    from shoal.verbs.identify import identify

    if write is not None and write.exists() and data.exists() and write.samefile(data):
        raise WriteError("The policy would overwrite the data.", hint="Give another name with --write.")
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
        _write(identification.starter(data.name, options), write, table.source.files, force=force)
    if pictures is not None:
        draw(pictures, _charts(identification), force=force)
    if json:
        document("identify", identification.to_dict())
        return
    show(identification, console())
    if identification.rates is not None:
        _tell_rates(identification.rates)
    if write is not None:
        remark(f"Wrote {write}. Go through it line by line: the roles in it are proposals.")


def _write(text: str, path: Path, never: tuple[Path, ...], *, force: bool) -> None:
    from shoal.fileset import replacing

    with replacing(path, force=force, never=never) as beside:
        beside.write_text(text, encoding="utf-8")


def show(identification: "Identification", out: "Console") -> None:
    """Print the proposals, and what columns do together."""
    table = grid("column", "role", "why")
    table.columns[1].justify = table.columns[2].justify = "left"
    table.columns[2].no_wrap = False
    table.columns[0].no_wrap, table.columns[0].overflow, table.columns[0].max_width = False, "fold", 40
    for name, column in identification.columns.items():
        table.add_row(plain(name), str(column.role), plain("; ".join(column.reasons)))
    out.print(table)
    parts = identification.contribution
    if parts is not None:
        known = ", ".join(f"{number}: {share:.1%}" for number, share in enumerate(parts.by_number[1:7], 1))
        drawn = "" if parts.orders is None else f" (from {parts.orders} orders of columns, drawn at random)"
        out.print(f"\nPeople who are unique, by how many columns are known{drawn}:\n  {known}")
    if identification.keys:
        exact = parts is not None and parts.exact
        shown = identification.keys[:3]
        more = (
            f" (the first {len(shown)} of {identification.key_number} such sets)"
            if identification.key_number > len(shown)
            else ""
        )
        out.print(f"\n{'The fewest' if exact else 'Few'} columns that make nine in ten people unique{more}:")
        for key in shown:
            out.print(f"  {plain(' + '.join(key.columns))} ({_told(key)})")
    if identification.links:
        out.print("\nColumns that tell the same; treat them together:")
        for link in identification.links:
            out.print(f"  {plain(str(link))}")
    flagged = [item for item in identification.hipaa if item.columns]
    out.print(f"\nHIPAA Safe Harbor, {len(flagged)} of 18 identifiers found:")
    for item in flagged:
        out.print(f"  {item.letter}  {item.says}: {plain(', '.join(item.columns))}")


def _told(key: "Key") -> str:
    """Say what a key does."""
    apart = "" if key.separation is None else f"; {key.separation:.4%} of all pairs of people are told apart"
    return f"{key.share:.1%}{apart}"


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
    table = grid("column", "risk rate", "values", "role")
    for rate in g_distinct.rates:
        table.add_row(plain(rate.name), f"{rate.rate:.2f} %", f"{rate.values:,}", str(rate.role))
    console().print(table)
    for name, share in g_distinct.excluded.items():
        remark(f"Left out: {name}, of which {share:.1%} are missing.")
    for note in g_distinct.advice():
        remark(f"Note: {note}")
