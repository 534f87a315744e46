"""``shoal query-error``: the error of counts that are estimated from a release."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.assess import Quasi, Sensitive
from shoal.cli.output import console, document

Policy = Annotated[Path | None, typer.Option("--policy", "-p", help="Policy file with roles and hierarchies.")]


@given.reading
def query_error(  # noqa: PLR0913, PLR0917 - options of a command
    original: given.Original,
    release: Annotated[
        given.Place,
        typer.Argument(parser=given.place, metavar="RELEASE", help="The release, made by shoal or by another tool."),
    ],
    options: dict[str, Any],
    policy: Policy = None,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    values: given.FurtherTables = None,
    link: given.Link = None,
    number: Annotated[int, typer.Option("--queries", min=1, help="Number of count queries.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the queries.")] = 0,
    json: given.Json = False,
) -> None:
    """Estimate random counts from a release, and compare them with the original.

    Each query counts the records with given values of one to three quasi-identifiers and a sensitive column. Releases
    in one and in several tables are comparable.
    """
    import shoal

    chosen = None if policy is None else shoal.Policy.load(policy)
    error = shoal.query_error(
        given.load(original, {"suppressed": "*", **options}, chosen),
        given.load(release, {"suppressed": "*", **options}),
        chosen,
        quasi=given.names(quasi),
        sensitive=given.names(sensitive),
        values=[given.load(table, {"suppressed": "*", **options}) for table in values] if values else None,
        link=link,
        number=number,
        seed=seed,
    )
    if json:
        document("query-error", error.to_dict())
    else:
        console().print(error.sheet().text(), markup=False, highlight=False, soft_wrap=True)
