# SPDX-License-Identifier: Apache-2.0
"""A trial in nodes with clocks of their own: what is wrong with them is found, and nothing where nothing is."""

import json
import os
import re
import select
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import command_workload, fake_context, fake_workload

from tare.environments.fake import Fake
from tare.errors import NodeError
from tare.measure import node_pipe
from tare.measure import stopwatch as stopwatch_module
from tare.measure.clock_verdict import findings
from tare.measure.clock_watch import NodeClocks
from tare.measure.context import Context
from tare.measure.stopwatch import Stopwatch
from tare.measure.trial import run_trial
from tare.nodes.provider import Node
from tare.records import Environment, Layout, Limits, Outcome, Status, Trial, Workload

pytestmark = pytest.mark.usefixtures("state")
FACTS = {
    "drift of CLOCK_MONOTONIC_RAW",
    "drift of CLOCK_MONOTONIC",
    "drift of CLOCK_REALTIME",
    "clock probes",
    "worst round trip to the clock",
    "clock steps",
}


def a_trial(clock: str | None, workload: Workload, layout: str = "1c1p1i", block: int = 0) -> Trial:
    return Trial(
        identity=f"b{block:03}-t",
        block=block,
        slot=0,
        environment=Environment(name="e", technology="fake", options={"clock": clock} if clock else {}),
        replicate=0,
        layout=Layout.parse(layout),
        workload=workload,
        limits=Limits(memory_byte=1 << 26, shm_byte=1 << 20, time_s=20.0),
    )


@pytest.fixture
def context(tmp_path: Path, programs: Path) -> Context:
    return fake_context(tmp_path, programs)


def wall_s(outcome: Outcome) -> float:
    (value,) = [sample.value for sample in outcome.samples if sample.name == "wall_s"]
    return value


def test_a_hundred_clean_trials_raise_no_alarm(context: Context) -> None:
    for block in range(100):
        outcome = run_trial(context, a_trial("honest", fake_workload(), block=block))
        assert (outcome.status, outcome.clock_fault, outcome.reason) == (Status.OK, None, None)
        assert {sample.name for sample in outcome.samples} == {"wall_s", "time_s"}
        assert outcome.facts.keys() >= FACTS
        assert outcome.facts["clock probes"] == "10"
        assert outcome.facts["clock steps"] == "0"


@pytest.mark.parametrize(
    ("clock", "sleep_s", "words"),
    [
        ("fast 3%", 0.5, r"runs at another rate than the host's: \+[23]\d{4}\.\d to \+[34]\d{4}\.\d ppm"),
        ("slow 3%", 0.5, r"runs at another rate than the host's: -[34]\d{4}\.\d to -[23]\d{4}\.\d ppm"),
        ("step 50ms", 0.5, r"stepped by \+4\d\.\d{3} to \+5\d\.\d{3} ms"),
        ("step -50ms", 0.5, r"stepped by -5\d\.\d{3} to -4\d\.\d{3} ms"),
        ("stop 2s", 2.5, r"in all by -20\d\d\.\d{3} to -1[89]\d\d\.\d{3} ms"),
    ],
)
def test_a_planted_fault_is_found_and_the_host_times_the_outcome(
    context: Context, clock: str, sleep_s: float, words: str
) -> None:
    outcome = run_trial(context, a_trial(clock, fake_workload(sleep_s=sleep_s)))
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert outcome.clock_fault is not None
    assert re.search(words, outcome.clock_fault), outcome.clock_fault
    assert {sample.name for sample in outcome.samples} == {"wall_s"}, "the program's own figures are left out"
    assert wall_s(outcome) >= sleep_s
    (run,) = outcome.instances
    assert run.host_span_s == wall_s(outcome)
    assert int(outcome.facts["clock probes"]) == 10 + int(sleep_s)


def test_a_step_there_and_back_leaves_the_duration_right_and_is_found_all_the_same(context: Context) -> None:
    outcome = run_trial(context, a_trial("steps 50ms", fake_workload(sleep_s=2.5)))
    (run,) = outcome.instances
    assert abs(run.clocks.wall_s - run.clocks.host_wall_s) <= run.clocks.round_trip_s
    assert outcome.clock_fault is not None
    assert re.search(r"stepped by \+\d.* ms, by -\d.* ms, in all by -\d", outcome.clock_fault)


def test_each_node_is_watched_and_told_apart(context: Context) -> None:
    two = replace(context, available_processors=(0, 1))
    outcome = run_trial(two, a_trial("fast 3%", command_workload("/bin/sleep", "0.3"), "2c1p2i"))
    assert outcome.clock_fault is not None
    assert "CLOCK_REALTIME of node 0 " in outcome.clock_fault
    assert "CLOCK_REALTIME of node 1 " in outcome.clock_fault


