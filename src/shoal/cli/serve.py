"""``shoal serve``: the workbench in a browser on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.output import remark
from shoal.errors import ShoalError


def serve(
    data: Annotated[Path | None, typer.Argument(help="File, or folder of linked tables, to load.")] = None,
    policy: Annotated[Path | None, typer.Option("--policy", "-p", help="Policy to load.")] = None,
    project: Annotated[
        Path | None, typer.Option(help="Folder for the project (default: deleted when the workbench stops).")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port (0 = any free port).")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Open the workbench in a browser. Only this machine can access it, and only with the printed link."""
    try:
        from shoal.web.server import run
    except ImportError:
        raise ShoalError(
            "not-installed",
            "The workbench requires Starlette and uvicorn, which are not installed.",
            remedy='Run pip install "shoal[web]".',
        ) from None
    run(data, policy, project, port, announce=remark, browser=browser)
