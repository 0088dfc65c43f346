# SPDX-License-Identifier: Apache-2.0
"""One parser under attack: what it is given, and what of its answers breaks the promise."""

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields

from tare.errors import TareError
from tests.hostile.mutation import Mutator

IN_MEMORY = "/dev/shm"
"""Where a parser's files are, which a disk would make slower than the parser."""
LIMIT_S = 5.0
"""No input, whatever it is, may keep a parser busy for longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A parser with recorded inputs."""

    name: str
    seeds: Sequence[bytes]
    parse: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = (TareError,)
    """What it may raise."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """What became of the inputs so far."""

    inputs: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    """Kind of an error that it may not raise → how often."""
    examples: dict[str, int] = field(default_factory=dict)
    """The same → the number of the first such input."""
    worst_s: float = 0.0
    worst: int = 0

    def told(self) -> dict[str, object]:
        """As JSON; ``asdict`` would count a counter's entries."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def add(self, other: "Tally") -> None:
        self.inputs += other.inputs
        self.refused += other.refused
        self.broken += other.broken
        self.examples = {**other.examples, **self.examples}
        if other.worst_s > self.worst_s:
            self.worst_s, self.worst = other.worst_s, other.worst


class TooLongError(BaseException):
    """The time limit is over; no parser may take it for an error of its own."""


@contextmanager
def time_limit(limit_s: float = 0.0) -> Iterator[Callable[[float], None]]:
    """``TooLongError`` in the main thread after ``limit_s``; the yielded function sets it anew, 0 means none.

    Python's own loops and regular expressions notice it.
    """

    def over(*_: object) -> None:
        raise TooLongError

    def limit(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds)

    before = signal.signal(signal.SIGALRM, over)
    limit(limit_s)
    try:
        yield limit
    finally:
        limit(0.0)
        signal.signal(signal.SIGALRM, before)


def attack(target: Target, mutator: Mutator, numbers: Iterator[int], until_s: float) -> Tally:
    """Give it the inputs of these numbers, one after the other, until ``time.monotonic`` says ``until_s``."""
    tally = Tally()
    with time_limit() as limit:
        for number in numbers:
            if time.monotonic() > until_s:
                break
            text = mutator.input(number)
            begun = time.perf_counter()
            problem = _given(target, text, tally, limit)
            took_s = time.perf_counter() - begun
            tally.inputs += 1
            if took_s > tally.worst_s:
                tally.worst_s, tally.worst = took_s, number
            if problem is not None:
                tally.broken[problem] += 1
                tally.examples.setdefault(problem, number)
    return tally


def _given(target: Target, text: bytes, tally: Tally, limit: Callable[[float], None]) -> str | None:
    """The kind of the error that breaks the promise."""
    try:
        limit(LIMIT_S)
        try:
            target.parse(text)
        finally:
            limit(0.0)
    except target.refusals as error:
        tally.refused[type(error).__name__] += 1
    except TooLongError:
        return f"longer than {LIMIT_S:g} s"
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return type(error).__name__
    return None
