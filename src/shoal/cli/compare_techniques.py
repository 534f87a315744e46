"""``shoal compare-techniques``: every technique on one table, at comparable risk."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.output import console, document, progress_bar
from shoal.cli.pictures import draw


@given.reading
def compare_techniques(  # noqa: PLR0913, PLR0917 - options of a command
    data: given.Source,
    options: dict[str, Any],
    policy: Annotated[
        Path, typer.Option("--policy", "-p", help="Policy file with roles, hierarchies and requirements.")
    ],
    predict: Annotated[str | None, typer.Option(help="Column to predict by a model trained on each release.")] = None,
    survival: Annotated[
        str | None, typer.Option(help="Survival analysis: TIME,EVENT or TIME,EVENT,GROUP, such as days,died,arm.")
    ] = None,
    targets: Annotated[int, typer.Option(min=1, help="Maximum number of targets of each attack.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of random choices.")] = 0,
    pictures: Annotated[Path | None, typer.Option(help="Folder for a chart.")] = None,
    force: given.Force = False,
    json: given.Json = False,
) -> None:
    """Treat a table by every technique, and compare them.

    For each technique: information loss, predictions, survival curves, and how many individuals attacks re-identify.
    Techniques that generalise meet the requirements of the policy; perturbations are as weak as the risk allows.
    Nothing is released.
    """
    import shoal

    chosen = shoal.Policy.load(policy)
    table = given.load(data, options, chosen)
    with progress_bar() as hook:
        comparison = shoal.compare_techniques(
            table,
            chosen,
            target=predict,
            survival=given.names(survival),
            targets=targets,
            seed=seed,
            progress=hook,
        )
    if pictures is not None:
        draw(pictures, {"techniques": shoal.charts.techniques(comparison)}, force=force)
    if json:
        document("compare-techniques", comparison.to_dict())
    else:
        console().print(comparison.sheet().text(), markup=False, highlight=False, soft_wrap=True)
