# SPDX-License-Identifier: Apache-2.0
"""The server: one request a connection, few at once, each within a time; it only ever answers GET and HEAD."""

import ipaddress
import json
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader, RawIOBase
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from tare.errors import InputError, TareError
from tare.foreign import one_line
from tare.serve import pages
from tare.serve.choice import ViewChoice
from tare.serve.gate import HEADERS, TOKEN, AccessGate, is_foreign
from tare.serve.heads import ShelvedResult
from tare.serve.pages import Page
from tare.serve.parts import PARTS
from tare.serve.shelf import Shelf

REQUEST_S = 10.0
"""For a whole request to arrive, however slowly it drips; and for each piece of the answer to leave."""
MOST_AT_ONCE = 48
"""Connections, streams of events among them; a further one is closed at once."""
MOST_STREAMS = 16
LONGEST_TARGET = 4096
"""Characters of a request's path and query."""
_MOST_PARAMETERS = 24
EVENT_EVERY_S = 1.0
_HEARTBEAT_S = 15.0
_PIECE_BYTE = 1 << 16
STREAM_S = 900.0
"""Then a browser connects anew by itself."""


class _UntilDeadline(RawIOBase):
    """Reads a socket until a fixed moment: a limit for each piece alone would let a request last for ever."""

    def __init__(self, connection: socket.socket, limit_s: float) -> None:
        self._connection = connection
        self._end_s = time.monotonic() + limit_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left_s = self._end_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("the request took too long")
        self._connection.settimeout(left_s)
        return self._connection.recv_into(buffer)


class ExplorerServer(ThreadingHTTPServer):
    """Serves the results of a shelf to those whom the gate admits."""

    daemon_threads = True
    request_queue_size = 16

    def __init__(self, address: tuple[str, int], shelf: Shelf, gate: AccessGate) -> None:
        """Bind; ``OSError`` if the address is not this host's, or taken."""
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.shelf, self.gate = shelf, gate
        self.streams = threading.BoundedSemaphore(MOST_STREAMS)
        self.stopping = threading.Event()
        self._slots = threading.BoundedSemaphore(MOST_AT_ONCE)
        super().__init__(address, Explorer)

    def server_bind(self) -> None:
        """As a TCP server: the HTTP server's own asks the network for this host's name."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[0], self.server_address[1]  # type: ignore[assignment]

    @property
    def origin(self) -> str:
        """Where a browser reaches it: by this host's name if it listens on all addresses."""
        name = str(self.server_address[0])
        shown = socket.gethostname() if ipaddress.ip_address(name).is_unspecified else name
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.server_port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own, if not too many are at work."""
        if not self._slots.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - as the base class has it
        """A browser that has gone is no error; the rest is a fault of Tare's own."""
        kind, error, trace = sys.exc_info()
        if kind is not None and not isinstance(error, OSError):
            threading.excepthook(threading.ExceptHookArgs((kind, error, trace, threading.current_thread())))

    def end(self) -> None:
        """End all streams, and listen no more; after ``serve_forever``."""
        self.stopping.set()
        self.socket.close()


