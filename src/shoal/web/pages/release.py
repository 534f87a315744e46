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
from shoal.web.jobs import State
from shoal.web.page import Visit, route
from shoal.web.pages.compare import released

_SCRIPT = """import shoal

policy = shoal.Policy.load("policy.toml")
table = policy.apply(shoal.read({source!r}{options}))
release = shoal.anonymize(table, policy)
attacks = shoal.attack(release, table)
release.save({target!r})
shoal.report(release, attacks).save("report.html")
"""


def _show(visit: Visit) -> Response:
    release = released(visit)
    if release is None:
        return visit.show("release", release=None)
    job = visit.project.begin("write", lambda hook: _written(visit, release, hook), more=_attacked(visit) is not None)
    return visit.show("release", job=job, release=release)


def _attacked(visit: Visit) -> Any:
    job = visit.project.found("attack")
    return job.result if job is not None and job.state is State.DONE else None


def _written(visit: Visit, release: Release, hook: Hook) -> dict[str, str]:
    """Write everything that can be taken away, and return what each file is."""
    folder = visit.project.folder / "release"
    folder.mkdir(mode=0o700, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    source = visit.project.source
    suffix = ".csv" if source is None or source.path.suffix.lower() not in _writes() else source.path.suffix.lower()
    hook(Progress("writing the release", 0))
    paths = release.save(folder / f"release{suffix}", progress=hook)
    says = {"manifest": "its manifest, which may go out with it", "internal": "the internal manifest: stays with you",
            "mapping": "what every value became: stays with you"}  # fmt: skip
    found = {paths[0].name: "the release: every requirement was verified from this file"}
    for path in paths[1:]:
        found[path.name] = says[path.name.split(".")[-2]]
    (folder / "policy.toml").write_text(toml.document(visit.project.policy.document()), encoding="utf-8")
    found["policy.toml"] = "the policy"
    (folder / "release.py").write_text(_script(visit, paths[0]), encoding="utf-8")
    found["release.py"] = "a script that does the same"
    made = report(release, _attacked(visit), progress=hook)
    made.save(folder / "report.html")
    made.external().save(folder / "report-external.html")
    found["report.html"] = "the report: stays with you"
    found["report-external.html"] = "the report for others"
    return found


def _writes() -> set[str]:
    return {suffix for kind in FORMATS.values() for suffix in kind.writes}


def _script(visit: Visit, target: Path) -> str:
    source = visit.project.source
    options = {} if source is None else dict(source.options)
    said = "".join(f", {name}={value!r}" for name, value in options.items())
    return _SCRIPT.format(source="" if source is None else source.path.name, options=said, target=target.name)


def _download(visit: Visit) -> Response:
    """Hand out one of the files that were written, and no other."""
    name = visit.request.path_params["name"]
    job = visit.project.found("write", more=_attacked(visit) is not None)
    if job is None or job.state is not State.DONE or name not in job.result:
        raise ReleaseError("There is no such file.", hint="Load the page again.")
    return FileResponse(visit.project.folder / "release" / name, filename=name)


ROUTES = [route("/release", _show), route("/release/files/{name}", _download)]
