"""Errors of databases, without the password and without the server's own message, which may quote values."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from shoal.errors import ReadError, ShoalError, WriteError
from shoal.table.databases.database import PASSWORD, Address

# Parts of driver messages, and their meaning. The message itself is never shown.
_REASONS = (
    ("password authentication failed", "the password is wrong, or there is no such user"),
    ("access denied", "the password is wrong, or this user may not do that"),
    ("no password supplied", "a password is needed"),
    ("login failed", "the password is wrong, or there is no such user"),
    ("invalid username/password", "the password is wrong, or there is no such user"),
    ("permission denied", "this user may not do that"),
    ("must be owner", "this user may not do that"),
    ("is not a table", "there is something of that name which is no table"),
    ("is not base table", "there is something of that name which is no table"),
    ("invalid sslmode", "the way of encryption that it names is not known"),
    ("does not support ssl", "the server does not encrypt"),
    ("invalid connection option", "it names an option that is not known"),
    ("unexpected keyword", "it names an option that is not known"),
    ("unknown database", "there is no such database"),
    ("cannot open database", "there is no such database"),
    ("command denied", "this user may not do that"),
    ("connection refused", "no server answers there"),
    ("can't connect", "no server answers there"),
    ("could not translate host", "there is no such host"),
    ("failed to resolve host", "there is no such host"),
    ("timeout", "no server answers there"),
    ("depend on it", "views or other things of the database depend on the old table"),
    ("no space", "its disk is full"),
    ("is full", "its disk is full"),
)
_LOST = (
    "server closed the connection",
    "terminating connection",
    "connection is lost",
    "lost connection",
    "gone away",
    "connection was killed",
    "broken pipe",
)


@dataclass(frozen=True, slots=True)
class Failing:
    """Reports failures of the database at an address."""

    address: Address

    @contextmanager
    def connecting(self, error: type[ShoalError]) -> Iterator[None]:
        """Report the reason if connecting fails."""
        unsaid = self.address.password() is None
        with self._telling(error, "cannot be reached", f"A password may be given by {PASSWORD}." if unsaid else None):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Report the reason if reading fails."""
        with self._telling(ReadError, "cannot be read", None):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Report the reason if writing fails."""
        with self._telling(WriteError, "cannot be written", None):
            yield

    @contextmanager
    def _telling(self, error: type[ShoalError], what: str, hint: str | None) -> Iterator[None]:
        try:
            yield
        except ShoalError:
            raise
        except Exception as stumbled:  # noqa: BLE001 - drivers fail in many ways
            lost, reason = _is_lost(stumbled), _reason(stumbled)
        else:
            return
        if lost:
            raise error(
                "connection-lost",
                "The connection to '{address}' was lost.",
                remedy="Nothing was changed there. Try again.",
                address=self.address,
            ) from None
        raise error(
            "server-refused",
            "'{address}' {what}{reason}.",
            remedy=hint,
            address=self.address,
            what=what,
            reason=reason,
        ) from None


def _is_lost(error: Exception) -> bool:
    message = str(getattr(error, "orig", None) or error).lower()
    return getattr(error, "connection_invalidated", False) or any(words in message for words in _LOST)


def _reason(error: Exception) -> str:
    """Return the reason of an error if it is known, otherwise the server's error number if there is one."""
    origin = getattr(error, "orig", None) or error
    message = str(origin).lower()
    if missing := re.search(r"(database|schema) .* does not exist", message):
        return f": there is no such {missing[1]}"
    for words, reason in _REASONS:
        if words in message:
            return f": {reason}"
    code = getattr(origin, "sqlstate", None) or next(
        (argument for argument in origin.args[:1] if isinstance(argument, int)), None
    )
    return f" (error {code} of the server)" if code else ""
