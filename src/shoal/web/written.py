"""Written releases in a project: their folders, and the files that the browser may load."""

import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from starlette.responses import FileResponse, Response

from shoal.errors import ReleaseError
from shoal.web.project import Project

_PREFIX, _OLD = "release-", 600  # seconds after which an unreferenced folder no longer belongs to a running job
_OF_REPORTS = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"  # reports are self-contained


class ReleaseFiles(Protocol):
    """The written files of a release: those to publish and those for the owner only, each with a description."""

    @property
    def folder(self) -> Path:
        """The folder of the files."""

    @property
    def may_go(self) -> Sequence[tuple[str, str]]:
        """The files that may be published."""

    @property
    def stays(self) -> Sequence[tuple[str, str]]:
        """The files for internal use only."""


def release_folder(project: Project) -> Path:
    """Create a folder for a release, and remove old folders whose results are no longer kept."""
    home = project.folder / "release"
    home.mkdir(mode=0o700, exist_ok=True)
    with project.lock:
        known = {written.folder for written in project.jobs.results("write")}
        for old in home.glob(f"{_PREFIX}*"):
            if old not in known and old.stat().st_mtime < time.time() - _OLD:
                shutil.rmtree(old, ignore_errors=True)
        return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home))


def download(written: ReleaseFiles | None, name: str) -> Response:
    """Send a written file."""
    path = _file(written, name)
    return FileResponse(path, filename=path.name)


def shown_report(written: ReleaseFiles | None, name: str) -> Response:
    """Show a report in the browser."""
    path = _file(written, name)
    if path.suffix != ".html":
        raise ReleaseError("not-a-report", "Only reports are shown here.", remedy="Download the file.")
    return FileResponse(path, media_type="text/html", headers={"content-security-policy": _OF_REPORTS})


def _file(written: ReleaseFiles | None, name: str) -> Path:
    """Return the path of a written file; any other name is refused."""
    if written is None or name not in dict((*written.may_go, *written.stays)):
        raise ReleaseError("no-such-file", "There is no such file.", remedy="Reload the page.")
    return written.folder / name
