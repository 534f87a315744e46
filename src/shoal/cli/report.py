"""``shoal report``: a report on a release."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import source as given
from shoal.cli.output import Notes, document, progress_bar, remark
from shoal.errors import ModelError, WriteError
from shoal.remedy import Option

if TYPE_CHECKING:
    from shoal.analyses.technique_comparison import TechniqueComparison
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
    also: given.OtherReleases = None,
    key: Annotated[str | None, typer.Option(help="Columns that identify a record, comma-separated.")] = None,
    in_order: Annotated[bool, typer.Option("--in-order", help="Match records by position.")] = False,
    predict: Annotated[str | None, typer.Option(help="Columns to predict, comma-separated.")] = None,
    survival: Annotated[
        str | None, typer.Option(help="Survival analysis: TIME,EVENT, or TIME,EVENT=VALUE such as days,status=2.")
    ] = None,
    attacks: Annotated[bool, typer.Option("--attacks/--no-attacks", help="Run attacks on the release.")] = True,
    targets: Annotated[
        int, typer.Option(min=1, help="Maximum number of targets of each attack; fewer widen its interval.")
    ] = 10_000,
    ceilings: given.Ceilings = False,
    lattice: Annotated[
        bool, typer.Option("--lattice/--no-lattice", help="Show other schemes and their information loss.")
    ] = True,
    techniques: Annotated[
        bool, typer.Option("--techniques", help="Also compare all techniques on the data (takes longer).")
    ] = False,
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

    _check_output(output, keep, release, force=force)
    if external and survival is not None:
        remark("Note: Survival curves show the times of single events and are not included in external reports.")
    chosen = shoal.Policy.load(policy)
    notes = Notes(verbose=True)
    dataset = given.load_dataset(data, options, chosen, notes)
    asked = _Asked(
        release,
        register,
        outsiders,
        also,
        key,
        in_order,
        predict,
        survival,
        techniques,
        lattice and not external,
        advice,
        ceilings,
    )
    settings: dict[str, Any] = {"external": external, "least": least, "title": title}
    known = targets if attacks else None
    with progress_bar() as hook:
        if dataset is not None:
            asked.refuse_single()
            result, written = _of_dataset(dataset, release, known, settings, hook)
        else:
            table = given.load(data, options, chosen, notes)
            settings |= {"advice_seconds": 0 if external else advice}
            result, written = _of_table(table, chosen, asked, _others(asked, options, notes), known, settings, hook)
        if keep is not None:  # first, because it may fail: a report without its release would be incomplete
            result.save(keep, force=force, beside=None if isinstance(keep, Path) else output.parent)
        path = written.save(output, force=force)
    _tell(written, path, keep, json=json)
    raise typer.Exit(0 if written.findings.met or not written.findings.requirements else 1)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The options that concern a single table. ``lattice``: whether to show the schemes around a new release."""

    release: Any
    register: Any
    outsiders: Any
    also: list[Path] | None
    key: str | None
    in_order: bool
    predict: str | None
    survival: str | None
    techniques: bool
    lattice: bool
    advice: float | None
    ceilings: bool

    def refuse_single(self) -> None:
        """Refuse the options for a dataset."""
        names = ("register", "outsiders", "also", "key", "in_order", "predict", "survival", "techniques", "advice")
        given.refuse_single({name: getattr(self, name) for name in (*names, "ceilings")})

    @property
    def matching(self) -> dict[str, Any]:
        """How the records of an existing release are matched."""
        return {} if self.release is None else {"key": given.names(self.key), "in_order": self.in_order}


def _others(asked: _Asked, options: dict[str, Any], notes: Notes) -> dict[str, Any]:
    """Read the existing release, the register, the outsiders and other releases, as far as they are given."""
    from shoal.table.column import SUPPRESSED

    tables = {"external": asked.register, "outsiders": asked.outsiders}
    read: dict[str, Any] = {
        name: given.load(place, options, None, notes) for name, place in tables.items() if place is not None
    }
    if asked.also:
        read["also"] = [given.load(place, options, None, notes) for place in asked.also]
    if asked.release is not None:
        read["release"] = given.load(asked.release, {"suppressed": SUPPRESSED, **options}, None, notes)
    return read


def _of_table(  # noqa: PLR0913, PLR0917 - a table, its release, and what is asked about them
    table: "Table",
    policy: "Policy",
    asked: _Asked,
    others: dict[str, Any],
    targets: int | None,
    settings: dict[str, Any],
    hook: "Hook",
) -> tuple[Any, "Report"]:
    """Return the release of a table and the report on it; ``targets``: None if no attacks are run."""
    import shoal

    wanted, released = _wanted(table, asked.predict, asked.survival), others.pop("release", None)
    result: Any = shoal.anonymize(table, policy, progress=hook) if released is None else released
    tried = None
    if targets is not None:
        others |= {"ceilings": asked.ceilings, **asked.matching}
        tried = shoal.attack(table, result, policy, targets=targets, progress=hook, **others)
    if wanted:
        settings["analyses"] = _analyses(table, result, policy, wanted, hook)
    if asked.techniques:
        settings["techniques"] = _compared(table, policy, wanted, hook)
    if asked.lattice and released is None:
        settings |= _around(table, policy, hook)
    named = None if released is None else policy
    return result, shoal.report(table, result, tried, policy=named, progress=hook, **asked.matching, **settings)


def _of_dataset(
    dataset: "Dataset", release: Any, targets: int | None, settings: dict[str, Any], hook: "Hook"
) -> tuple[Any, "Report"]:
    """Return the release of a dataset, and the report on all its tables; ``targets``: None if no attacks are run."""
    import shoal

    result = shoal.anonymize(dataset, progress=hook) if release is None else release
    tried = None if targets is None else shoal.attack(dataset, result, targets=targets, progress=hook)
    return result, shoal.report(dataset, result, tried, progress=hook, **settings)


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
        remark(verdict(report.findings.public() if report.audience.external else report.findings).text)
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


def _compared(table: "Table", policy: "Policy", wanted: dict[str, list[str]], hook: "Hook") -> "TechniqueComparison":
    """Compare all techniques, by the first column to predict and by survival."""
    import shoal

    target = next(iter(wanted.get("predict", ())), None)
    return shoal.compare_techniques(table, policy, target=target, survival=wanted.get("survival"), progress=hook)


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
