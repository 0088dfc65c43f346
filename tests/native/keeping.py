# SPDX-License-Identifier: Apache-2.0
"""A real keeper with a fake guest, and its clients."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.native.conversation import LIMIT_S, eventually

REPOSITORY = Path(__file__).resolve().parent.parent.parent
DESCRIPTOR = 9


class Keeping:
    """One keeper; ``begin`` starts it, ``ready`` waits for its word."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs = programs
        self.folder = folder
        self.socket = folder / "keeper"
        self.log = folder / "log"
        self.pid_file = folder / "pid"
        self.process: subprocess.Popen[bytes] | None = None

    def begin(
        self, opening: str = "hello", *options: str, vmm: Sequence[object] = (), before: Sequence[str] = ()
    ) -> None:
        guest = [sys.executable, "-m", "tests.native.fake_guest", DESCRIPTOR, self.log, opening]
        own = ["--socket", self.socket, "--pid-file", self.pid_file, "--descriptor", DESCRIPTOR, *options]
        self.start([*own, "--", *(vmm or guest)], before)

    def start(self, words: Sequence[object], before: Sequence[str] = ()) -> None:
        self.process = subprocess.Popen(
            [*before, str(self.programs / "keeper"), *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY)},
        )

    @property
    def running(self) -> subprocess.Popen[bytes]:
        assert self.process is not None
        return self.process

    def ready(self) -> None:
        assert self.running.stdout is not None
        readable, _, _ = select.select([self.running.stdout], [], [], LIMIT_S)
        assert readable, "the keeper said nothing"
        assert self.running.stdout.readline() == b"READY\n"

    @property
    def vmm(self) -> int:
        """The process id of the fake virtual machine."""
        return int(self.pid_file.read_text())

    def end(self) -> tuple[int, str]:
        """The exit code and the last line on standard error."""
        _, complaint = self.running.communicate(timeout=LIMIT_S)
        lines = complaint.decode().splitlines()
        return self.running.returncode, lines[-1] if lines else ""

    def complained(self) -> bool:
        """Whether something lies on its standard error by now."""
        assert self.running.stderr is not None
        return bool(select.select([self.running.stderr], [], [], 0)[0])

    def enter(self, *words: str, options: Sequence[str] = ()) -> list[str]:
        return [str(self.programs / "enter"), str(self.socket), *options, "--", *words]

    def run(
        self, *words: str, options: Sequence[str] = (), stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        argv = self.enter(*words, options=options)
        return subprocess.run(argv, input=stdin, capture_output=True, check=False, timeout=LIMIT_S)

    @contextlib.contextmanager
    def entered(self, *words: str) -> Iterator["subprocess.Popen[bytes]"]:
        """A command that runs on; its standard files are pipes."""
        client = subprocess.Popen(
            self.enter(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            yield client
        finally:
            client.kill()
            client.communicate(timeout=LIMIT_S)

    def ask(self, request: bytes, files: int = 3) -> socket.socket:
        """A connection that asked with these bytes, and with so many files."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.settimeout(LIMIT_S)
        connection.connect(str(self.socket))
        nothing = os.open("/dev/null", os.O_RDWR)
        try:
            socket.send_fds(connection, [request], [nothing] * files)
        finally:
            os.close(nothing)
        return connection

    def noted(self, kind: str) -> list[list[str]]:
        """Time, stream and payload of the guest's frames of a kind so far."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        words = [line.split(" ") for line in lines]
        return [[time_s, stream, payload] for time_s, name, stream, payload in words if name == kind]

    def wait_for(self, kind: str, count: int = 1) -> list[list[str]]:
        eventually(lambda: len(self.noted(kind)) >= count, f"{count} of {kind}")
        return self.noted(kind)

    def peak_byte(self) -> int:
        status = Path(f"/proc/{self.running.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM:")).split()[1]) << 10

    def close(self) -> None:
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + LIMIT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        self.process.kill()
        self.process.communicate(timeout=LIMIT_S)
