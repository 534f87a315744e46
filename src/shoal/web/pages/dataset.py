"""The steps of the workbench for several linked tables."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.responses import Response

from shoal import toml
from shoal.attacks.attack import ATTACKS
from shoal.attacks.battery import Attacked
from shoal.dataset.dataset import Dataset
from shoal.dataset.result import DatasetResult
from shoal.errors import AttackError, PolicyError
from shoal.identification.of_dataset import DatasetIdentification
from shoal.identification.purpose import PURPOSES
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress
from shoal.release.release import Release
from shoal.reporting.document import Block, Section, Text, Tone
from shoal.reporting.report import report
from shoal.table.role import Role
from shoal.verbs.assess import assess
from shoal.verbs.attack import attack
from shoal.verbs.compare import compare
from shoal.verbs.identify import identify
from shoal.web.page import Visit
from shoal.web.project import Moment
from shoal.web.written import download, release_folder, shown_report
from shoal.words import first_sentence

ROLES = tuple(role for role in Role if not role.single)
_TARGETS = 500  # individuals attacked in each table
_LEVELLED = {"quasi", "sensitive"}  # roles for which a hierarchy is meaningful


def show_load(visit: Visit) -> Response:
    """Show the size of each table."""
    job = visit.now.begin("dataset-read", lambda now, hook: now.dataset(hook), _loaded)
    return visit.show("load", job=job, template="dataset", lead=None, following="identify")


def _loaded(dataset: Dataset) -> Iterator[Block]:
    yield dataset.sheet()
    for name, table in dataset.tables.items():
        yield from (Text(f"{name}: {note}", Tone.NOTE) for note in table.source.notes)


def show_identify(visit: Visit) -> Response:
    """Propose the roles of all columns and the references between the tables."""
    job = visit.now.begin("dataset-identify", _identified, _references)
    parts = {"roles": ROLES, "purposes": list(PURPOSES.values()), "chosen": _chosen(visit.now.policy)}
    return visit.show("identify", job=job, template="dataset_identify", **parts)


def _identified(now: Moment, hook: Hook) -> DatasetIdentification:
    return identify(Dataset(now.dataset(hook).tables), progress=hook)


def _references(identification: DatasetIdentification) -> Iterator[Block]:
    links = ", ".join(str(found) for found in identification.references) or "none"
    yield Section.of("References between the tables", "references", [Text(f"{links}.")])


def _chosen(policy: Policy) -> dict[str, dict[str, str]]:
    """Return the role of each column of each table in the policy."""
    return {
        name: {column: str(settings.role) for column, settings in table.columns.items()}
        for name, table in policy.tables.items()
    }


def decide(visit: Visit) -> Response:
    """Assign the chosen roles; references, subjects and hierarchies are those of the proposal."""
    identification: DatasetIdentification | None = visit.now.result("dataset-identify")
    if identification is None:
        raise PolicyError("columns-changed", "The columns were not identified yet.", remedy="Reload the page.")
    purpose = visit.text("purpose")
    document = identification.policy(**({"purpose": purpose} if purpose else {})).document()
    for place, (name, found) in enumerate(identification.tables.items()):
        columns = document["tables"][name].get("columns", {})
        roles = {
            column: visit.text(f"role:{place}:{position}")
            for position, column in enumerate(found.columns)
            if f"role:{place}:{position}" in visit.form and column not in identification.keys(name)
        }
        document["tables"][name]["columns"] = _decided(columns, roles)
    earlier = visit.now.policy.document() if visit.now.policy.tables else {}
    kept: dict[str, Any] = {part: earlier[part] for part in ("require", "search", "context") if part in earlier}
    text = toml.document(document if purpose else {**document, **kept})
    visit.project.decide(Policy.parse(text).within(visit.now.policy.beside("")))
    return visit.back("assess")


def _decided(proposed: Mapping[str, Any], roles: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of the columns of a table: the proposed ones, with the chosen roles."""
    columns = dict(proposed)
    for name, role in roles.items():
        settings = {**proposed.get(name, {}), "role": role}
        if role not in _LEVELLED:
            settings.pop("hierarchy", None)
        if role != "quasi":
            settings.pop("linked", None)
        columns[name] = settings
    return {name: settings for name, settings in columns.items() if settings["role"]}


def show_assess(visit: Visit) -> Response:
    """Assess every table with the attributes that its records inherit."""
    return _step(
        visit, "assess", lambda now, hook: assess(now.dataset(hook), progress=hook), "protect", "Re-identification risk"
    )


def show_compare(visit: Visit) -> Response:
    """Compare every table with its release."""
    release: Release | None = visit.now.result("anonymize")
    if release is None:
        return visit.show("compare", template="dataset", lead=None, following="", release=None)
    return _step(
        visit, "compare", lambda now, hook: compare(now.dataset(hook), release, progress=hook), "attack", "Comparison"
    )


