"""The application that the commands belong to."""

from typing import Annotated

import typer

from shoal import __version__
from shoal.cli import demo, init, schema

app = typer.Typer(
    name="shoal",
    help="Health data from the raw table to a release its owner can defend.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    del version


app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("schema")(schema.schema)
