"""The HTTP server of the page, on the loopback address.

Requests need the secret in the address, and are refused if they come from a page of another origin. Connections without
a complete request are limited in number and time.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import socket
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from insync.explorer.exploring.session import Exploration
from insync.explorer.exploring_page.tabs import Tabs
from insync.explorer.pictures.page import page_style
from insync.runtime.errors import UserError

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Message, Receive, Scope, Send

__all__ = [
    "PageServer",
]


_HOST = "127.0.0.1"
_NAMES = (_HOST, "localhost")
_MOST_BYTES = 20 << 20  # the most bytes of a request: a trace file
_BODY_SECONDS = 30.0  # the most seconds until all of it has arrived
_FILES = {
    "": ("page.html", "text/html"),
    "page.css": ("page.css", "text/css"),
    "page.js": ("page.js", "text/javascript"),
}
_REFUSED = 400  # the lowest status of an error
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class PageServer:
    """Serves the page, at an address that contains a secret.

    Args:
        first: makes the initial exploration of a tab.
        port: the port to listen on; 0 is any free port.
        seconds: the default time limit of a search.

    Attributes:
        address: the address of the page.

    Raises:
        UserError: the libraries are not installed, or the port is not available.
    """

    def __init__(self, first: Callable[[], Exploration], port: int = 0, seconds: int = 30) -> None:
        _require_libraries()
        self._tabs = Tabs(first, seconds)
        self._half_open = HalfOpen()
        self._secret = secrets.token_urlsafe(16)
        self._socket = _listening(port)
        self._port: int = self._socket.getsockname()[1]
        self._application = self._made_application()
        self.address = f"http://{_HOST}:{self._port}/{self._secret}/"

    def run(self) -> None:
        """Serve until interrupted."""
        try:
            self.server().run(sockets=[self._socket])
        finally:
            self.close()

    def server(self) -> uvicorn.Server:
        """Return the ASGI server of the application, with a limit on connections that wait for a request."""
        import uvicorn
        from uvicorn.protocols.http.h11_impl import H11Protocol

        half_open = self._half_open

        class Connection(H11Protocol):
            """A connection that is registered as half-open until its request arrives."""

            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                super().connection_made(transport)
                half_open.began(transport)

            def connection_lost(self, exc: Exception | None) -> None:
                half_open.ended(self.transport)
                super().connection_lost(exc)

        config = uvicorn.Config(
            self._noted,
            interface="asgi3",  # uvicorn does not detect it for a method
            http=Connection,
            ws="none",
            log_level="critical",
            access_log=False,
            lifespan="off",
            server_header=False,
            proxy_headers=False,  # else a header could set the address of the client
            timeout_graceful_shutdown=1,
        )
        return uvicorn.Server(config)

    async def _noted(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request whose headers have arrived, and close the connection if it is refused."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= _REFUSED:
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)

        self._half_open.arrived(scope.get("client"))
        await self._application(scope, receive, answer)

    def close(self) -> None:
        """Stop a running search and close the socket."""
        self._tabs.close()
        self._socket.close()

    def _made_application(self) -> Starlette:
        from starlette.applications import Starlette
        from starlette.routing import Route

        made = Starlette(
            routes=[
                Route("/{secret}/", self._file, methods=["GET"]),
                Route("/{secret}/do", self._do, methods=["POST"]),
                Route("/{secret}/{name}", self._file, methods=["GET"]),
            ]
        )
        made.router.redirect_slashes = False  # a redirect would be sent before the secret is checked
        return made

    async def _file(self, request: Request) -> Response:
        from starlette.responses import Response

        refused = self._refused(request)
        known = _FILES.get(request.path_params.get("name", ""))
        if refused is not None or known is None:
            return refused or _said(404, "There is no such page.")
        name, kind = known
        content = files("insync.explorer.exploring_page").joinpath("page", name).read_text("utf-8")
        if name == "page.css":
            content = f"{page_style()}\n{content}"
        return Response(content, media_type=kind, headers=_HEADERS)

    async def _do(self, request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import Response

        refused = self._refused(request) or _refused_body(request)
        if refused is not None:
            return refused
        body = bytearray()
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                async for part in request.stream():
                    body += part
                    if len(body) > _MOST_BYTES:
                        return _said(413, "That is too much; a trace file has at most 20 MiB.")
        except TimeoutError:
            return _said(408, "The command did not arrive in time.")
        try:
            asked: object = json.loads(bytes(body))
        except (ValueError, RecursionError):
            return _said(400, "This is not JSON.")
        try:
            if self._tabs.takes_long(asked):
                answer = await run_in_threadpool(self._tabs.answer, asked)
            else:  # in this thread: on a busy machine, a change of threads takes longer than the answer
                answer = self._tabs.answer(asked)
        except Exception as error:  # noqa: BLE001 -- the last resort: the page must show every error
            answer = {"error": f"The model or insync met a case that it was not written for ({error!r:.300})."}
        content = json.dumps(answer, ensure_ascii=False).encode(errors="backslashreplace")
        return Response(content, media_type="application/json", headers=_HEADERS)

    def _refused(self, request: Request) -> Response | None:
        """Return the refusal of a request for another host, from another origin, or without the secret, else None."""
        own = {f"{name}:{self._port}" for name in _NAMES}
        if request.headers.get("host", "") not in own:
            return _said(403, "This server answers to its own address alone.")
        origin = request.headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in own}:
            return _said(403, "This server answers to its own page alone.")
        if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return _said(403, "This server answers to its own page alone.")
        if not hmac.compare_digest(str(request.path_params["secret"]).encode(), self._secret.encode()):
            return _said(404, "There is no such page.")
        return None


def _refused_body(request: Request) -> Response | None:
    """Return the refusal of a body that another origin could send without a preflight request, else None."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        return _said(415, "Commands are JSON.")
    return None


