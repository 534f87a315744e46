"""``shoal compare-forms``: one table or several, at the same probability of a sensitive value."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.output import console, document, progress_bar
from shoal.cli.pictures import draw


@given.reading
def compare_forms(  # noqa: PLR0913, PLR0917 - options of a command
    data: given.Source,
    options: dict[str, Any],
    policy: Annotated[
        Path, typer.Option("--policy", "-p", help="Policy file with roles, hierarchies and requirements.")
    ],
    diversity: Annotated[
        int | None,
        typer.Option("-l", "--diversity", min=2, help="Number of values (default: as the policy requires, or 3)."),
    ] = None,
    queries: Annotated[int, typer.Option(min=1, help="Number of count queries.")] = 200,
    targets: Annotated[int, typer.Option(min=1, help="Maximum number of targets of the attack.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of random choices.")] = 0,
    pictures: Annotated[Path | None, typer.Option(help="Folder for a chart.")] = None,
    force: given.Force = False,
    json: given.Json = False,
) -> None:
    """Release a table in every form with the same l, and compare them.

    The forms are one generalised table, buckets and slicing. For each: the error of counts estimated from the release,
    and how many sensitive values an adversary guesses who learns from it. Nothing is released.
    """
    import shoal

    chosen = shoal.Policy.load(policy)
    table = given.load(data, options, chosen)
    with progress_bar() as hook:
        comparison = shoal.compare_forms(
            table, chosen, l=diversity, queries=queries, targets=targets, seed=seed, progress=hook
        )
    if pictures is not None and comparison.figures:
        draw(pictures, {"forms": shoal.charts.forms(comparison)}, force=force)
    if json:
        document("compare-forms", comparison.to_dict())
    else:
        console().print(comparison.sheet().text(), markup=False, highlight=False, soft_wrap=True)
