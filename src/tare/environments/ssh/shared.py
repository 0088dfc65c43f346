# SPDX-License-Identifier: Apache-2.0
"""One connection to each host, which everything that needs the host at the same time shares."""

import hashlib
import os
import secrets
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tare.environments.ssh import code
from tare.environments.ssh.channel import Channel
from tare.environments.ssh.connection import Far
from tare.environments.ssh.lanes import Lanes
from tare.errors import NodeError
from tare.host.paths import state_directory

_LONGEST_SOCKET = 76
"""A socket's path has 108 bytes (unix(7)); ssh needs some for a temporary name, and lanes for a number."""
_NAME_BYTE = 5
_SOCKET = "s"
_MOST_TRIES = 1000
"""Each time, another process removed the folder just then."""


class Connection:
    """A conversation, and how many use it."""

    def __init__(self, far: Far) -> None:
        """Connect; ``NodeError`` says why that failed."""
        self.users = 0
        self._socket = _new_socket() if far.multiplexes else None
        try:
            self.channel = Channel(far, self._socket)
        except BaseException:
            self._forget_socket()
            raise
        self.lanes = None if self._socket is None else Lanes(far, self._socket)
        """By which commands enter its nodes; ``None``: each command by itself."""

    def close(self) -> None:
        with ExitStack() as stack:
            stack.callback(self._forget_socket)
            stack.callback(self.channel.close)
            if self.lanes is not None:
                stack.callback(self.lanes.close)

    def _forget_socket(self) -> None:
        if self._socket is not None:
            self._socket.unlink(missing_ok=True)
            with suppress(OSError):  # another's socket is there, also in the folder of all
                self._socket.parent.rmdir()
                self._socket.parent.parent.rmdir()


_open: dict[Far, Connection] = {}
"""Way to a host → its latest connection."""
_kept: set[Far] = set()
"""Ways whose connection stays although nobody uses it."""
_EVERY = Far(host="")
"""Among the kept ways: the connections to all hosts stay."""
_connecting: dict[Far, threading.Lock] = {}
_changing = threading.Lock()


def take(far: Far) -> Connection:
    """The connection to this host, made if there is none or the last one broke; the caller leaves it in the end.

    ``NodeError`` says why there is none.
    """
    way = far.way
    with _changing:
        connecting = _connecting.setdefault(way, threading.Lock())
    with connecting:
        with _changing:
            known = _open.get(way)
            if known is not None and known.channel.is_sound:
                known.users += 1
                return known
        if known is not None:
            _forget(known)
        made = Connection(far)
        with _changing:
            made.users, _open[way] = 1, made
    return made


def leave(connection: Connection) -> None:
    """Close it, unless somebody else uses it or it is kept."""
    with _changing:
        connection.users -= 1
        way = next((way for way, latest in _open.items() if latest is connection), None)
        stays = connection.users > 0 or (way is not None and not _kept.isdisjoint((way, _EVERY)))
        if way is not None and not stays:
            del _open[way]
    if not stays:
        connection.close()


def forget(far: Far) -> None:
    """Connect anew, and look anew what is there: this name may now be another machine's, or one restored."""
    code.forget(far)
    with _changing:
        known = _open.get(far.way)
    if known is not None:
        _forget(known)


def _forget(known: Connection) -> None:
    """Whoever still uses it closes it."""
    with _changing:
        for way in [way for way, latest in _open.items() if latest is known]:
            del _open[way]
        is_used = known.users > 0
    if not is_used:
        known.close()


@contextmanager
def opened(far: Far) -> Iterator[Channel]:
    """A conversation for a question or two."""
    connection = take(far)
    try:
        yield connection.channel
    finally:
        leave(connection)


@contextmanager
def kept(hosts: Iterable[Far] | None = None) -> Iterator[None]:
    """Keep the connections to these hosts, or to every one, from their first use until the end of this context."""
    ways = {_EVERY} if hosts is None else {far.way for far in hosts}
    _kept.update(ways)
    try:
        yield
    finally:
        with _changing:
            _kept.difference_update(ways)
            unused = [known for way, known in _open.items() if way not in _kept and not known.users]
        with ThreadPoolExecutor(max(1, len(unused))) as pool:
            list(pool.map(_forget, unused))


def _new_socket() -> Path:
    """A name for a connection's socket, in a folder of its own that nobody else may reach.

    Another process's last connection removes the folder of all if that is empty; this one's own folder keeps it.
    ``NodeError`` if it cannot be made.
    """
    own = _folder() / secrets.token_hex(_NAME_BYTE)
    for _ in range(_MOST_TRIES):
        with suppress(FileNotFoundError, FileExistsError):
            _make_private(own.parent)
            own.mkdir(mode=0o700)
            return own / _SOCKET
    raise NodeError(f"{own.parent} cannot be made, or is no folder; remove it")


def _folder() -> Path:
    """In the state folder unless that name is too long; always the same one, so that it never is left behind."""
    wanted = state_directory() / "ssh"
    if len(str(wanted / (2 * _NAME_BYTE * "x") / _SOCKET)) <= _LONGEST_SOCKET:
        return wanted
    known = hashlib.sha256(str(wanted).encode()).hexdigest()[:16]
    return Path("/tmp") / f"tare-ssh-{known}"


def _make_private(folder: Path) -> None:
    """Make it if it is missing; ``NodeError`` if it is another user's, who could pretend to be the other host."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.lstat().st_uid != os.geteuid():
        raise NodeError(f"{folder} belongs to another user; remove it")
