"""Protect: what is required, and the search for the best release."""

from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import Response

from shoal import toml
from shoal.anonymization import anonymize
from shoal.assessment import Assessment
from shoal.disclosure import USUAL
from shoal.errors import PolicyError
from shoal.models.model import MODELS
from shoal.policy.requirements import PresetRequirement, first_line
from shoal.policy.search import Search
from shoal.presets.preset import PRESETS
from shoal.progress import Hook
from shoal.release.release import Release
from shoal.reporting.document import Block, Listing
from shoal.sheet import Sheet
from shoal.web.forms import Field, fields, filled_in
from shoal.web.jobs import Job, State
from shoal.web.page import PATIENCE, Visit, route
from shoal.web.pages import lattice
from shoal.web.pages.assess import assessing
from shoal.web.project import Basis, Moment
from shoal.web.tried import Tried, remember
from shoal.words import first_sentence, short

_SETTINGS = ("suppression", "recoding", "quality", "outliers")  # what most want to set; the others are folded away
_OF_COLUMNS = ("weights", "levels")
WORK = ("anonymize", "frontier", "schemes")


def _show(visit: Visit) -> Response:
    project, policy = visit.project, visit.project.policy
    quasi = [name for name, said in policy.columns.items() if said.role == "quasi"]
    if project.source is None or not quasi:
        return visit.back("identify" if project.source is not None else "load")
    assessing(project)
    search = _settings(policy.search.model_dump(mode="json"))
    return visit.show(
        "protect",
        quasi=quasi,
        models={name: first_sentence(MODELS[name]) for name in MODELS},
        presets=list(PRESETS.values()),
        settings=[one for one in search if one.name in _SETTINGS],
        others=[one for one in search if one.name not in _SETTINGS],
        asked=list(_asked(visit)),
        text=toml.document(policy.document()),
    )


def _settings(held: dict[str, Any] | None = None) -> list[Field]:
    return [one for one in fields(Search, held) if one.name not in _OF_COLUMNS]


def _asked(visit: Visit) -> Iterator[dict[str, str]]:
    """Return each requirement: what it is called, what it asks for, and what that means."""
    for one in visit.project.policy.require:
        if isinstance(one, PresetRequirement):
            preset = PRESETS[one.preset]
            says = f"{preset.title}. Against whom: {preset.adversary}. {preset.note}"
            yield {"name": one.preset, "asks": "; ".join(held.says for held in preset.criteria), "says": says}
        else:
            column = getattr(one, "column", None)
            name = f"{one.name} of {column}" if column else one.name
            yield {"name": name, "asks": one.demand(), "says": f"{first_line(one)}."}


def _fields(visit: Visit) -> Response:
    """Show the fields of a model, and what it means."""
    model = MODELS[visit.request.query_params.get("model", "")]
    sensitive = [held for held, said in visit.project.policy.columns.items() if said.role == "sensitive"]
    asked = fields(model, {"k": USUAL}, choices={"column": sensitive})
    return visit.part("fields", says=f"{first_sentence(model)}.", fields=asked, form="model")


def _require(visit: Visit) -> Response:
    """Add a requirement: a model with its parameters, or a preset."""
    said = visit.project.policy.document().get("require", [])
    preset, model = (str(next(iter(visit.form.get(name, [""])), "")) for name in ("preset", "model"))
    if preset:
        more = {"preset": preset}
    elif model:
        more = {"model": model, **filled_in(fields(MODELS[model]), visit.form)}
    else:
        raise PolicyError("Nothing was chosen.")
    visit.project.change({"require": [*said, more]})
    return visit.back("protect")


def _drop(visit: Visit) -> Response:
    said = visit.project.policy.document().get("require", [])
    place = visit.request.path_params["place"]
    visit.project.change({"require": [one for number, one in enumerate(said) if number != place]})
    return visit.back("protect")


def _rewrite(visit: Visit) -> Response:
    """Take a policy that was written by hand."""
    visit.project.rewrite(str(next(iter(visit.form.get("text", [""])))))
    return visit.back("protect")


def _set(visit: Visit) -> Response:
    """Change how the release is searched for; what is as usual is not written down."""
    usual = {one.name: one.value for one in _settings()}
    before = visit.project.policy.document().get("search", {})
    kept = {name: held for name, held in before.items() if name in _OF_COLUMNS}
    said = {name: held for name, held in filled_in(_settings(), visit.form).items() if held != usual[name]}
    visit.project.change({"search": {**kept, **said}})
    return visit.back("protect")


def _begin(visit: Visit) -> Response:
    """Begin a search in the background, with the settings that came along."""
    name, project = visit.request.path_params["name"], visit.project
    if name not in WORK:
        raise PolicyError("There is no such search.")
    if visit.form:
        _set(visit)
    if name == "anonymize":
        project.begin(name, _searched, _told)
    else:
        lattice.begin(project, name)
    return visit.back("protect")


def _searched(now: Moment, hook: Hook) -> Release:
    found = anonymize(now.table(hook), now.policy, progress=hook)
    remember(now.project.folder, Tried.of(found))
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
        heights = release.public["heights"]
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
    jobs = {name: job for name in WORK if (job := visit.project.found(name)) is not None}
    if jobs:
        max(jobs.values(), key=lambda job: job.number).wait(PATIENCE)
    found: Assessment | None = visit.project.result("assess", Basis.REQUIRED)
    return visit.part(
        "results",
        running=_in_state(jobs, State.RUNNING),
        failed=_in_state(jobs, State.FAILED),
        stopped=_in_state(jobs, State.CANCELLED),
        done=_in_state(jobs, State.DONE),
        met=None if found is None else found.met,
        levels=visit.project.policy.search.levels,
    )


def _in_state(jobs: Mapping[str, Job], state: State) -> dict[str, Job]:
    return {name: job for name, job in jobs.items() if job.state is state}


ROUTES = [
    route("/protect", _show),
    route("/protect/results", _results),
    route("/protect/fields", _fields),
    route("/protect/require", _require, ["POST"]),
    route("/protect/require/{place:int}/drop", _drop, ["POST"]),
    route("/protect/search", _set, ["POST"]),
    route("/protect/policy", _rewrite, ["POST"]),
    route("/protect/begin/{name}", _begin, ["POST"]),
]
