# SPDX-License-Identifier: Apache-2.0
"""How large a planted loss is, measured without Tare, and whether Tare's interval holds it.

The program that makes the operation is resident in a planted node and in a native one. Both are asked in turn for
some milliseconds of work and timed from here, from line to line. One start of the nodes has one luck with its memory,
so that it has one figure: the median over its rounds of planted over native. Of some starts there is a median with
its exact interval: half of them right before the measurement with Tare and half right after it, as a machine's memory
changes from minute to minute.
"""

import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

from bench.beside.pairs import seconds
from bench.quiet import Quiet
from tare.analyze.attribution.sentences import interval
from tare.environments.native import Native
from tare.errors import NodeError
from tare.host.facts import online_processors
from tare.image.store import find_image
from tare.node_life import start_node, stop_node
from tare.nodes.provider import Node, Provider
from tare.records import OptionValue, Verdict
from tare.statistics.estimate import Estimate
from tare.statistics.median import median_estimate

_STARTS, _ROUNDS = 8, 41
_NODE_BYTE = 512 << 20
_STARTED = ("sh", "-c", '"$@"; exit', "sh")
"""A process of its own, as the stopwatch starts it in a trial: some plants follow the first process of a command."""


class Size(NamedTuple):
    """The true size of a loss."""

    overhead: Estimate
    """As a fraction of native."""
    native_s: float
    """Of an operation, with what it takes to ask for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """How the operation is made without Tare."""

    operation: str
    """A noun, such as "fork and exit"."""
    program: Sequence[str]
    """For each line that it reads it makes the operations, and prints a line."""
    turn: str = ""
    """That line."""
    operations: int
    """For each line."""

    def around(
        self, planted: Provider, options: Mapping[str, OptionValue], measure: Callable[[], None]
    ) -> Size:
        """Measure it before and after ``measure``, with both nodes started anew for each figure."""
        starts = self._starts(planted, options)
        measure()
        starts += self._starts(planted, options)
        overhead = median_estimate([ratio - 1 for ratio, _ in starts])
        return Size(overhead, statistics.median(native_s for _, native_s in starts))

    def _starts(self, planted: Provider, options: Mapping[str, OptionValue]) -> list[tuple[float, float]]:
        return [self._started(planted, options) for _ in range(_STARTS)]

    def _started(self, planted: Provider, options: Mapping[str, OptionValue]) -> tuple[float, float]:
        with (
            _node(Native(), {}) as plain,
            _node(planted, options) as slow,
            _running([*plain.provider.prefix(plain.node), *_STARTED, *self.program]) as native,
            _running([*slow.provider.prefix(slow.node), *_STARTED, *self.program]) as hindered,
        ):
            rounds = [self._round(native, hindered, number) for number in range(_ROUNDS)][1:]
        ratio = statistics.median(slow_s / native_s for native_s, slow_s in rounds)
        return ratio, statistics.median(native_s for native_s, _ in rounds) / self.operations

    def _round(
        self, native: subprocess.Popen[str], hindered: subprocess.Popen[str], number: int
    ) -> tuple[float, float]:
        """Native's time and the other's; each comes first in every second round."""
        if number % 2:
            slow_s = _turn_s(hindered, self.turn)
            return _turn_s(native, self.turn), slow_s
        return _turn_s(native, self.turn), _turn_s(hindered, self.turn)

    def said(self, verdict: Verdict, size: Size) -> str:
        """Whether Tare's interval holds the true size, and both in words."""
        measured, true = verdict.overhead.typical, size.overhead
        return (
            f"{self.operation} costs {seconds(true.point * size.native_s)} more than native's "
            f"{seconds(size.native_s)}: {100 * true.point:.1f} % {interval(true)}; "
            f"measured: {100 * measured.point:.1f} % {interval(measured)}: "
            f"{_place(true, measured)}"
        )


def _place(true: Estimate, measured: Estimate) -> str:
    """Where the true size lies; an interval that overlaps the true size's own does not contradict it."""
    bounds = (true.low, true.high, measured.low, measured.high)
    if any(bound is None for bound in bounds):
        return "no interval"
    low, high, least, most = (bound for bound in bounds if bound is not None)
    if least <= true.point <= most:
        return "within"
    return "outside, but the intervals overlap" if low <= most and least <= high else "OUTSIDE"


class _Started(NamedTuple):
    provider: Provider
    node: Node


@contextmanager
def _node(provider: Provider, options: Mapping[str, OptionValue]) -> Iterator[_Started]:
    plain = Quiet.spec(provider.technology, find_image("default"), online_processors()[:1])
    spec = replace(plain, options=options, memory_byte=_NODE_BYTE)
    try:
        yield _Started(provider, start_node(spec, provider))
    finally:
        stop_node(spec, provider)


@contextmanager
def _running(argv: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """It ends at the end of its input, and with its node."""
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
    ) as program:
        yield program


def _turn_s(program: subprocess.Popen[str], line: str) -> float:
    """The time from line to line."""
    assert program.stdin is not None and program.stdout is not None  # noqa: PT018 - for mypy
    begun = time.perf_counter()
    program.stdin.write(f"{line}\n")
    answer = program.stdout.readline()
    taken_s = time.perf_counter() - begun
    if not answer:
        raise NodeError("the program by which the true size is measured ended")
    return taken_s
