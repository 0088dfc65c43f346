# SPDX-License-Identifier: Apache-2.0
"""How large a planted delay of a system call is, measured without Tare, and whether Tare's interval holds it.

Calls that fail at once are timed in a program of their own, with the delay and without it in turn: the difference is
what the delay adds to a call, whatever the call itself would cost.
"""

import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tare.analyze.attribution.sentences import interval
from tare.host.facts import online_processors
from tare.image.store import find_image
from tare.nodes.provider import TOOLS_DIRECTORY
from tare.records import Direction, Overhead, Verdict

_ROUNDS, _CALLS = 7, 2000
_LIMIT_S = 60.0
_CLONE_SIGHAND = 0x800
_FAILING = {"fsync": "c.fsync(-1)", "clone": f"c.syscall(c.SYS_CLONE, {_CLONE_SIGHAND}, 0, 0, 0, 0)"}
"""A descriptor that is none; a thread's signal handlers without its memory."""
_TIMED = """
import ctypes, os, platform, statistics, time
c = ctypes.CDLL(None)
c.SYS_CLONE = {{"x86_64": 56, "aarch64": 220}}[platform.machine()]
os.sched_setaffinity(0, [{processor}])
def timed():
    begun = time.perf_counter()
    assert {call} == -1
    return time.perf_counter() - begun
print(statistics.median(timed() for _ in range({calls})))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delayed:
    """A delay of each call of one name."""

    call: str
    added_us: int
    work_per_call: float = 1.0
    """In the unit of the metric's work, such as bytes."""

    def argv(self) -> tuple[str, str]:
        """Words for ``hinder``."""
        return ("--delay", f"{self.call}={self.added_us}")

    def true_s(self) -> Sequence[float]:
        """What a call costs more, once for each round."""
        hinder = f"{find_image('default').root}{TOOLS_DIRECTORY}/hinder"
        return [self._timed_s([hinder, *self.argv()]) - self._timed_s([]) for _ in range(_ROUNDS)]

    def said(self, verdict: Verdict) -> str:
        """Whether Tare's interval holds the true size, and both in words."""
        added_s = sorted(self.true_s())
        native_s = self._native_s(verdict.overhead)
        typical, true = verdict.overhead.typical, statistics.median(added_s) / native_s
        holds = typical.low is not None and typical.high is not None and typical.low <= true <= typical.high
        least, middle, most = (f"{1e6 * value:.1f}" for value in (added_s[0], true * native_s, added_s[-1]))
        return (
            f"{self.call} costs {middle} us more by itself ({least} to {most}), {100 * true:.1f} % of native's "
            f"{1e6 * native_s:.1f} us; measured: {interval(typical)}: {'within' if holds else 'OUTSIDE'}"
        )

    def _native_s(self, overhead: Overhead) -> float:
        """Native's time for the work of a call."""
        is_time = overhead.summary.direction is Direction.LESS
        return self.work_per_call * (overhead.native_median if is_time else 1 / overhead.native_median)

    def _timed_s(self, prefix: Sequence[str]) -> float:
        text = _TIMED.format(processor=online_processors()[0], call=_FAILING[self.call], calls=_CALLS)
        argv = [*prefix, sys.executable, "-c", text]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=_LIMIT_S)
        return float(done.stdout)
