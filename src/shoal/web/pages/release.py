"""Release: files for publication and the evidence for them."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.responses import Response

from shoal import toml
from shoal.attacks.battery import Attacked
from shoal.progress import Hook, Progress
from shoal.release.release import Release
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.summary import answers
from shoal.reporting.report import report
from shoal.table.formats.format import FORMATS
from shoal.web.jobs import State
from shoal.web.page import Visit, route
from shoal.web.pages import dataset
from shoal.web.pages.attack import Tested
from shoal.web.pages.compare import released
from shoal.web.pages.explorations import exploring
from shoal.web.pages.protect import confirmations
from shoal.web.project import Basis, Moment
from shoal.web.written import download, release_folder, shown_report

_SCRIPT = """import shoal

policy = shoal.Policy.load("policy.toml")
table = policy.read({source!r})
release = shoal.anonymize(table, policy)
attacks = shoal.attack(table, release{given})
release.save({target!r}, force=True)
report = shoal.report(table, release, attacks)
report.save("report.html", force=True)
report.external().save("report-external.html", force=True)
"""
_MAY_GO = {
    "release": "released table; requirements on classes verified in this file",
    "manifest": "public manifest: policy, technique and figures",
    "report-external": "external report, for publication",
}
_FURTHER = "further table, linked by the number of the bucket"
_STAYS = {
    "report": "internal report with all figures",
    "internal": "internal manifest (JSON)",
    "mapping": "released value of every original value, to recode new data",
    "origins": "original record of each released record, for later comparisons",
    "draw": "key of the random draws, to reproduce the release",
    "policy": "policy",
    "script": "Python script that reproduces the release",
}


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The folder of the written files, and the name of each file by its kind.

    ``tables``: the kinds of further tables, if the release has several.
    """

    folder: Path
    files: Mapping[str, str]
    tables: tuple[str, ...] = ()

    @property
    def may_go(self) -> list[tuple[str, str]]:
        """The files that may be published, each with a description."""
        shown = {what: says for what, says in _MAY_GO.items() if what != "release"}
        tables = {"release": _MAY_GO["release"], **dict.fromkeys(self.tables, _FURTHER)}
        return [(self.files[what], says) for what, says in {**tables, **shown}.items()]

    @property
    def stays(self) -> list[tuple[str, str]]:
        """The files for internal use only, each with a description."""
        known = {*_MAY_GO, *_STAYS, *self.tables}
        more = {what: f"{what} of the policy" for what in self.files if what not in known}
        return [(self.files[what], says) for what, says in {**_STAYS, **more}.items() if what in self.files]


@dataclass(frozen=True, slots=True, eq=False)
class FurtherFindings:
    """Optional results for the report. ``key``: the numbers of the jobs that produced them."""

    tested: Tested | None
    more: Mapping[str, Any]
    key: tuple[int | None, ...]

    @property
    def attacked(self) -> Attacked | None:
        """Results of the attacks, if they were run."""
        return None if self.tested is None else self.tested.attacked

    @classmethod
    def of(cls, now: Moment) -> "FurtherFindings":
        """Collect the results of the completed jobs."""
        jobs = {
            "attack": now.job("attack"),
            "peers": now.job("peers", Basis.REQUIRED),
            "learning": now.job("learning"),
            **exploring(now),
        }
        done = {name: job for name, job in jobs.items() if job is not None and job.state is State.DONE}
        results = {name: job.result for name, job in done.items()}
        more = {
            "people": results["peers"].people if "peers" in results else None,
            "frontier": results.get("frontier"),
            "schemes": results.get("schemes"),
            "techniques": results.get("techniques"),
            "analyses": [results["learning"]] if "learning" in results else [],
        }
        return cls(results.get("attack"), more, tuple(done[name].number if name in done else None for name in jobs))


def _show(visit: Visit) -> Response:
    release = released(visit)
    if release is None:
        return visit.show("release", release=None)
    further = FurtherFindings.of(visit.now)
    job = visit.now.begin("write", lambda now, hook: _written(now, release, further, hook), more=further.key)
    return visit.show(
        "release",
        job=job,
        release=release,
        attacked=further.attacked is not None,
        answers=answers(further.attacked, Audience(external=False, least=1)),
        confirm=confirmations(visit.now),
    )


def _written(now: Moment, release: Release, further: FurtherFindings, hook: Hook) -> WrittenFiles:
    """Write all downloadable files to a new folder, and remove folders that are no longer in use."""
    folder = release_folder(now.project)
    hook(Progress("writing the release", 0))
    table = folder / f"release{_suffix(now.source)}"
    _, *beside = map(Path, release.save(table, progress=hook))
    files = {"release": table.name, **{path.name.split(".")[-2]: str(path.relative_to(folder)) for path in beside}}
    documents = report(release.given, release, further.attacked, progress=hook, **further.more)
    files["report"] = documents.save(folder / "report.html").name
    files["report-external"] = documents.external().save(folder / "report-external.html").name
    document, ladders = _beside(now, folder)
    given = {} if further.tested is None else further.tested.given
    texts = {"policy.toml": toml.document(document), "release.py": _script(now.source, table, given)}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    tables = tuple(name.partition(".")[2] for name in release.tables if "." in name)
    return WrittenFiles(folder, {**files, "policy": "policy.toml", **ladders, "script": "release.py"}, tables)


def _beside(now: Moment, folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Copy the hierarchy files to the folder. Return the policy that names the copies, and the names of the copies."""
    document: dict[str, Any] = now.policy.document()
    copies: dict[str, str] = {}
    for column, column_policy in document.get("columns", {}).items():
        hierarchy = column_policy.get("hierarchy", {})
        if hierarchy.get("file"):
            name = f"hierarchy-{len(copies) + 1}{Path(hierarchy['file']).suffix}"
            shutil.copyfile(now.policy.beside(hierarchy["file"]), folder / name)
            hierarchy["file"], copies[f"hierarchy of {column}"] = name, name
    return document, copies


def _suffix(source: Path | None) -> str:
    """Return the file suffix of the release: that of the data if the format can be written, otherwise ``.csv``."""
    written = {suffix for kind in FORMATS.values() for suffix in kind.writes}
    suffix = "" if source is None else source.suffix.lower()
    return suffix if suffix in written else ".csv"


def _script(source: Path | None, target: Path, given: Mapping[str, Any]) -> str:
    more = "".join(f", {name}={file!r}" for name, file in given.items())
    return _SCRIPT.format(source="" if source is None else source.name, target=target.name, given=more)


def _written_files(visit: Visit) -> WrittenFiles | None:
    """Return the files that were written with the results so far."""
    written: WrittenFiles | None = visit.now.result("write", more=FurtherFindings.of(visit.now).key)
    return written


def _download(visit: Visit) -> Response:
    return download(_written_files(visit), str(visit.request.path_params["name"]))


def _read(visit: Visit) -> Response:
    return shown_report(_written_files(visit), str(visit.request.path_params["name"]))


ROUTES = [
    route("/release", _show, several=dataset.show_release),
    route("/release/files/{name:path}", _download, several=dataset.send_file),
    route("/release/shown/{name}", _read, several=dataset.read_report),
]
