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


@dataclass(frozen=True)
class Completed:
    """What a command left behind: named as in ``subprocess.CompletedProcess``."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object, cwd: str | Path, **environment: str) -> Completed:
    """Run ``shoal`` with arguments in a folder; use ``subprocess`` where the process itself is tested."""
    output, errors = _stream(), _stream()
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
    before, handler = Path.cwd(), signal.getsignal(signal.SIGTERM)
    os.chdir(folder)
    try:
        with patch.dict(os.environ, {"NO_COLOR": "1", "COLUMNS": "100", **environment}):
            yield
    finally:
        os.chdir(before)
        signal.signal(signal.SIGTERM, handler)


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
