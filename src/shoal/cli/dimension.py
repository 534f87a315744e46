"""``shoal dimension``: the number of quasi-identifiers to generalise."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.output import console, document, grid, plain
from shoal.cli.pictures import draw
from shoal.errors import ModelError
from shoal.words import short

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.identification.dimension import Dimension, Step


@given.reading
def dimension(  # noqa: PLR0913, PLR0917 - options of a command
    data: given.Source,
    options: dict[str, Any],
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="Policy file with roles and requirements.")
    ] = None,
    quasi: Annotated[str | None, typer.Option(help="Quasi-identifiers, comma-separated.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns, comma-separated.")] = None,
    subject: Annotated[str | None, typer.Option(help="Column that identifies the individual of a record.")] = None,
    order: Annotated[
        str | None,
        typer.Option(help="Order of the quasi-identifiers (default: descending mean of 1 / frequency of the values)."),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(
            help="Level of a column, as NAME=2 (default: the highest level below full suppression, if there is one)."
        ),
    ] = None,
    table: Annotated[
        list[given.Place] | None,
        typer.Option(
            parser=given.place,
            metavar="DATA",
            help="Table generalised by another tool. Repeat it: with the first column of the order generalised, with "
            "the first two, and so on.",
        ),
    ] = None,
    subsets: Annotated[bool, typer.Option("--subsets", help="Evaluate every subset of the columns.")] = False,
    distance: Annotated[
        str, typer.Option(help="Distance between sensitive values: equal, ordered, hierarchical or kl.")
    ] = "equal",
    pictures: Annotated[Path | None, typer.Option(help="Folder for charts of gain and loss.")] = None,
    force: given.Force = False,
    json: given.Json = False,
) -> None:
    """Find the number of columns to generalise.

    Quasi-identifiers are generalised one after another; each step reports risk and information loss (Menten 2024).
    """
    import shoal
    from shoal.policy.policy import Policy

    chosen = None if policy is None else Policy.load(policy)
    dimension = shoal.dimension(
        given.load(data, options, chosen),
        chosen,
        quasi=given.names(quasi),
        sensitive=given.names(sensitive),
        subject=subject,
        order=given.names(order),
        levels=_levels(level or []),
        tables=[given.load(path, options) for path in table] if table else None,
        subsets=subsets,
        distance=distance,
    )
    if pictures is not None:
        draw(pictures, {"trade-off": shoal.charts.trade_off(dimension)}, force=force)
    if json:
        document("dimension", dimension.to_dict())
    else:
        show(dimension, console())


def _levels(texts: list[str]) -> dict[str, int]:
    levels = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        if not name or not number.isdecimal():
            raise ModelError("bad-level", "A level must be given as NAME=LEVEL, for example age=2.")
        levels[name] = int(number)
    return levels


def show(dimension: "Dimension", out: "Console") -> None:
    """Print the gain and the cost of each step, and the recommended dimensions."""
    table = grid("generalised", "k", "gain in k", "l", "t", "unique", "NUE (nats)", "lost")
    for step in (dimension.before, *dimension.steps):
        table.add_row(
            plain(_called(step, dimension)),
            f"{step.k:,}",
            f"{step.privacy_gain:,}",
            "/".join(map(str, step.l.values())) or "-",
            f"{short(max(map(float, step.t.values())))}" if step.t else "-",
            f"{step.unique:,}",
            f"{step.loss:,.1f}",
            f"{short(step.percent)} %",
        )
    out.print(table)
    out.print(f"[dim]{'. '.join(_legend(dimension))}.[/dim]")
    named = (
        ("Menten 2024, published program", dimension.published),
        ("Menten 2024, published rule", dimension.repaired),
        ("shoal, smallest loss that meets the requirements", dimension.principled),
    )
    out.print("\nNumber of columns to generalise, by three rules:")
    for name, choice in named:
        named_columns = f" ({', '.join(choice.columns)})" if choice.columns else ""
        best = "none" if choice.columns is None else f"{len(choice.columns)}{named_columns}"
        out.print(f"  {name}: {plain(best)}: {choice.because}")


def _legend(dimension: "Dimension") -> list[str]:
    """Explain the columns of the table."""
    legend = [
        "gain in k: over the original; unique: individuals in classes of their own",
        "NUE: non-uniform entropy lost; lost: its share of the maximum",
    ]
    if len(dimension.before.l) > 1:
        legend.insert(0, f"l for {', '.join(map(plain, dimension.before.l))}, in this order; t is the largest of them")
    return legend


def _called(step: "Step", dimension: "Dimension") -> str:
    """Return the last column of a prefix, or all columns if other subsets were evaluated as well."""
    if not step.columns:
        return "nothing"
    prefix = step.columns == dimension.order[: step.dimension] and len(dimension.steps) == len(dimension.order)
    return f"{'+ ' if step.dimension > 1 else ''}{step.columns[-1]}" if prefix else ", ".join(step.columns)
