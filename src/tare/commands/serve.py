# SPDX-License-Identifier: Apache-2.0
"""``tare serve``: results in a browser of this host."""

import os
import shlex
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import ExitCode, HostError, InputError

if TYPE_CHECKING:
    from tare.serve.gate import AccessGate

USUAL_PLACE = Path("results")
_TERMINAL_BROWSERS = {"www-browser", "lynx", "links", "elinks", "w3m"}


def run_serve(
    places: Sequence[Path], host: str, port: int, *, opens_browser: bool = True, shares: bool = False
) -> ExitCode:
    """Serve until interrupted; prints the address with the token.

    ``InputError`` for a place that is not there, an address that is none, and for one beyond this host that is not
    explicitly shared; ``HostError`` if the port is taken.
    """
    from tare.serve.gate import TOKEN
    from tare.serve.server import ExplorerServer, is_loopback
    from tare.serve.shelf import Shelf

    shown = list(places) or [USUAL_PLACE]
    for place in shown:
        if not place.is_dir():
            raise InputError(f"{place}: there is no such folder; name a result, or a folder with results")
    address = _address(host)
    if not (local := is_loopback(address)) and not shares:
        raise InputError(_refusal(host))
    gate = _gate(host, local=local)
    try:
        server = ExplorerServer((address, port), shelf := Shelf(shown), gate)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise HostError(
            f"cannot listen on {host}, port {port}: {reason}; leave out --port for a free one"
        ) from error
    entries = shelf.entries()
    page = f"r/{entries[0].identity}" if len(entries) == 1 else ""
    url = f"{server.origin}/{page}?{TOKEN}={gate.token}"
    if not local:
        print(_warning(server.server_port), file=sys.stderr)
    print(f"{url}\nresults of {', '.join(map(str, shown))}; end with Ctrl-C", flush=True)
    threading.Thread(target=shelf.begin, name="tare-begin", daemon=True).start()
    with _browser(url, wanted=opens_browser and has_browser(os.environ)):
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            pass
        finally:
            server.end()
    return ExitCode.DONE


def _address(host: str) -> str:
    """An IP address; names but this one would be looked up in a network."""
    import ipaddress

    if host == "localhost":
        return "127.0.0.1"
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        raise InputError(f"--host {host}: must be an IP address of this host, such as 127.0.0.1") from None


def _gate(host: str, *, local: bool) -> "AccessGate":
    from tare.serve.gate import LOOPBACK, AccessGate

    if local:
        return AccessGate.new(LOOPBACK | {host.strip("[]").lower()})
    return AccessGate.new(LOOPBACK | {socket.gethostname().lower()}, by_address=True)


def _refusal(host: str) -> str:
    return (
        f"--host {host} would offer the results to other hosts, over a connection that is not encrypted: whoever sees "
        "it can read the token, and then the results. From another host, an SSH tunnel is safe: ssh -L "
        "8000:127.0.0.1:PORT THIS-HOST, and open the printed address with port 8000. To share all the same, add "
        "--yes-i-share"
    )


def _warning(port: int) -> str:
    return (
        f"warning: other hosts can reach port {port}, and the connection is not encrypted: whoever sees it can read "
        "the token, and then all results that are shown. Use it only in a network that you trust, and end it soon"
    )


def has_browser(environment: Mapping[str, str]) -> bool:
    """Whether a window can be opened: one in this terminal, such as lynx, would take it over."""
    if not any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")):
        return False
    try:
        command = shlex.split(environment.get("BROWSER", "")) or [""]
    except ValueError:  # an open quotation mark
        return False
    return Path(command[0]).name not in _TERMINAL_BROWSERS


@contextmanager
def _browser(url: str, *, wanted: bool) -> Iterator[None]:
    """Open it by a file that only this user can read: everybody can read a browser's arguments, and so the token."""
    if not wanted:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="tare-serve-") as folder:
        page = Path(folder) / "open.html"
        goes_on = f'<meta http-equiv="refresh" content="0; url={escape(url)}">'
        page.write_text(f'<!doctype html><meta charset="utf-8"><title>Tare</title>{goes_on}')
        # Some commands end when the window is closed: what it shows must be served meanwhile.
        threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
        yield
