"""Attack: empirical attacks on the release."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from starlette.responses import Response

from shoal.attacks.attack import ATTACKS
from shoal.attacks.battery import Attacked
from shoal.errors import AttackError, ShoalError
from shoal.progress import Hook
from shoal.reporting.chapters.attacks import attacks as chapter
from shoal.reporting.document import Block
from shoal.reporting.findings import Findings
from shoal.reporting.made_release import of_release
from shoal.table.reading import read
from shoal.table.table import Table
from shoal.verbs.attack import attack
from shoal.web.page import Visit, route
from shoal.web.pages import dataset
from shoal.web.pages.compare import OWNER, released
from shoal.web.pages.load import all_taken, taken
from shoal.web.project import Moment
from shoal.words import first_sentence

_OTHERS = {  # optional tables for attacks, with the labels of their fields
    "external": "Identified register",
    "outsiders": "Individuals outside the data",
}
_ALSO = "Other releases"


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """Results of the attacks, other findings about the release, and the options of the attacks.

    ``given``: the names of the uploaded files, and whether ceilings were measured, by parameter of ``shoal.attack``.
    """

    attacked: Attacked
    findings: Findings
    given: Mapping[str, Any]


def _show(visit: Visit) -> Response:
    release = released(visit)
    job = None if release is None else visit.now.job("attack")
    says = {name: first_sentence(ATTACKS[name]) for name in ATTACKS}
    usual = {name for name in ATTACKS if ATTACKS[name].default}
    return visit.show("attack", job=job, release=release, attacks=says, usual=usual)


def _begin(visit: Visit) -> Response:
    """Run the selected attacks on the release in the background."""
    release, now = released(visit), visit.now
    if release is None:
        raise AttackError("no-release", "There is no release yet.", remedy="Search for a release first.")
    chosen = [str(name) for name in visit.form.get("attack", [])]
    if not chosen:
        raise AttackError("no-attack", "No attack is selected.")
    paths = {name: taken(visit, name) for name in _OTHERS}
    others = {name: path for name, path in paths.items() if path is not None}
    releases, ceilings = all_taken(visit, "also"), bool(visit.form.get("ceilings"))
    known: Findings | None = now.result("findings")

    def work(_: Moment, hook: Hook) -> Tested:
        tables: dict[str, Any] = {name: _read(_OTHERS[name], path, hook) for name, path in others.items()}
        also = [_read(_ALSO, path, hook) for path in releases]
        attacked = attack(release.given, release, attacks=chosen, also=also, ceilings=ceilings, progress=hook, **tables)
        files: dict[str, Any] = {name: path.name for name, path in others.items()}
        if releases:
            files["also"] = [path.name for path in releases]
        if ceilings:
            files["ceilings"] = True
        return Tested(attacked, known or of_release(release, hook), files)

    now.again("attack", work, _told)
    return visit.back("attack")


def _read(field: str, path: Path, hook: Hook) -> Table:
    """Read an uploaded table; an error names the field and the file, because the import settings do not apply to it."""
    try:
        return read(path, progress=hook)
    except ShoalError as error:
        raise AttackError(
            "unreadable-table",
            "{field}, file '{file}': {reason}",
            remedy="Correct the file, and upload it again.",
            field=field,
            file=path.name,
            reason=error.message,
        ) from None


def _told(tested: Tested) -> Iterator[Block]:
    yield chapter(replace(tested.findings, attacks=tested.attacked), OWNER)


ROUTES = [
    route("/attack", _show, several=dataset.show_attack),
    route("/attack", _begin, ["POST"], several=dataset.begin_attack),
]
