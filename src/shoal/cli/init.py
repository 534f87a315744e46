"""``shoal init``: a commented starter policy for a file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.output import document, remark, result_text
from shoal.errors import WriteError
from shoal.words import counted, printable

if TYPE_CHECKING:
    from shoal.identification.of_dataset import DatasetIdentification
    from shoal.table.table import Table


Purpose = Annotated[
    str,
    typer.Option(
        help="Purpose of the release: public, controlled (recipients under contract) or internal (trusted environment)."
    ),
]


@given.reading
def init(  # noqa: PLR0913, PLR0917 - options of a command
    data: given.Source,
    options: dict[str, Any],
    output: Annotated[Path, typer.Option("-o", "--output", help="Policy file to write; - for stdout.")] = Path(
        "policy.toml"
    ),
    purpose: Purpose = "public",
    json: given.Json = False,
    force: given.Force = False,
) -> None:
    """Write a commented starter policy."""
    from shoal.fileset import replacing
    from shoal.policy.policy import Policy
    from shoal.verbs.identify import identify

    if given.same(output, data):
        raise WriteError(
            "overwrites-input", "The policy would overwrite the data.", remedy="Give another name with -o."
        )
    dataset = given.load_dataset(data, options)
    if dataset is not None:
        _several(identify(dataset, combinations=False), data.name, options, purpose, output, json=json, force=force)
        return
    table = given.load(data, options)
    proposed = identify(table, combinations=False)
    policy = proposed.starter(data.name, options, purpose=purpose)
    if str(output) == "-" and json:
        document("init", {**_result(table, Policy.parse(policy), output), "text": policy})
        return
    if str(output) == "-":
        result_text(policy)
        return
    with replacing(output, force=force, never=table.source.files) as beside:
        beside.write_text(policy, encoding="utf-8")
    if json:
        document("init", _result(table, Policy.parse(policy), output))
        return
    sys.stdout.write(f"{printable(str(output))}\n")
    remark(f"Written: starter policy for {table.records:,} records and {len(table.columns)} columns.")
    remark("Review the proposed roles line by line.")
    if not Policy.parse(policy).apply(table).quasi:
        remark("No column is proposed as quasi-identifier. Give the role quasi to columns that an adversary may know.")
    if proposed.question is not None:
        remark(proposed.question)


def _several(  # noqa: PLR0913 - options of the command
    proposed: "DatasetIdentification",
    name: str,
    options: dict[str, Any],
    purpose: str,
    output: Path,
    *,
    json: bool,
    force: bool,
) -> None:
    """Write the starter policy of linked tables."""
    from shoal.fileset import replacing

    text = proposed.starter(name, options, purpose=purpose)
    if str(output) == "-" and not json:
        result_text(text)
        return
    if str(output) != "-":
        inputs = tuple(file for found in proposed.tables.values() for file in found.table.source.files)
        with replacing(output, force=force, never=inputs) as beside:
            beside.write_text(text, encoding="utf-8")
    if json:
        document(
            "init", {"policy": str(output), **proposed.to_dict(), **({"text": text} if str(output) == "-" else {})}
        )
        return
    sys.stdout.write(f"{printable(str(output))}\n")
    remark(f"Written: starter policy for {counted(len(proposed.tables), 'table')}.")
    for reference in proposed.references:
        remark(f"Reference: {reference}.")
    remark("Review the proposed roles and references line by line.")
    if proposed.question is not None:
        remark(proposed.question)


def _result(table: "Table", policy: Any, output: Path) -> dict[str, Any]:
    roles = policy.apply(table).roles
    columns = {
        column.name: {
            "kind": column.kind,
            "values": len(column.values),
            "missing": column.missing,
            "role": roles[column.name],
        }
        for column in table.columns
    }
    return {
        "policy": str(output),
        "records": table.records,
        "subject": policy.data.subject,
        "columns": columns,
        "read": {name: detail for name, detail in table.source.details.items() if name != "stored"},
        "notes": list(table.source.notes),
    }
