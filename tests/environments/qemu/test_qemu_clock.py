# SPDX-License-Identifier: Apache-2.0
"""A real guest keeps a clock of its own: an honest one raises no alarm, and one that was stopped is found out."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import command_workload

from tare.environments.qemu import Qemu
from tare.environments.qemu.monitor import connected
from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.trial import run_trial
from tare.nodes.provider import Node, NodeSpec
from tare.records import Environment, Layout, Limits, OptionValue, Outcome, Status, Trial

pytestmark = pytest.mark.root
MEBIBYTE = 1 << 20
STOPPED_TICKS = 2
"""A tick is a second."""


class Remembering(Qemu):
    """Knows where the monitor of the last guest is."""

    directory: Path | None = None

    def start(self, spec: NodeSpec) -> Node:
        Remembering.directory = spec.directory
        return super().start(spec)


class Stopping:
    """Stops the guest at the second tick, and lets it go on two seconds later."""

    def __init__(self) -> None:
        self._ticks = 0

    def __call__(self) -> None:
        self._ticks += 1
        order = {2: "stop", 2 + STOPPED_TICKS: "cont"}.get(self._ticks)
        if order is not None:
            assert Remembering.directory is not None
            with connected(Remembering.directory) as monitor:
                monitor.ask(order)


@pytest.fixture
def context(provider: Qemu, image: Image, tmp_path: Path) -> Context:
    return Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=tmp_path / "raw",
        available_processors=tuple(sorted(os.sched_getaffinity(0))),
        providers={"qemu": Remembering(provider.options)},
    )


def outcome_of(context: Context, *argv: str, **options: OptionValue) -> Outcome:
    trial = Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name="qemu", technology="qemu", options={"accelerator": "tcg", **options}),
        replicate=0,
        layout=Layout(nodes=1, processors=1, instances=1),
        workload=command_workload(*argv),
        limits=Limits(memory_byte=256 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=30.0),
    )
    outcome = run_trial(context, trial)
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    return outcome


def test_a_guests_own_clock_raises_no_alarm_and_its_processor_is_watched_from_the_host(
    context: Context,
) -> None:
    work = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 2"
    outcome = outcome_of(context, "/bin/sh", "-c", work)
    assert outcome.clock_fault is None
    assert outcome.facts["clock steps"] == "0"
    assert re.fullmatch(r"[-+]\d+\.\d to [-+]\d+\.\d ppm", outcome.facts["drift of CLOCK_MONOTONIC"])
    assert int(outcome.facts["clock probes"]) >= 12
    assert outcome.timer_inversions == 0
    assert outcome.steal_s is None, "software emulation tells the guest nothing"
    assert outcome.vcpu_wait_s is not None
    assert outcome.helper_cpu_s is not None
    assert outcome.cpu_s is not None
    assert 0 <= outcome.helper_cpu_s < outcome.cpu_s, "the processor's thread does most of the work"


def test_a_guest_that_was_stopped_for_two_seconds_is_timed_by_the_host(context: Context) -> None:
    outcome = outcome_of(replace(context, tick=Stopping()), "/bin/sleep", "4")
    assert outcome.clock_fault is not None
    match = re.search(r" of the node stepped by (-[\d.]+) to (-[\d.]+) ms$", outcome.clock_fault)
    assert match is not None, outcome.clock_fault
    assert float(match[1]) <= -1000 * STOPPED_TICKS + 50
    assert float(match[2]) >= -1000 * STOPPED_TICKS - 500
    (run,) = outcome.instances
    assert run.host_span_s is not None
    assert 4 <= run.clocks.wall_s < run.host_span_s - STOPPED_TICKS + 0.5, "the guest knows of no stop"
    (wall,) = [sample.value for sample in outcome.samples if sample.name == "wall_s"]
    assert wall == run.host_span_s
    assert wall > 4 + STOPPED_TICKS - 0.1
