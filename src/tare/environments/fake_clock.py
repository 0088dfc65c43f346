# SPDX-License-Identifier: Apache-2.0
"""A deliberately faulty clock: sits between the runner and a stopwatch, and distorts what it says about clocks.

    python -IS fake_clock.py FAULT FILE COMMAND ARGUMENT...

``FILE`` holds what the way in and the measured one must agree on: when the node began, and when the measured command
was first asked to start. Rates are wrong from the beginning; steps and stops come 0.3 s after that command, and go
back, if they do, 1 s later; CPU time is a share of the wall time. Imports nothing of Tare's, to start quickly.
"""

import json
import os
import re
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = (
    '"honest", "fast 3%", "slow 3%", "step 50ms", "steps 50ms" (there and back), "stop 2s" or "cpu 150%"'
)
_WRITTEN = re.compile(
    r"(?:(fast|slow|cpu) (\d+(?:\.\d+)?)%|(steps?) (-?\d+)ms|(stop) (\d+(?:\.\d+)?)s)", re.ASCII
)
_SECOND_NS = 10**9
_DELAY_NS = 3 * _SECOND_NS // 10
_CHUNK_BYTE = 65536
_GO = re.compile(rb"^GO(?: (\d+))?\n", re.MULTILINE)
_TIMES = ("start_ns", "executed_ns", "end_ns")
_STEPS_BACK = 8
"""Each step reduces the remaining error of a rate by that rate."""
_MEASURED = ".output/stdout"
"""Where the output of the measured command goes; commands that only look at the node use another place."""


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """The fault of a clock; ``kind`` is empty without one."""

    kind: str
    amount: float
    """A fraction of the rate or of the wall time, or nanoseconds."""

    @property
    def honest(self) -> bool:
        return not self.kind

    def error_ns(self, now_ns: int, begun_ns: int, told_ns: int | None) -> int:
        """How far this clock is ahead; ``told_ns``: when a command was asked to start, if one was."""
        if self.kind in {"fast", "slow"}:
            return round((now_ns - begun_ns) * self.amount)
        if self.kind == "cpu":
            return 0
        after_ns = -1 if told_ns is None else now_ns - told_ns - _DELAY_NS
        if after_ns < 0 or (self.kind == "steps" and after_ns > _SECOND_NS):
            return 0
        return -min(after_ns, round(self.amount)) if self.kind == "stop" else round(self.amount)


def parse(text: object) -> PlantedFault | None:
    """The fault that the words describe, or ``None``."""
    if text == "honest":
        return PlantedFault("", 0.0)
    match = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    rate, percent, step, ms, stop, stop_s = match.groups()
    if rate == "cpu":
        return PlantedFault(rate, float(percent) / 100)
    if rate:
        return PlantedFault(rate, float(percent) / 100 * (1 if rate == "fast" else -1))
    return PlantedFault(step, float(ms) * 1e6) if step else PlantedFault(stop, float(stop_s) * _SECOND_NS)


def begin(file: Path) -> None:
    """Record that the node begins now."""
    file.write_text(f"{_host_ns()}\n")


def _host_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


class _Bent:
    """A stopwatch's lines with the fault in all their clock values."""

    def __init__(self, fault: PlantedFault, file: Path) -> None:
        self._fault, self._file = fault, file

    def asked(self, chunk: bytes, *, measured: bool) -> bytes:
        """The line as the stopwatch should receive it; also records when the measured command is asked to start."""
        if measured and _GO.search(chunk):
            with self._file.open("a") as opened:
                opened.write(f"{_host_ns()}\n")
        return _GO.sub(self._with_host_time, chunk)

    def _with_host_time(self, go: "re.Match[bytes]") -> bytes:
        return b"GO %d\n" % self._straight(int(go[1])) if go[1] else go[0]

    def _straight(self, bent_ns: int) -> int:
        """The host's time when this clock shows this."""
        now_ns = bent_ns
        for _ in range(_STEPS_BACK):
            now_ns = bent_ns - self._error_ns(now_ns)
        return now_ns

    def line(self, line: bytes) -> bytes:
        word, _, rest = line.partition(b" ")
        if word == b"PONG":
            return b"PONG %d" % self._bent(int(rest))
        if word == b"CLOCKS":
            document = json.loads(rest)
            error_ns = self._error_ns(document["monotonic_raw_ns"])
            return b"CLOCKS " + json.dumps({name: ns + error_ns for name, ns in document.items()}).encode()
        if word == b"DONE":
            document = json.loads(rest)
            times = {name: self._bent(document[name]) for name in _TIMES if document[name] is not None}
            return b"DONE " + json.dumps({**document, **times, **self._cpu_time(times)}).encode()
        return line

    def _cpu_time(self, times: dict[str, int]) -> dict[str, float]:
        """A share of the wall time for a node that counts CPU time so; nothing for any other."""
        if self._fault.kind != "cpu":
            return {}
        return {"user_s": (times["end_ns"] - times["start_ns"]) * 1e-9 * self._fault.amount}

    def _bent(self, now_ns: int) -> int:
        return now_ns + self._error_ns(now_ns)

    def _error_ns(self, now_ns: int) -> int:
        begun_ns, *starts_ns = map(int, self._file.read_text().split())
        return self._fault.error_ns(now_ns, begun_ns, starts_ns[0] if starts_ns else None)


def _stand_between(argv: list[str], bent: _Bent) -> int:
    measured = any(part.endswith(_MEASURED) for part in argv)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as child:
        assert child.stdin is not None  # noqa: S101 - it was requested as a pipe
        assert child.stdout is not None  # noqa: S101 - the same
        listened, said = [sys.stdin.fileno(), child.stdout.fileno()], b""
        while child.stdout.fileno() in listened:
            for descriptor in select.select(listened, [], [])[0]:
                chunk = os.read(descriptor, _CHUNK_BYTE)
                if not chunk:
                    listened.remove(descriptor)
                if descriptor == child.stdout.fileno():
                    *lines, said = (said + chunk).split(b"\n")
                    os.write(1, b"".join(bent.line(line) + b"\n" for line in lines))
                elif chunk:
                    child.stdin.write(bent.asked(chunk, measured=measured))
                else:
                    child.stdin.close()
        os.write(1, said)
        return child.wait()


if __name__ == "__main__":
    _fault = parse(sys.argv[1])
    assert _fault is not None  # noqa: S101 - the environment has checked it
    sys.exit(_stand_between(sys.argv[3:], _Bent(_fault, Path(sys.argv[2]))))
