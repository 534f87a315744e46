"""Load: which data these are."""

import zipfile
from pathlib import Path
from typing import Any

from starlette.datastructures import UploadFile
from starlette.responses import Response

from shoal.errors import ReadError
from shoal.progress import silent
from shoal.sheet import Sheet
from shoal.table.formats.format import FORMATS
from shoal.table.options import Options
from shoal.table.table import Table
from shoal.validation import validated
from shoal.web.page import Visit, route

SHOWN = 10
_TEXTS = ("separator", "decimal", "encoding", "sheet", "suppressed")
_UNPACKED, _RATIO = 2_000_000_000, 200  # bytes that a workbook may unpack to, and how many for each of its own


def _show(visit: Visit) -> Response:
    source = visit.project.source
    job = None if source is None else visit.project.begin("read", visit.project.table, policy=False)
    return visit.show("load", job=job, suffixes=",".join(_suffixes()))


def _suffixes() -> list[str]:
    return sorted(suffix for kind in FORMATS.values() for suffix in kind.suffixes)


def _upload(visit: Visit) -> Response:
    """Take a file, and work on it from now on."""
    path = taken(visit, "file")
    if path is None:
        raise ReadError("No file was chosen.")
    visit.project.use(path, {})
    return visit.back("load")


def taken(visit: Visit, field: str) -> Path | None:
    """Take a file that was sent, if one was; it is kept in the project, under no other name than its own."""
    held = next(iter(visit.form.get(field, [])), None)
    if not isinstance(held, UploadFile) or not held.filename:
        return None
    if Path(held.filename).suffix.lower() not in _suffixes():
        raise ReadError("This kind of file cannot be read.", hint=f"Known are {', '.join(_suffixes())}.")
    target = visit.project.uploaded(held.filename)
    with target.open("wb") as file:
        while part := held.file.read(1 << 20):
            file.write(part)
    try:
        _check_packed(target)
    except ReadError:
        target.unlink()
        raise
    return target


def _check_packed(path: Path) -> None:
    """Refuse a packed file that is far larger unpacked than any table of its size would be."""
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(one.file_size for one in packed.infolist())
    except zipfile.BadZipFile:
        raise ReadError("The workbook is damaged.") from None
    if size > _UNPACKED or size > _RATIO * max(path.stat().st_size, 1):
        raise ReadError("The workbook unpacks to far more than it may.", hint="Save it as CSV, and load that.")


def _options(visit: Visit) -> Response:
    """Read the file in another way."""
    source = visit.project.source
    if source is None:
        raise ReadError("There are no data yet.", hint="Load a file first.")
    said: dict[str, Any] = {name: value for name in _TEXTS if (value := visit.form.get(name, [""])[0])}
    if texts := [name for name in visit.form.get("text", []) if name]:
        said["text"] = texts
    validated(Options, said, where="The reading options", error=ReadError)
    visit.project.use(source.path, said)
    return visit.back("load")


def _rows(visit: Visit) -> Response:
    """Show the first rows, for who has asked to see values."""
    table = visit.project.table(silent)
    number = min(table.records, SHOWN)
    cells = [_texts(table, name, number) for name in table.names]
    rows = tuple(zip(*cells, strict=True)) if cells else ()
    return visit.part(
        "rows", sheet=Sheet(f"The first {number} of {table.records:,}", table.names, rows, words=len(cells))
    )


def _texts(table: Table, name: str, number: int) -> list[str]:
    labels = table[name].labels().to_pylist()
    return ["" if labels[code] is None else str(labels[code]) for code in table.codes(name)[:number].tolist()]


ROUTES = [
    route("/load", _show),
    route("/load", _upload, ["POST"]),
    route("/load/options", _options, ["POST"]),
    route("/load/rows", _rows),
]
