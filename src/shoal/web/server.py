"""The server: it listens on this machine, prints the link, and cleans up when it ends."""

import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from shoal.charts.chart import Chart
from shoal.errors import ShoalError
from shoal.web.app import application
from shoal.web.guard import ENTRANCE, Keys
from shoal.web.project import Project

ADDRESS = "127.0.0.1"


def run(  # noqa: PLR0913 - what a command was given
    data: Path | None,
    policy: Path | None,
    folder: Path | None,
    port: int,
    *,
    told: Callable[[str], None],
    browser: bool,
) -> None:
    """Serve a project until somebody stops it."""
    project = Project.open(folder, data, policy)
    try:
        with _listening(port) as door:
            port, keys = door.getsockname()[1], Keys()
            link = f"http://{ADDRESS}:{port}{ENTRANCE}?token={keys.token}"
            told(f"The workbench is at {link}\nThe link is good for one use. Ctrl-C ends it.")
            threading.Thread(target=_warm, daemon=True).start()
            if browser:
                webbrowser.open(link)
            config = uvicorn.Config(
                application(project, keys, port), log_level="critical", access_log=False, server_header=False, ws="none"
            )
            uvicorn.Server(config).run(sockets=[door])
    finally:
        project.close()


def _warm() -> None:
    """Draw something: the first picture takes seconds, all others a moment."""
    Chart.of("", "", {"data": {"values": []}, "mark": "point"}).to_svg()


def _listening(port: int) -> socket.socket:
    """Return a socket that only this machine can reach."""
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((ADDRESS, port))
        door.listen()  # before the link is told: whoever follows it at once has to wait, and is not turned away
    except OSError:
        door.close()
        raise ShoalError(f"Port {port} is taken.", hint="Give another one, or none.") from None
    return door
