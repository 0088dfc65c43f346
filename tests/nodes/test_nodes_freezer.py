# SPDX-License-Identifier: Apache-2.0
"""A node's freezer, for real: all of it stops, and however its runner ends it can be taken away."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.environments.environment_example import way_to_stopwatch
from tests.measure.measure_nodes import node_spec, state_with

from tare.environments import PROVIDERS
from tare.image.store import Image
from tare.measure.clean import remove_leftovers
from tare.measure.clocks import disagreement
from tare.measure.freezer_turns import FrozenArm, take_turns
from tare.measure.running import NodeTimes, running_nodes
from tare.measure.stopwatch import Command, Stopwatch
from tare.measure.thawed import unsuited
from tare.nodes.freezer import node_freezer, thaw_node
from tare.nodes.provider import TOOLS_DIRECTORY, Node

AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and control groups"),
]
TECHNOLOGIES = ["native", "chroot", "docker", "bubblewrap", "systemd-nspawn", "lxc", "podman"]
DRAW = random.Random(1)  # noqa: S311 - an order, no secret
BURN = (f"{TOOLS_DIRECTORY}/burn", "220000000")
"""About 0.3 s."""
BUSY = ["sh", "-c", "echo ready; while :; do :; done"]
LEFT_FROZEN = """
import os, sys
from tests.measure.measure_nodes import node_spec
from tare.environments import PROVIDERS
from tare.image.store import find_image
from tare.measure.clocks import disagreement
from tare.nodes.freezer import node_freezer
from tare.node_life import start_node
from pathlib import Path
provider = PROVIDERS[sys.argv[2]]
spec = node_spec(Path(sys.argv[1]), sys.argv[2], find_image(), memory_byte=64 << 20)
node = start_node(spec, provider)
node_freezer(node, provider.group(node)).freeze()
print("frozen", flush=True)
sys.stdin.read()
"""


def usable(technology: str, image: Image) -> None:
    probe = PROVIDERS[technology].probe()
    if not probe.usable:
        pytest.skip(probe.reason)
    PROVIDERS[technology].prepare(image.root, image.digest)


@pytest.mark.parametrize("technology", TECHNOLOGIES)
class TestForReal:
    pytestmark = AS_ROOT

    def test_a_frozen_nodes_command_stops_and_goes_on(
        self, technology: str, image: Image, state: Path
    ) -> None:
        usable(technology, image)
        provider, spec = PROVIDERS[technology], node_spec(state, technology, image)
        with running_nodes([spec], PROVIDERS, NodeTimes()) as nodes:
            group = provider.group(nodes[0])
            assert group is not None
            child = subprocess.Popen([*provider.prefix(nodes[0]), *BUSY], stdout=subprocess.PIPE)
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            freezer = node_freezer(nodes[0], group)
            assert freezer is not None
            freezer.freeze()
            before = group.cpu_s()
            time.sleep(0.2)
            assert group.cpu_s() == before
            thaw_node(spec.directory)
            time.sleep(0.3)
            assert (group.cpu_s() or 0.0) > (before or 0.0)
            freezer.freeze()  # and stopped as it is
        child.stdout.close()
        child.wait(timeout=20)
        assert not spec.directory.exists()

    def test_after_kill_9_of_the_runner_a_frozen_node_is_taken_away(
        self, technology: str, image: Image, state: Path
    ) -> None:
        usable(technology, image)
        state_with(image, state)
        runner = subprocess.Popen(
            [sys.executable, "-c", LEFT_FROZEN, str(state), technology],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert runner.stdout is not None
        assert runner.stdout.readline() == b"frozen\n"
        runner.send_signal(signal.SIGKILL)
        runner.communicate()
        assert len(remove_leftovers().removed) == 1, "what is frozen would not go"

    def test_it_takes_turns_with_native(self, technology: str, image: Image, state: Path) -> None:
        usable(technology, image)
        specs = [node_spec(state, name, image) for name in ("native", technology)]
        with running_nodes(specs, PROVIDERS, NodeTimes()) as nodes, ExitStack() as stack:
            arms = [stack.enter_context(arm_in(node)) for node in nodes]
            arm_runs = take_turns(arms, DRAW, 0.05)
        for arm in arm_runs:
            assert arm.error is None
            (run,) = arm.runs
            assert (run.exit_code, run.timed_out) == (0, False)
            assert disagreement(run.clocks) is None
            assert len(arm.turns) > 2
            assert unsuited(arm.turns) is None
        wall_s = [arm.runs[0].clocks.wall_s for arm in arm_runs]
        assert 0.5 < wall_s[1] / wall_s[0] < 2, "frozen time counts"  # both burn as long, whatever else runs


@contextmanager
def arm_in(node: Node) -> Iterator[FrozenArm]:
    provider = PROVIDERS[node.spec.technology]
    group = provider.group(node)
    freezer = node_freezer(node, group)
    assert group is not None
    assert freezer is not None
    (node.spec.work / "out").mkdir()
    command = Command(argv=BURN, directory=node.work_directory, variables={}, limit_s=120.0)
    with Stopwatch(way_to_stopwatch(provider, node, command, f"{node.work_directory}/out")) as stopwatch:
        stopwatch.wait_ready(20.0)
        yield FrozenArm(stopwatches=[stopwatch], freezers=[freezer], groups=[group], limit_s=60.0)


def test_a_machine_and_a_node_elsewhere_have_no_freezer(state: Path) -> None:
    node = Node(spec=node_spec(state), init_pid=os.getpid(), machine=True)
    group = PROVIDERS["native"].group(replace(node, machine=False))
    assert node_freezer(node, group) is None
    assert node_freezer(replace(node, machine=False), None) is None


def test_a_node_in_this_processs_own_group_has_no_freezer(state: Path) -> None:
    node = Node(spec=node_spec(state), init_pid=os.getpid())
    assert node_freezer(node, PROVIDERS["native"].group(node)) is None
