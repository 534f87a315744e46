"""``shoal demo``: a tour through everything shoal does, on data that nobody has to protect."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.source import Force


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to put the demo's files.")] = Path("shoal-demo"),
    patients: Annotated[int, typer.Option(min=50, help="How many patients the hospital has.")] = 5000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed makes the same hospital.")] = 1,
    force: Force = False,
) -> None:
    """Tour through shoal with made-up data."""
    from shoal.cli.output import console
    from shoal.demo.tour import tour

    tour(folder, console(), patients=patients, seed=seed, force=force)
