"""``shoal init``: a commented starter policy for a file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.output import document, remark, result_text
from shoal.errors import WriteError
from shoal.words import printable

if TYPE_CHECKING:
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
