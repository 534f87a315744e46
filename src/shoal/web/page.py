"""Common parts of the workbench pages: steps, requests, routes and rendering."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from jinja2 import Template
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from shoal.errors import ShoalError
from shoal.reporting.as_html import environment
from shoal.web.gallery import Gallery
from shoal.web.guard import HEADER, Keys
from shoal.web.headline import headline
from shoal.web.jobs import Job, State
from shoal.web.project import Moment, Project
from shoal.web.remedies import WORKBENCH, labelled
from shoal.words import share, short

_FILES, _FIELDS = 3, 100_000  # maximum number of files and fields of a form
PATIENCE = 0.4  # seconds that a page waits for a job that may end at once
Handler: TypeAlias = Callable[["Visit"], Response]


@dataclass(frozen=True, slots=True)
class PageStep:
    """One step on the way from the raw table to the release."""

    name: str
    title: str
    says: str


STEPS = (
    PageStep("load", "Load", "Import data"),
    PageStep("identify", "Identify", "Roles of the columns"),
    PageStep("assess", "Assess", "Risk of the original table"),
    PageStep("protect", "Protect", "Requirements, hierarchies and search"),
    PageStep("compare", "Compare", "Information loss and utility"),
    PageStep("attack", "Attack", "Attacks on the release"),
    PageStep("release", "Release", "Release files and evidence"),
)


@dataclass(frozen=True, slots=True)
class Visit:
    """A request with its form, the state of the project, the chart cache and the secrets of the server."""

    request: Request
    now: Moment
    gallery: Gallery
    keys: Keys
    form: dict[str, Any]

    @property
    def project(self) -> Project:
        """The project, for changes."""
        return self.now.project

    def text(self, name: str) -> str:
        """Return the value of a form field or query parameter; empty if it is missing."""
        value = next(iter(self.form.get(name, [])), None) if self.form else self.request.query_params.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str, least: int, most: int) -> int | None:
        """Return an integer parameter of the request; None if it is not an integer or out of range."""
        return number(self.text(name) or str(self.request.path_params.get(name, "")), least, most)

    def show(self, step: str, *, job: Job | None = None, template: str | None = None, **more: Any) -> Response:
        """Render the page of a step. Wait briefly for its job, which may be nearly done.

        ``template``: the template, if it is not named like the step.
        """
        if job is not None:
            job.wait(PATIENCE)
            job = job.seen()
        done = job is not None and job.state is State.DONE
        return self.part(
            template or step,
            step=next(page_step for page_step in STEPS if page_step.name == step),
            steps=STEPS,
            facts=headline(self.now),
            source=self.now.source,
            policy=self.now.policy,
            several=self.now.several,
            job=job,
            result=job.result if job is not None and done else None,
            blocks=job.blocks if job is not None and done else (),
            header={HEADER: self.keys.header},
            **more,
        )

    def part(self, name: str, **more: Any) -> Response:
        """Render a part of a page."""
        return HTMLResponse(_template(name).render(picture=self.gallery.hang, drawn=True, **more))

    def back(self, step: str) -> Response:
        """Redirect to the page of a step, which shows the changes."""
        if self.request.method == "POST":
            return Response(headers={"hx-redirect": f"/{step}"})
        return RedirectResponse(f"/{step}", 303)


def route(path: str, handler: Handler, methods: Sequence[str] = ("GET",), *, several: Handler | None = None) -> Route:
    """Return the route of a handler. Handlers run in a thread pool because they may block.

    ``several``: the handler for several linked tables, if it is another one.
    """

    def handle(request: Request, form: dict[str, Any]) -> Response:
        state = request.app.state
        now = state.project.now
        chosen = several if several is not None and now.several else handler
        return chosen(Visit(request, now, state.gallery, state.keys, form))

    async def endpoint(request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool

        if request.method != "POST":
            return await run_in_threadpool(handle, request, {})
        async with request.form(max_files=_FILES, max_fields=_FIELDS) as form:
            return await run_in_threadpool(handle, request, {name: form.getlist(name) for name in form})

    return Route(path, endpoint, methods=list(methods))


def number(text: str, least: int, most: int) -> int | None:
    """Parse an integer between two bounds (inclusive); return None for any other text.

    >>> number("7", 1, 9), number("10", 1, 9), number("9" * 5000, 1, 9), number("x", 1, 9)
    (7, None, None, None)
    """
    fits = text.isdecimal() and len(text) <= len(str(most)) + 1 and least <= int(text) <= most
    return int(text) if fits else None


def _template(name: str) -> Template:
    templates = environment("shoal.web")
    templates.filters.update(error_text=error_text, share=share, short=short)
    return templates.get_template(f"{name}.html")


def _ended(sentence: str) -> str:
    """Return a sentence with a full stop, unless it ends with another mark."""
    return sentence if sentence.endswith((".", "?")) else f"{sentence}."


def error_text(error: ShoalError) -> str:
    """Return an error and its remedy as the workbench shows them; settings are called by the labels of their fields.

    >>> from shoal.errors import PolicyError
    >>> problems = ("search.suppression: must be at most 1",)
    >>> error_text(PolicyError("invalid", "{problems}", problems=problems))
    'Suppression limit: must be at most 1.'
    """
    message = error.message
    if error.code == "invalid" and "problems" in error.facts:
        message = " ".join(_ended(labelled(problem)) for problem in error.facts["problems"])
    return f"{message} {error.advice(WORKBENCH)}".rstrip()