def _step(
    visit: Visit, step: str, work: Callable[[Moment, Hook], DatasetResult[Any]], following: str, title: str
) -> Response:
    """Show the results of a step, one section per table."""
    if not visit.now.policy.tables:
        return visit.back("identify")
    job = visit.now.begin(f"dataset-{step}", work, lambda result: _by_table(result, title))
    return visit.show(step, job=job, template="dataset", lead=None, following=following, release=True)


def _by_table(result: DatasetResult[Any], title: str) -> Iterator[Block]:
    """Yield the result for each table, and the notes."""
    yield from (Text(note, Tone.NOTE) for note in result.notes)
    for place, (name, of_table) in enumerate(result.tables.items()):
        notes = dict.fromkeys(getattr(of_table, "notes", ()))
        blocks: list[Block] = [of_table.sheet(), *(Text(note, Tone.NOTE) for note in notes)]
        yield Section.of(f"{title}: {name}", f"table-{place + 1}", blocks)


def show_attack(visit: Visit) -> Response:
    """Show the results of the attacks on each table."""
    release: Release | None = visit.now.result("anonymize")
    job = None if release is None else visit.now.job("dataset-attack")
    says = {name: first_sentence(ATTACKS[name]) for name in ATTACKS}
    usual = {name for name in ATTACKS if ATTACKS[name].default}
    return visit.show("attack", job=job, release=release, attacks=says, usual=usual)


def begin_attack(visit: Visit) -> Response:
    """Run the selected attacks on each released table in the background."""
    release: Release | None = visit.now.result("anonymize")
    chosen = [str(name) for name in visit.form.get("attack", [])]
    if release is None:
        raise AttackError("no-release", "There is no release yet.", remedy="Search for a release first.")
    if not chosen:
        raise AttackError("no-attack", "No attack is selected.")

    def work(now: Moment, hook: Hook) -> DatasetResult[Attacked]:
        return attack(now.dataset(hook), release, attacks=chosen, targets=_TARGETS, progress=hook)

    visit.now.again("dataset-attack", work, lambda result: _by_table(result, "Attacks"))
    return visit.back("attack")


@dataclass(frozen=True, slots=True)
class DatasetFiles:
    """The folder of the written files. ``may_go``, ``stays``: the files to publish, and those for the owner only."""

    folder: Path
    may_go: tuple[tuple[str, str], ...]
    stays: tuple[tuple[str, str], ...]


def show_release(visit: Visit) -> Response:
    """Write the release and its reports, and offer them for download."""
    release: Release | None = visit.now.result("anonymize")
    if release is None:
        return visit.show("release", release=None)
    attacked = _attacked(visit)
    job = visit.now.begin("write", lambda now, hook: _written(now, release, hook), more=attacked)
    return visit.show("release", job=job, release=release, answers=None, attacked=attacked is not None, confirm=())


def _attacked(visit: Visit) -> int | None:
    """Return the number of the job that attacked the release, if it is done."""
    job = visit.now.job("dataset-attack")
    return None if job is None or visit.now.result("dataset-attack") is None else job.number


def _written(now: Moment, release: Release, hook: Hook) -> DatasetFiles:
    folder = release_folder(now.project)
    hook(Progress("writing the release", 0))
    release.save(folder / "release", progress=hook)
    attacked: DatasetResult[Attacked] | None = now.result("dataset-attack")
    documents = report(now.dataset(hook), release, attacked, progress=hook)
    documents.save(folder / "report.html")
    documents.external().save(folder / "report-external.html")
    (folder / "policy.toml").write_text(toml.document(now.policy.document()), encoding="utf-8")
    tables = sorted(path for path in (folder / "release").iterdir() if path.name != "dataset.manifest.json")
    owners = sorted((folder / "release.owner-only").iterdir())
    may_go = [
        (f"release/{path.name}", "released table; requirements on classes verified in this file") for path in tables
    ]
    may_go += [
        ("release/dataset.manifest.json", "public manifest: policy, technique and figures"),
        ("report-external.html", "external report, for publication"),
    ]
    stays = [("report.html", "internal report with all figures"), ("policy.toml", "policy")]
    stays += [(f"release.owner-only/{path.name}", "for later comparisons and reproduction") for path in owners]
    return DatasetFiles(folder, tuple(may_go), tuple(stays))


def _written_files(visit: Visit) -> DatasetFiles | None:
    """Return the files that were written with the results so far."""
    written: DatasetFiles | None = visit.now.result("write", more=_attacked(visit))
    return written


def send_file(visit: Visit) -> Response:
    """Send a written file."""
    return download(_written_files(visit), str(visit.request.path_params["name"]))


def read_report(visit: Visit) -> Response:
    """Show a report in the browser."""
    return shown_report(_written_files(visit), str(visit.request.path_params["name"]))
