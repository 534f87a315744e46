"""The application: pages behind a guard."""

from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from shoal.errors import ShoalError
from shoal.web.gallery import Gallery
from shoal.web.guard import App, Guard, Keys, TooLarge
from shoal.web.jobs import State
from shoal.web.page import STEPS, Visit, route, told
from shoal.web.pages import ROUTES
from shoal.web.project import Project

_OF_PICTURES = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"  # they bring their own style
MOST = 500_000_000  # bytes of an upload


def application(project: Project, keys: Keys, port: int, *, most: int = MOST) -> App:
    """Return the workbench for a project, as it listens on a port of this machine."""
    routes = [
        Route("/", lambda _: RedirectResponse(f"/{STEPS[0].name}", 303)),
        *ROUTES,
        route("/job/{number:int}", _job),
        route("/job/{number:int}/cancel", _cancel, ["POST"]),
        route("/picture/{name}.svg", _picture),
        Mount("/static", StaticFiles(directory=Path(str(files("shoal.web").joinpath("static"))))),
    ]
    made = Starlette(routes=routes, exception_handlers={ShoalError: _sorry, TooLarge: _too_large})
    made.state.project, made.state.gallery, made.state.keys = project, Gallery(), keys
    hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))
    return Guard(made, keys, hosts, most)


def _job(visit: Visit) -> Response:
    """Show how far a job is; when it has ended, the page that waits for it is loaded again."""
    job = visit.project.jobs.numbered(visit.request.path_params["number"])
    if job is None or job.state is not State.RUNNING:
        return Response(headers={"hx-refresh": "true"})
    return visit.part("job", job=job)


def _cancel(visit: Visit) -> Response:
    job = visit.project.jobs.numbered(visit.request.path_params["number"])
    if job is not None:
        job.cancel()
        job.wait(2)
    return PlainTextResponse("Stopped.", headers={"hx-refresh": "true"})


def _picture(visit: Visit) -> Response:
    drawn = visit.gallery.drawn(visit.request.path_params["name"])
    if drawn is None:
        return PlainTextResponse("This picture is gone. Load the page again.", 404)
    return Response(drawn, media_type="image/svg+xml", headers={"content-security-policy": _OF_PICTURES})


def _sorry(_: Request, error: Exception) -> Response:
    text = told(error) if isinstance(error, ShoalError) else "shoal failed unexpectedly."
    return PlainTextResponse(text, 422)


def _too_large(_request: Request, _error: Exception) -> Response:
    return PlainTextResponse("This is too large. Start shoal serve with the file instead.", 413)
