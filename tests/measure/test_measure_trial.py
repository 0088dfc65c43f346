# SPDX-License-Identifier: Apache-2.0
"""Whatever goes wrong in a trial becomes its outcome, with the best reason there is."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from tests.fake_campaign import command_workload, fake_context, fake_workload

from tare.environments import PROVIDERS
from tare.environments.fake import Fake
from tare.errors import NodeError
from tare.host import mounts
from tare.image.store import Image
from tare.measure import iterations, timing, ways
from tare.measure import prepared as module
from tare.measure.context import MINIMAL_VARIABLES, Context
from tare.measure.inspection import Inspected
from tare.measure.stopwatch import Stopwatch
from tare.measure.trial import run_trial
from tare.nodes.provider import Node, NodeGroup, NodeSpec
from tare.records import (
    Direction,
    Environment,
    Layout,
    Limits,
    OptionValue,
    Outcome,
    Parity,
    Sample,
    Status,
    Trial,
    Workload,
)
from tare.workloads import KINDS

MEBIBYTE = 1 << 20
pytestmark = pytest.mark.usefixtures("state")


def a_trial(workload: Workload, technology: str = "fake", **options: OptionValue) -> Trial:
    return Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name="e", technology=technology, options=options),
        replicate=0,
        layout=Layout(nodes=1, processors=1, instances=1),
        workload=workload,
        limits=Limits(memory_byte=96 * MEBIBYTE, shm_byte=MEBIBYTE, time_s=10.0),
    )


@pytest.fixture
def context(tmp_path: Path, programs: Path) -> Context:
    return fake_context(tmp_path, programs)


def failed(outcome: Outcome) -> str:
    assert outcome.status is Status.FAILED
    assert outcome.samples == ()
    assert outcome.reason is not None
    return outcome.reason


def test_a_good_trial_has_times_samples_and_raw_output(context: Context) -> None:
    outcome = run_trial(context, a_trial(fake_workload()))
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert {sample.name for sample in outcome.samples} == {"wall_s", "time_s"}
    assert outcome.node_start_s is not None
    assert outcome.node_stop_s is not None
    assert outcome.elapsed_s > 0
    assert (context.raw_directory / "b000-t" / "i0.stdout").read_text().startswith("time_s ")


def test_a_command_finds_the_minimal_variables_and_no_others(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    assert run_trial(context, a_trial(command_workload("/usr/bin/env"))).status is Status.OK
    text = (context.raw_directory / "b000-t" / "i0.stdout").read_text()
    names = {line.partition("=")[0] for line in text.splitlines()}
    assert names == {*MINIMAL_VARIABLES, "TARE_FAKE_SLOWDOWN"}


def test_a_real_time_signal_has_no_name_but_a_reason(context: Context) -> None:
    reason = failed(run_trial(context, a_trial(command_workload("/bin/sh", "-c", "kill -37 $$"))))
    assert "was ended by signal 37" in reason


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_figure_that_is_no_number_never_enters_the_journal(
    value: float, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    def samples(*_: object) -> list[Sample]:
        return [Sample(name="gflops", value=value, unit="", direction=Direction.MORE)]

    monkeypatch.setattr(KINDS["fake"], "samples", samples)
    outcome = run_trial(context, a_trial(fake_workload()))
    assert failed(outcome) == "gflops is not a finite number"
    assert outcome.excerpt is not None
    assert outcome.excerpt.startswith("time_s")


def test_a_node_that_does_not_start_is_a_failed_trial(context: Context) -> None:
    outcome = run_trial(context, a_trial(fake_workload(), broken="start"))
    assert "told to fail at its start" in failed(outcome)
    assert outcome.node_start_s is None


def test_helpers_are_looked_for_when_the_commands_way_in_is_open(context: Context) -> None:
    """Podman has a monitor for each command that is being run in a node."""
    seen = list[bool]()

    class Helped(Fake):
        def helpers(self, node: Node) -> list[int]:
            seen.append((node.spec.work / "i0.output/stdout").exists())
            return [os.getpid()]

    outcome = run_trial(replace(context, providers={"fake": Helped()}), a_trial(fake_workload()))
    assert (seen, outcome.helpers) == ([True], 1)
    assert outcome.helper_cpu_s is not None


def test_a_provider_that_trips_over_the_operating_system_is_a_failed_trial(context: Context) -> None:
    class Tripping(Fake):
        def start(self, spec: NodeSpec) -> Node:
            (spec.directory / "absent" / "file").touch()
            return super().start(spec)

    outcome = run_trial(replace(context, providers={"fake": Tripping()}), a_trial(fake_workload()))
    assert "No such file or directory" in failed(outcome)


def test_a_command_that_fails_with_endless_output_is_told_by_its_end_not_by_its_length(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.measure.instances._OUTPUT_LIMIT_BYTE", 100)
    script = "head -c 1000 /dev/zero | tr '\\0' y; exit 3"
    outcome = run_trial(context, a_trial(command_workload("/bin/sh", "-c", script)))
    assert failed(outcome) == "/bin/sh ended with exit code 3"
    assert outcome.excerpt == "y" * 101


@pytest.mark.parametrize("script", ["kill -ILL $$", "exit 132"])
def test_an_illegal_instruction_is_told_with_its_likely_reason(context: Context, script: str) -> None:
    outcome = run_trial(context, a_trial(command_workload("/bin/sh", "-c", script)))
    assert "an instruction that the node's processor lacks" in failed(outcome)


@pytest.mark.parametrize(
    ("argv", "fact"),
    [
        (("/bin/echo", "evident"), "evident"),
        (("/bin/sh", "-c", "exit 4"), "not known: /bin/sh ended with 4"),
        (("/no/such/program",), "not known: cannot execute '/no/such/program': No such file or directory"),
    ],
)
def test_evidence_that_cannot_be_had_is_a_fact_too(
    argv: tuple[str, ...], fact: str, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = KINDS["fake"].job
    monkeypatch.setattr(KINDS["fake"], "job", lambda *args: replace(made(*args), evidence={"label": argv}))
    outcome = run_trial(context, a_trial(fake_workload()))
    assert outcome.status is Status.OK
    assert outcome.facts["label"] == fact


def test_a_clock_that_lies_makes_the_outcome_invalid_but_keeps_it(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "disagreement", lambda _: "the clocks differ")
    outcome = run_trial(context, a_trial(fake_workload()))
    assert (outcome.status, outcome.reason) == (Status.INVALID, "the clocks differ")
    assert outcome.samples


def test_a_stopwatch_that_the_memory_limit_killed_is_explained_by_the_limit(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed:
        def cpu_s(self) -> None:
            """Keep no account."""

        def memory_kills(self) -> int:
            return 1

        def refused_processes(self) -> None:
            """Keep no count."""

    def broken(*_: object) -> Sequence[object]:
        raise NodeError("the way into the node broke (137): it said nothing")

    monkeypatch.setattr(module, "inspect", lambda *_: Inspected(cast("NodeGroup", Killed()), {}, Parity()))
    monkeypatch.setattr(iterations, "run_on_barrier", broken)
    reason = failed(run_trial(context, a_trial(fake_workload())))
    assert reason.startswith("the node's memory limit of 96 MiB killed a process")


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
def test_a_real_memory_limit_that_kills_is_the_reason(context: Context, image: Image) -> None:
    real = replace(
        context, image_root=image.root, image_digest=image.digest, providers={"native": PROVIDERS["native"]}
    )
    outcome = run_trial(real, a_trial(command_workload("/usr/bin/tail", "/dev/zero"), "native"))
    assert "memory limit of 96 MiB killed a process" in failed(outcome)
    assert outcome.facts["memory limit"] == f"{96 * MEBIBYTE} byte"


def test_a_trial_enters_its_node_once_however_often_its_command_runs(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered = []

    class Counted(Stopwatch):
        def __init__(self, argv: Sequence[str]) -> None:
            entered.append(argv)
            super().__init__(argv)

    monkeypatch.setattr(ways, "Stopwatch", Counted)
    outcome = run_trial(context, a_trial(replace(fake_workload(), iterations=3)))
    assert outcome.status is Status.OK
    assert len(outcome.instances) == 3
    assert len(entered) == 1


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
def test_a_trial_natively_reads_the_mounts_once(
    context: Context, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []

    def counted() -> str:
        reads.append(1)
        return text_of_mounts()

    text_of_mounts = mounts.mounts_text
    monkeypatch.setattr(mounts, "mounts_text", counted)
    real = replace(
        context, image_root=image.root, image_digest=image.digest, providers={"native": PROVIDERS["native"]}
    )
    outcome = run_trial(real, a_trial(command_workload("/usr/bin/true"), "native"))
    assert outcome.status is Status.OK
    assert len(reads) == 1
