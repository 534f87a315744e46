"""SAS: .sas7bdat can be read; .xpt, the transport format of clinical trials, can be written, too."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from shoal.table.formats.format import FORMATS
from shoal.table.formats.labelled import Labelled
from shoal.table.kind import Kind


class Sas(Labelled):
    """Files of SAS. Transport files hold numbers of IBM's kind, and no labels of values."""

    name, what = "sas", "SAS file"
    suffixes, writes = (".sas7bdat", ".xpt", ".xport"), (".xpt", ".xport")
    longest, name_length, keeps_labels = 32_767, 32, False
    moment = rb"\d\d[A-Z]{3}\d\d(?::\d\d){3}", b"01JAN60:00:00:00"
    largest, smallest = 1e73, 1e-76
    refused = frozenset({Kind.TIME, Kind.BOOLEAN})
    name_form, letters = r"[A-Za-z_][A-Za-z0-9_]*", "letters without accents"

    def reader(self, package: ModuleType, path: Path) -> Callable[..., Any]:
        """Return what reads such a file."""
        read: Callable[..., Any] = package.read_sas7bdat if path.suffix.lower() == ".sas7bdat" else package.read_xport
        return read

    def writer(self, package: ModuleType, path: Path) -> Callable[..., Any]:
        """Return what writes such a file."""
        del path
        write: Callable[..., Any] = package.write_xport
        return write


FORMATS.register("sas")(Sas())
