"""``shoal demo``: a tour of shoal with generated data."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.source import Force


def demo(
    folder: Annotated[Path, typer.Argument(help="Folder for the files of the demo.")] = Path("shoal-demo"),
    patients: Annotated[int, typer.Option(min=50, help="Number of patients.")] = 5000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated data.")] = 1,
    force: Force = False,
) -> None:
    """Tour of shoal with generated data."""
    from shoal.cli.output import console
    from shoal.demo.tour import tour

    tour(folder, console(), patients=patients, seed=seed, force=force)
