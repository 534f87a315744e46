"""Assembly of the report from its chapters, and output as HTML, Markdown or JSON."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.analyses.learning import Learned
from shoal.analyses.regression import Regressed
from shoal.analyses.survival import Curves
from shoal.analyses.technique_comparison import TechniqueComparison
from shoal.attacks.battery import Attacked
from shoal.dataset.dataset import Dataset
from shoal.dataset.result import DatasetResult
from shoal.errors import ReportError, WriteError
from shoal.fileset import replacing
from shoal.individuals.people import People
from shoal.progress import Hook, silent
from shoal.release.origins import is_same
from shoal.release.release import Release
from shoal.remedy import Option
from shoal.reporting.as_html import as_html
from shoal.reporting.as_json import as_json
from shoal.reporting.as_markdown import as_markdown
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import written
from shoal.reporting.dataset_findings import DatasetFindings
from shoal.reporting.document import Section
from shoal.reporting.elsewhere import of_tables
from shoal.reporting.findings import Analysis, Findings
from shoal.reporting.made_release import of_release
from shoal.reporting.of_dataset import of_dataset
from shoal.search.frontier import Frontier
from shoal.search.schemes import Schemes
from shoal.sheet import Presentable, Sheet
from shoal.verbs.inputs import AnyPolicy, policy_of, table_of
from shoal.verbs.on_datasets import also
from shoal.verbs.released_dataset import dataset_under

TITLE = "Anonymisation report"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Report(Presentable):
    """An anonymisation report.

    ``audience``: its readers. The report keeps its findings, so that a version for another audience can be made.
    """

    __module__ = "shoal"

    title: str
    audience: Audience
    findings: Findings | DatasetFindings
    sections: tuple[Section, ...]

    @classmethod
    def of(cls, findings: Findings | DatasetFindings, audience: Audience, title: str, progress: Hook) -> "Report":
        """Write all chapters for an audience."""
        visible = findings.public() if audience.external else findings
        return cls(title, audience, findings, tuple(written(visible, audience, progress)))

    def external(self) -> "Report":
        """Return the external version: a function of the released table, the policy and the published figures."""
        return Report.of(self.findings, Audience(external=True, least=self.audience.least), self.title, silent)

    def sheet(self) -> Sheet:
        """Return the chapters, each with the number of its parts."""
        kind = "external" if self.audience.external else "internal"
        rows = tuple((section.title, f"{len(section.blocks):,}") for section in self.sections)
        return Sheet(f"{self.title} ({kind}); save it: report.save('report.html')", ("chapter", "parts"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the audience and whether the policy is met; :meth:`to_json` returns the whole report."""
        return {"external": self.audience.external, "met": self.findings.met}

    def to_html(self) -> str:
        """Return the report as one self-contained HTML page: no script, no other file, no network access."""
        return as_html(self.title, self.audience, self.sections)

    def to_markdown(self) -> str:
        """Return the report as Markdown, with text in place of charts."""
        return as_markdown(self.title, self.audience, self.sections)

    def to_json(self) -> str:
        """Return the report as JSON, with charts as Vega-Lite specifications."""
        return as_json(self.title, self.audience, self.sections)

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the report in the format given by the suffix: .html, .md or .json.

        Only its owner can read the file of an internal report.
        """
        target = Path(path)
        writers: dict[str, Callable[[], str]] = {
            ".html": self.to_html,
            ".htm": self.to_html,
            ".md": self.to_markdown,
            ".json": self.to_json,
        }
        make = writers.get(target.suffix.lower())
        if make is None:
            raise WriteError(
                "unknown-report-format",
                "The suffix of '{file}' is not that of a report format.",
                remedy="Use the suffix .html, .md or .json.",
                file=target.name,
            )
        with replacing(target, force=force, never=self.findings.files, private=not self.audience.external) as beside:
            beside.write_text(make(), encoding="utf-8")
        return target


def _report_dataset(  # noqa: PLR0913 - the options of the verb that apply to several tables
    original: Dataset,
    release: Any,
    attacks: DatasetResult[Attacked] | None = None,
    *,
    policy: AnyPolicy = None,
    external: bool = False,
    least: int | None = None,
    title: str = TITLE,
    progress: Hook | None = None,
) -> Report:
    """Return one report on all tables of a dataset."""
    several = isinstance(attacks, DatasetResult) and all(isinstance(each, Attacked) for each in attacks.tables.values())
    if attacks is not None and not several:
        raise _not_a_result("attacks", _KINDS["attacks"][1])
    hook = progress or silent
    findings = of_dataset(dataset_under(original, release, policy), release, attacks, hook)
    audience = Audience(external, max(findings.least, least or 1))
    return Report.of(findings, audience, title or TITLE, hook)


@also(_report_dataset)
def report(  # noqa: PLR0913 - keyword-only options
    original: Any,
    release: Any,
    attacks: Attacked | None = None,
    *,
    policy: AnyPolicy = None,
    key: Sequence[str] | str | None = None,
    in_order: bool = False,
    people: People | None = None,
    frontier: Frontier | None = None,
    schemes: Schemes | None = None,
    techniques: TechniqueComparison | None = None,
    analyses: Sequence[Analysis] = (),
    advice_seconds: float | None = None,
    external: bool = False,
    least: int | None = None,
    title: str = TITLE,
    progress: Hook | None = None,
) -> Report:
    """Return a report on a release.

    ``original``: the table that the release was made from. ``release``: the result of ``anonymize``; or any table made
    from the original, together with the ``policy``. The records of such a table are matched as in ``shoal.compare``:
    ``key``, ``in_order``.
    ``attacks``: the result of ``shoal.attack``. ``people``, ``frontier``, ``schemes``, ``techniques``: the results of
    ``shoal.peers``, ``shoal.frontier``, ``shoal.schemes`` and ``shoal.compare_techniques``. ``analyses``: results of
    ``learning``, ``regression`` and ``survival`` of a comparison. ``advice_seconds``: the time for trying other
    releases, as in ``shoal.advise`` (default: all are tried if there are few schemes and combinations, otherwise none).
    ``external``: whether the report is for readers other than the owner. Numbers of persons below ``least`` are not
    disclosed to them; ``least`` is never below the largest required k, or 11 if none is required.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
    ... columns.dx = { role = "sensitive" }
    ... require = [{ model = "k-anonymity", k = 2 }]
    ... ''')
    >>> data = {"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "gout"]}
    >>> made = shoal.report(data, shoal.anonymize(data, policy))
    >>> made.sections[0].blocks[0].text
    'The release meets the requirement of the policy (verified).'
    """
    hook = progress or silent
    more: dict[str, Any] = {
        "attacks": attacks,
        "people": people,
        "frontier": frontier,
        "schemes": schemes,
        "techniques": techniques,
        "analyses": tuple(analyses),
    }
    _check(more)
    if isinstance(original, Release):
        raise ReportError(
            "wrong-order", "The original comes first, then the release.", remedy="shoal.report(original, release)"
        )
    if isinstance(release, Release) and (policy is not None or key is not None or in_order):
        raise ReportError(
            "release-knows",
            "A release contains its policy and the origins of its records.",
            remedy="Omit policy=, key= and in_order=.",
        )
    if key is not None and in_order:
        raise ReportError(
            "key-and-order", "Records are matched by a key or by position, not by both.", remedy="Omit one of them."
        )
    if isinstance(release, Release):
        _check_original(original, release)
        findings = of_release(release, hook, advice_seconds, **more)
    elif policy is None:
        raise ReportError(
            "no-policy",
            "A report on a table made elsewhere requires the policy.",
            remedy=Option("policy", "policy.toml"),
        )
    else:
        matching: dict[str, Any] = {"key": key, "in_order": in_order}
        findings = of_tables(
            original, release, policy_of(policy), hook, advice_seconds=advice_seconds, **matching, **more
        )
    _check_about(findings)
    audience = Audience(external, max(findings.least, least or 1))
    return Report.of(findings, audience, title or TITLE, hook)


_KINDS: dict[str, tuple[type, str]] = {
    "attacks": (Attacked, "the result of shoal.attack(original, release)"),
    "people": (People, "the result of shoal.peers(original, policy)"),
    "frontier": (Frontier, "the result of shoal.frontier(original, policy)"),
    "schemes": (Schemes, "the result of shoal.schemes(original, policy)"),
    "techniques": (TechniqueComparison, "the result of shoal.compare_techniques(original, policy)"),
}


def _check_original(original: Any, release: Release) -> None:
    """Refuse an original from which the release was not made."""
    if original is not release.given and not is_same(table_of(original, release.policy), release.given):
        raise ReportError("other-original", "The release was not made from this original.")


def _check(given: dict[str, Any]) -> None:
    """Refuse arguments that are not results of the expected kind."""
    for name, (kind, made_by) in _KINDS.items():
        if given[name] is not None and not isinstance(given[name], kind):
            raise _not_a_result(name, made_by)
    for analysis in given["analyses"]:
        several = isinstance(analysis, list | tuple) and all(isinstance(part, Curves) for part in analysis)
        if not isinstance(analysis, Learned | Regressed) and not several:
            raise ReportError(
                "not-an-analysis",
                "An analysis is not a result of shoal.",
                remedy="Give the result of learning, regression or survival.",
            )


def _not_a_result(name: str, made_by: str) -> ReportError:
    return ReportError(
        "not-a-result",
        "The argument {name} is not a result of shoal.",
        remedy="Give {made_by}.",
        name=name,
        made_by=made_by,
    )


def _check_about(findings: Findings) -> None:
    """Refuse results that belong to another table."""
    records, tried = findings.original.records, () if findings.attacks is None else findings.attacks.results
    about = [len(result.persons) for result in tried if result.persons is not None]
    about += [] if findings.people is None else [len(findings.people)]
    if any(number != records for number in about):
        raise ReportError("other-table", "The attacks or the individuals belong to another table than the release.")
    compared = findings.techniques
    if compared is not None and compared.persons != findings.before.persons:
        raise ReportError("other-table", "The compared techniques belong to another table than the release.")
    if findings.schemes is not None and set(findings.schemes.names) - set(findings.original.names):
        raise ReportError("other-table", "The schemes belong to another table than the release.")
