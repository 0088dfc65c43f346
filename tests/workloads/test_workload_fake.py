# SPDX-License-Identifier: Apache-2.0
"""The fake workload, with the real program behind it."""

import subprocess
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.workloads.recorded import SHAPE, recorded

from tare.errors import WrongOutput
from tare.records import Direction
from tare.workloads.fake import FakeOptions, FakeWorkload
from tare.workloads.kind import Output, Shape

FAKE = FakeWorkload()


def run(programs: Path, options: FakeOptions, variables: dict[str, str] | None = None) -> Output:
    shape = Shape(processors=1, memory_byte=1, instance=0, tools_directory=str(programs))
    argv = FAKE.job(options, shape).argv
    done = subprocess.run(argv, env=variables or {}, capture_output=True, timeout=20, check=False)
    return Output(stdout=done.stdout.decode(errors="replace"), stderr=done.stderr.decode(), files={})


def value_of(output: Output) -> float:
    (sample,) = FAKE.samples(FakeOptions(), output)
    return sample.value


def test_the_recorded_output_is_one_time_in_seconds() -> None:
    (sample,) = FAKE.samples(FakeOptions(), recorded("fake", "ok"))
    assert (sample.name, sample.unit, sample.direction) == ("time_s", "s", Direction.LESS)
    assert sample.value == pytest.approx(1.5, rel=0.1)


def test_the_recorded_cut_output_is_wrong() -> None:
    with pytest.raises(WrongOutput, match="cut"):
        FAKE.samples(FakeOptions(), recorded("fake", "truncated"))


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0", "1e999", "x"])
def test_an_impossible_time_is_wrong(value: str) -> None:
    with pytest.raises(WrongOutput, match=value):
        FAKE.samples(FakeOptions(), Output(stdout=f"time_s {value}\nend of output\n", stderr="", files={}))


def test_the_program_reports_the_planted_value_and_slowdown(programs: Path) -> None:
    options = FakeOptions(value=2.0)
    assert value_of(run(programs, options)) == pytest.approx(2.0)
    assert value_of(run(programs, options, {"TARE_FAKE_SLOWDOWN": "0.05"})) == pytest.approx(2.1)


def test_a_seed_fixes_the_noise_and_its_absence_does_not(programs: Path) -> None:
    seeded, free = FakeOptions(noise=0.1, seed=7), FakeOptions(noise=0.1)
    assert value_of(run(programs, seeded)) == value_of(run(programs, seeded))
    assert value_of(run(programs, free)) != value_of(run(programs, free))


def test_a_planted_curve_is_slowed_down_as_a_whole(programs: Path) -> None:
    options = FakeOptions(value=1e-6, curve=14)
    plain, slowed = (
        [item for item in FAKE.samples(options, run(programs, options, variables)) if item.coordinates]
        for variables in ({}, {"TARE_FAKE_SLOWDOWN": "0.25"})
    )
    latencies = [item for item in plain if item.name == "latency_s"]
    assert [latency.coordinates[0].value for latency in latencies] == [
        1,
        2,
        3,
        4,
        6,
        8,
        12,
        16,
        24,
        32,
        48,
        64,
        96,
        128,
    ]
    assert latencies[-1].value == pytest.approx(1e-6 * (1 + 128 / 4096))
    assert len(plain) == len(slowed) == 28
    for sample, other in zip(plain, slowed, strict=True):
        factor = 1.25 if sample.direction is Direction.LESS else 1 / 1.25
        assert (other.name, other.coordinates) == (sample.name, sample.coordinates)
        assert other.value == pytest.approx(factor * sample.value)


@pytest.mark.parametrize("line", ["point 0 1.0", "point 1 0", "point 1 nan", "point x 1.0", "point 1", ""])
def test_an_impossible_point_is_wrong(line: str) -> None:
    stdout = f"time_s 1.5\n{line}\nend of output\n"
    with pytest.raises(WrongOutput):
        FAKE.samples(FakeOptions(curve=1), Output(stdout=stdout, stderr="", files={}))


def test_a_curve_with_points_too_many_or_too_few_is_wrong() -> None:
    output = Output(stdout="time_s 1.5\npoint 1 1e-6\nend of output\n", stderr="", files={})
    assert FAKE.samples(FakeOptions(curve=1), output)
    for asked in (0, 2):
        with pytest.raises(WrongOutput, match=f"1 points of {asked}"):
            FAKE.samples(FakeOptions(curve=asked), output)


@pytest.mark.parametrize("behaviour", ["garbage", "truncated", "missing"])
def test_a_program_that_misbehaves_is_wrong_output(programs: Path, behaviour: str) -> None:
    output = run(programs, FakeOptions.model_validate({"behaviour": behaviour}))
    with pytest.raises(WrongOutput):
        FAKE.samples(FakeOptions(), output)


@pytest.mark.parametrize(
    "options", [{"value": 0}, {"value": float("nan")}, {"noise": -1}, {"behaviour": "odd"}]
)
def test_an_impossible_option_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        FakeOptions.model_validate(options)


def test_the_plan_expects_what_the_program_sleeps() -> None:
    assert FAKE.expected_s(FakeOptions(sleep_s=0.3), SHAPE) == 0.3
