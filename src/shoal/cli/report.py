"""``shoal report``: a report on a release."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from shoal.cli import source as given
from shoal.cli.output import Notes, document, progress_bar, remark
from shoal.errors import ModelError, WriteError
from shoal.remedy import Option

if TYPE_CHECKING:
    from shoal.dataset.dataset import Dataset
    from shoal.policy.policy import Policy
    from shoal.progress import Hook
    from shoal.reporting.findings import Analysis
    from shoal.reporting.report import Report
    from shoal.table.table import Table

WORK = 200_000_000  # maximum of rows times schemes for a picture


@given.reading
def report(  # noqa: PLR0913, PLR0917 - options of a command
    data: given.Original,
    options: dict[str, Any],
    policy: Annotated[
        Path, typer.Option("--policy", "-p", help="Policy file with roles, hierarchies and requirements.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Output file: .html, .md or .json.")],
    release: Annotated[
        given.Place,
        typer.Argument(
            parser=given.place,
            metavar="RELEASE",
            help="An existing release (default: a new one is made with the policy).",
        ),
    ] = None,
    external: Annotated[
        bool,
        typer.Option("--external", help="Make the external version for publication."),
    ] = False,
    register: Annotated[
        given.Place, typer.Option(parser=given.place, metavar="DATA", help="Identified register for the attacks.")
    ] = None,
    outsiders: Annotated[
        given.Place,
        typer.Option(
            parser=given.place, metavar="DATA", help="Individuals outside the data, for the attacks (control)."
        ),
    ] = None,
    key: Annotated[str | None, typer.Option(help="Columns that identify a record, comma-separated.")] = None,
    in_order: Annotated[bool, typer.Option("--in-order", help="Match records by position.")] = False,
    predict: Annotated[str | None, typer.Option(help="Columns to predict, comma-separated.")] = None,
    survival: Annotated[
        str | None, typer.Option(help="Survival analysis: TIME,EVENT, or TIME,EVENT=VALUE such as days,status=2.")
    ] = None,
    attacks: Annotated[bool, typer.Option("--attacks/--no-attacks", help="Run attacks on the release.")] = True,
    lattice: Annotated[
        bool, typer.Option("--lattice/--no-lattice", help="Show other schemes and their information loss.")
    ] = True,
    advice: Annotated[
        float | None,
        typer.Option(min=0, help="Seconds for trying other releases, as advice (default: all if the table is small)."),
    ] = None,
    least: Annotated[
        int | None,
        typer.Option(min=1, help="Minimum number of individuals behind a published figure (default: k of the policy)."),
    ] = None,
    keep: Annotated[
        given.Place, typer.Option(parser=given.place, metavar="OUT", help="Also write the release to this file.")
    ] = None,
    title: Annotated[str, typer.Option(help="Title of the report.")] = "Anonymisation report",
    force: given.Force = False,
    json: given.Json = False,
) -> None:
    """Write a report on a release.

    The report covers transformation, risk, information loss and attacks.

    Exit code 0: every requirement is met. 1: the report was written, and a requirement is not met. 2: no report could
    be made.
    """
    import shoal
    from shoal.table.column import SUPPRESSED

    _check_output(output, keep, release, force=force)
    if external and survival is not None:
        remark("Note: Survival curves show the times of single events and are not included in external reports.")
    chosen = shoal.Policy.load(policy)
    notes = Notes(verbose=True)
    dataset = given.load_dataset(data, options, chosen, notes)
    if dataset is not None:
        _report_dataset(
            dataset,
            release,
            output,
            {"external": external, "least": least, "title": title},
            {"register": register, "outsiders": outsiders, "key": key, "in-order": in_order}
            | {"predict": predict, "survival": survival, "advice": advice},
            attacks=attacks,
            keep=keep,
            force=force,
            json=json,
        )
    table = given.load(data, options, chosen, notes)
    others = {"external": register, "outsiders": outsiders}
    wanted = _wanted(table, predict, survival)
    with progress_bar() as hook:
        result: Any = (
            shoal.anonymize(table, chosen, progress=hook)
            if release is None
            else given.load(release, {"suppressed": SUPPRESSED, **options}, None, notes)
        )
        matching: dict[str, Any] = {} if release is None else {"key": given.names(key), "in_order": in_order}
        tried = None
        if attacks:
            settings: dict[str, Any] = {
                name: given.load(path, options, None, notes) for name, path in others.items() if path is not None
            }
            tried = shoal.attack(table, result, chosen, progress=hook, **matching, **settings)
        report = shoal.report(
            table,
            result,
            tried,
            policy=None if release is None else chosen,
            **matching,
            analyses=_analyses(table, result, chosen, wanted, hook) if wanted else (),
            advice_seconds=0 if external else advice,
            external=external,
            least=least,
            title=title,
            progress=hook,
            **(_around(table, chosen, hook) if lattice and release is None and not external else {}),
        )
        if keep is not None:  # first, because it may fail: a report without its release would be incomplete
            result.save(keep, force=force, beside=None if isinstance(keep, Path) else output.parent)
        path = report.save(output, force=force)
    _tell(report, path, keep, json=json)
    raise typer.Exit(0 if report.findings.met or not report.findings.requirements else 1)


def _report_dataset(  # noqa: PLR0913 - options of the command
    dataset: "Dataset",
    release: Any,
    output: Path,
    settings: dict[str, Any],
    single: dict[str, Any],
    *,
    attacks: bool,
    keep: Any,
    force: bool,
    json: bool,
) -> NoReturn:
    """Write one report on all tables of a dataset; ``single``: options that apply to a single table."""
    import shoal

    given.refuse_single(single)
    with progress_bar() as hook:
        result: Any = shoal.anonymize(dataset, progress=hook) if release is None else release
        tried = shoal.attack(dataset, result, progress=hook) if attacks else None
        report = shoal.report(dataset, result, tried, progress=hook, **settings)
        if keep is not None:
            result.save(keep, force=force, beside=None if isinstance(keep, Path) else output.parent)
        path = report.save(output, force=force)
    _tell(report, path, keep, json=json)
    raise typer.Exit(0 if report.findings.met or not report.findings.requirements else 1)


def _check_output(output: Path, keep: Any, release: Any, *, force: bool) -> None:
    """Refuse outputs that cannot be written, before anything is computed."""
    if output.suffix.lower() not in {".html", ".htm", ".md", ".json"}:
        raise WriteError(
            "unknown-report-format",
            "The suffix of '{file}' is not that of a report format.",
            remedy="Use the suffix .html, .md or .json.",
            file=output.name,
        )
    if keep is not None and release is not None:
        raise WriteError(
            "nothing-to-keep",
            "--keep applies to releases made in the same run, and this release already exists.",
            remedy="Omit --keep.",
        )
    for target in (output, keep):
        if isinstance(target, Path) and target.exists() and not force:
            raise WriteError("file-exists", "'{path}' already exists.", remedy=Option("force", True), path=target)


def _tell(report: "Report", path: Path, kept: Any, *, json: bool) -> None:
    from shoal.reporting.chapters.summary import verdict

    if json:
        document("report", {"file": str(path), **report.to_dict()})
    else:
        remark(verdict(report.findings).text)
        remark(f"Written: {path}" if kept is None else f"Written: {kept}, {path}")


def _wanted(table: "Table", predict: str | None, survival: str | None) -> dict[str, list[str]]:
    """Return the columns of the requested analyses; refuse unknown and unsuitable columns."""
    import shoal

    wanted = {"predict": given.names(predict) or [], "survival": given.names(survival) or []}
    for name in (*wanted["predict"], *wanted["survival"][:1]):
        table[name]  # raises if there is no such column
    if wanted["survival"] and len(wanted["survival"]) != 2:
        raise ModelError("bad-survival", "--survival requires two columns: TIME,EVENT, or TIME,EVENT=VALUE.")
    if wanted["survival"]:  # check the columns before the long computation
        shoal.compare(table, table, qualities=[], in_order=True).survival(*wanted["survival"])
    return {name: value for name, value in wanted.items() if value}


def _analyses(
    table: "Table", release: Any, policy: "Policy", wanted: dict[str, list[str]], hook: "Hook"
) -> "list[Analysis]":
    """Run the requested analyses."""
    import shoal

    comparison = (
        shoal.compare(table, release) if isinstance(release, shoal.Release) else shoal.compare(table, release, policy)
    )
    done: list[Analysis] = [comparison.learning(target, progress=hook) for target in wanted.get("predict", ())]
    return [*done, comparison.survival(*wanted["survival"])] if "survival" in wanted else done


def _around(table: "Table", policy: "Policy", hook: "Hook") -> dict[str, Any]:
    """Return the other schemes and the frontier, if they are not too many to compute."""
    import shoal

    known = policy.apply(table)
    rows = max(len(known.distinct(known.quasi)), 1)
    looks: tuple[tuple[str, Any], ...] = (
        ("schemes", lambda: shoal.schemes(table, policy, most=WORK // rows, progress=hook)),
        ("frontier", lambda: shoal.frontier(table, policy, progress=hook)),
    )
    around: dict[str, Any] = {}
    for name, look in looks:
        try:
            around[name] = look()
        except ModelError as error:
            remark(f"Note: No chart of the {name}. {error.message}")
            break  # the frontier would take even longer
    return around
