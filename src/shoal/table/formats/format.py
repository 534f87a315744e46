"""What every file format can do, and how it is found."""

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
from shoal.table.table import Source, Table

_FOR_ALL = ("format", "suppressed", "text", "markers", "columns", "engine")  # options that every format knows

FORMATS: Registry["Format"] = Registry("file format", "shoal.table.formats")


class Format(Holder, ABC):
    """A file format: how to read it, how to write it, and what it cannot hold."""

    suffixes: ClassVar[tuple[str, ...]]
    writes: ClassVar[tuple[str, ...]]  # the suffixes that can be written, too
    infers: ClassVar[frozenset[Kind]] = frozenset()  # kinds that a column has or has not because of its other values

    @abstractmethod
    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read a file into a table."""

    def part(self, path: Path, options: Options, progress: Hook, spool: Spool | None = None) -> Part:
        """Read one file of several; with a spool, its codes go to that."""
        return Part.of(self.read(path, options, progress), spool)

    def sample(self, files: tuple[Path, ...], options: Options, most: int) -> tuple[Table, int]:
        """Return some records, and about how many there are in all; whoever cannot do with fewer reads one file."""
        del most
        table = self.read(files[0], options, silent)
        size = sum(file.stat().st_size for file in files)
        return table, round(table.records * size / files[0].stat().st_size)

    def counted(self, files: tuple[Path, ...], options: Options, progress: Hook) -> Table:
        """Return a table whose rows stay in their files, where another program counts them."""
        del files, progress
        raise ReadError(
            "engine-of-source",
            "Files of format {format} cannot be processed in place by the engine {engine}.",
            remedy=either(Option("engine", "disk"), "convert them to Parquet"),
            format=self.name,
            engine=options.engine,
        )

    def write(self, table: Table, path: Path, how: Written, progress: Hook) -> None:
        """Write a table to a file that is not there yet. Everything has been checked."""
        raise NotImplementedError  # of a format that can only be read

    def count(self, path: Path) -> int | None:
        """Count the records of a written file, for writers that do not report a full disk."""
        del path
        return None


def format_of(path: Path, name: str | None = None) -> Format:
    """Return the format called ``name``, or the one that the file's suffix says.

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
    """Columns as they come out of a file, with what was found out on the way."""

    columns: list[Encoded]
    rows: int
    details: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def table(self, origin: str) -> Table:
        """Put the table together."""
        return Table.of(self.columns, self.rows, Source(origin, details=self.details, notes=self.notes))


def check_options(options: Options, name: str, known: Sequence[str]) -> None:
    """Refuse options that a format does not know, so that none is silently ignored."""
    for option in options.model_fields_set - {*known, *_FOR_ALL}:
        raise ReadError(
            "option-of-format",
            "The option '{option}' does not apply to files of format {format}.",
            option=option,
            format=name,
        )


@contextmanager
def damaged(path: Path, what: str) -> Iterator[None]:
    """Say that a file is no such file, whatever the library stumbled over."""
    try:
        yield
    except (ShoalError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - damaged bytes make libraries stumble in many ways
        raise no_such(path, what) from None


def no_such(path: Path, what: str) -> ReadError:
    """Say that a file is not what its name promises."""
    return ReadError("damaged", "'{file}' is not a {what}, or is damaged.", file=path.name, what=what)
