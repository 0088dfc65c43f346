# SPDX-License-Identifier: Apache-2.0
"""The conversation with Tare on the other host: one line of JSON each way, followed by bytes if it says so.

The connection keeps nodes alive: when it ends, for whatever reason, the far side removes them. Threads may ask at the
same time: whoever waits for an answer reads, and hands out the others' answers.
"""

import json
import os
import select
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, Protocol, Self, TypedDict, TypeVar

from tare.environments.ssh.code import place, start_file
from tare.environments.ssh.connection import Far, failed, last_words, variables
from tare.errors import NodeError
from tare.host.process import end_session, tool_environment
from tare.host.told import part
from tare.untrusted import from_json, of_kind

_CONNECT_LIMIT_S = 60.0
_ANSWER_LIMIT_S = 60.0
_SILENCE_LIMIT_S = 50.0
"""The far side shows every 15 s that it is alive; srun, unlike ssh, does not notice when its host dies."""
_END_LIMIT_S = 30.0
_KILL_LIMIT_S = 10.0
_LONGEST_LINE_BYTE = 1 << 20
_LARGEST_CONTENT_BYTE = 256 << 20
"""For all files of one request; the other host sends 18 MiB of each at most."""
_LONGEST_ERROR = 2000
_COMPLAINT_BYTE = 4000
Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class FarAnswer:
    """One answer of the far side."""

    host: str
    fields: Mapping[str, Any]
    content: bytes = b""

    def told(self, kind: type[Kind]) -> Kind:
        """Its fields, which must be of this kind; ``NodeError`` if the other host sent anything else."""
        return part(kind, dict(self.fields), self.host)


@dataclass(frozen=True, slots=True)
class Question:
    """One that was asked, and when (``time.monotonic``) its answer is too late."""

    number: int
    deadline: float


class Ask(Protocol):
    """Asks a node there, as ``Channel.ask`` does."""

    def __call__(
        self, do: str, *, limit_s: float = ..., content: bytes = ..., **fields: object
    ) -> FarAnswer: ...


class Greeting(TypedDict):
    """The far side's first line."""

    host: str
    kernel: str


class _Sized(TypedDict):
    size: NotRequired[int]


