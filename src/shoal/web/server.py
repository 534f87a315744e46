"""The workbench server: it listens on this machine only, prints the link and cleans up when it stops."""

import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from shoal.charts.chart import Chart
from shoal.errors import ShoalError
from shoal.fileset import uninterrupted
from shoal.web.app import application
from shoal.web.guard import ENTRANCE, Keys
from shoal.web.project import Project

ADDRESS = "127.0.0.1"
_ENDS = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
_DOOR = '<!DOCTYPE html><title>shoal</title><meta http-equiv="refresh" content="0;url={link}">'


def run(  # noqa: PLR0913 - options of the command
    data: Path | None,
    policy: Path | None,
    folder: Path | None,
    port: int,
    *,
    announce: Callable[[str], None],
    browser: bool,
) -> None:
    """Serve a project until the server is stopped."""
    os.umask(0o077)  # files written here are readable by their owner only
    project = Project.open(folder, data, policy)
    before = {number: signal.getsignal(number) for number in _ENDS}
    try:
        with _listening(port) as door:
            port, keys = door.getsockname()[1], Keys()
            link = f"http://{ADDRESS}:{port}{ENTRANCE}?token={keys.token}"
            config = uvicorn.Config(
                application(project, keys, port), log_level="critical", access_log=False, server_header=False, ws="none"
            )
            server = _Server(config)
            for number in _ENDS:  # before the link is printed
                signal.signal(number, server.end)
            announce(f"Workbench: {link}\nOpen the link if no page appears. It can be used once. Press Ctrl-C to stop.")
            threading.Thread(target=_warm, daemon=True).start()
            if browser:
                _opened(link, project.folder)
            server.run(sockets=[door])
    finally:
        with uninterrupted():  # a second signal must not interrupt the removal of data in a temporary folder
            project.close()
        for number, handler in before.items():
            signal.signal(number, handler)


class _Server(uvicorn.Server):
    """A server that shuts down in an orderly way on every signal, so that temporary files are removed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Keep the signal handlers already set, which call ``end``."""
        yield

    def end(self, *_: Any) -> None:
        """Shut down. A second signal does not wait for pending requests."""
        self.force_exit = self.should_exit
        self.should_exit = True


def _opened(link: str, folder: Path) -> None:
    """Open the page through a file that only its owner can read, because other users can see command lines."""
    door = folder / "open.html"
    door.write_text(_DOOR.format(link=link), encoding="utf-8")
    webbrowser.open(door.as_uri())


def _warm() -> None:
    """Draw an empty chart, because the first chart takes seconds and later ones only a moment."""
    Chart.of("", "", {"data": {"values": []}, "mark": "point"}).to_svg()


def _listening(port: int) -> socket.socket:
    """Return a listening socket that only this machine can reach."""
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((ADDRESS, port))
        door.listen()  # before the link is printed, so that an early request waits instead of being refused
    except OSError:
        door.close()
        raise ShoalError(
            "port-taken", "Port {port} is in use.", remedy="Give another port, or none.", port=port
        ) from None
    return door
