"""The release of a dataset: the tables that go out, verified together from where they were written."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.dataset.dataset import named_records
from shoal.dataset.inheritance import handed_down, shown_classes
from shoal.disclosure import USUAL
from shoal.errors import ReleaseError, WriteError, counted
from shoal.kernels.translation import Codes, narrowest
from shoal.policy.policy import Policy
from shoal.policy.references import Reference
from shoal.progress import Hook
from shoal.release.columns import compacted
from shoal.release.manifest import fingerprint, plain, told, written
from shoal.release.release import Release, check
from shoal.release.verification import Verified, check_same, judged
from shoal.sheet import Sheet, Shown
from shoal.table.column import SUPPRESSED, Column
from shoal.table.databases.database import Address, Stored, is_address
from shoal.table.formats.format import FORMATS
from shoal.table.kind import Kind
from shoal.table.raw import Encoded
from shoal.table.reading import read
from shoal.table.table import Table
from shoal.table.writing import replacing, write


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What goes out of one table of several.

    ``release``: how it was found, with what it inherits; None if it has no quasi-identifiers of its own. ``became``:
    which released record each of the given ones is, −1 if it is left out. ``shown``: what each released record shows,
    with what it inherits; ``whose``: the person of each. ``inherits``: the columns of ``release`` that are not its
    own. ``pseudonyms``: columns that show these; ``left_out``: columns that do not go out. ``orphans``: records that
    refer to nothing; ``followed``: records left out because what they refer to is.
    """

    table: Table
    release: Release | None
    became: NDArray[np.intp]
    shown: Encoded | None
    whose: Encoded | None
    inherits: tuple[str, ...]
    pseudonyms: tuple[str, ...]
    left_out: tuple[str, ...]
    orphans: int
    followed: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said about the columns."""
        said = () if self.release is None else self.release.notes
        gone = [f"Columns that do not go out: {', '.join(self.left_out)}."] if self.left_out else []
        return (*gone, *(note for note in said if " does not go out: " not in note))

    @property
    def alone(self) -> tuple[int, int]:
        """How many persons are the only ones with all that their records show together; and how many there are."""
        if self.shown is None or self.whose is None or not self.table.records:
            return 0, 0
        person = Encoded(*compacted(self.whose.column, self.whose.codes))
        again = _again(person.codes, self.shown.codes)
        times = Encoded(Column("times", Kind.INTEGER, pa.array(range(int(again.max()) + 1))), again)
        held = {"class": self.shown, "times": times, "person": person}
        named = [Encoded(replace(one.column, name=name), one.codes) for name, one in held.items()]
        table = Table.of(named, self.table.records, self.table.source).assign(subject="person")
        found = table.profiles(["class", "times"])
        return int(found.counts[found.counts == 1].sum()), int(found.counts.sum())


def _again(persons: Codes, classes: Codes) -> Codes:
    """Return for each record how many before it are of the same person and class."""
    order = np.lexsort((classes, persons))
    new = np.r_[True, (np.diff(persons[order].astype(np.int64)) != 0) | (np.diff(classes[order].astype(np.int64)) != 0)]
    begins = np.flatnonzero(new)
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order)) - np.repeat(begins, np.diff(np.r_[begins, len(order)]))
    return found.astype(narrowest(int(found.max(initial=0)) + 1))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DatasetRelease(Shown):
    """Tables that belong together, as they go out. ``references``: who refers to whom, in the release as before."""

    parts: Mapping[str, Part]
    references: tuple[Reference, ...]
    policy: Policy

    @property
    def tables(self) -> dict[str, Table]:
        """The tables that go out."""
        return {name: part.table for name, part in self.parts.items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """What the owner should know."""
        found = []
        for name, part in self.parts.items():
            if part.orphans:
                found.append(f"{name}: {counted(part.orphans, 'record')} referred to nothing, and are left out.")
            if part.followed:
                found.append(f"{name}: {counted(part.followed, 'record')} are left out with what they refer to.")
            if part.release is not None and part.inherits and (alone := part.alone)[0]:
                told_apart = f"{alone[0]:,} of {counted(alone[1], 'person')}"
                found.append(
                    f"{name}: who knows all records of a person at once, and not only one, can tell {told_apart} apart."
                )
            found += [f"{name}: {note}" for note in part.notes]
        return tuple(found)

    def sheet(self) -> Sheet:
        """Return what goes out of each table."""
        rows = []
        for name, part in self.parts.items():
            asked = () if part.release is None else part.release.requirements
            attained = ", ".join(one.verdict.attained for one in asked) or "no quasi-identifiers of its own"
            rows.append((name, f"{part.table.records:,}", f"{len(part.became) - part.table.records:,}", attained))
        records = sum(part.table.records for part in self.parts.values())
        title = f"{counted(records, 'record')} released in {counted(len(self.parts), 'table')}."
        return Sheet(title, ("table", "records", "left out", ""), tuple(rows), self.notes, words=3)

    def save(
        self,
        where: str | Path | Address,
        *,
        suffix: str | None = None,
        force: bool = False,
        beside: str | Path | None = None,
        progress: Hook | None = None,
    ) -> tuple[Path | str, ...]:
        """Write all tables, and their manifests; nothing appears unless all were verified together.

        ``where``: a folder, in which each table is a file of its name with the ``suffix``, or in the format in which it
        came; or the address of a database, in which each is a table. ``beside``: the folder for the manifests, if there
        is none.
        """
        with _folder(where, beside) as folder, ExitStack() as all_or_none:
            names = {part: folder / f"dataset.{part}.json" for part in ("manifest", "internal")}
            files = {part: all_or_none.enter_context(replacing(file, force=force)) for part, file in names.items()}

            def target(name: str) -> Path | Address:
                return (
                    Address.parse(where).of(name)
                    if is_address(where)
                    else folder / f"{name}{suffix or _suffix(self.tables[name])}"
                )

            def finish(made: Mapping[str, tuple[Path | Stored, Mapping[str, Any]]]) -> None:
                found = self.verified(made)
                for part, text in self._documents(found).items():
                    files[part].write_text(text, encoding="utf-8")

            saved = _written(dict(self.tables), target, finish, {}, force=force, progress=progress)
        return *saved, *names.values()

    def result(self) -> dict[str, Any]:
        """Return what is known about it as plain data."""
        tables = {name: self._goes_out(name, part) for name, part in self.parts.items()}
        return {"tables": plain(tables), "references": [str(one) for one in self.references], "notes": list(self.notes)}

    def verified(self, made: Mapping[str, tuple[Path | Stored, Mapping[str, Any]]]) -> dict[str, tuple[Verified, ...]]:
        """Read written tables again, see that they are what was promised and belong together, and judge them."""
        found: dict[str, Table] = {}
        shown: dict[str, Encoded | None] = {}
        judgements: dict[str, tuple[Verified, ...]] = {}
        for name, part in self.parts.items():
            source, options = made[name]
            quasi = list(part.table.quasi)
            keys = [one for one in part.table.names if one in self._keys(name)]
            found[name] = read(source, text=[*quasi, *keys], suppressed=SUPPRESSED, **options)
            check_same(found[name], part.table)
            links = {one: self._link(one, found) for one in self.references if one.table == name}
            inherited = self._inherited(links, shown, part)
            shown[name] = shown_classes(found[name], quasi, inherited)
            judgements[name] = self._judged(name, found, inherited)
        return judgements

    def _link(self, one: Reference, found: Mapping[str, Table]) -> NDArray[np.intp]:
        """Return which record of another table each record refers to, as they were written."""
        link = named_records(found[one.table], one.column, found[one.other], one.key)
        lost = int(np.count_nonzero(link < 0))
        twice = int(np.count_nonzero(found[one.other].counts(one.key) > 1))
        if lost or twice:
            raise ReleaseError(
                f"In the written release {counted(lost, 'record')} refer to nothing, and {counted(twice, 'key')} name "
                f"several records ({one}). It was not handed out."
            )
        return link

    def _inherited(
        self, links: Mapping[Reference, NDArray[np.intp]], shown: Mapping[str, Encoded | None], part: Part
    ) -> list[Encoded]:
        passing = [(held, link) for one, link in links.items() if (held := shown[one.other]) is not None]
        return [handed_down(held, link, name) for (held, link), name in zip(passing, part.inherits, strict=True)]

    def _judged(self, name: str, found: Mapping[str, Table], inherited: list[Encoded]) -> tuple[Verified, ...]:
        """Judge a table with what its records inherit, and with whose they are, as far as the files say that."""
        release = self.parts[name].release
        if release is None:
            return ()
        table = found[name]
        own = [Encoded(column, table.codes(column.name)) for column in table.columns]
        joined = Table.of([*own, *inherited], table.records, table.source)
        whose = self._whose(name, found, np.arange(table.records))
        original = release.original if whose is None else replace(release.original, subject=(whose.column, whose.codes))
        return check(judged(joined, release.table, original, release.asked))

    def _whose(self, name: str, found: Mapping[str, Table], records: NDArray[np.intp]) -> Encoded | None:
        """Return whose records these are, by the pseudonyms of this table or of those that it refers to."""
        subject, table = self.policy.of(name).data.subject, found[name]
        if subject is not None and subject in table:
            return Encoded(table[subject], table.codes(subject)[records])
        for one in self.references:
            if one.table == name:
                further = self._whose(one.other, found, self._link(one, found)[records])
                if further is not None:
                    return further
        return None

    def _keys(self, name: str) -> set[str]:
        refer = {one.column for one in self.references if one.table == name}
        return refer | {one.key for one in self.references if one.other == name}

    def _documents(self, found: Mapping[str, tuple[Verified, ...]]) -> dict[str, str]:
        """Return both manifests."""
        del found  # all hold, or nothing is written
        held = {name: self._facts(part) for name, part in self.parts.items()}
        common = {"references": [str(one) for one in self.references], "verified": True}
        internal = {**common, "policy": self.policy.document(), "tables": held}
        goes_out = {name: self._goes_out(name, part) for name, part in self.parts.items()}
        return {"internal": written(internal), "manifest": written({**common, "tables": goes_out})}

    @staticmethod
    def _facts(part: Part) -> dict[str, Any]:
        own = {} if part.release is None else dict(part.release.internal)
        own.update(records=part.table.records, pseudonyms=list(part.pseudonyms), left_out=list(part.left_out))
        alone = dict(zip(("alone", "persons"), part.alone, strict=True))
        left = {"knowing_all_records": alone, "orphans": part.orphans, "left_out_with_others": part.followed}
        return {**own, **left, "table_fingerprint": fingerprint(part.table)}

    def _goes_out(self, name: str, part: Part) -> dict[str, Any]:
        facts: dict[str, Any] = {"columns": {column: str(role) for column, role in part.table.roles.items()}}
        if part.release is not None:
            facts = told(part.release.public, self.policy.of(name).k or USUAL, part.release.public["records"])
        more = {"records": part.table.records, "pseudonyms": list(part.pseudonyms)}
        return {**facts, **more, "table_fingerprint": fingerprint(part.table)}


Made = Mapping[str, tuple[Path | Stored, Mapping[str, Any]]]


def _written(  # noqa: PLR0913 - what is written, where, and what is done at last
    tables: dict[str, Table],
    target: Callable[[str], Path | Address],
    finish: Callable[[Made], None],
    made: Made,
    *,
    force: bool,
    progress: Hook | None,
) -> list[Path | str]:
    """Write tables, each while the one before it has not appeared yet; at last, all can be looked at together."""
    if not tables:
        finish(made)
        return []
    name, rest = next(iter(tables)), dict(list(tables.items())[1:])
    others: list[Path | str] = []

    def look(source: Path | Stored, options: Mapping[str, Any]) -> None:
        more = {**made, name: (source, options)}
        others.extend(_written(rest, target, finish, more, force=force, progress=progress))

    place = write(tables[name], target(name), force=force, progress=progress, check_written=look)
    return [place, *others]


@contextmanager
def _folder(where: str | Path | Address, beside: str | Path | None) -> Iterator[Path]:
    """Give the folder that manifests go to; one that was not there is gone again if anything fails."""
    if is_address(where):
        yield Path(beside or ".")
        return
    folder = Path(str(where))
    if folder.exists() and not folder.is_dir():
        raise WriteError(f"'{folder}' is a file, not a folder.", hint="Several tables are written into a folder.")
    new = not folder.exists()
    folder.mkdir(exist_ok=True)
    try:
        yield folder
    except BaseException:
        if new:
            folder.rmdir()
        raise


def _suffix(table: Table) -> str:
    """Return how files are called of the format that a table came in, if that can be written."""
    origin = table.source.origin
    return FORMATS[origin].writes[0] if origin in set(FORMATS) and FORMATS[origin].writes else ".parquet"


def checked(release: DatasetRelease) -> DatasetRelease:
    """Write a release where nobody else can read it, and judge it; one that fails is not handed out."""
    with tempfile.TemporaryDirectory(prefix="shoal-") as name:
        release.save(Path(name) / "release", suffix=".parquet")
    return release
