"""The command line. Each command has its own file; heavy modules are imported when a command runs."""

import os
import re
import signal
import sys
import traceback
import warnings
from pathlib import Path

from shoal.errors import ShoalError
from shoal.words import printable

_IS_OURS = re.compile(r"[\\/]shoal[\\/]")  # a file of the package
_LONG = 60  # maximum number of characters of a file name in a message


def main() -> None:
    """Run the command line. Exit code 0: done, requirements met. 1: requirements not met. 2: could not be run."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console that lacks a character shows a question mark
    for end in ("SIGTERM", "SIGHUP"):  # exit normally, so that incomplete files are removed
        if hasattr(signal, end):
            signal.signal(getattr(signal, end), lambda number, _: sys.exit(128 + number))
    warnings.showwarning = _tell
    try:
        from shoal.cli.app import app

        app()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except ShoalError as error:
        from shoal.cli.remedies import COMMAND_LINE

        advice = error.advice(COMMAND_LINE)
        _fail(f"Error: {error.message}\n\nHint: {advice}" if advice else f"Error: {error.message}")
    except OSError as error:
        _fail(f"Error: {_refused(error)}.")
    except Exception as error:
        if os.environ.get("SHOAL_DEBUG"):
            raise
        places = traceback.extract_tb(error.__traceback__)
        last = next((place for place in reversed(places) if _IS_OURS.search(place.filename)), places[-1])
        place = f"{Path(last.filename).name}, line {last.lineno}"
        _fail(
            f"Error: shoal failed unexpectedly ({type(error).__name__} in {place}).\n\n"
            "Hint: Set SHOAL_DEBUG=1 to see the details. They may contain values of your data."
        )


def _tell(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning of a library without its place in the code."""
    sys.stderr.write(f"{printable(f'Note: {message}')}\n")


def _refused(error: OSError) -> str:
    """Return the error of the operating system and the file it concerns."""
    why = error.strerror or "the system refused"
    if error.filename is None:
        return why
    name = Path(os.fsdecode(error.filename)).name
    return f"'{name if len(name) <= _LONG else f'{name[: _LONG // 2]}…{name[-_LONG // 2 :]}'}': {why}"


def _fail(message: str) -> None:
    sys.stderr.write(f"{printable(message)}\n")  # column and file names may contain terminal control characters
    sys.exit(2)