def _said(status: int, sentence: str) -> Response:
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(sentence, status_code=status, headers=_HEADERS)


def _listening(port: int) -> socket.socket:
    # asyncio sets TCP_NODELAY only if the protocol is named; without it small answers are delayed by 40 ms.
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((_HOST, port))
        made.listen(64)
    except OSError as error:
        made.close()
        message = (
            f"Port {port} is not available ({error.strerror or error}). Name another one, or none for any that is free."
        )
        raise UserError(message) from error
    return made


def _require_libraries() -> None:
    try:
        import starlette  # noqa: F401 -- whether it is installed
        import uvicorn  # noqa: F401 -- whether it is installed
    except ImportError as error:
        message = (
            f"The page needs the extra `page` ({error.name} is missing); install it: pip install 'insync[page]'. "
            f"`insync explore MODEL --text` explores in the terminal without it."
        )
        raise UserError(message) from error


# Half-open connections: those whose request has not arrived.
#
# Against the attack Slowloris, which fills a server with requests that never end, the headers of a request must arrive
# within a time limit. If too many connections wait, the one that has waited longest is closed for the new one.


_MOST = 256  # well below the usual limit of 1,024 open files
_SECONDS = 10.0  # a browser on this machine sends its headers at once

Address = tuple[str, int]


class HalfOpen:
    """The connections that wait for a request, by the address of their client, the oldest first.

    Args:
        most: the most connections that may wait.
        seconds: the longest time that one may wait.
    """

    def __init__(self, most: int = _MOST, seconds: float = _SECONDS) -> None:
        self._most, self._seconds = most, seconds
        self._waiting: dict[Address, tuple[asyncio.Transport, asyncio.TimerHandle]] = {}

    def began(self, transport: asyncio.Transport) -> None:
        """Register a new connection, and close the oldest one if there are too many."""
        address = _other_end(transport)
        if address is None:  # the connection is closed already
            return
        if len(self._waiting) >= self._most:
            self._end(next(iter(self._waiting)))
        deadline = asyncio.get_running_loop().call_later(self._seconds, self._end, address)
        self._waiting[address] = (transport, deadline)

    def arrived(self, address: Any) -> None:
        """Remove a connection whose request has arrived, or that was closed."""
        waiting = self._waiting.pop(tuple(address), None) if address is not None else None
        if waiting is not None:
            waiting[1].cancel()

    def ended(self, transport: asyncio.Transport) -> None:
        """Remove a connection that was closed."""
        self.arrived(_other_end(transport))

    def _end(self, address: Address) -> None:
        transport, deadline = self._waiting.pop(address)
        deadline.cancel()
        transport.abort()


def _other_end(transport: asyncio.Transport) -> Address | None:
    found = transport.get_extra_info("peername")
    return None if found is None else (str(found[0]), int(found[1]))
