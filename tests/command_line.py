"""The command line as tests call it: in their own process, which spares the second that a start of Python takes."""

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from shoal.cli import main

_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@dataclass(frozen=True)
class Completed:
    """What a command left behind: named as in ``subprocess.CompletedProcess``."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object, cwd: str | Path, encoding: str = "utf-8", **environment: str) -> Completed:
    """Run ``shoal`` with arguments in a folder; use ``subprocess`` where the process itself is tested.

    ``encoding``: the encoding of the console.
    """
    output, errors = _stream(encoding), _stream(encoding)
    with _surroundings(Path(cwd), environment), redirect_stdout(output), redirect_stderr(errors):
        code = _code(["shoal", *map(str, arguments)])
    return Completed(code, _text(output), _text(errors))


def _code(words: list[str]) -> int:
    with patch.object(sys, "argv", words):
        try:
            main()
        except SystemExit as ended:
            return int(ended.code or 0)
    raise AssertionError("a command ends with an exit code")


@contextmanager
def _surroundings(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """Enter a folder and an environment, and leave them as they were, signal handlers too."""
    before, handlers = Path.cwd(), {end: signal.getsignal(end) for end in _ENDS}
    os.chdir(folder)
    try:
        with patch.dict(os.environ, {"NO_COLOR": "1", "COLUMNS": "100", **environment}):
            yield
    finally:
        os.chdir(before)
        for end, handler in handlers.items():
            signal.signal(end, handler)


def _stream(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
