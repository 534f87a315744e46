"""The application with all commands."""

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from shoal import __version__
from shoal.cli import (
    anonymize,
    assess,
    attack,
    compare,
    compare_forms,
    compare_techniques,
    demo,
    dimension,
    identify,
    init,
    peers,
    plan,
    presets,
    query_error,
    report,
    schema,
    serve,
)
from shoal.errors import Cancelled

app = typer.Typer(
    name="shoal",
    help="Anonymise health data: from the raw table to a release that its owner can defend.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
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


def _stoppable(command: Callable[..., None]) -> Callable[..., None]:
    """Turn Ctrl-C into an error of shoal; incomplete files have been removed by then."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt:
            raise Cancelled("stopped", "Stopped. No incomplete file was left behind.") from None

    return run


for _name, _command in (
    ("demo", demo.demo),
    ("init", init.init),
    ("identify", identify.identify),
    ("dimension", dimension.dimension),
    ("plan", plan.plan),
    ("assess", assess.assess),
    ("peers", peers.peers),
    ("anonymize", anonymize.anonymize),
    ("compare", compare.compare),
    ("query-error", query_error.query_error),
    ("compare-forms", compare_forms.compare_forms),
    ("compare-techniques", compare_techniques.compare_techniques),
    ("attack", attack.attack),
    ("report", report.report),
    ("serve", serve.serve),
    ("presets", presets.presets),
    ("schema", schema.schema),
):
    app.command(_name)(_stoppable(_command))
