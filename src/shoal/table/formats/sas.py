"""SAS: .sas7bdat (read only) and .xpt, the transport format of clinical trials (read and write)."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from shoal.table.formats.format import FORMATS
from shoal.table.formats.labelled import Labelled
from shoal.table.kind import Kind


class Sas(Labelled):
    """SAS files. Transport files hold IBM floating-point numbers and no value labels."""

    name, what = "sas", "SAS file"
    suffixes, writes = (".sas7bdat", ".xpt", ".xport"), (".xpt", ".xport")
    longest, name_length, keeps_labels = 32_767, 32, False
    moment = rb"\d\d[A-Z]{3}\d\d(?::\d\d){3}", b"01JAN60:00:00:00"
    largest, smallest = 1e73, 1e-76
    refused = frozenset({Kind.TIME, Kind.BOOLEAN})
    name_form, letters = r"[A-Za-z_][A-Za-z0-9_]*", "letters without accents"

    def reader(self, package: ModuleType, path: Path) -> Callable[..., Any]:
        """Return the function that reads the file."""
        read: Callable[..., Any] = package.read_sas7bdat if path.suffix.lower() == ".sas7bdat" else package.read_xport
        return read

    def writer(self, package: ModuleType, path: Path) -> Callable[..., Any]:
        """Return the function that writes the file."""
        del path
        write: Callable[..., Any] = package.write_xport
        return write


FORMATS.register("sas")(Sas())
