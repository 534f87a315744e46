"""ASGI application of the workbench: its routes, wrapped in the access guard."""

from importlib.resources import files
from pathlib import Path

from markupsafe import escape
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from shoal.errors import ShoalError
from shoal.web.gallery import Gallery
from shoal.web.guard import App, Guard, Keys, TooLarge
from shoal.web.jobs import Job, State
from shoal.web.page import STEPS, Visit, error_text, route
from shoal.web.pages import ROUTES
from shoal.web.project import Project

_OF_PICTURES = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"  # styles are inline
MOST = 500_000_000  # maximum size of an upload, in bytes
_MANY = 1_000_000_000  # upper bound of job numbers


def application(project: Project, keys: Keys, port: int, *, most: int = MOST) -> App:
    """Return the workbench application of a project for a port of this machine.

    ``most``: the maximum size of an upload, in bytes.
    """
    routes = [
        Route("/", lambda _: RedirectResponse(f"/{STEPS[0].name}", 303)),
        *ROUTES,
        route("/job/{number}", _job),
        route("/job/{number}/cancel", _cancel, ["POST"]),
        route("/job/{number}/again", _again, ["POST"]),
        route("/picture/{name}.svg", _picture),
        Mount("/static", StaticFiles(directory=Path(str(files("shoal.web").joinpath("static"))))),
    ]
    handlers = {ShoalError: _sorry, TooLarge: _too_large, Exception: _unexpected}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.state.project, app.state.gallery, app.state.keys = project, Gallery(), keys
    return Guard(app, keys, port, most)


def _numbered(visit: Visit) -> Job | None:
    number = visit.number("number", 0, _MANY)
    return None if number is None else visit.project.jobs.numbered(number)


def _job(visit: Visit) -> Response:
    """Show the progress of a job. When the job has ended, reload the page that waits for it."""
    job = _numbered(visit)
    if job is None or job.state is not State.RUNNING:
        return Response(headers={"hx-refresh": "true"})
    return visit.part("progress", job=job)


def _cancel(visit: Visit) -> Response:
    job = _numbered(visit)
    if job is not None:
        job.cancel()
        job.wait(2)
    return Response(headers={"hx-refresh": "true"})


def _again(visit: Visit) -> Response:
    """Discard a failed or cancelled job, so that the page that needs it starts it again."""
    job = _numbered(visit)
    if job is not None and job.state in {State.FAILED, State.CANCELLED}:
        visit.project.jobs.forget(job)
    return Response(headers={"hx-refresh": "true"})


def _picture(visit: Visit) -> Response:
    drawn = visit.gallery.drawn(visit.request.path_params["name"])
    if drawn is None:
        return _text("This chart is no longer available. Reload the page.", 404)
    return Response(drawn, media_type="image/svg+xml", headers={"content-security-policy": _OF_PICTURES})


def _text(text: str, status: int) -> Response:
    """Return a message for display within a page, escaped so that its content is not interpreted as markup."""
    return HTMLResponse(str(escape(text)), status, {"hx-retarget": "#message", "hx-reswap": "innerHTML"})


def _sorry(_: Request, error: Exception) -> Response:
    return _text(error_text(error) if isinstance(error, ShoalError) else "", 422)


def _too_large(_request: Request, _error: Exception) -> Response:
    return _text("The file is too large to upload. Start shoal serve with the file instead.", 413)


def _unexpected(_: Request, error: Exception) -> Response:
    return _text(f"shoal failed unexpectedly ({type(error).__name__}). Nothing was changed.", 500)
