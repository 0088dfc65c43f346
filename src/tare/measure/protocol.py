# SPDX-License-Identifier: Apache-2.0
"""The content of the stopwatch's lines: one JSON object each; every field in use is checked here.

The workload may have replaced the stopwatch: a line may say anything, and is accepted only within its types and ranges.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tare.errors import NodeError
from tare.untrusted import from_json, object_from_json, whole

RUN_FIELDS = (
    *("user_s", "system_s", "maximum_rss_byte", "minor_faults", "major_faults"),
    *("voluntary_switches", "involuntary_switches", "exit_code", "signal", "timed_out"),
)
"""Fields of DONE, as in the outcome's record."""
_MOST_NS = 1 << 63
"""Limit of a signed 64-bit clock."""
_LONGEST_S = 1e9
"""Limit of any time that a process may report: thirty years."""
_LARGEST_TEXT = 4096

_Nanoseconds = Annotated[int, Field(gt=-_MOST_NS, lt=_MOST_NS)]
_Count = Annotated[int, Field(ge=0, lt=_MOST_NS)]
_Seconds = Annotated[float, Field(ge=0, le=_LONGEST_S, allow_inf_nan=False)]
_Text = Annotated[str, Field(max_length=_LARGEST_TEXT)]


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Ready(_Line):
    """The stopwatch's facts about its node; fields that are not listed are evidence, judged where they are shown."""

    pid: Annotated[int, Field(gt=0, lt=1 << 31)]
    processors: Annotated[list[Annotated[int, Field(ge=0, lt=1 << 16)]], Field(max_length=1 << 16)]
    shm_byte: _Count | None
    monotonic_ns: _Nanoseconds
    memory_limit_byte: _Count | None = None
    cpu_quota: Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)] | None = None
    online_processors: _Nanoseconds | None = None
    clock_source: _Text | None = None
    kernel: _Text | None = None
    kernel_release: _Text | None = None


class _Done(_Line):
    """Its report on a command (getrusage(2), wait4(2)); ``error`` if it could not be executed at all."""

    start_ns: _Nanoseconds
    executed_ns: _Nanoseconds | None
    """When the command's own program replaced the stopwatch's copy, within execve(2)."""
    end_ns: _Nanoseconds
    user_s: _Seconds | None
    system_s: _Seconds | None
    maximum_rss_byte: _Count | None
    minor_faults: _Count | None
    major_faults: _Count | None
    voluntary_switches: _Count | None
    involuntary_switches: _Count | None
    exit_code: Annotated[int, Field(ge=0, le=255)] | None
    signal: Annotated[int, Field(gt=0, lt=128)] | None
    timed_out: bool
    error: _Text | None


class _Took(_Line):
    """How long the answer of a turn took by the node's clock, and the answer's text."""

    wall_ns: _Count
    begin_ns: _Nanoseconds
    end_ns: _Nanoseconds
    line: str


class _Readings(_Line):
    monotonic_raw_ns: _Nanoseconds
    monotonic_ns: _Nanoseconds
    realtime_ns: _Nanoseconds


class _Steal(_Line):
    ticks: _Count | None
    ticks_per_s: Annotated[int, Field(gt=0, lt=_MOST_NS)]


class _Complaint(_Line):
    message: _Text


def _checked(kind: type[_Line], line: bytes) -> dict[str, Any]:
    try:
        return dict(kind.model_validate(from_json(line)))
    except ValidationError as error:
        raise nonsense(line, _first_problem(error)) from None
    except ValueError as error:
        raise nonsense(line, str(error)) from None


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where or 'all of it'}: {first['msg']}"


def ready(line: bytes) -> Mapping[str, Any]:
    """The facts in READY; ``NodeError`` if they lack what this version needs, as from any function here."""
    return _checked(_Ready, line)


def done(line: bytes) -> Mapping[str, Any]:
    """How the command ended, with its counts, which must be complete if it was executed."""
    said = _checked(_Done, line)
    if said["error"] is None and any(said[name] is None for name in ("executed_ns", *RUN_FIELDS[:7])):
        raise nonsense(line, "what a command used is missing")
    return said


def complaint(line: bytes) -> str:
    """Why the stopwatch gives up."""
    return str(_checked(_Complaint, line)["message"])


def quality(line: bytes) -> Mapping[str, Any]:
    """The test of the clocks, from which ``tare.measure.inspection`` makes a record."""
    try:
        return object_from_json(line)
    except ValueError as error:
        raise nonsense(line, str(error)) from None


def clock_ns(line: bytes) -> int:
    """The reading of the node's clock."""
    try:
        reading = whole(line.decode())
    except ValueError as error:
        raise nonsense(line, str(error)) from None
    if not 0 <= reading < _MOST_NS:
        raise nonsense(line, "no clock says that")
    return reading


def clock_readings(line: bytes) -> Mapping[str, int]:
    """The readings of the node's clocks, in nanoseconds."""
    checked = _checked(_Readings, line)
    return {name: checked[name] for name in _Readings.model_fields}


def took(line: bytes) -> Mapping[str, Any]:
    """The result of a turn; its three times must agree."""
    said = _checked(_Took, line)
    if said["wall_ns"] != said["end_ns"] - said["begin_ns"]:
        raise nonsense(line, "its times do not agree")
    return said


def steal_s(line: bytes) -> float | None:
    """Time stolen from the node since its kernel started; ``None`` if its kernel has no such count."""
    said = _checked(_Steal, line)
    return None if said["ticks"] is None else float(said["ticks"] / said["ticks_per_s"])


def nonsense(line: bytes, why: str = "") -> NodeError:
    said = line.decode(errors="replace")[:400]
    return NodeError(
        f"what the stopwatch in the node says makes no sense{f' ({why})' if why else ''}; is the image of this "
        "version? `tare image build`",
        said,
    )
