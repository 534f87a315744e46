"""Who gets in: somebody at this machine, with the link that was printed, by pages of ours."""

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import parse_qs

AsgiScope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[AsgiScope, Receive, Send], Awaitable[None]]

HEADER, ENTRANCE = "x-shoal", "/enter"
_DAY = 86_400  # seconds that a browser keeps the cookie, also if it is closed
_WELCOME = (
    '<!DOCTYPE html><title>shoal</title><link rel="icon" href="data:,">'
    '<meta http-equiv="refresh" content="0;url=/"><a href="/">Continue</a>'
)
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_SAFE = {"GET", "HEAD"}


@dataclass(frozen=True, slots=True)
class Keys:
    """``token``: in the link that is printed, good for one use; ``session``: in the cookie; ``header``: in pages."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    header: str = field(default_factory=lambda: secrets.token_urlsafe(32))


class Guard:
    """Stands before the pages; refuses strangers, other hosts, foreign forms and bodies that are too large."""

    def __init__(self, app: App, keys: Keys, port: int, most: int) -> None:
        self._app, self._keys, self._most = app, keys, most
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._cookie = cookie_name(port)
        self._used = False

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(scope, headers)
        if refused is not None:
            await _answer(send, *refused)
            return
        if scope["path"] == ENTRANCE:
            self._used = True
            cookie = f"{self._cookie}={self._keys.session}; HttpOnly; SameSite=Strict; Path=/; Max-Age={_DAY}"
            await _answer(send, 200, _WELCOME, {"set-cookie": cookie, "content-type": "text/html; charset=utf-8"})
            return
        await self._app(scope, _limited(receive, self._most), _covered(send))

    def _refused(self, scope: AsgiScope, headers: MutableMapping[str, str]) -> tuple[int, str] | None:
        """Return why a request is not let in."""
        if headers.get("host", "") not in self._hosts:
            return 400, "This page is available on this machine only."
        if scope["path"] == ENTRANCE:
            return (
                None
                if self._may_enter(scope)
                else (403, "This link was already used, or is not valid. Restart shoal serve.")
            )
        if not _same(_cookie(headers, self._cookie), self._keys.session):
            return 403, "Open the link that shoal serve printed."
        if scope["method"] not in _SAFE and not _same(headers.get(HEADER, ""), self._keys.header):
            return 403, "This form was not sent by the workbench. Reload the page."
        if not headers.get("content-length", "0").isdecimal() or int(headers.get("content-length", "0")) > self._most:
            return 413, f"The upload exceeds {self._most / 1e6:,.0f} MB. Start shoal serve with the file instead."
        return None

    def _may_enter(self, scope: AsgiScope) -> bool:
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        return not self._used and scope["method"] == "GET" and _same(given, self._keys.token)


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode(), known.encode())


def cookie_name(port: int) -> str:
    """Return what the cookie is called: browsers do not tell ports of a machine apart.

    >>> cookie_name(8000)
    'shoal-8000'
    """
    return f"shoal-{port}"


def _cookie(headers: MutableMapping[str, str], name: str) -> str:
    """Return a cookie; what others have set may look like anything."""
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return next((value for known, _, value in pairs if known == name), "")


class TooLarge(Exception):  # noqa: N818 - says what happened
    """A body has gone on for longer than it may."""


def _limited(receive: Receive, most: int) -> Receive:
    """Count what comes in: a body need not say how long it is."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise TooLarge
        return message

    return counted


def _covered(send: Send) -> Send:
    """Put the headers on every answer; one that a page of ours has set itself stays."""

    async def covered(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = message.get("headers", [])
            given = {name.decode().lower() for name, _ in headers}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name not in given]
            message = {**message, "headers": [*headers, *more]}
        await send(message)

    return covered


async def _answer(send: Send, status: int, text: str, more: dict[str, str] | None = None) -> None:
    body = text.encode()
    answer = {**HEADERS, "content-type": "text/plain; charset=utf-8", "content-length": str(len(body)), **(more or {})}
    headers = [(name.encode(), value.encode()) for name, value in answer.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