class Channel:
    """One running conversation; the caller that opens it closes it."""

    def __init__(self, far: Far, control: Path | None = None) -> None:
        """Connect, copy the code there if needed, and wait for the greeting; ``NodeError`` says why it failed.

        ``control`` is the socket by which further ssh sessions use the same connection.
        """
        place(far)
        self._begin(far)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the channel
        argv = [*far.ssh(control, master=control is not None), self._program()]
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            start_new_session=True,
            env={**tool_environment(), **variables()},
        )
        self.begun_unix_s = time.time()
        try:
            self.greeting = self._greeted()
        except BaseException:
            self.close()
            raise

    def _begin(self, far: Far) -> None:
        self._far = far
        self._received = bytearray()
        self._asked = 0
        self._sending = threading.Lock()
        self._changed = threading.Condition()
        self._answers: dict[int, FarAnswer | None] = {}
        """Number of each question whose answer is wanted → the answer, once it is there."""
        self._is_read = False
        """Whether a thread reads now."""
        self._is_torn = False
        """Whether a question was sent in part only."""
        self._is_lost = False
        """Whether the far side has shown no life for so long that nobody need ask again."""

    def _program(self) -> str:
        return self._far.command(self._far.python, "-I", "-S", start_file(self._far), self._far.state)

    @property
    def host(self) -> str:
        """The host at the other end."""
        return self._far.host

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_sound(self) -> bool:
        """Whether a question can still be asked, as far as is known here."""
        return not self._is_torn and not self._is_lost and self._process.poll() is None

    def ask(
        self,
        do: str,
        *,
        node: str | None = None,
        limit_s: float = _ANSWER_LIMIT_S,
        content: bytes = b"",
        **fields: object,
    ) -> FarAnswer:
        """Ask for an action of a ``node`` there, or of the host: each answers one question after the other.

        ``NodeError`` with the far side's reason, or when it does not answer in time.
        """
        return self.answer(self.say(do, node=node, limit_s=limit_s, content=content, **fields))

    def say(
        self,
        do: str,
        *,
        node: str | None = None,
        limit_s: float = _ANSWER_LIMIT_S,
        content: bytes = b"",
        **fields: object,
    ) -> Question:
        """Ask as ``ask`` does, and go on; the caller wants the ``answer`` once."""
        deadline = time.monotonic() + limit_s
        addressed = {"do": do, **({} if node is None else {"node": node}), **fields}
        return Question(self._say(addressed, content), deadline)

    def answer(self, question: Question) -> FarAnswer:
        """Wait for it; ``NodeError`` as ``ask`` raises it."""
        try:
            answer = self._answer(question.number, question.deadline)
        finally:
            with self._changed:
                del self._answers[question.number]
        if "error" in answer.fields:
            raise NodeError(f"{self._far.host}: {str(answer.fields['error'])[:_LONGEST_ERROR]}")
        return answer

    def _say(self, fields: Mapping[str, object], content: bytes) -> int:
        """Send it, and return its number."""
        if self._is_lost:
            raise self._silent()
        with self._sending:
            self._asked = number = self._asked + 1
            line = json.dumps({**fields, "number": number, "size": len(content)}, default=str)
            self._answers[number] = None
            try:
                self._send(line.encode() + b"\n" + content)
            except BaseException:
                self._is_torn = True
                del self._answers[number]
                raise
        return number

    def _answer(self, number: int, deadline: float) -> FarAnswer:
        """The answer, read by this thread unless another reads; that one hands it out."""
        while (answer := self._handed_out(number, deadline)) is None:
            try:
                said = self._next(deadline)
                with self._changed:
                    # The answer to a question that nobody waits for any more is passed over.
                    if (about := said.fields.get("number")) in self._answers:
                        self._answers[about] = said
            finally:
                with self._changed:
                    self._is_read = False
                    self._changed.notify_all()
        return answer

    def _handed_out(self, number: int, deadline: float) -> FarAnswer | None:
        """The answer; ``None``: it is this thread's turn to read."""
        with self._changed:
            while (answer := self._answers[number]) is None and self._is_read:
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    raise self._silent()
            self._is_read = self._is_read or answer is None
        return answer

    def close(self) -> None:
        """End the conversation, and any part of ssh that does not end by itself."""
        assert self._process.stdin is not None  # noqa: S101 - they were requested as pipes
        assert self._process.stdout is not None  # noqa: S101
        self._process.stdin.close()
        try:
            end_session(self._process, _END_LIMIT_S)
        finally:
            self._process.stdout.close()
            self._errors.close()

    def _greeted(self) -> Greeting:
        """The first line; any other text would also come before the output of every command."""
        line = self._line(time.monotonic() + _CONNECT_LIMIT_S)
        del self._received[: len(line)]
        if not line.startswith(b"{"):
            said = line.decode(errors="replace").strip()[:200]
            raise NodeError(
                f"{self._far.host} says {said!r} before the first command: its login shell may print only when "
                "a person is there (in .bashrc: after a test of $PS1)"
            )
        fields = self._fields(line)
        if "error" in fields:
            raise NodeError(f"{self._far.host}: {str(fields['error'])[:_LONGEST_ERROR]}")
        return FarAnswer(self._far.host, fields).told(Greeting)

    def _fields(self, line: bytes) -> Mapping[str, Any]:
        try:
            sized = of_kind(_Sized, from_json(line))
        except ValueError:
            raise self._nonsense(line) from None
        if not 0 <= sized.get("size", 0) <= _LARGEST_CONTENT_BYTE:
            raise self._nonsense(line)
        return dict(sized)

    def _next(self, deadline: float) -> FarAnswer:
        """The next answer, taken whole: whoever is interrupted before leaves it to the next reader."""
        while not (line := self._line(deadline)).strip():
            del self._received[: len(line)]  # an empty line only shows that the far side is alive
        fields = self._fields(line)
        end = len(line) + fields.get("size", 0)
        while len(self._received) < end:
            self._receive(deadline)
        content = bytes(self._received[len(line) : end])
        del self._received[:end]
        return FarAnswer(self._far.host, fields, content)

    def _line(self, deadline: float) -> bytes:
        """The next line, which stays where it is."""
        while b"\n" not in self._received:
            if len(self._received) > _LONGEST_LINE_BYTE:
                raise self._nonsense(bytes(self._received))
            self._receive(deadline)
        return bytes(self._received[: self._received.index(b"\n") + 1])

    def _nonsense(self, said: bytes) -> NodeError:
        return NodeError(f"{self._far.host} answers nonsense: {said[:200]!r}")

    def _receive(self, deadline: float) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it was requested as a pipe
        left_s = 0 if self._is_lost else deadline - time.monotonic()
        if left_s <= 0 or not is_readable(self._process.stdout.fileno(), min(left_s, _SILENCE_LIMIT_S)):
            self._is_lost = self._is_lost or left_s >= _SILENCE_LIMIT_S
            raise self._silent()
        chunk = os.read(self._process.stdout.fileno(), 1 << 16)
        if not chunk:
            raise self._ended()
        self._received += chunk

    def _silent(self) -> NodeError:
        return NodeError(f"{self._far.host} does not answer any more; see what hangs there")

    def _send(self, content: bytes) -> None:
        """Send at ssh's pace: it gives up by itself when the other host is silent (ServerAliveInterval)."""
        assert self._process.stdin is not None  # noqa: S101 - it was requested as a pipe
        left = memoryview(content)
        try:
            while left:
                left = left[self._process.stdin.write(left) or 0 :]
        except (BrokenPipeError, ValueError):
            raise self._ended() from None

    def _ended(self) -> NodeError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_KILL_LIMIT_S)
        said = os.pread(self._errors.fileno(), _COMPLAINT_BYTE, 0).decode(errors="replace").strip()
        if error := failed(self._far, self._process.returncode, said):
            return error
        words = last_words(said)
        return NodeError(f"Tare on {self._far.host} ended ({self._process.returncode}): {words}", said)


def is_readable(descriptor: int, limit_s: float) -> bool:
    """Whether there is something to read in time; of any number, where select(2) ends at 1024."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(limit_s * 1000))
