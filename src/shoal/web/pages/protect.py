"""Protect: privacy requirements, and the search for the best release."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from shoal import toml
from shoal.attacks.attack import ATTACKS
from shoal.disclosure import USUAL
from shoal.errors import PolicyError
from shoal.models.model import MODELS
from shoal.policy.circumstances import PopulationSettings
from shoal.policy.requirements import AttackLimit, PresetRequirement, first_line, limited_attacks
from shoal.policy.search import Search
from shoal.presets.preset import PRESETS
from shoal.progress import Hook
from shoal.qualities.quality import QUALITIES
from shoal.registry import Registry
from shoal.release.release import Release
from shoal.reporting.document import Block, Listing
from shoal.risk.assessment import Assessment
from shoal.sheet import Sheet
from shoal.verbs.anonymize import anonymize
from shoal.web.forms import Field, fields, filled_in
from shoal.web.jobs import Job, State
from shoal.web.page import PATIENCE, Visit, route
from shoal.web.pages import explorations
from shoal.web.pages.assess import assessing
from shoal.web.pages.hierarchies import weights_and_levels
from shoal.web.pages.load import taken
from shoal.web.project import Basis, Moment
from shoal.web.tried import Tried, remember
from shoal.words import first_sentence, share, short

_SETTINGS = ("suppression", "recoding", "quality", "outliers")  # common settings; the others are collapsed
_ELSEWHERE = ("weights", "levels")  # set by column
WORK = ("anonymize", *explorations.NAMES)


def _meanings(registry: Registry[Any]) -> dict[str, str]:
    return {name: first_sentence(registry[name]) for name in registry}


_MEANINGS = {"quality": _meanings(QUALITIES)}


def _show(visit: Visit) -> Response:
    now, policy = visit.now, visit.now.policy
    quasi = [name for name, column in policy.columns.items() if column.role == "quasi"]
    if now.source is None or not (quasi or policy.tables):
        return visit.back("identify" if now.source is not None else "load")
    if not now.several:
        assessing(now)
    search = _settings(policy.document().get("search", {}))
    return visit.show(
        "protect",
        models=list(MODELS),
        presets=list(PRESETS.values()),
        settings=[field for field in search if field.name in _SETTINGS],
        others=[field for field in search if field.name not in _SETTINGS],
        asked=list(_asked(visit)),
        limits=_limits(visit),
        population=fields(PopulationSettings, _held_population(visit)),
        text=toml.document(policy.document()),
        digest=_digest(policy.document()),
    )


def _settings(values: dict[str, Any] | None = None) -> list[Field]:
    shown = [field for field in fields(Search, values) if field.name not in _ELSEWHERE]
    return [replace(field, meanings=_MEANINGS.get(field.name, {})) for field in shown]


def _asked(visit: Visit) -> Iterator[dict[str, str]]:
    """Yield each requirement with its name, demand and meaning."""
    policy = visit.now.policy
    for requirement, document in zip(policy.require, policy.document().get("require", []), strict=True):
        if isinstance(requirement, PresetRequirement):
            preset = PRESETS[requirement.preset]
            says = f"{preset.title}. Adversary: {preset.adversary}. {preset.note}"
            asks = "; ".join(criterion.says for criterion in preset.criteria) or "checklist only"
            shown = {"name": requirement.preset, "asks": asks, "says": says}
        elif isinstance(requirement, AttackLimit):
            name = f"{requirement.attack} of {requirement.column}" if requirement.column else requirement.attack
            limit = "The upper limit of the 95% confidence interval must not exceed it."
            says = f"{first_sentence(ATTACKS[requirement.attack])}. {limit}"
            shown = {"name": name, "asks": f"at most {share(requirement.at_most)}", "says": says}
        else:
            column = getattr(requirement, "column", None)
            name = f"{requirement.name} of {column}" if column else requirement.name
            shown = {"name": name, "asks": requirement.demand(), "says": f"{first_line(requirement)}."}
        yield {**shown, "digest": _digest(document)}


def _digest(requirement: Mapping[str, Any]) -> str:
    """Return a hash of the object of a form. If the object no longer exists, the form is out of date."""
    return hashlib.sha256(json.dumps(requirement, sort_keys=True).encode()).hexdigest()[:16]


def _fields(visit: Visit) -> Response:
    """Show the parameters of a model and its meaning."""
    model = MODELS[visit.text("model")]
    sensitive = [name for name, column in visit.now.policy.columns.items() if column.role == "sensitive"]
    asked = fields(model, {"k": USUAL}, choices={"column": sensitive})
    return visit.part(
        "fields", says=f"{first_sentence(model)}.", fields=asked, form="model", needed={*model.measured, *model.always}
    )


def _limits(visit: Visit) -> list[Field]:
    """Return the form fields of an attack limit."""
    sensitive = [name for name, column in visit.now.policy.columns.items() if column.role == "sensitive"]
    shown = fields(AttackLimit, choices={"attack": list(limited_attacks()), "column": sensitive})
    return [replace(field, meanings=_meanings(ATTACKS) if field.name == "attack" else {}) for field in shown]


def _require(visit: Visit) -> Response:
    """Add a requirement: a model with its parameters, a preset or an attack limit."""
    preset, model = visit.text("preset"), visit.text("model")
    if preset:
        more: dict[str, Any] = {"preset": preset}
    elif visit.text("attack"):
        more = filled_in(_limits(visit), visit.form)
    elif model:
        more = {"model": model, **filled_in(fields(MODELS[model]), visit.form)}
    else:
        raise PolicyError("nothing-selected", "No attack or model is selected.")
    if more in visit.now.policy.document().get("require", []):
        raise PolicyError("already-required", "This requirement already exists.")
    visit.project.edit(lambda policy: {"require": [*policy.get("require", []), more], **_settings_in(visit, policy)})
    return visit.back("protect")


def _held_population(visit: Visit) -> dict[str, Any]:
    population = visit.now.policy.population
    return {} if population is None else population.model_dump(mode="json", exclude_none=True)


def _populate(visit: Visit) -> Response:
    """Set the population from which the table is drawn. Population-based models need it."""
    entered = filled_in(fields(PopulationSettings, _held_population(visit)), visit.form)
    sent = taken(visit, "sent")
    if sent is not None:
        entered = {"file": str(sent)}
    visit.project.edit(lambda policy: {"population": entered, **_settings_in(visit, policy)})
    return visit.back("protect")


def _drop(visit: Visit) -> Response:
    asked = visit.text("asked")
    visit.project.edit(
        lambda policy: {
            "require": [requirement for requirement in policy.get("require", []) if _digest(requirement) != asked],
            **_settings_in(visit, policy),
        }
    )
    return visit.back("protect")


def _rewrite(visit: Visit) -> Response:
    """Replace the policy by the text entered, unless the policy was changed in the meantime."""
    with visit.project.lock:
        if visit.text("digest") != _digest(visit.project.now.policy.document()):
            raise PolicyError("changed-elsewhere", "The policy was changed in another tab.", remedy="Reload the page.")
        visit.project.rewrite(visit.text("text"))
    return visit.back("protect")


def _set(visit: Visit) -> Response:
    """Set the search settings and the weights and levels of the columns. Defaults are not stored."""
    visit.project.edit(lambda policy: _settings_in(visit, policy))
    return visit.back("protect")


def _settings_in(visit: Visit, policy: dict[str, Any]) -> dict[str, Any]:
    """Return the search settings sent with a form, if any, so that no input is lost whichever button is pressed."""
    if "settings" not in visit.form:
        return {}
    search = policy.get("search", {})
    asked = _settings(search)
    entered = filled_in(asked, visit.form)
    for name in ("recoding", "publish"):
        before, after = (_options(part.get(name)) for part in (search, entered))
        if after.get("kind") == before.get("kind") is not None:  # options that no form shows must not be lost
            fields_of = {field.name for field in asked}
            hidden = {
                option: before[option] for option in before if f"{name}.{before['kind']}.{option}" not in fields_of
            }
            entered[name] = {**hidden, **after}
    return {"search": {**weights_and_levels(visit), **entered}}


def _options(chosen: Any) -> dict[str, Any]:
    """Return a kind with its options, given by its name alone or with options."""
    return {} if chosen is None else {"kind": chosen} if isinstance(chosen, str) else dict(chosen)


def _begin(visit: Visit) -> Response:
    """Start a search in the background, with the settings sent along."""
    name = visit.request.path_params["name"]
    if name not in WORK:
        raise PolicyError("no-such-search", "There is no such search.")
    _set(visit)
    now = visit.project.now  # includes these settings
    if name == "anonymize":
        now.begin(name, _searched, _told, anew=True)
    else:
        explorations.begin(now, name)
    return visit.back("protect")


def _searched(now: Moment, hook: Hook) -> Release:
    if now.several:
        return anonymize(now.dataset(hook), progress=hook)
    release = anonymize(now.table(hook), now.policy, progress=hook)
    remember(now.project, Tried.of(now, release))
    return release


def _told(release: Release) -> Iterator[Block]:
    """Present the attained values, the generalisation levels and the information loss of the release."""
    if release.policy.tables:
        yield release.sheet()
        return
    title = release.sheet().title
    rows = tuple(
        (requirement.verdict.title, requirement.verdict.asked, requirement.verdict.attained, requirement.verdict.says)
        for requirement in release.requirements
    )
    note = ("Verified in the released table.",)
    yield Sheet(title, ("model", "required", "attained", "verdict"), rows, note, words=4)
    if release.scheme:
        heights = release.part.transformation.heights
        levels = tuple((name, f"{level} of {heights[name]}") for name, level in release.scheme.items())
        note = ("Level 0 is the original value; the highest level suppresses it.",)
        yield Sheet("Generalisation levels", ("column", "level"), levels, note)
    costs = [
        (measured.title, measured.amount, short(measured.total.cost))
        for name, measured in release.quality.items()
        if measured.total is not None
    ]
    note = ("Cost: 0 = no loss, 1 = total loss in that respect.",)
    yield Sheet("Information loss", ("measure", "value", "cost"), tuple(costs), note)
    yield Listing(release.notes)


def _results(visit: Visit) -> Response:
    """Show the results of the search, or its progress."""
    running = {"anonymize": visit.now.job("anonymize"), **explorations.exploring(visit.now)}
    jobs = {name: job for name, job in running.items() if job is not None}
    if jobs:
        max(jobs.values(), key=lambda job: job.number).wait(PATIENCE)
    assessment: Assessment | None = visit.now.result("assess", Basis.REQUIRED)
    return visit.part(
        "results",
        running=_in_state(jobs, State.RUNNING),
        failed=_in_state(jobs, State.FAILED),
        stopped=_in_state(jobs, State.CANCELLED),
        done=_in_state(jobs, State.DONE),
        met=None if assessment is None else assessment.met,
        confirm=confirmations(visit.now),
        levels=visit.now.policy.search.levels,
    )


def confirmations(now: Moment) -> list[str]:
    """Return the checklist items of the presets. They cannot be computed; a person has to confirm them."""
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
