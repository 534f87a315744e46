"""``shoal plan``: the size of a table, and the resources to process it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.output import console, document


@given.reading
def plan(
    data: given.Source,
    options: dict[str, Any],
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="Policy file with roles and hierarchies.")
    ] = None,
    quasi: Annotated[str | None, typer.Option(help="Quasi-identifiers, comma-separated.")] = None,
    json: given.Json = False,
) -> None:
    """Estimate time and memory from a sample.

    The estimate covers assessing and anonymising a table.

    Exit code 0: the table fits this machine. 1: it does not. 2: no estimate could be made.
    """
    import shoal

    plan = shoal.plan(data, policy, quasi=given.names(quasi), **options)
    if json:
        document("plan", plan.to_dict())
    else:
        console().print(plan.sheet().text(), markup=False, highlight=False, soft_wrap=True)
    if not plan.fits:
        raise typer.Exit(1)
