"""Access control: requests must come from this machine, with the printed link, and from pages of the workbench."""

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
_DAY = 86_400  # seconds that a browser keeps the cookie, even if it is closed
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
    """Secrets of one server run.

    ``token``: part of the printed link, valid for one use. ``session``: value of the cookie. ``header``: value of the
    request header sent by the pages.
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    header: str = field(default_factory=lambda: secrets.token_urlsafe(32))


class Guard:
    """ASGI middleware that refuses requests without a session, other hosts, foreign forms and oversized bodies."""

    def __init__(self, app: App, keys: Keys, port: int, most: int) -> None:
        self._app, self._keys, self._most = app, keys, most
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._cookie = cookie_name(port)
        self._used = False

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Forward a request to the application, or refuse it."""
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
        """Return the status and message of a refused request, or None if the request is allowed."""
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
    """Return the name of the session cookie. It contains the port, because browsers share cookies between ports.

    >>> cookie_name(8000)
    'shoal-8000'
    """
    return f"shoal-{port}"


def _cookie(headers: MutableMapping[str, str], name: str) -> str:
    """Return the value of a cookie, or an empty text. Cookies set by other applications may have any format."""
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return next((value for known, _, value in pairs if known == name), "")


class TooLarge(Exception):  # noqa: N818 - named after the event
    """The body of a request exceeds the maximum size."""


def _limited(receive: Receive, most: int) -> Receive:
    """Count the bytes received, because a body need not declare its length."""
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
    """Add the security headers to every response, except those that a page has set itself."""

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
