# SPDX-License-Identifier: Apache-2.0
"""A workload without work: a planted value with planted noise, and every way to go wrong.

It lets whole campaigns be tested in seconds, and ``tare calibrate`` plant a known overhead.
"""

import math
import re
from typing import Annotated, Literal

from pydantic import Field

from tare.errors import WrongOutput
from tare.records import Direction, Sample
from tare.workloads import excerpt
from tare.workloads.kind import Job, Options, Output, Shape, own

_WHOLE = re.compile(r"time_s (\S+)\nend of output\n")

Finite = Annotated[float, Field(allow_inf_nan=False)]


class FakeOptions(Options):
    """What to pretend."""

    value: Annotated[Finite, Field(gt=0)] = 1.0
    """Seconds to report, before slowdown and noise."""
    noise: Annotated[Finite, Field(ge=0)] = 0.0
    """Coefficient of variation of the reported value."""
    seed: Annotated[int, Field(ge=0)] | None = None
    """``None``: another one for every trial, as independent noise needs."""
    sleep_s: Annotated[Finite, Field(ge=0)] = 0.0
    behaviour: Literal["ok", "fail", "crash", "hang", "garbage", "endless", "truncated", "missing"] = "ok"


class Fake:
    """The program ``fake`` of ``native/``."""

    name = "fake"
    options_model: type[Options] = FakeOptions
    primary_metric = "time_s"

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        return own(FakeOptions, options).sleep_s

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(FakeOptions, options)
        argv = [f"{shape.tools_directory}/fake", "--value", repr(chosen.value), "--noise", repr(chosen.noise)]
        argv += ["--sleep-s", repr(chosen.sleep_s), "--behaviour", chosen.behaviour]
        if chosen.seed is not None:
            argv += ["--seed", str(chosen.seed)]
        return Job(argv=tuple(argv))

    def samples(self, options: Options, output: Output) -> list[Sample]:
        if not output.stdout:
            raise WrongOutput("fake printed nothing", excerpt.tail(output.stderr))
        return [Sample(name="time_s", value=_time_s(output.stdout), unit="s", direction=Direction.LESS)]

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        return {}


def _time_s(stdout: str) -> float:
    found = _WHOLE.fullmatch(stdout)
    if not found:
        raise WrongOutput("fake's output is cut or not its own", excerpt.tail(stdout))
    try:
        value = float(found[1])
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise WrongOutput(f"fake reports {excerpt.printable(found[1])!r} as its time", excerpt.tail(stdout))
    return value
