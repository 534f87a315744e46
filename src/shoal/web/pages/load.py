"""Load: import of the data."""

import gzip
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from starlette.datastructures import UploadFile
from starlette.responses import Response

from shoal.errors import ReadError
from shoal.progress import Hook, silent
from shoal.reporting.document import Block, Text, Tone
from shoal.sheet import Sheet
from shoal.table.formats.format import FORMATS
from shoal.table.options import Options
from shoal.table.table import Table
from shoal.web.forms import Field, fields, filled_in
from shoal.web.loaded import Loaded
from shoal.web.page import Visit, route
from shoal.web.pages import dataset
from shoal.web.project import Basis, Moment

SHOWN = 10
_HIDDEN = ("engine", "columns", "table")  # not in the form: the workbench reads one whole file into memory
_UNPACKED, _RATIO = 2_000_000_000, 200  # maximum uncompressed size in bytes, and maximum expansion ratio


def _show(visit: Visit) -> Response:
    now = visit.now
    job = None if now.source is None else now.begin("read", _read, _told, basis=Basis.FILE)
    return visit.show("load", job=job, suffixes=_suffixes(), fields=_options(visit))


def _read(now: Moment, hook: Hook) -> Loaded:
    return Loaded.of(now.raw(hook))


def _told(loaded: Loaded) -> Iterator[Block]:
    yield loaded.sheet
    for note in loaded.notes:
        yield Text(note, Tone.NOTE)


def _said(visit: Visit) -> dict[str, Any]:
    return visit.now.policy.data.read.model_dump(mode="json", exclude_unset=True)


def _options(visit: Visit) -> list[Field]:
    asked = fields(Options, _said(visit), choices={"format": list(FORMATS)})
    return [field for field in asked if field.name not in _HIDDEN]


def _suffixes() -> list[str]:
    return sorted(suffix for kind in FORMATS.values() for suffix in kind.suffixes)


def _upload(visit: Visit) -> Response:
    """Store an uploaded file and switch the project to it."""
    path = taken(visit, "file")
    if path is None:
        raise ReadError("no-file", "No file is selected.")
    visit.project.use(path)
    return visit.back("load")


def taken(visit: Visit, field: str) -> Path | None:
    """Store an uploaded file in the project and return its path; None if no file was sent."""
    return next(iter(all_taken(visit, field)), None)


def all_taken(visit: Visit, field: str) -> list[Path]:
    """Store the files that were uploaded in a field, and return their paths."""
    uploads = visit.form.get(field, [])
    files = ((upload, upload.filename) for upload in uploads if isinstance(upload, UploadFile))
    return [_stored(visit, upload, name) for upload, name in files if name]


def _stored(visit: Visit, upload: UploadFile, name: str) -> Path:
    """Store an uploaded table in the project, and return its path."""
    if not name.lower().endswith(tuple(_suffixes())):
        raise ReadError(
            "unknown-format",
            "This file format is not supported.",
            remedy="Supported formats: {suffixes}.",
            suffixes=", ".join(_suffixes()),
        )
    return visit.project.uploaded(name, upload.file, _check_packed)


def _check_packed(path: Path) -> None:
    """Refuse a compressed file that expands beyond the size plausible for a table."""
    most = min(_UNPACKED, _RATIO * max(path.stat().st_size, 1))
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                size = sum(member.file_size for member in archive.infolist())
        else:
            size = _unpacked(path, most) if packed else 0
    except (zipfile.BadZipFile, EOFError, OSError):
        raise ReadError("damaged", "The compressed file is damaged.") from None
    if size > most:
        raise ReadError(
            "too-large", "The compressed file expands beyond the limit.", remedy="Save it as plain CSV, and load that."
        )


def _unpacked(path: Path, most: int) -> int:
    """Count the uncompressed bytes of a file, stopping once the limit is exceeded."""
    size = 0
    with gzip.open(path) as file:
        while size <= most and (part := file.read(1 << 20)):
            size += len(part)
    return size


def _read_again(visit: Visit) -> Response:
    """Import the file again with other settings."""
    if visit.now.source is None:
        raise ReadError("no-data", "No data are loaded.", remedy="Load a file first.")
    entered = filled_in(_options(visit), visit.form)
    kept = {name: value for name, value in _said(visit).items() if name in _HIDDEN}
    visit.project.edit(lambda policy: {"data": {**policy.get("data", {}), "read": {**kept, **entered}}})
    return visit.back("load")


def _rows(visit: Visit) -> Response:
    """Show the first rows. Values are shown on request only."""
    if visit.now.result("read", Basis.FILE) is None:
        raise ReadError("not-read", "The file has not been read yet.", remedy="Reload the page.")
    table = visit.now.raw(silent)
    number = min(table.records, SHOWN)
    cells = [_texts(table, name, number) for name in table.names]
    rows = tuple(zip(*cells, strict=True)) if cells else ()
    return visit.part(
        "rows", sheet=Sheet(f"First {number} of {table.records:,} records", table.names, rows, words=len(cells))
    )


def _texts(table: Table, name: str, number: int) -> list[str]:
    labels = table[name].labels().take(pa.array(table.codes(name)[:number]))
    return ["" if label is None else str(label) for label in labels.to_pylist()]


ROUTES = [
    route("/load", _show, several=dataset.show_load),
    route("/load", _upload, ["POST"]),
    route("/load/options", _read_again, ["POST"]),
    route("/load/rows", _rows),
]
