# SPDX-License-Identifier: Apache-2.0
"""The user's own command."""

import pytest
from pydantic import ValidationError
from tests.workloads.recorded import SHAPE

from tare.errors import WrongOutput
from tare.records import Coordinate, Direction, Way
from tare.workloads.command import AnyCommand, CommandOptions
from tare.workloads.kind import Output

COMMAND = AnyCommand()


def test_the_command_runs_as_it_was_written() -> None:
    job = COMMAND.job(CommandOptions(argv=["python3", "-c", "print('a b')"]), SHAPE)
    assert job.argv == ("python3", "-c", "print('a b')")
    assert job.directory is None


def test_the_tools_folder_is_filled_in_and_other_braces_are_left_alone() -> None:
    options = CommandOptions(argv=["{tools}/burn", "{n}", "{}"], variables=["LD_PRELOAD={tools}/x.so", "B={"])
    job = COMMAND.job(options, SHAPE)
    assert job.argv == ("/opt/tare/bin/burn", "{n}", "{}")
    assert job.variables == {"LD_PRELOAD": "/opt/tare/bin/x.so", "B": "{"}


def test_a_value_may_hold_equals_signs_and_may_be_empty() -> None:
    job = COMMAND.job(CommandOptions(argv=["x"], variables=["A=b=c", "E="]), SHAPE)
    assert job.variables == {"A": "b=c", "E": ""}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"argv": []}, "at least 1 item"),
        ({}, "Field required"),
        ({"argv": "ls -l"}, "valid list"),
        ({"argv": ["a\0b"]}, "NUL byte"),
        ({"argv": ["x"], "directory": "work"}, "not an absolute path"),
        ({"argv": ["x"], "variables": ["=x"]}, "NAME=VALUE"),
        ({"argv": ["x"], "variables": ["1A=x"]}, "NAME=VALUE"),
        ({"argv": ["x"], "launcher": "image"}, "needs mpi = true"),
        ({"argv": ["x"], "mpi": True, "launcher": "image", "profile": True}, "without the profiler"),
        ({"argv": ["x"], "mpi": True, "launcher": "srun"}, "'tare' or 'image'"),
        ({"argv": ["x"], "success_exit_codes": [0, 1]}, "Extra inputs"),
    ],
)
def test_what_cannot_be_run_is_refused_in_words(options: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        CommandOptions.model_validate(options)


def test_what_a_command_prints_is_no_sample_whatever_it_is() -> None:
    output = Output(stdout="time_s 1\nend of output\n", stderr="\0", files={})
    assert COMMAND.samples(CommandOptions(argv=["x"]), output) == []


FIGURE = CommandOptions(
    argv=["hpl"], figures=[r"gflops=^Rate: (\S+)"], unit="Gflop/s", higher_is_better=True, input="/in"
)


def test_the_last_match_in_what_it_prints_is_the_figure_of_merit() -> None:
    output = Output(stdout="Rate: 1.5\n", stderr="Rate: 2.5e1\n", files={})
    (sample,) = COMMAND.samples(FIGURE, output)
    assert (sample.name, sample.value, sample.unit) == ("gflops", 25.0, "Gflop/s")
    assert sample.direction is Direction.MORE


@pytest.mark.parametrize(
    ("printed", "says"), [("rate 5", "nothing that it printed"), ("Rate: fast", "no number")]
)
def test_output_without_the_figure_is_wrong_output(printed: str, says: str) -> None:
    with pytest.raises(WrongOutput, match=says):
        COMMAND.samples(FIGURE, Output(stdout=printed, stderr="", files={}))


TABLE = r"bandwidth [MB/s, higher]=^\s*(?P<size_byte>\d+) +(?P<ranks>\d+) +(?P<value>\S+)$"


def test_each_figure_may_have_its_own_unit_and_direction() -> None:
    options = CommandOptions(
        argv=["x"],
        figures=[r"rate [1/s, higher]=rate (\S+)", r"latency [us]=lat (\S+)", r"n=n (\S+)"],
        unit="1",
    )
    samples = COMMAND.samples(options, Output(stdout="rate 5 lat 7 n 9", stderr="", files={}))
    assert [(sample.name, sample.value, sample.unit, sample.direction) for sample in samples] == [
        ("rate", 5, "1/s", Direction.MORE),
        ("latency", 7, "us", Direction.LESS),
        ("n", 9, "1", Direction.LESS),
    ]


def test_a_printed_table_becomes_a_surface_of_which_the_last_line_of_a_place_counts() -> None:
    options = CommandOptions(argv=["x"], figures=[TABLE])
    printed = "warm-up\n 0 2 1.5\nresults\n  0 2 2.5\n 64 2 3e2\n 64 4 4.5\n"
    samples = COMMAND.samples(options, Output(stdout=printed, stderr="", files={}))
    assert [(sample.coordinates, sample.value) for sample in samples] == [
        ((Coordinate("size", 0, "B"), Coordinate("ranks", 2, None)), 2.5),
        ((Coordinate("size", 64, "B"), Coordinate("ranks", 2, None)), 300),
        ((Coordinate("size", 64, "B"), Coordinate("ranks", 4, None)), 4.5),
    ]
    assert {(sample.unit, sample.direction) for sample in samples} == {("MB/s", Direction.MORE)}


@pytest.mark.parametrize("printed", ["64 2 fast", "64 2 nan", "64 2 3\n64 4 inf", "64 2", ""])
def test_a_table_without_numbers_is_wrong_output(printed: str) -> None:
    with pytest.raises(WrongOutput, match="bandwidth"):
        COMMAND.samples(
            CommandOptions(argv=["x"], figures=[TABLE]), Output(stdout=printed, stderr="", files={})
        )


@pytest.mark.parametrize(
    ("figure", "says"),
    [
        ("rate", "NAME=REGEX"),
        ("rate [op/s, more]=(.)", "NAME=REGEX"),
        ("rate [op/s=(.)", "NAME=REGEX"),
        ("rate=(", "no regular expression"),
        ("rate=rate", "no group"),
        (r"rate=(?P<size>\d+)", "P<value>"),
        (r"rate=(?P<size>\d+) (?P<size_byte>\d+) (?P<value>\d+)", "same coordinate"),
        (r"wall_s [s]=(\d+)", "other names"),
        (r"rate=(\d+)", "need a unit"),
    ],
)
def test_a_figure_that_cannot_be_read_is_refused_in_words(figure: str, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        CommandOptions(argv=["x"], figures=[figure])


def test_a_program_that_reports_its_own_figures_is_never_frozen() -> None:
    assert COMMAND.way(FIGURE) is Way.WHOLE
    assert COMMAND.way(CommandOptions(argv=["hpl"])) is Way.FREEZER


def test_input_prepare_and_check_reach_the_job() -> None:
    options = CommandOptions(
        argv=["x"], input="/in", prepare=["rm", "-f", "out"], check=["cmp", "out", "/good"]
    )
    job = COMMAND.job(options, SHAPE)
    assert (job.input, job.prepare, job.check) == ("/in", ("rm", "-f", "out"), ("cmp", "out", "/good"))
