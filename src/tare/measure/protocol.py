# SPDX-License-Identifier: Apache-2.0
"""What the stopwatch's lines hold: one JSON object each, checked before anybody relies on it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tare.errors import NodeError

READY_FIELDS = ("pid", "processors", "shm_byte", "monotonic_ns")
RUN_FIELDS = (
    *("user_s", "system_s", "maximum_rss_byte", "minor_faults", "major_faults"),
    *("voluntary_switches", "involuntary_switches", "exit_code", "signal", "timed_out"),
)
"""Of DONE, as they stand in the outcome's record."""
ERROR_FIELDS = ("message",)
CLOCK_FIELDS = ("monotonic_raw_ns", "monotonic_ns", "realtime_ns")
STEAL_FIELDS = ("ticks", "ticks_per_s")
QUALITY_FIELDS = (
    *("source", "tsc_flags", "invariant_tsc", "clocks", "pairs", "exchanges"),
    *("backward_exchanges", "worst_backward_ns"),
)
_MOST_NS = 1 << 63
"""What a clock of 64 bits with a sign can say."""
TOOK_FIELDS = ("wall_ns", "begin_ns", "end_ns", "line")
"""Of a turn: how long its answer took by the node's clock, and the answer's text."""
DONE_FIELDS = ("start_ns", "end_ns", "error", *RUN_FIELDS)


def fields(line: bytes, needed: Sequence[str]) -> Mapping[str, Any]:
    """The object of a line; ``NodeError`` when it is none, or lacks what this version needs."""
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or any(name not in found for name in needed):
        raise nonsense(line)
    return found


def clock_ns(line: bytes) -> int:
    """The node's clock; ``NodeError`` when it is no number."""
    if not line.isdigit():
        raise nonsense(line)
    return int(line)


def clock_readings(line: bytes) -> Mapping[str, int]:
    """What each of the node's clocks says, in nanoseconds; ``NodeError`` when that is no number."""
    found = fields(line, CLOCK_FIELDS)
    if not all(_is_reading(found[name]) for name in CLOCK_FIELDS):
        raise nonsense(line)
    return {name: found[name] for name in CLOCK_FIELDS}


def _is_reading(value: Any) -> bool:
    return type(value) is int and abs(value) < _MOST_NS


def took(line: bytes) -> Mapping[str, Any]:
    """What became of a turn, in nanoseconds and words; ``NodeError`` when its clocks cannot be right."""
    said = fields(line, TOOK_FIELDS)
    numbers = [said[name] for name in ("wall_ns", "begin_ns", "end_ns")]
    if not (all(map(_is_reading, numbers)) and isinstance(said["line"], str)):
        raise nonsense(line)
    if said["wall_ns"] != said["end_ns"] - said["begin_ns"] or said["wall_ns"] < 0:
        raise nonsense(line)
    return {name: said[name] for name in TOOK_FIELDS}


def steal_s(line: bytes) -> float | None:
    """Time stolen from the node since its kernel started; ``None`` where its kernel has no such count."""
    found = fields(line, STEAL_FIELDS)
    ticks, ticks_per_s = found["ticks"], found["ticks_per_s"]
    if ticks is None:
        return None
    if not (_is_reading(ticks) and _is_reading(ticks_per_s) and ticks >= 0 and ticks_per_s > 0):
        raise nonsense(line)
    return float(ticks / ticks_per_s)


def nonsense(line: bytes) -> NodeError:
    said = line.decode(errors="replace")[:400]
    return NodeError(
        "what the stopwatch in the node says makes no sense; is the image of this version? `tare image build`",
        said,
    )
