"""Folders of written releases in a project."""

import shutil
import tempfile
import time
from pathlib import Path

from shoal.web.project import Project

_PREFIX, _OLD = "release-", 600  # seconds after which an unreferenced folder no longer belongs to a running job


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
