"""SPSS: .sav and .zsav (read and write) and .por (read only)."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from shoal.table.formats.format import FORMATS
from shoal.table.formats.labelled import Labelled


class Spss(Labelled):
    """SPSS and PSPP files."""

    name, what = "spss", "SPSS file"
    suffixes, writes = (".sav", ".zsav", ".por"), (".sav", ".zsav")
    longest, name_length = 32_767, 64
    moment = rb"(?<=^.{92}).{17}", b"01 Jan 6000:00:00"

    def reader(self, package: ModuleType, path: Path) -> Callable[..., Any]:
        """Return the function that reads the file."""
        read: Callable[..., Any] = package.read_por if path.suffix.lower() == ".por" else package.read_sav
        return read

    def marks_missing(self, path: Path) -> bool:
        """Return whether the file can declare values as missing."""
        return path.suffix.lower() != ".por"

    def writer(self, package: ModuleType, path: Path) -> Callable[..., Any]:
        """Return the function that writes the file."""
        return partial(package.write_sav, compress=".zsav" in path.name.lower())


FORMATS.register("spss")(Spss())
