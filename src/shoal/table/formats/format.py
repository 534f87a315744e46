"""Interface and registry of file formats."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from shoal.engines.disk import Spool
from shoal.errors import ReadError, ShoalError, similar
from shoal.progress import Hook, silent
from shoal.registry import Registry
from shoal.remedy import Option, either
from shoal.table.holder import Holder
from shoal.table.kind import Kind
from shoal.table.options import Options, Written
from shoal.table.part import Part
from shoal.table.raw import Encoded
from shoal.table.reading_note import ReadingNote
from shoal.table.table import Source, Table

_FOR_ALL = ("format", "suppressed", "text", "markers", "columns", "engine")  # options of every format

FORMATS: Registry["Format"] = Registry("file format", "shoal.table.formats")


class Format(Holder, ABC):
    """A file format: reading, writing, and its limitations."""

    suffixes: ClassVar[tuple[str, ...]]
    writes: ClassVar[tuple[str, ...]]  # suffixes that can also be written
    infers: ClassVar[frozenset[Kind]] = frozenset()  # kinds that depend on all values of a column

    @abstractmethod
    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read a file into a table."""

    def part(self, path: Path, options: Options, progress: Hook, spool: Spool | None = None) -> Part:
        """Read one of several files; with a spool, the codes are stored there."""
        return Part.of(self.read(path, options, progress), spool)

    def sample(self, files: tuple[Path, ...], options: Options, most: int) -> tuple[Table, int]:
        """Return a sample of records, and the estimated number of all records.

        By default, the first file is the sample.
        """
        del most
        table = self.read(files[0], options, silent)
        size = sum(file.stat().st_size for file in files)
        return table, round(table.records * size / files[0].stat().st_size)

    def counted(self, files: tuple[Path, ...], options: Options, progress: Hook) -> Table:
        """Return a table whose rows stay in their files and are counted there by another engine."""
        del files, progress
        raise ReadError(
            "engine-of-source",
            "Files of format {format} cannot be processed in place by the engine {engine}.",
            remedy=either(Option("engine", "disk"), "convert them to Parquet"),
            format=self.name,
            engine=options.engine,
        )

    def write(self, table: Table, path: Path, how: Written, progress: Hook) -> None:
        """Write a table to a file that does not exist yet. The table has been checked."""
        raise NotImplementedError  # a read-only format

    def count(self, path: Path) -> int | None:
        """Return the number of records of a written file if its writer does not report a full disk, otherwise None."""
        del path
        return None


def format_of(path: Path, name: str | None = None) -> Format:
    """Return the format called ``name``, or the format of the file's suffix.

    >>> from pathlib import Path
    >>> format_of(Path("patients.tsv")).name
    'csv'
    """
    if name is not None:
        return FORMATS[name]
    lower = path.name.lower()
    for candidate in FORMATS.values():
        if lower.endswith(candidate.suffixes):
            return candidate
    known = sorted(suffix for candidate in FORMATS.values() for suffix in candidate.suffixes)
    raise ReadError(
        "unknown-format",
        "The suffix of '{file}' does not identify a file format.",
        remedy=[similar(path.suffix, known, 20), Option("format", "csv")],
        file=path.name,
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """Columns read from a file, with detected details and notes."""

    columns: list[Encoded]
    rows: int
    details: dict[str, str] = field(default_factory=dict)
    notes: tuple[ReadingNote, ...] = ()

    def table(self, origin: str) -> Table:
        """Return the table of the columns."""
        return Table.of(self.columns, self.rows, Source(origin, details=self.details, readings=self.notes))


def check_options(options: Options, name: str, known: Sequence[str]) -> None:
    """Reject options that do not apply to a format, so that none is silently ignored."""
    for option in options.model_fields_set - {*known, *_FOR_ALL}:
        raise ReadError(
            "option-of-format",
            "The option '{option}' does not apply to files of format {format}.",
            option=option,
            format=name,
        )


@contextmanager
def damaged(path: Path, what: str) -> Iterator[None]:
    """Report any error of a library as a file that is damaged or of another type."""
    try:
        yield
    except (ShoalError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - libraries fail on damaged bytes in many ways
        raise no_such(path, what) from None


def no_such(path: Path, what: str) -> ReadError:
    """Return the error for a file that is damaged or not of the expected type."""
    return ReadError("damaged", "'{file}' is not a {what}, or is damaged.", file=path.name, what=what)
