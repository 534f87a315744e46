"""History of the releases made in a project, with the policy of each, so that a policy can be restored."""

import hashlib
import json
from dataclasses import asdict, dataclass

from shoal import toml
from shoal.fileset import replacing
from shoal.policy.requirements import PresetRequirement
from shoal.release.release import Release
from shoal.web.project import Basis, Moment, Project
from shoal.words import counted, share, short

KEPT = 24
_FILE = "tried.json"


@dataclass(frozen=True, slots=True)
class Tried:
    """A release made earlier.

    ``data``: hash of the data and import settings. ``policy``: text of the policy. ``asked``: its requirements.
    """

    data: str
    policy: str
    asked: str
    how: str
    attained: str
    left_out: str
    cost: str

    @property
    def name(self) -> str:
        """Identifier used in forms."""
        return hashlib.sha256(f"{self.data}{self.policy}".encode()).hexdigest()[:16]

    @classmethod
    def of(cls, now: Moment, release: Release) -> "Tried":
        """Summarise a release."""
        search = release.policy.search
        verdicts = [requirement.verdict for requirement in release.requirements]
        presets = [
            requirement.preset for requirement in release.policy.require if isinstance(requirement, PresetRequirement)
        ]
        measured = release.quality.get(search.quality)
        cost = "–" if measured is None or measured.total is None else short(measured.total.cost)
        return cls(
            _data(now),
            toml.document(release.policy.document()),
            "; ".join([*(f"{verdict.title} {verdict.asked}" for verdict in verdicts), *presets]),
            f"{search.technique.kind}, at most {share(search.suppression)} suppressed",
            "; ".join(verdict.attained for verdict in verdicts),
            counted(release.suppressed, "individual"),
            f"{cost} ({search.quality})",
        )


def _data(now: Moment) -> str:
    return hashlib.sha256(repr(now.key(Basis.FILE)).encode()).hexdigest()


def remembered(now: Moment) -> list[Tried]:
    """Return the releases made from the current data, newest last."""
    data = _data(now)
    return [tried for tried in _all(now.project) if tried.data == data]


def _all(project: Project) -> list[Tried]:
    """Return all releases in the history; an unreadable history counts as empty."""
    try:
        return [Tried(**entry) for entry in json.loads((project.folder / _FILE).read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []


def remember(project: Project, tried: Tried) -> None:
    """Add a release to the history, replacing an identical one. The latest releases are kept."""
    with project.lock:
        kept = [*(other for other in _all(project) if other.name != tried.name), tried][-KEPT:]
        with replacing(project.folder / _FILE, force=True) as beside:
            beside.write_text(json.dumps([asdict(other) for other in kept], ensure_ascii=False), encoding="utf-8")
