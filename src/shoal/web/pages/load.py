"""Load: which data these are."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from starlette.datastructures import UploadFile
from starlette.responses import Response

from shoal.errors import ReadError, counted
from shoal.progress import silent
from shoal.reporting.document import Block, Text, Tone
from shoal.sheet import Sheet
from shoal.table.formats.format import FORMATS
from shoal.table.options import Options
from shoal.table.table import Table
from shoal.web.forms import Field, fields, filled_in
from shoal.web.page import Visit, route
from shoal.web.project import Basis

SHOWN = 10
_HIDDEN = {"engine"}  # rows are counted in memory here
_UNPACKED, _RATIO = 2_000_000_000, 200  # bytes that a workbook may unpack to, and how many for each of its own


def _show(visit: Visit) -> Response:
    project = visit.project
    job = (
        None
        if project.source is None
        else project.begin("read", lambda now, hook: now.raw(hook), _told, basis=Basis.FILE)
    )
    said = project.policy.data.read.model_dump(mode="json", exclude_unset=True)
    return visit.show("load", job=job, suffixes=_suffixes(), fields=_options(said))


def _told(table: Table) -> Iterator[Block]:
    """Tell what the columns are, without a value of them."""
    rows = []
    for column in table.columns:
        gaps = np.count_nonzero(table.codes(column.name) >= len(column.values))
        share = f"{gaps / table.records:.1%}" if gaps else ""
        rows.append((column.name, str(column.kind), f"{len(column.values):,}", share))
    title = f"{counted(table.records, 'record')} × {counted(len(rows), 'column')}"
    yield Sheet(title, ("column", "kind", "different values", "missing"), tuple(rows), words=2)
    for note in table.source.notes:
        yield Text(note, Tone.NOTE)


def _options(said: dict[str, Any]) -> list[Field]:
    return [one for one in fields(Options, said) if one.name not in _HIDDEN]


def _suffixes() -> list[str]:
    return sorted(suffix for kind in FORMATS.values() for suffix in kind.suffixes)


def _upload(visit: Visit) -> Response:
    """Take a file, and work on it from now on; how the last one was read says nothing about it."""
    path = taken(visit, "file")
    if path is None:
        raise ReadError("No file was chosen.")
    data = {name: held for name, held in visit.project.policy.document().get("data", {}).items() if name != "read"}
    visit.project.change({"data": data})
    visit.project.use(path)
    return visit.back("load")


def taken(visit: Visit, field: str) -> Path | None:
    """Take a file that was sent, if one was; it is kept in the project, under no other name than its own."""
    held = next(iter(visit.form.get(field, [])), None)
    if not isinstance(held, UploadFile) or not held.filename:
        return None
    if Path(held.filename).suffix.lower() not in _suffixes():
        raise ReadError("This kind of file cannot be read.", hint=f"Known are {', '.join(_suffixes())}.")
    target = visit.project.uploaded(held.filename)
    beside = target.with_name(f"{target.name}.partial")  # whoever reads the old file goes on reading it
    with beside.open("wb") as file:
        while part := held.file.read(1 << 20):
            file.write(part)
    try:
        _check_packed(beside)
    except ReadError:
        beside.unlink()
        raise
    return beside.replace(target)


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


def _read_again(visit: Visit) -> Response:
    """Read the file in another way."""
    if visit.project.source is None:
        raise ReadError("There are no data yet.", hint="Load a file first.")
    asked = _options({})
    default = {one.name: one.value for one in asked}
    said = {name: value for name, value in filled_in(asked, visit.form).items() if value != default[name]}
    data = visit.project.policy.document().get("data", {})
    visit.project.change({"data": {**{name: held for name, held in data.items() if name != "read"}, "read": said}})
    return visit.back("load")


def _rows(visit: Visit) -> Response:
    """Show the first rows, for who has asked to see values."""
    table = visit.project.now.raw(silent)
    number = min(table.records, SHOWN)
    cells = [_texts(table, name, number) for name in table.names]
    rows = tuple(zip(*cells, strict=True)) if cells else ()
    return visit.part(
        "rows", sheet=Sheet(f"The first {number} of {table.records:,}", table.names, rows, words=len(cells))
    )


def _texts(table: Table, name: str, number: int) -> list[str]:
    labels = table[name].labels().take(pa.array(table.codes(name)[:number]))
    return ["" if label is None else str(label) for label in labels.to_pylist()]


ROUTES = [
    route("/load", _show),
    route("/load", _upload, ["POST"]),
    route("/load/options", _read_again, ["POST"]),
    route("/load/rows", _rows),
]
