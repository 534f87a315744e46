"""Protect: what is required, and the search for the best release."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import Response

from shoal import toml
from shoal.disclosure import USUAL
from shoal.errors import PolicyError
from shoal.models.model import MODELS
from shoal.policy.circumstances import Population
from shoal.policy.requirements import PresetRequirement, first_line
from shoal.policy.search import Search
from shoal.presets.preset import PRESETS
from shoal.progress import Hook
from shoal.release.release import Release
from shoal.reporting.document import Block, Listing
from shoal.risk.assessment import Assessment
from shoal.sheet import Sheet
from shoal.verbs.anonymize import anonymize
from shoal.web.forms import Field, fields, filled_in
from shoal.web.jobs import Job, State
from shoal.web.page import PATIENCE, Visit, route
from shoal.web.pages import lattice
from shoal.web.pages.assess import assessing
from shoal.web.pages.hierarchies import weights_and_levels
from shoal.web.pages.load import taken
from shoal.web.project import Basis, Moment
from shoal.web.tried import Tried, remember
from shoal.words import first_sentence, short

_SETTINGS = ("suppression", "recoding", "quality", "outliers")  # what most want to set; the others are folded away
_OF_COLUMNS = ("weights", "levels")
WORK = ("anonymize", "frontier", "schemes")


def _show(visit: Visit) -> Response:
    now, policy = visit.now, visit.now.policy
    quasi = [name for name, said in policy.columns.items() if said.role == "quasi"]
    if now.source is None or not quasi:
        return visit.back("identify" if now.source is not None else "load")
    assessing(now)
    search = _settings(policy.search.model_dump(mode="json"))
    return visit.show(
        "protect",
        models=list(MODELS),
        presets=list(PRESETS.values()),
        settings=[one for one in search if one.name in _SETTINGS],
        others=[one for one in search if one.name not in _SETTINGS],
        asked=list(_asked(visit)),
        population=fields(Population, _held_population(visit)),
        text=toml.document(policy.document()),
        digest=_digest(policy.document()),
    )


def _settings(held: dict[str, Any] | None = None) -> list[Field]:
    return [one for one in fields(Search, held) if one.name not in _OF_COLUMNS]


def _asked(visit: Visit) -> Iterator[dict[str, str]]:
    """Return each requirement: what it is called, what it asks for, and what that means."""
    policy = visit.now.policy
    for one, held in zip(policy.require, policy.document().get("require", []), strict=True):
        if isinstance(one, PresetRequirement):
            preset = PRESETS[one.preset]
            says = f"{preset.title}. Against whom: {preset.adversary}. {preset.note}"
            asks = "; ".join(criterion.says for criterion in preset.criteria) or "nothing that numbers show"
            told = {"name": one.preset, "asks": asks, "says": says}
        else:
            column = getattr(one, "column", None)
            name = f"{one.name} of {column}" if column else one.name
            told = {"name": name, "asks": one.demand(), "says": f"{first_line(one)}."}
        yield {**told, "digest": _digest(held)}


def _digest(held: Mapping[str, Any]) -> str:
    """Return a short name of something that a form is about: if it is not there any more, the form is out of date."""
    return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()[:16]


def _fields(visit: Visit) -> Response:
    """Show the fields of a model, and what it means."""
    model = MODELS[visit.text("model")]
    sensitive = [held for held, said in visit.now.policy.columns.items() if said.role == "sensitive"]
    asked = fields(model, {"k": USUAL}, choices={"column": sensitive})
    return visit.part(
        "fields", says=f"{first_sentence(model)}.", fields=asked, form="model", needed={*model.measured, *model.always}
    )


def _require(visit: Visit) -> Response:
    """Add a requirement: a model with its parameters, or a preset."""
    preset, model = visit.text("preset"), visit.text("model")
    if preset:
        more: dict[str, Any] = {"preset": preset}
    elif model:
        more = {"model": model, **filled_in(fields(MODELS[model]), visit.form)}
    else:
        raise PolicyError("Nothing was chosen.")
    if more in visit.now.policy.document().get("require", []):
        raise PolicyError("This is required already.")
    visit.project.edit(lambda policy: {"require": [*policy.get("require", []), more], **_settings_in(visit, policy)})
    return visit.back("protect")


def _held_population(visit: Visit) -> dict[str, Any]:
    held = visit.now.policy.population
    return {} if held is None else held.model_dump(mode="json", exclude_none=True)


def _populate(visit: Visit) -> Response:
    """Say whom the table is a sample of; models about the population need it."""
    said = filled_in(fields(Population, _held_population(visit)), visit.form)
    sent = taken(visit, "sent")
    if sent is not None:
        said = {"file": str(sent)}
    visit.project.edit(lambda policy: {"population": said, **_settings_in(visit, policy)})
    return visit.back("protect")


def _drop(visit: Visit) -> Response:
    asked = visit.text("asked")
    visit.project.edit(
        lambda policy: {
            "require": [one for one in policy.get("require", []) if _digest(one) != asked],
            **_settings_in(visit, policy),
        }
    )
    return visit.back("protect")


def _rewrite(visit: Visit) -> Response:
    """Take a policy that was written by hand, unless it was changed meanwhile."""
    with visit.project.lock:
        if visit.text("digest") != _digest(visit.project.now.policy.document()):
            raise PolicyError("The policy was changed in another tab.", hint="Load the page again.")
        visit.project.rewrite(visit.text("text"))
    return visit.back("protect")


def _set(visit: Visit) -> Response:
    """Change how the release is searched for, and how much columns count; what is as usual is not written down."""
    visit.project.edit(lambda policy: _settings_in(visit, policy))
    return visit.back("protect")


def _settings_in(visit: Visit, policy: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that came along with something, if they did: whatever is pressed, nothing typed is lost."""
    if "settings" not in visit.form:
        return {}
    return {"search": {**weights_and_levels(visit), **filled_in(_settings(policy.get("search", {})), visit.form)}}