def test_nodes_with_the_hosts_clock_are_not_watched(context: Context) -> None:
    outcome = run_trial(context, a_trial(None, fake_workload()))
    assert (outcome.status, outcome.clock_fault, outcome.steal_s) == (Status.OK, None, None)
    assert FACTS.isdisjoint(outcome.facts)
    assert outcome.timer_inversions == 0


def test_threads_that_are_processors_are_timed_from_the_host(context: Context) -> None:
    class Machine(Fake):
        def helpers(self, node: Node) -> list[int]:  # noqa: ARG002 - the same for all
            return [os.getpid()]

        def virtual_processors(self, node: Node) -> list[int]:  # noqa: ARG002 - the same for all
            return [os.getpid()]

    machines = replace(context, providers={"fake": Machine()})
    outcome = run_trial(machines, a_trial("honest", fake_workload(sleep_s=0.1)))
    assert outcome.vcpu_wait_s is not None
    assert 0 <= outcome.vcpu_wait_s < 5
    assert outcome.helper_cpu_s is not None
    assert outcome.helper_cpu_s < 0.1, "this thread's own time is the node's"


CLOCKS = {"monotonic_raw_ns": 1, "monotonic_ns": 2, "realtime_ns": 3}
READY = {"pid": 1, "processors": [0], "shm_byte": 4096, "monotonic_ns": 9}


@contextmanager
def speaking(monkeypatch: pytest.MonkeyPatch, answers: Sequence[str]) -> Iterator[NodeClocks]:
    """A shell script in the place of the stopwatch: one answer to each question."""
    monkeypatch.setattr(node_pipe, "_END_LIMIT_S", 0.1)
    monkeypatch.setattr(stopwatch_module, "_PROBE_LIMIT_S", 0.5)
    script = "".join(f"read word; printf '%s\\n' '{answer}'; " for answer in answers)
    with Stopwatch(["sh", "-c", f"echo 'READY {json.dumps(READY)}'; {script} sleep 600"]) as stopwatch:
        stopwatch.wait_ready(2.0)
        yield NodeClocks(stopwatch)


def steal(ticks: object) -> str:
    return f"STEAL {json.dumps({'ticks': ticks, 'ticks_per_s': 100})}"


@pytest.mark.parametrize(
    ("before", "after", "stolen_s"), [(0, 0, None), (None, None, None), (0, 25, 0.25), (50, 50, 0.0)]
)
def test_a_kernel_that_never_counted_steal_does_not_report_any(
    monkeypatch: pytest.MonkeyPatch, before: int | None, after: int | None, stolen_s: float | None
) -> None:
    burst = [f"CLOCKS {json.dumps(CLOCKS)}"] * 5
    with speaking(monkeypatch, [steal(before), *burst, steal(after), *burst]) as clocks:
        clocks.begin()
        clocks.end()
    assert clocks.steal_s == stolen_s
    assert {name: len(probes) for name, probes in clocks.probes.items()} == dict.fromkeys(CLOCKS, 10)


@pytest.mark.parametrize(
    "answer",
    [
        "CLOCKS {}",
        "CLOCKS 17",
        "CLOCKS " + json.dumps({**CLOCKS, "realtime_ns": "3"}),
        "CLOCKS " + json.dumps({**CLOCKS, "realtime_ns": True}),
        "CLOCKS " + json.dumps({**CLOCKS, "realtime_ns": 1 << 63}),
        "CLOCKS " + json.dumps({**CLOCKS, "realtime_ns": 1.5}),
        "PONG 1",
    ],
)
def test_an_answer_that_is_no_clock_is_an_error(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    with (
        pytest.raises(NodeError, match=r"makes no sense|where the stopwatch says CLOCKS"),
        speaking(monkeypatch, [steal(0), answer]) as clocks,
    ):
        clocks.begin()


@pytest.mark.parametrize("ticks", ["7", -1, 1.5, True])
def test_steal_that_is_no_number_is_an_error(monkeypatch: pytest.MonkeyPatch, ticks: object) -> None:
    with pytest.raises(NodeError, match="makes no sense"), speaking(monkeypatch, [steal(ticks)]) as clocks:
        clocks.begin()


def test_a_node_that_does_not_answer_in_time_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with speaking(monkeypatch, []) as clocks:
        clocks.ask()
        with pytest.raises(NodeError, match="did not say CLOCKS in time"):
            clocks.end()


def test_an_answer_to_no_question_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = f"CLOCKS {json.dumps(CLOCKS)}\nCLOCKS {json.dumps(CLOCKS)}"
    with ExitStack() as stack:
        clocks = stack.enter_context(speaking(monkeypatch, [twice, "more"]))
        clocks.ask()
        select.select([clocks], [], [], 5.0)
        clocks.heard()
        clocks._stopwatch._pipe.send(b"anything\n")
        select.select([clocks], [], [], 5.0)
        with pytest.raises(NodeError, match="makes no sense"):
            clocks.heard()


def test_nothing_watched_is_nothing_found() -> None:
    assert findings({}).fault is None
    assert findings({}).facts == ()
