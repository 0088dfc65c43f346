# SPDX-License-Identifier: Apache-2.0
"""Every workload of the list keeps the contract; a new one is in it by its line in the list and here."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.workload_contract import (
    check_broken,
    check_expected,
    check_job,
    check_recording,
    check_survives,
    texts,
)
from tests.workloads.recorded import SHAPE, recorded

from tare.records import OptionValue
from tare.workloads import KINDS
from tare.workloads.kind import Job, Options, Output

RECORDED: dict[str, str | None] = {
    "compute": "alone",
    "memory": "alone",
    "os": "alone",
    "messages": "two-ranks",
    "hpcc": "two-ranks",
    "hpl": "two-ranks",
    "hpcg": "two-ranks",
    "netpipe": "mpi",
    "mpiio": "write-two-ranks",
    "collective": "two-ranks",
    "imb": "two-ranks",
    "osu": "allreduce",
    "npb": "ep-two-ranks",
    "npb-reference": "cg-two-ranks",
    "files": "matrix",
    "iozone": "matrix",
    "iperf3": "tcp-two-nodes",
    "sockperf": "udp-two-nodes",
    "connections": "two-nodes",
    "fake": "ok",
    "command": None,
}
"""Kind → a good run below tests/outputs/KIND; ``None``: nothing of its output is read."""
NEEDED_OPTIONS: dict[str, dict[str, OptionValue]] = {
    "command": {"argv": ["true"]},
    "hpcg": {"program": "/opt/hpcg/bin/xhpcg", "nx": 16, "ny": 16, "nz": 16},
    "imb": {"program": "/opt/imb/IMB-MPI1"},
    "osu": {"program": "/opt/osu/osu_allreduce", "repetitions": 100, "full": True},
    "npb": {"benchmark": "ep"},
    "npb-reference": {"program": "/opt/npb/cg.S.x"},
    "files": {
        "sizes": ["64 KiB"],
        "records": ["64 KiB"],
        "operations": ["write", "read", "random_write"],
    },
    "connections": {"connections": 1000},
    "iozone": {"tests": ["write", "read", "random"], "largest": "1 MiB"},
}

PROCESSES = {
    "netpipe": [2],
    "messages": [2, 3, 16],
    "collective": [2, 3, 16],
    "imb": [2, 3, 16],
    "osu": [2, 3, 16],
    "iperf3": [2],
    "sockperf": [2],
    "connections": [2],
}
"""What a kind can run on, where not on any number of processors."""

PARSED = sorted(name for name, case in RECORDED.items() if case)


def options_of(name: str) -> Options:
    return KINDS[name].options_model.model_validate(NEEDED_OPTIONS.get(name, {}))


def job_of(name: str) -> Job:
    return KINDS[name].job(options_of(name), SHAPE)


def output_of(name: str) -> Output:
    case = RECORDED[name]
    return recorded(name, case) if case else Output(stdout="", stderr="", files={})


def test_every_workload_says_whether_a_run_of_it_is_recorded() -> None:
    assert set(RECORDED) == set(KINDS)


def test_the_list_knows_each_workload_by_its_own_name() -> None:
    assert {name: kind.name for name, kind in KINDS.items()} == {name: name for name in KINDS}


@pytest.mark.parametrize(
    ("name", "processors"), [(name, count) for name in KINDS for count in PROCESSES.get(name, [1, 2, 3, 16])]
)
def test_a_job_can_be_run_in_any_node(name: str, processors: int) -> None:
    check_job(KINDS[name].job(options_of(name), replace(SHAPE, processors=processors)))
    check_expected(KINDS[name], options_of(name), replace(SHAPE, processors=processors))


@pytest.mark.parametrize("name", KINDS)
def test_a_job_is_the_same_in_every_arm(name: str) -> None:
    """Nothing but the tools' place may differ between native and an environment."""
    first = KINDS[name].job(options_of(name), SHAPE)
    other = KINDS[name].job(options_of(name), replace(SHAPE, tools_directory="/elsewhere"))
    assert repr(other).replace("/elsewhere", SHAPE.tools_directory) == repr(first)


@pytest.mark.parametrize("name", KINDS)
def test_an_unknown_option_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="Extra inputs are not permitted"):
        KINDS[name].options_model.model_validate({**NEEDED_OPTIONS.get(name, {}), "no_such_option": 1})


@pytest.mark.parametrize("name", KINDS)
def test_a_good_run_gives_the_primary_metric_once(name: str) -> None:
    check_recording(KINDS[name], options_of(name), output_of(name))


@pytest.mark.parametrize("name", PARSED)
def test_no_output_garbage_and_every_cut_are_wrong_output(name: str) -> None:
    check_broken(KINDS[name], options_of(name), output_of(name), job_of(name))


def mutate(text: str, position: float, length: int, replacement: str) -> str:
    start = int(position * len(text))
    return text[:start] + replacement + text[start + length :]


@pytest.mark.parametrize("name", PARSED)
@given(
    position=st.floats(0, 1),
    length=st.integers(0, 300),
    replacement=st.text(max_size=40),
    which=st.integers(0, 9),
)
def test_no_mutation_of_a_run_gives_an_impossible_sample_or_another_error(
    name: str, position: float, length: int, replacement: str, which: int
) -> None:
    places: list[tuple[str, Callable[[str], Output]]] = list(texts(output_of(name), job_of(name)))
    content, replaced = places[which % len(places)]
    check_survives(KINDS[name], options_of(name), replaced(mutate(content, position, length, replacement)))


@pytest.mark.parametrize("name", PARSED)
@given(
    position=st.floats(0, 1), replacement=st.text(alphabet="0123456789.e+-=\nnaif", min_size=1, max_size=6)
)
def test_no_altered_summary_gives_an_impossible_sample_or_another_error(
    name: str, position: float, replacement: str
) -> None:
    """The last tenth of the longest text, where the figures are."""
    content, replaced = max(texts(output_of(name), job_of(name)), key=lambda place: len(place[0]))
    altered = mutate(content, 0.85 + 0.15 * position, len(replacement), replacement)
    check_survives(KINDS[name], options_of(name), replaced(altered))
