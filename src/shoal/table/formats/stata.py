"""Stata: .dta."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from shoal.table.formats.format import FORMATS
from shoal.table.formats.labelled import Labelled


class Stata(Labelled):
    """Files of Stata, versions 8 to 15."""

    name, what = "stata", "Stata file"
    suffixes = writes = (".dta",)
    longest, name_length, keeps_blanks = 2_045, 32, True
    moment = rb"(?<=<timestamp>\x11).{17}", b"01 Jan 1960 00:00"
    largest = 8.9e307  # above, numbers mean missing
    label_length = 80

    def reader(self, package: ModuleType, path: Path) -> Callable[..., Any]:
        """Return what reads such a file."""
        del path
        read: Callable[..., Any] = package.read_dta
        return read

    def can_label(self, value: Any) -> bool:
        """Return whether a value is an integer of 32 bits: Stata labels no others."""
        return isinstance(value, int | float) and value == int(value) and -(2**31) < value <= 2**31 - 28

    def writer(self, package: ModuleType, path: Path) -> Callable[..., Any]:
        """Return what writes such a file."""
        del path
        write: Callable[..., Any] = package.write_dta
        return write


FORMATS.register("stata")(Stata())
