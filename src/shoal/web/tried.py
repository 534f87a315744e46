"""What was tried: releases that were made, and the policy of each, so that one can go back to it."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from shoal import toml
from shoal.errors import counted
from shoal.release.release import Release
from shoal.table.writing import replacing

KEPT = 12
_FILE = "tried.json"


@dataclass(frozen=True, slots=True)
class Tried:
    """A release. ``policy``: the file it was made by; ``asked``: what it requires; ``how``: what was searched."""

    policy: str
    asked: str
    how: str
    attained: str
    left_out: str
    cost: str

    @classmethod
    def of(cls, release: Release) -> "Tried":
        """Take note of a release."""
        search = release.policy.search
        verdicts = [one.verdict for one in release.requirements]
        held = release.quality.get(search.quality)
        cost = "–" if held is None or held.total is None else f"{held.total.cost:.3f}"
        return cls(
            toml.document(release.policy.document()),
            "; ".join(f"{one.title} {one.asked}" for one in verdicts),
            f"{search.recoding}, at most {100 * search.suppression:g} % left out",
            "; ".join(one.attained for one in verdicts),
            counted(release.suppressed, "person"),
            f"{cost} ({search.quality})",
        )


def remembered(folder: Path) -> list[Tried]:
    """Return what was tried in a project, the newest last; what cannot be read is forgotten."""
    try:
        return [Tried(**one) for one in json.loads((folder / _FILE).read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []


def remember(folder: Path, one: Tried) -> None:
    """Keep in mind what was tried; the same policy is kept once."""
    held = [*(other for other in remembered(folder) if other.policy != one.policy), one][-KEPT:]
    with replacing(folder / _FILE, force=True) as beside:
        beside.write_text(json.dumps(list(_plain(held)), indent=1, ensure_ascii=False), encoding="utf-8")


def _plain(held: list[Tried]) -> Iterator[dict[str, str]]:
    yield from map(asdict, held)
