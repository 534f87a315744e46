"""Release: what goes out, and what proves it."""

from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, Response

from shoal import toml
from shoal.errors import ReleaseError
from shoal.progress import Hook, Progress
from shoal.release.release import Release
from shoal.reporting.report import report
from shoal.table.formats.format import FORMATS
from shoal.web.page import Visit, route
from shoal.web.pages.assess import Looked
from shoal.web.pages.attack import Tested
from shoal.web.pages.compare import released
from shoal.web.project import Basis, Moment, Project

_SCRIPT = """import shoal

policy = shoal.Policy.load("policy.toml")
table = policy.read({source!r})
release = shoal.anonymize(table, policy)
attacks = shoal.attack(release, table)
release.save({target!r})
report = shoal.report(release, attacks)
report.save("report.html")
report.external().save("report-external.html")
"""
_MORE = ("attack", "frontier", "schemes", "learning")
_OF_REPORTS = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"  # they bring all with them
_MAY_GO = {
    "release": "the table; every requirement was verified in this file",
    "manifest": "what was done, by which policy, and what was measured",
    "report-external": "the report for others: no small number is in it",
}
_STAYS = {
    "report": "the report with all numbers",
    "internal": "the same for machines",
    "mapping": "what every value became, to treat new data alike",
    "policy": "what was decided",
    "script": "does all of this again in Python",
}


def _show(visit: Visit) -> Response:
    release = released(visit)
    if release is None:
        return visit.show("release", release=None)
    job = visit.project.begin("write", lambda now, hook: _written(now, release, hook), more=_evidence(visit.project))
    return visit.show(
        "release", job=job, release=release, may_go=_MAY_GO, stays=_STAYS, attacked=_tested(visit.project)
    )


def _tested(project: Project) -> Tested | None:
    found: Tested | None = project.result("attack")
    return found


def _evidence(project: Project) -> tuple[int | None, ...]:
    """Return which results go into the report: if there are others, it is written again."""
    jobs = [*(project.found(name) for name in _MORE), project.found("peers", Basis.REQUIRED)]
    return tuple(None if job is None or job.result is None else job.number for job in jobs)


def _written(now: Moment, release: Release, hook: Hook) -> dict[str, str]:
    """Write everything that can be taken away; return the name of each file by what it is."""
    folder, project = now.project.folder / "release", now.project
    folder.mkdir(mode=0o700, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    hook(Progress("writing the release", 0))
    table, *beside = release.save(folder / f"release{_suffix(now.source)}", progress=hook)
    found = {"release": table.name, **{path.name.split(".")[-2]: path.name for path in beside}}
    made = report(release, progress=hook, **_known(project))
    found["report"] = made.save(folder / "report.html").name
    found["report-external"] = made.external().save(folder / "report-external.html").name
    texts = {"policy.toml": toml.document(now.policy.document()), "release.py": _script(now.source, table)}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {**found, "policy": "policy.toml", "script": "release.py"}


def _known(project: Project) -> dict[str, Any]:
    """Return what else was found out, for the report."""
    tested, looked, learned = _tested(project), project.result("peers", Basis.REQUIRED), project.result("learning")
    return {
        "attacks": None if tested is None else tested.attacked,
        "people": looked.people if isinstance(looked, Looked) else None,
        "frontier": project.result("frontier"),
        "schemes": project.result("schemes"),
        "analyses": [] if learned is None else [learned],
    }


def _suffix(source: Path | None) -> str:
    """Return what the release is called like: as the data, if that can be written."""
    written = {suffix for kind in FORMATS.values() for suffix in kind.writes}
    suffix = "" if source is None else source.suffix.lower()
    return suffix if suffix in written else ".csv"


def _script(source: Path | None, target: Path) -> str:
    return _SCRIPT.format(source="" if source is None else source.name, target=target.name)


def _file(visit: Visit) -> Path:
    """Return one of the files that were written, and no other."""
    held: dict[str, str] | None = visit.project.result("write", more=_evidence(visit.project))
    name = visit.request.path_params["name"]
    if held is None or name not in held.values():
        raise ReleaseError("There is no such file.", hint="Load the page again.")
    return Path(visit.project.folder, "release", str(name))


def _download(visit: Visit) -> Response:
    path = _file(visit)
    return FileResponse(path, filename=path.name)


def _read(visit: Visit) -> Response:
    """Show a report in the browser."""
    path = _file(visit)
    if path.suffix != ".html":
        raise ReleaseError("Only reports are shown here.", hint="Download the file.")
    return FileResponse(path, media_type="text/html", headers={"content-security-policy": _OF_REPORTS})


ROUTES = [
    route("/release", _show),
    route("/release/files/{name}", _download),
    route("/release/shown/{name}", _read),
]
