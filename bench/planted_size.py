# SPDX-License-Identifier: Apache-2.0
"""How large a planted delay of a system call is, measured without Tare, and whether Tare's interval holds it.

A program that makes the call again and again is resident twice in a node of the plant's, with the delay and without it.
Both are asked in turn for some 6 ms of work and timed from here: the difference is what the delay adds to a call.
"""

import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bench.quiet import Quiet
from tare.analyze.attribution.sentences import interval
from tare.host.facts import online_processors
from tare.image.store import find_image
from tare.node_life import start_node, stop_node
from tare.nodes.provider import Provider
from tare.records import Direction, Overhead, Verdict

CURED = "seccomp"
"""Option of such a plant's provider: ``False`` takes the delay away."""
_STARTS, _ROUNDS = 12, 31


@dataclass(frozen=True, slots=True, kw_only=True)
class Delayed:
    """A delay of each call of one name."""

    call: str
    added_us: int
    program: Sequence[str]
    """For each line that it reads it makes the calls, and prints a line."""
    calls: int
    """For each line."""
    work_per_call: float = 1.0
    """In the unit of the metric's work, such as bytes."""

    def argv(self) -> tuple[str, str]:
        """Words for ``hinder``."""
        return ("--delay", f"{self.call}={self.added_us}")

    def true_s(self, provider: Provider) -> list[float]:
        """What a call costs more, once for each start of a node, in ascending order."""
        return sorted(self._started_s(provider) for _ in range(_STARTS))

    def _started_s(self, provider: Provider) -> float:
        """One start has one luck with its memory, so that it has one figure: the median over its rounds."""
        spec = Quiet.spec(provider.technology, find_image("default"), online_processors()[:1])
        node = start_node(spec, provider)
        without = replace(node, spec=replace(spec, options={CURED: False}))
        try:
            with (
                self._program(provider.prefix(node)) as slow,
                self._program(provider.prefix(without)) as plain,
            ):
                rounds = [(_turn_s(slow) - _turn_s(plain)) / self.calls for _ in range(_ROUNDS)]
        finally:
            stop_node(spec, provider)
        return statistics.median(rounds[1:])

    def said(self, verdict: Verdict, provider: Provider) -> str:
        """Whether Tare's interval holds the true size, and both in words."""
        added_s = self.true_s(provider)
        native_s = self._native_s(verdict.overhead)
        typical, true = verdict.overhead.typical, statistics.median(added_s) / native_s
        holds = typical.low is not None and typical.high is not None and typical.low <= true <= typical.high
        quarter = len(added_s) // 4
        low, middle, high = (
            f"{1e6 * value:.1f}" for value in (added_s[quarter], true * native_s, added_s[-quarter - 1])
        )
        return (
            f"{self.call} costs {middle} us more (quartiles {low} and {high}), {100 * true:.1f} % of native's "
            f"{1e6 * native_s:.1f} us; measured: {interval(typical)}: {'within' if holds else 'OUTSIDE'}"
        )

    def _native_s(self, overhead: Overhead) -> float:
        """Native's time for the work of a call."""
        is_time = overhead.summary.direction is Direction.LESS
        return self.work_per_call * (overhead.native_median if is_time else 1 / overhead.native_median)

    def _program(self, prefix: Sequence[str]) -> subprocess.Popen[str]:
        """It ends at the end of its input, and with its node."""
        argv = [*prefix, *self.program]
        return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


def _turn_s(program: subprocess.Popen[str]) -> float:
    """The time from line to line."""
    assert program.stdin is not None and program.stdout is not None  # noqa: PT018 - for mypy
    begun = time.perf_counter()
    program.stdin.write("\n")
    program.stdout.readline()
    return time.perf_counter() - begun
