"""Reading options, shared by all commands."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.output import Notes, progress_bar

if TYPE_CHECKING:
    from shoal.dataset.dataset import Dataset
    from shoal.policy.policy import Policy
    from shoal.table.databases.database import Address
    from shoal.table.table import Table

    Place = Any
else:
    Place = Path  # the type that the help shows


def place(text: str) -> "Path | Address":
    """Return a source or an output: the path of files, or the address of a database table."""
    from shoal.table.databases.database import Address, is_address

    return Address.parse(text) if is_address(text) else Path(text)


Source = Annotated[
    Place,
    typer.Argument(
        parser=place, metavar="DATA", help="File, folder, pattern of files, or database address: postgresql://…?table=…"
    ),
]


FurtherTables = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Further table of a release in several tables; may be repeated (default: those that the manifest names).",
    ),
]
Link = Annotated[
    str | None,
    typer.Option(help="Column with the number of the bucket in all tables (default: as the manifest says, or bucket)."),
]

Ceilings = Annotated[
    bool, typer.Option("--ceilings", help="Also attack the original, and a release without quasi-identifiers.")
]
OtherReleases = Annotated[
    list[Path] | None,
    typer.Option(metavar="DATA", help="Another release of the same individuals; may be repeated."),
]

Original = Annotated[Place, typer.Argument(parser=place, metavar="DATA", help="Original data.")]

# Reading options, shared by all commands that read a file.
_READING: dict[str, Any] = {
    "format": Annotated[str | None, typer.Option("--format", help="File format, if the suffix does not identify it.")],
    "separator": Annotated[str | None, typer.Option(help="Field separator (default: detected).")],
    "decimal": Annotated[str | None, typer.Option(help="Decimal separator: . or ,")],
    "encoding": Annotated[str | None, typer.Option(help="Text encoding, such as cp1252 (default: detected).")],
    "header": Annotated[bool | None, typer.Option("--header/--no-header", help="First row is a header.")],
    "skip": Annotated[int | None, typer.Option(help="Number of lines to skip above the header.")],
    "unnamed": Annotated[
        str | None, typer.Option(help="Columns without a name: refuse, drop, or number (assign numbers).")
    ],
    "markers": Annotated[str | None, typer.Option(help="Missing-value codes of all columns, comma-separated: NA,?")],
    "suppressed": Annotated[str | None, typer.Option(help="Text of suppressed cells, such as *.")],
    "text": Annotated[str | None, typer.Option(help="Columns to read as text, comma-separated.")],
    "sheet": Annotated[str | None, typer.Option(help="Sheet of a workbook.")],
    "table": Annotated[str | None, typer.Option(help="Table of a database.")],
    "columns": Annotated[str | None, typer.Option(help="Columns to read, comma-separated (default: all).")],
    "engine": Annotated[str | None, typer.Option(help="Engine: memory, disk (larger than memory), duckdb or spark.")],
}
_LISTS = ("markers", "text", "columns")

Json = Annotated[bool, typer.Option("--json", help="Print a JSON document instead of text.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show all notes.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files or database tables.")]


def same(target: "Path | Address", other: "Path | Address") -> bool:
    """Return whether two sources are the same."""
    if isinstance(target, Path) and isinstance(other, Path):
        return target.exists() and other.exists() and target.samefile(other)
    return target == other


def long_name(target: "Path | Address") -> str:
    """Return an unambiguous name of a source."""
    return str(target.with_suffix("")) if isinstance(target, Path) else f"{target} {target.name}"


def names(given: str | None) -> list[str] | None:
    """Split a comma-separated option."""
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]


def reading(command: Callable[..., None]) -> Callable[..., None]:
    """Add the reading options to a command, which receives those that were given as the dict ``options``.

    The command cannot overwrite a file that it has read.
    """
    own = inspect.signature(command, eval_str=True).parameters
    offered = {name: kind for name, kind in _READING.items() if name not in own}  # a command may define its own option
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in offered.items()
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        from shoal.fileset import protecting_inputs

        options = {name: given.pop(name) for name in offered}
        with protecting_inputs():
            command(**given, options=_options(options))

    kept = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in own.values()
        if parameter.name != "options"
    ]
    signature = inspect.Signature([*kept, *more])
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in signature.parameters.values()}
    return run


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """Return the reading options that were given."""
    options = {name: names(value) if name in _LISTS else value for name, value in given.items() if value is not None}
    if options.get("separator") in {"\\t", "tab"}:
        options["separator"] = "\t"
    return options


def load_dataset(
    path: "Path | Address", options: dict[str, Any], policy: "Policy | None" = None, notes: Notes | None = None
) -> "Dataset | None":
    """Read the tables of a dataset and print their notes; None if the source is a single table.

    A dataset is what a policy describes as several tables; without roles in a policy, a folder of files with different
    columns.
    """
    from shoal.dataset.dataset import is_several

    several = (
        bool(policy.tables) if policy is not None and (policy.tables or policy.names_columns) else is_several(path)
    )
    return dataset_of(path, options, policy, notes) if several else None


def dataset_of(
    path: "Path | Address", options: dict[str, Any], policy: "Policy | None" = None, notes: Notes | None = None
) -> "Dataset":
    """Read the tables of a dataset, those of a policy if it describes any, and print their notes."""
    from shoal.dataset.dataset import Dataset

    described = policy if policy is not None and policy.tables else None
    with progress_bar() as hook:
        dataset = Dataset.read(path, described, progress=hook, **options)
    for name, table in dataset.tables.items():
        (notes or Notes(verbose=True)).show(f"{name}: {note}" for note in table.source.notes)
    return dataset


def refuse_single(options: dict[str, Any]) -> None:
    """Refuse options that apply to a single table, if they are given for a dataset."""
    from shoal.errors import PolicyError

    for name, value in options.items():
        if value not in (None, False):
            raise PolicyError(
                "option-of-single-table",
                "The option '{option}' applies to a single table.",
                remedy="The policy of a dataset describes the columns of each table.",
                option=f"--{name.replace('_', '-')}",
            )


def load(
    path: "Path | Address", options: dict[str, Any], policy: "Policy | None" = None, notes: Notes | None = None
) -> "Table":
    """Read a table with the options of the policy and of the command, which take precedence, and print its notes."""
    from shoal.table.reading import read

    if policy is not None:
        policy.alone()
        options = {**policy.data.read.model_dump(exclude_unset=True), **options}
    with progress_bar() as hook:
        table = read(path, progress=hook, **options)
    (notes or Notes(verbose=True)).show(table.source.notes)
    return table
