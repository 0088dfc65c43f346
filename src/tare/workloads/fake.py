# SPDX-License-Identifier: Apache-2.0
"""A workload without work: a planted value with planted noise, and every kind of failure.

It allows tests of whole campaigns in seconds, and lets ``tare calibrate`` plant a known overhead.
"""

import math
import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from tare.errors import WrongOutput
from tare.records import Coordinate, Direction, Sample
from tare.workloads import excerpt
from tare.workloads.kind import Job, Options, Output, Piece, Shape, WorkloadKind, own

_WHOLE = re.compile(r"time_s (\S+)\n((?:point [1-9]\d{0,18} \S+\n)*)end of output\n", re.ASCII)

Finite = Annotated[float, Field(allow_inf_nan=False)]


class FakeOptions(Options):
    """What to pretend."""

    value: Annotated[Finite, Field(gt=0)] = 1.0
    """Seconds to report, before slowdown and noise."""
    noise: Annotated[Finite, Field(ge=0)] = 0.0
    """Coefficient of variation of the reported value."""
    seed: Annotated[int, Field(ge=0)] | None = None
    """``None``: a different one for every trial, as independent noise requires."""
    sleep_s: Annotated[Finite, Field(ge=0)] = 0.0
    curve: Annotated[int, Field(ge=0, le=60)] = 0
    """Number of points of a planted latency curve to report too, over message size, from ``value`` at 1 byte on."""
    slices: bool = False
    """Take turns by empty slices, each reporting ``value`` per unit of its work."""
    behaviour: Literal["ok", "fail", "crash", "hang", "garbage", "endless", "truncated", "missing"] = "ok"


class FakeWorkload(WorkloadKind):
    """The program ``fake`` of ``native/``."""

    name = "fake"
    options_model: type[Options] = FakeOptions
    primary_metric = "time_s"

    def pieces(self, options: Options) -> tuple[Piece, ...]:
        if not own(FakeOptions, options).slices:
            return ()
        return (Piece(name="fake", metric=self.primary_metric, start_count=1),)

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        return own(FakeOptions, options).sleep_s

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(FakeOptions, options)
        argv = [f"{shape.tools_directory}/fake", "--value", repr(chosen.value), "--noise", repr(chosen.noise)]
        argv += ["--sleep-s", repr(chosen.sleep_s), "--behaviour", chosen.behaviour]
        if chosen.seed is not None:
            argv += ["--seed", str(chosen.seed)]
        if chosen.slices:
            argv += ["--slices", "yes"]
        if chosen.curve:
            argv += ["--curve", str(chosen.curve)]
        return Job(argv=tuple(argv))

    def samples(self, options: Options, output: Output) -> list[Sample]:
        if not output.stdout:
            raise WrongOutput("fake printed nothing", excerpt.tail(output.stderr))
        match = _WHOLE.fullmatch(output.stdout)
        if not match:
            raise WrongOutput("fake's output is cut or not its own", excerpt.tail(output.stdout))
        time_s = _time_s(match[1], output.stdout)
        points = [line.split()[1:] for line in match[2].splitlines()]
        if len(points) != (asked := own(FakeOptions, options).curve):
            raise WrongOutput(
                f"fake's curve has {len(points)} points of {asked}", excerpt.tail(output.stdout)
            )
        curves = [
            sample for size, time in points for sample in _at(float(size), _time_s(time, output.stdout))
        ]
        return [Sample(name="time_s", value=time_s, unit="s", direction=Direction.LESS), *curves]

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        return {}


def _time_s(text: str, stdout: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise WrongOutput(f"fake reports {excerpt.printable(text)!r} as its time", excerpt.tail(stdout))
    return value


def _at(size_byte: float, time_s: float) -> Iterator[Sample]:
    """One message size: the latency and, so that both directions have a curve, the resulting bandwidth."""
    for name, value, unit, direction in (
        ("latency_s", time_s, "s", Direction.LESS),
        ("bandwidth_byte_per_s", size_byte / time_s, "B/s", Direction.MORE),
    ):
        yield Sample(
            name=name,
            value=value,
            unit=unit,
            direction=direction,
            coordinates=(Coordinate("size", size_byte, "B"),),
        )
