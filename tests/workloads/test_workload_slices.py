# SPDX-License-Identifier: Apache-2.0
"""The kinds of small resident pieces: their launch, their answers, and what passes for neither."""

import re
from contextlib import suppress
from dataclasses import replace
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.workloads.recorded import SHAPE, recorded

from tare.errors import InputError, WrongOutput
from tare.records import Direction
from tare.workloads.kind import Options, Output, Span
from tare.workloads.memory import MEMORY, MemoryOptions
from tare.workloads.operations import OS
from tare.workloads.slices import COMPUTE, MESSAGES, Slice, Slices, parse_slice

SPAN = Span(hosts=("one", "two"), subnet="198.18.0.0/16")
METRICS = {
    COMPUTE: ["compute"],
    MEMORY: ["memory bandwidth", "random access"],
    OS: ["system calls", "process start"],
    MESSAGES: ["message latency", "message bandwidth"],
}


def options(kind: Slices, **chosen: object) -> Options:
    return kind.options_model.model_validate(chosen)


def memory() -> Output:
    return recorded("memory", "alone")


def changed(pattern: str, replacement: str, count: int = 1) -> Output:
    text, made = re.subn(pattern, replacement, memory().stdout, count=count, flags=re.MULTILINE)
    assert made
    return replace(memory(), stdout=text)


@pytest.mark.parametrize("kind", METRICS, ids=lambda kind: kind.name)
def test_every_piece_is_a_primary_and_gives_the_time_of_its_unit_or_its_bandwidth(kind: Slices) -> None:
    output = recorded(kind.name, "two-ranks" if kind is MESSAGES else "alone")
    samples = kind.samples(options(kind), output)
    assert [sample.name for sample in samples] == METRICS[kind]
    units = {sample.name.endswith("bandwidth"): (sample.unit, sample.direction) for sample in samples}
    expected = {False: ("s", Direction.LESS), True: ("B/s", Direction.MORE)}
    assert units.items() <= expected.items()
    assert kind.primary_metric == METRICS[kind][0]


def test_the_time_is_that_of_the_middle_slice_for_each_unit() -> None:
    walls = [int(match) for match in re.findall(r"^random 3000 slice (\d+)", memory().stdout, re.MULTILINE)]
    assert len(walls) == 15
    samples = {sample.name: sample.value for sample in MEMORY.samples(options(MEMORY), memory())}
    assert samples["random access"] == pytest.approx(median(walls) * 1e-9 / 3000)


def test_a_bandwidth_is_the_bytes_of_a_unit_over_its_time() -> None:
    walls = [int(match) for match in re.findall(r"^bandwidth 200 slice (\d+)", memory().stdout, re.MULTILINE)]
    samples = {sample.name: sample.value for sample in MEMORY.samples(options(MEMORY), memory())}
    assert samples["memory bandwidth"] == pytest.approx(3 * 2**20 * 200 / (median(walls) * 1e-9))


def test_pieces_can_be_chosen() -> None:
    chosen = options(MEMORY, pieces=["random"])
    assert MEMORY.job(chosen, SHAPE).argv[-3:] == ("--once", "random", "3000")
    alone = changed(r"^bandwidth .*\n", "", count=0)
    assert [sample.name for sample in MEMORY.samples(chosen, alone)] == ["random access"]
    with pytest.raises(ValidationError, match="there is no piece 'compute'; choose of bandwidth, random"):
        MemoryOptions(pieces=["compute"])


def test_a_plain_trial_does_rounds_and_a_resident_program_waits() -> None:
    assert OS.job(options(OS), SHAPE).argv == (
        *("/opt/tare/bin/slices", "--rounds", "15", "--once"),
        *("system-calls", "600000", "process-start", "100"),
    )
    assert OS.resident(options(OS), SHAPE).argv == ("/opt/tare/bin/slices",)


def test_messages_are_launched_as_every_mpi_program_and_as_installed() -> None:
    job = MESSAGES.resident(options(MESSAGES), SHAPE)
    assert job.argv[0] == "mpirun"
    assert job.argv[-1] == job.program == "/opt/tare/bin/slices-mpi"
    assert "btl_vader_single_copy_mechanism" not in job.argv
    assert "btl_vader_single_copy_mechanism" in MESSAGES.job(options(MESSAGES, single_copy="cma"), SHAPE).argv
    assert MESSAGES.job(options(MESSAGES), replace(SHAPE, processors=4, span=SPAN)).argv


def test_a_shape_that_cannot_hold_them_is_refused() -> None:
    with pytest.raises(InputError, match="spans several nodes"):
        COMPUTE.job(options(COMPUTE), replace(SHAPE, span=SPAN))
    with pytest.raises(InputError, match="two processors or more"):
        MESSAGES.job(options(MESSAGES), replace(SHAPE, processors=1))


@pytest.mark.parametrize(
    ("pattern", "replacement", "said"),
    [
        (r"^random 3000", "random 3001", "was not asked for"),
        (r"^random 3000", "sort 3000", "was not asked for"),
        (r"^random .*\n", "", "14 slices of random instead of 15"),
        (r"[0-9a-f]$", "g", "is not an answer"),
        (r"^(random 3000 slice) \d+", r"\1 0", "is not an answer"),
        (r"^(random .*) \w+$", r"\1 1", "came to different results"),
        (r"^end of slices\n", "", "cut"),
    ],
)
def test_what_is_not_the_asked_work_is_wrong_output(pattern: str, replacement: str, said: str) -> None:
    with pytest.raises(WrongOutput, match=said):
        MEMORY.samples(options(MEMORY), changed(pattern, replacement))


def test_the_facts_say_what_the_work_came_to_and_how_messages_crossed() -> None:
    facts = MESSAGES.facts(options(MESSAGES), recorded("messages", "two-ranks"))
    assert facts["check of latency"] == "30d3f"
    assert facts["mpi single copy"] == "natural"
    assert facts["mpi transport"] == "shared memory"


def test_an_answer_is_read_with_and_without_what_linux_counts() -> None:
    assert parse_slice("slice 5 4 3 ff") == Slice(wall_ns=5, cpu_ns=4, waited_ns=3, check="ff")
    assert parse_slice("slice 5 4 - -") == Slice(wall_ns=5, cpu_ns=4, waited_ns=None, check=None)


@given(
    st.text() | st.from_regex(r"slice [0-9-]{0,20} [0-9]{0,20} [0-9-]{0,20} [0-9a-g]{0,20}", fullmatch=True)
)
def test_any_other_line_is_wrong_output_or_a_time_above_0(line: str) -> None:
    with suppress(WrongOutput):
        assert parse_slice(line).wall_ns > 0
