"""Stata: .dta."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from shoal.table.formats.format import FORMATS
from shoal.table.formats.labelled import Labelled


class Stata(Labelled):
    """Stata files, versions 8 to 15."""

    name, what = "stata", "Stata file"
    suffixes = writes = (".dta",)
    longest, name_length, keeps_blanks = 2_045, 32, True
    moment = rb"(?<=<timestamp>\x11).{17}", b"01 Jan 1960 00:00"
    largest = 8.9e307  # larger numbers mean missing
    label_length = 80

    def reader(self, package: ModuleType, path: Path) -> Callable[..., Any]:
        """Return the function that reads the file."""
        del path
        read: Callable[..., Any] = package.read_dta
        return read

    def can_label(self, value: Any) -> bool:
        """Return whether a value is a 32-bit integer; Stata cannot label other values."""
        return isinstance(value, int | float) and value == int(value) and -(2**31) < value <= 2**31 - 28

    def writer(self, package: ModuleType, path: Path) -> Callable[..., Any]:
        """Return the function that writes the file."""
        del path
        write: Callable[..., Any] = package.write_dta
        return write


FORMATS.register("stata")(Stata())
