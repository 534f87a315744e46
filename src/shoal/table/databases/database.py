"""Interface and registry of databases, which have addresses such as ``postgresql://user@host/hospital``."""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, TypeGuard
from urllib.parse import parse_qsl, unquote, urlsplit

from shoal.errors import ReadError, similar
from shoal.progress import Hook
from shoal.registry import Registry
from shoal.table.holder import Holder
from shoal.table.options import Options
from shoal.table.table import Table

PASSWORD = "SHOAL_PASSWORD"  # noqa: S105 - the name of a variable
_ADDRESS = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]+):(?://|/|[A-Za-z_])")  # a single letter is a Windows drive
_OURS = ("table", "password_file", "password_variable")

DATABASES: Registry["Database"] = Registry("database", "shoal.table.databases")


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a database table. Its text never shows the password or the options of the driver.

    ``more``: further options of the driver, such as ``sslmode``.

    >>> address = Address.parse("postgresql://ann:secret@localhost/hospital?table=patients&sslmode=require")
    >>> str(address), address.name, dict(address.more)
    ('postgresql://ann@localhost/hospital', 'patients', {'sslmode': 'require'})
    """

    scheme: str
    user: str | None = None
    host: str | None = None
    port: int | None = None
    path: str = ""
    table: str | None = None
    more: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    given: str | None = field(default=None, repr=False)
    password_file: str | None = field(default=None, repr=False)
    password_variable: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: "str | Address") -> "Address":
        """Parse an address. Errors do not quote it, because it may contain a password."""
        if isinstance(text, Address):
            return text
        try:
            parts = urlsplit(text.strip())
            port, asked = parts.port, parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        except ValueError:
            asked = None
        if asked is None or parts.fragment or "@" in parts.path + parts.query:  # a password with unencoded / or ?
            raise ReadError(
                "bad-address",
                "The address of the database is not valid.",
                remedy="It should look like postgresql://user@host:5432/database?table=patients, percent-encoded. "
                "Give the password in the variable {variable}, not in the address.",
                variable=PASSWORD,
            )
        options = dict(asked)
        ours = {name: options.pop(name, None) for name in _OURS}
        secret = None if parts.password is None else unquote(parts.password)
        user = None if parts.username is None else unquote(parts.username)
        return cls(
            parts.scheme.lower(),
            user,
            parts.hostname,
            port,
            unquote(parts.path.removeprefix("/")),
            more=tuple(options.items()),
            given=secret or None,
            **ours,
        )

    @property
    def name(self) -> str:
        """Name of the table; without a table, name of the database."""
        return self.table or self.path or self.scheme

    @property
    def stem(self) -> str:
        """Same as :attr:`name`, for compatibility with paths."""
        return self.name

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        where = f"//{user}{self.host or ''}{port}/" if self.host or user else ""
        return f"{self.scheme}:{where}{self.path}"

    def of(self, table: str | None) -> "Address":
        """Return the address of the named table; without a name, the address itself."""
        if table is None or table == self.table:
            return self
        if self.table is not None:
            raise ReadError(
                "two-tables",
                "Two tables are named: '{table}' in the address, and '{other}'.",
                table=self.table,
                other=table,
            )
        return replace(self, table=table)

    def password(self) -> str | None:
        """Return the password, or None if there is none.

        It is taken from the file or variable that the address names, otherwise from the address itself, otherwise from
        the variable ``SHOAL_PASSWORD``.
        """
        if self.password_file is not None:
            try:
                return Path(self.password_file).read_text(encoding="utf-8").rstrip("\r\n")
            except (OSError, ValueError):
                missing = f"file '{self.password_file}'"
        elif self.password_variable is not None:
            if self.password_variable in os.environ:
                return os.environ[self.password_variable]
            missing = f"variable '{self.password_variable}'"
        else:
            return self.given if self.given is not None else os.environ.get(PASSWORD)
        raise ReadError(
            "no-password", "The password cannot be read from the {missing} that the address names.", missing=missing
        )


class Stored(ABC):
    """A table of an open database."""

    @abstractmethod
    def read(self, options: Options, progress: Hook) -> Table:
        """Read the table."""

    @abstractmethod
    def sample(self, options: Options, most: int) -> tuple[Table, int]:
        """Return a sample of about ``most`` records from the whole table, and the number of all records."""


class Database(Holder, ABC):
    """A kind of database: reading and writing of tables, and its limitations."""

    schemes: ClassVar[tuple[str, ...]]

    def named(self, address: Address) -> tuple[Address, str]:
        """Return the address of the database, and the name of the table in it."""
        return address, address.table or ""

    @abstractmethod
    def opened(self, address: Address, names: Sequence[str | None]) -> AbstractContextManager[tuple[Stored, ...]]:
        """Open tables for reading, in one consistent state; a name of None stands for the only table."""

    @abstractmethod
    def replacing(
        self, address: Address, tables: Mapping[str, Table], progress: Hook, *, force: bool
    ) -> AbstractContextManager[dict[str, Stored]]:
        """Write tables under temporary names, yield them for verification, and rename them on success.

        Other users see either the old table or the complete new one. If anything fails, nothing is left behind.
        """


def is_address(source: object) -> TypeGuard[str | Address]:
    """Return whether a source is the address of a database and not a path.

    >>> is_address("postgresql://localhost/hospital"), is_address("C:/patients.csv"), is_address("patients.csv")
    (True, False, False)
    """
    if isinstance(source, Address):
        return True
    address = _ADDRESS.match(source) if isinstance(source, str) else None
    return address is not None and ("://" in address[0] or address[1].lower() in set(_schemes()))


def database_of(address: Address) -> Database:
    """Return the database for the scheme of an address."""
    for database in DATABASES.values():
        if address.scheme in database.schemes:
            return database
    known = sorted(_schemes())
    raise ReadError(
        "unknown-scheme",
        "Addresses that begin with {scheme}: are not supported.",
        remedy=similar(address.scheme, known),
        scheme=address.scheme,
    )


def _schemes() -> Iterator[str]:
    return (scheme for database in DATABASES.values() for scheme in database.schemes)
