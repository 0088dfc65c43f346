# SPDX-License-Identifier: Apache-2.0
"""Whose clock times an instance, and what a node says that cannot be."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.run_example import HONEST, instance_run

from tare.environments.fake import Fake
from tare.measure.instances import Instance
from tare.measure.seats import Seat
from tare.measure.timing import Timing, inversions, judge, wall_samples
from tare.measure.ways import Ways
from tare.nodes.provider import Node, NodeSpec
from tare.records import Clocks, InstanceRun
from tare.workloads.kind import Job, Shape

LYING = Clocks(wall_s=2.0, host_wall_s=3.0, round_trip_s=0.001)


def run(clocks: Clocks = HONEST, cpu_s: float = 1.0, instance: int = 0) -> InstanceRun:
    return instance_run(
        instance=instance, clocks=clocks, user_s=cpu_s - 0.25, system_s=0.25, host_span_s=3.01
    )


def instance(*, own_kernel: bool = False, processors: tuple[int, ...] = (0,)) -> Instance:
    spec = NodeSpec(
        name="tare-1",
        technology="fake",
        options={},
        directory=Path("/nodes/tare-1"),
        image_root=Path("/image"),
        image_digest="sha256:0",
        processors=processors,
        memory_byte=1,
        shm_byte=1,
        cpu_quota=None,
    )
    node = Node(spec=spec, init_pid=None, own_kernel=own_kernel)
    shape = Shape(processors=len(processors), memory_byte=1, instance=0, tools_directory="/")
    seat = Seat(
        number=0,
        node=node,
        provider=Fake(),
        members=(node,),
        member_provider=Fake(),
        processors=processors,
        shape=shape,
        ways=Ways(),
    )
    return Instance(seat=seat, job=Job(argv=("true",)), limit_s=1.0)


def walls(timing: Timing, *, own_kernel: bool) -> list[float]:
    return [sample.value for sample in wall_samples([run(LYING)], [instance(own_kernel=own_kernel)], timing)]


def test_honest_clocks_give_neither_doubt_nor_fault() -> None:
    assert judge([run()], [instance()], None) == Timing(doubt=None, fault=None)


def test_a_disagreement_under_the_hosts_kernel_makes_the_outcome_invalid() -> None:
    timing = judge([run(LYING)], [instance()], None)
    assert timing.doubt is not None
    assert "differ by 1000.000 ms" in timing.doubt
    assert timing.fault is None


def test_a_disagreement_of_a_nodes_own_clock_is_a_fault_of_that_clock() -> None:
    timing = judge([run(LYING)], [instance(own_kernel=True)], None)
    assert timing.doubt is None
    assert timing.fault is not None
    assert "differ by 1000.000 ms" in timing.fault


def test_what_the_probes_found_is_told_before_what_the_stopwatch_showed() -> None:
    assert judge([run(LYING)], [instance(own_kernel=True)], "it stepped").fault == "it stepped"


def test_only_an_instance_in_a_node_with_a_wrong_clock_is_timed_by_the_host() -> None:
    faulty = Timing(fault="it stepped")
    assert walls(faulty, own_kernel=True) == [3.01]
    assert walls(faulty, own_kernel=False) == [2.0], "mpirun on the host's kernel, its processes in the nodes"
    assert walls(Timing(), own_kernel=True) == [2.0]


def test_a_result_without_the_hosts_span_keeps_the_clock_that_it_has() -> None:
    old = replace(run(LYING), host_span_s=None)
    (sample,) = wall_samples([old], [instance(own_kernel=True)], Timing(fault="it stepped"))
    assert sample.value == 2.0


@pytest.mark.parametrize(
    ("cpu_s", "processors", "words"),
    [
        (2.01, (0,), None),
        (2.03, (0,), "2.030 s of CPU time in 2.000 s on 1 processor"),
        (3.9, (0, 1), None),
        (4.5, (0, 1), "4.500 s of CPU time in 2.000 s on 2 processors"),
    ],
)
def test_more_cpu_time_than_the_processors_had_is_an_inversion(
    cpu_s: float, processors: tuple[int, ...], words: str | None
) -> None:
    result = inversions([run(cpu_s=cpu_s)], [instance(processors=processors)])
    assert result == ([] if words is None else [words])
