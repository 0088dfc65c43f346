# SPDX-License-Identifier: Apache-2.0
"""A talk with the real stopwatch, line by line, every wait limited."""

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

LIMIT_S = 20.0


class Conversation:
    """One stopwatch; ``READY`` is read at the start."""

    def __init__(self, argv: Sequence[object], pass_fds: Sequence[int] = ()) -> None:
        self.process = subprocess.Popen(
            [str(part) for part in argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=pass_fds,
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin = self.process.stdin
        self.stdout = self.process.stdout
        self._received = b""

    def send(self, *lines: str) -> None:
        self.stdin.write("".join(f"{line}\n" for line in lines).encode())

    def line(self) -> str:
        """The next line; empty at the end of the output."""
        deadline = time.monotonic() + LIMIT_S
        while b"\n" not in self._received:
            readable, _, _ = select.select([self.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert readable, f"no line within {LIMIT_S} s, only {self._received!r}"
            chunk = os.read(self.stdout.fileno(), 65536)
            if not chunk:
                return ""
            self._received += chunk
        line, _, self._received = self._received.partition(b"\n")
        return line.decode()

    def expect(self, word: str) -> dict[str, Any]:
        """The object of the next line, which must start with ``word``."""
        line = self.line()
        assert line.startswith(f"{word} "), f"{line!r} instead of {word}"
        document: dict[str, Any] = json.loads(line.removeprefix(f"{word} "))
        return document

    def run(self) -> dict[str, Any]:
        self.send("GO")
        return self.expect("DONE")

    def exit_code(self) -> int:
        return self.process.wait(timeout=LIMIT_S)

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        try:
            self.process.wait(timeout=LIMIT_S)
        finally:
            self.process.kill()
            self.stdout.close()
            assert self.process.stderr is not None
            self.process.stderr.close()


@contextlib.contextmanager
def conversation(argv: Sequence[object], pass_fds: Sequence[int] = ()) -> Iterator[Conversation]:
    talk = Conversation(argv, pass_fds)
    try:
        yield talk
    finally:
        talk.close()


def eventually(holds: Callable[[], bool], what: str) -> None:
    """Wait for something outside to come true; fails after the limit."""
    deadline = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < deadline, f"never came true: {what}"
        time.sleep(0.005)


def process_lives(pid: int) -> bool:
    """Whether it runs; the dead that wait to be reaped do not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def process_exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def pid_in(file: Path) -> int:
    """The process id that a command wrote to ``file``, once it is there."""
    eventually(lambda: file.exists() and file.read_text(encoding="utf-8").endswith("\n"), f"{file} written")
    return int(file.read_text(encoding="utf-8"))


def effort(pid: int) -> tuple[int, int]:
    """CPU ticks used and times gone to sleep so far (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    sleeps = next(line for line in status.splitlines() if line.startswith("voluntary_ctxt_switches"))
    return int(fields[11]) + int(fields[12]), int(sleeps.split()[1])