def _begin(visit: Visit) -> Response:
    """Begin a search in the background, with the settings that came along."""
    name = visit.request.path_params["name"]
    if name not in WORK:
        raise PolicyError("There is no such search.")
    _set(visit)
    now = visit.project.now  # with these settings
    if name == "anonymize":
        now.begin(name, _searched, _told, anew=True)
    else:
        lattice.begin(now, name)
    return visit.back("protect")


def _searched(now: Moment, hook: Hook) -> Release:
    found = anonymize(now.table(hook), now.policy, progress=hook)
    remember(now.project, Tried.of(now, found))
    return found


def _told(release: Release) -> Iterator[Block]:
    """Tell what the release attains, and on which levels columns are."""
    title = release.sheet().title
    rows = tuple(
        (one.verdict.title, one.verdict.asked, one.verdict.attained, one.verdict.says) for one in release.requirements
    )
    told = ("Every requirement was judged again, by other code, in the table as it is written.",)
    yield Sheet(title, ("model", "asked", "attained", ""), rows, told, words=4)
    if release.scheme:
        heights = release.facts["heights"]
        levels = tuple((name, f"{level} of {heights[name]}") for name, level in release.scheme.items())
        told = ("Level 0 is the value itself; on the highest level nothing is shown.",)
        yield Sheet("On which level each column is", ("column", "level"), levels, told)
    costs = [
        (name, short(held.total.value), f"{held.total.cost:.3f}")
        for name, held in release.quality.items()
        if held.total is not None
    ]
    told = ("Cost: 0 if nothing is lost in that respect, 1 if everything is.",)
    yield Sheet("What it cost", ("measure", "value", "cost"), tuple(costs), told)
    yield Listing(release.notes)


def _results(visit: Visit) -> Response:
    """Show what the search has come to, or how far it is."""
    held = {"anonymize": visit.now.found("anonymize"), **lattice.exploring(visit.now)}
    jobs = {name: job for name, job in held.items() if job is not None}
    if jobs:
        max(jobs.values(), key=lambda job: job.number).wait(PATIENCE)
    found: Assessment | None = visit.now.result("assess", Basis.REQUIRED)
    return visit.part(
        "results",
        running=_in_state(jobs, State.RUNNING),
        failed=_in_state(jobs, State.FAILED),
        stopped=_in_state(jobs, State.CANCELLED),
        done=_in_state(jobs, State.DONE),
        met=None if found is None else found.met,
        confirm=confirmations(visit.now),
        levels=visit.now.policy.search.levels,
    )


def confirmations(now: Moment) -> list[str]:
    """Return what presets ask for that no number shows: a person has to confirm it."""
    return [f"{preset}: {item}" for preset, item in now.policy.checklist]


def _in_state(jobs: Mapping[str, Job], state: State) -> dict[str, Job]:
    return {name: job for name, job in jobs.items() if job.state is state}


ROUTES = [
    route("/protect", _show),
    route("/protect/results", _results),
    route("/protect/fields", _fields),
    route("/protect/require", _require, ["POST"]),
    route("/protect/require/drop", _drop, ["POST"]),
    route("/protect/population", _populate, ["POST"]),
    route("/protect/search", _set, ["POST"]),
    route("/protect/policy", _rewrite, ["POST"]),
    route("/protect/begin/{name}", _begin, ["POST"]),
]
