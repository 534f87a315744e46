"""``shoal serve``: the workbench, in a browser on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.output import remark
from shoal.errors import ShoalError


def serve(
    data: Annotated[Path | None, typer.Argument(help="The data to begin with; they are read where they are.")] = None,
    policy: Annotated[Path | None, typer.Option("--policy", "-p", help="A policy to begin with.")] = None,
    project: Annotated[
        Path | None, typer.Option(help="A folder that keeps the work; without it, all goes when you stop.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0: any that is free.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether the page is opened.")] = True,
) -> None:
    """Open the workbench in a browser. Only this machine can reach it, and only with the link that is printed."""
    try:
        from shoal.web.server import run
    except ImportError:
        raise ShoalError(
            "not-installed",
            "The workbench requires Starlette and uvicorn, which are not installed.",
            remedy='Run pip install "shoal[web]".',
        ) from None
    run(data, policy, project, port, announce=remark, browser=browser)
