# SPDX-License-Identifier: Apache-2.0
"""One process for each node on this host and one for the host itself, all over one connection.

They work at the same time, and nothing that hangs in one holds up another. This process only passes messages on: it
begins a keeper by fork(2), which costs milliseconds where another Python costs a third of a second, and has no thread
and no node of its own, so that a copy of it is sound. When it ends, in whatever way, the keepers' sockets end with it,
and every keeper removes its node.
"""

import json
import os
import selectors
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NoReturn

from tare.far.conversation import ALIVE_EVERY_S, Conversation, EndOfConnectionError, message

_HOST = ""
"""The name under which the host's keeper is listed; no node has it."""
_END_LIMIT_S = 110.0
_BLOCK_BYTE = 1 << 16


class _Keeper:
    """This end of a keeper's socket."""

    def __init__(self, name: str, pid: int, link: socket.socket) -> None:
        self.name, self.pid, self.link = name, pid, link
        self.asked: set[int] = set()
        """Numbers of the questions without an answer."""
        self._is_leaving = False
        self._unsent, self._received = bytearray(), bytearray()

    @property
    def events(self) -> int:
        return selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unsent else 0)

    def ask(self, number: int, question: bytes) -> None:
        self.asked.add(number)
        self._unsent += question

    def dismiss(self) -> None:
        """Let it answer what it was asked, remove its node and end."""
        self._is_leaving = True
        self.send()

    def send(self) -> None:
        """Send what it takes now; after its last question it hears that there are no more."""
        with suppress(OSError):  # it takes nothing now, or has ended, which is seen by reading
            if self._unsent:
                del self._unsent[: self.link.send(self._unsent)]
            if self._is_leaving and not self._unsent:
                self.link.shutdown(socket.SHUT_WR)

    def receive(self) -> bool:
        """Take what it says now; whether it can still say more."""
        try:
            chunk = self.link.recv(_BLOCK_BYTE)
        except ConnectionError:
            chunk = b""
        self._received += chunk
        return bool(chunk)

    def answers(self) -> Iterator[bytes]:
        """The whole answers that have arrived, as they are."""
        while (end := self._received.find(b"\n") + 1) > 0:
            if end > 1:  # an empty line only shows that it is alive
                said = json.loads(self._received[:end])
                end += said["size"]
                if len(self._received) < end:
                    return
                self.asked.discard(said["number"])
                after = b"\n" if said["size"] else b""  # as srun passes on nothing but whole lines
                yield bytes(self._received[:end]) + after
            del self._received[:end]


class Keepers:
    """Begins and ends them, and passes questions and answers on."""

    def __init__(self, conversation: Conversation, keep: Callable[[], None]) -> None:
        """``keep`` is the work of one: it answers on standard input and output until they end."""
        self._conversation, self._keep = conversation, keep
        self._by_name: dict[str, _Keeper] = {}
        self._running: set[_Keeper] = set()

    def serve(self) -> NoReturn:
        """Serve until ``EndOfConnectionError``."""
        while True:
            ready = self._wait(ALIVE_EVERY_S, self._conversation.reading)
            if not ready:
                self._conversation.show_life()
            if self._conversation.reading in ready:
                self._take_questions()
            self._look_after(ready, self._conversation.pass_on)

    def end(self) -> None:
        """Have every keeper remove its node and end; whoever still listens hears the last answers."""
        for keeper in self._running:
            keeper.dismiss()
        deadline = time.monotonic() + _END_LIMIT_S
        while self._running and (left_s := deadline - time.monotonic()) > 0:
            self._look_after(self._wait(left_s), self._say_last)

    def _say_last(self, answer: bytes) -> None:
        with suppress(EndOfConnectionError):
            self._conversation.pass_on(answer)

    def _wait(self, limit_s: float, *descriptors: int) -> dict[int, int]:
        """Descriptor → what it is ready for; poll(2) sees no keeper's descriptor that a copy has closed."""
        with selectors.PollSelector() as selector:
            for descriptor in descriptors:
                selector.register(descriptor, selectors.EVENT_READ)
            for keeper in self._running:
                selector.register(keeper.link, keeper.events)
            return {key.fd: events for key, events in selector.select(limit_s)}

    def _look_after(self, ready: dict[int, int], say: Callable[[bytes], None]) -> None:
        for keeper in [keeper for keeper in self._running if keeper.link.fileno() in ready]:
            events = ready[keeper.link.fileno()]
            if events & selectors.EVENT_WRITE:
                keeper.send()
            if events & selectors.EVENT_READ:
                is_there = keeper.receive()
                for answer in keeper.answers():
                    say(answer)
                if not is_there:
                    self._collect(keeper, say)

    def _collect(self, keeper: _Keeper, say: Callable[[bytes], None]) -> None:
        """It has ended; nobody may wait for its answers."""
        self._running.discard(keeper)
        if self._by_name.get(keeper.name) is keeper:
            del self._by_name[keeper.name]
        keeper.link.close()
        os.waitpid(keeper.pid, 0)
        what = f"looked after {keeper.name}" if keeper.name else "spoke for this host"
        for number in keeper.asked:
            say(message({"error": f"the part of Tare that {what} has ended", "number": number}))

    def _take_questions(self) -> None:
        self._pass_on(*self._conversation.question())
        while self._conversation.has_more:
            self._pass_on(*self._conversation.question())

    def _pass_on(self, fields: dict[str, Any], content: bytes) -> None:
        """To the node's keeper; what is to be stopped and has none here may be another connection's."""
        name = str(fields.pop("node", _HOST))
        keeper = self._by_name.get(name)
        if keeper is None and fields["do"] == "stop":
            name, keeper = _HOST, self._by_name.get(_HOST)
        try:
            keeper = keeper or self._begun(name)
        except OSError as error:
            said = {"error": f"no process can be started: {error.strerror}", "number": fields["number"]}
            self._conversation.say(said)
            return
        keeper.ask(fields["number"], message(fields, content))
        if name != _HOST and fields["do"] == "stop":
            keeper.dismiss()
            del self._by_name[name]

    def _begun(self, name: str) -> _Keeper:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                pid = os.fork()
            except OSError:
                ours.close()
                raise
            if pid == 0:
                self._become_keeper(ours, theirs)
        ours.setblocking(False)
        keeper = self._by_name[name] = _Keeper(name, pid, ours)
        self._running.add(keeper)
        return keeper

    def _become_keeper(self, ours: socket.socket, theirs: socket.socket) -> NoReturn:
        """In the copy. It closes the other keepers' sockets, so that they end with the first process."""
        code = 1
        try:
            for link in (ours, *(keeper.link for keeper in self._running)):
                link.close()
            for descriptor in (0, 1):
                os.dup2(theirs.fileno(), descriptor)
            theirs.close()
            self._keep()
            code = 0
        except BaseException:  # noqa: BLE001 - nothing may return into the first process's work
            traceback.print_exc()
        finally:
            os._exit(code)