class Explorer(BaseHTTPRequestHandler):
    """One request."""

    server: ExplorerServer
    server_version = "Tare"
    sys_version = ""
    timeout = REQUEST_S
    routes: ClassVar[dict[str, str]] = {
        "": "overheads",
        "host": "host",
        "trial": "trial",
        "events": "events",
        "data.json": "data",
        **{name: name for name in PARTS},
    }

    def setup(self) -> None:
        super().setup()
        self.rfile = BufferedReader(_UntilDeadline(self.connection, REQUEST_S))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class has it
        """Say nothing: a request may hold the token."""

    def version_string(self) -> str:
        return self.server_version

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002 - the same
        """Of a request that is not even one: without anything of it in the answer."""
        self.requestline = getattr(self, "requestline", "")
        self._send(pages.problem(HTTPStatus(code), "This is not a request that Tare answers."))

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.close_connection = True
        self.connection.settimeout(REQUEST_S)
        if (refused := self._refusal()) is not None:
            self._send(refused)
            return
        parts = urlsplit(self.path)
        try:
            given = parse_qsl(parts.query, max_num_fields=_MOST_PARAMETERS, errors="replace")
        except ValueError:
            self._send(pages.problem(HTTPStatus.BAD_REQUEST, "The address has too many parts."))
            return
        is_in = parts.path in pages.STATIC or self.server.gate.admits(self.headers.get("Cookie"))
        if is_in and all(name != TOKEN for name, _ in given):
            self._answer(parts.path, given)
        else:
            self._let_in(parts.path, given)

    def _refusal(self) -> Page | None:
        """Why not even the token is looked at."""
        if (
            not self.server.gate.knows_host(self.headers.get("Host"))
            or len(self.headers.get_all("Host", [])) > 1
        ):
            return pages.problem(HTTPStatus.MISDIRECTED_REQUEST, "This server is not the one of that name.")
        if is_foreign(self.headers):  # type: ignore[arg-type] # a message is a mapping
            return pages.problem(HTTPStatus.FORBIDDEN, "Another site's page asked for this.")
        if self.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in self.headers:
            return pages.problem(HTTPStatus.BAD_REQUEST, "A request for a page has no content.")
        if len(self.path) > LONGEST_TARGET or not self.path.startswith("/"):
            return pages.problem(HTTPStatus.REQUEST_URI_TOO_LONG, "The address is too long.")
        return None

    def _let_in(self, path: str, given: list[tuple[str, str]]) -> None:
        """Take the token out of the address, once it is seen to be right, and leave a cookie in its place.

        The page goes on by itself: to a redirection a browser would not send the new cookie, where another site's link
        led here.
        """
        tokens = [value for name, value in given if name == TOKEN]
        if len(tokens) != 1 or not self.server.gate.takes(tokens[0]):
            said = (
                "This address works once you have opened the one that tare serve printed, which holds a token. "
                "Open that one in this browser, then this one again."
            )
            self._send(pages.problem(HTTPStatus.FORBIDDEN, said))
            return
        rest = urlencode([(name, value) for name, value in given if name != TOKEN])
        known = path if path == "/" or path in pages.STATIC or self._route(path) else "/"
        target = f"{known}?{rest}" if rest else known
        self._send(pages.entered(target), {"Set-Cookie": self.server.gate.set_cookie()})

    def _answer(self, path: str, given: list[tuple[str, str]]) -> None:
        try:
            self._send(self._page(path, given))
        except _StreamError as wanted:
            self._stream(wanted.entry)
        except InputError as error:
            self._send(pages.problem(HTTPStatus.BAD_REQUEST, one_line(str(error))))
        except TareError as error:
            self._send(pages.problem(HTTPStatus.INTERNAL_SERVER_ERROR, one_line(str(error))))
        except ValueError as error:
            self._send(pages.problem(HTTPStatus.BAD_REQUEST, one_line(str(error))))
        except (ConnectionError, TimeoutError):
            raise
        except Exception:
            said = "A fault of Tare's own; the terminal in which tare serve runs says more."
            self._send(pages.problem(HTTPStatus.INTERNAL_SERVER_ERROR, said))
            raise

    def _route(self, path: str) -> tuple[str, str] | None:
        """The identity of a result, and which of its pages; ``None`` for any other path."""
        if path == "/compare":
            return "", "compare"
        match path.split("/"):
            case ["", "r", identity] if identity:
                return identity, "overheads"
            case ["", "r", identity, page] if identity and page in self.routes and page:
                return identity, self.routes[page]
        return None

    def _page(self, path: str, given: list[tuple[str, str]]) -> Page:
        """No part of the path is ever a file's name: it is looked up among what is known."""
        shelf, parameters = self.server.shelf, dict(given)
        if path in pages.STATIC:
            return pages.static_file(path)
        if path == "/":
            return pages.list_page(shelf, ViewChoice.of(parameters))
        if (route := self._route(path)) is None:
            return pages.problem(HTTPStatus.NOT_FOUND, "There is no such page.")
        identity, page = route
        if page == "compare":
            chosen = [value for name, value in given if name == "r"]
            return pages.compare_page(shelf, chosen, oldest_first="order" in parameters)
        if (entry := shelf.entry(identity)) is None:
            return pages.problem(
                HTTPStatus.NOT_FOUND, "There is no such result here; the list shows what there is."
            )
        choice = ViewChoice.of(parameters)
        makers: dict[str, Callable[[], Page]] = {
            "overheads": lambda: pages.result_page(shelf, entry, choice, anew="anew" in parameters),
            "host": lambda: pages.host_page(shelf, entry),
            "trial": lambda: pages.one_trial_page(shelf, entry, choice),
            "data": lambda: pages.data_page(shelf, entry),
            **dict.fromkeys(PARTS, lambda: pages.part_page(shelf, entry, page, choice)),
        }
        if page == "events":
            raise _StreamError(entry)
        return makers[page]()

    def _send(self, page: Page, more: dict[str, str] | None = None) -> None:
        self.send_response(page.status)
        headers = {
            **HEADERS,
            "Content-Type": page.kind,
            "Content-Length": str(len(page.content)),
            **(more or {}),
        }
        if page.refresh_s is not None:
            headers["Refresh"] = str(page.refresh_s) + (f"; url={page.refresh_to}" if page.refresh_to else "")
        if page.status is HTTPStatus.NOT_IMPLEMENTED:
            headers["Allow"] = "GET, HEAD"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            for start in range(0, len(page.content), _PIECE_BYTE):  # each has the time limit anew
                self.wfile.write(page.content[start : start + _PIECE_BYTE])

    def _stream(self, entry: ShelvedResult) -> None:
        """Send the progress of a campaign as events, until it has ended, the browser is gone, or the time is over."""
        if self.command == "HEAD" or not self.server.streams.acquire(blocking=False):
            self._send(pages.problem(HTTPStatus.SERVICE_UNAVAILABLE, "Too many pages follow campaigns."))
            return
        try:
            self.send_response(HTTPStatus.OK)
            for name, value in {**HEADERS, "Content-Type": "text/event-stream"}.items():
                self.send_header(name, value)
            self.end_headers()
            for event in self._events(entry):
                self.wfile.write(event)
        except TareError:
            return  # the page that the browser then loads says what is wrong with the journal
        finally:
            self.server.streams.release()

    def _events(self, entry: ShelvedResult) -> Iterator[bytes]:
        follower = self.server.shelf.follower(entry)
        last, said_s, end_s = "", time.monotonic(), time.monotonic() + STREAM_S
        while time.monotonic() < end_s:
            live = follower.progress()
            data = json.dumps(pages.progress_data(live, self.server.shelf.trials_read(entry)))
            if data != last:
                yield f"event: progress\ndata: {data}\n\n".encode()
                last, said_s = data, time.monotonic()
            elif time.monotonic() - said_s >= _HEARTBEAT_S:
                yield b": still there\n\n"
                said_s = time.monotonic()
            if self.server.stopping.wait(EVENT_EVERY_S):
                return


class _StreamError(Exception):
    """Events are wanted instead of a page."""

    def __init__(self, entry: ShelvedResult) -> None:
        super().__init__()
        self.entry = entry


def is_loopback(host: str) -> bool:
    """Whether an address is this host's alone; ``ValueError`` for what is no address."""
    return ipaddress.ip_address(host).is_loopback
