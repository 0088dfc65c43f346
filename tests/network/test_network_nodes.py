# SPDX-License-Identifier: Apache-2.0
"""Real nodes on every kind of network: they reach each other by address and by name, and leave nothing."""

import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from tests.network.namespaces import AS_ROOT, LINKED, holders, let_go
from tests.real_environments import ready_provider

from tare import network
from tare.host import mounts, process
from tare.host.cgroups import remove_parent_if_empty
from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure.clean import remove_leftovers
from tare.measure.running import NodeTimes, running_nodes
from tare.network.reach import TRANSFER_BYTE, try_reach
from tare.nodes.provider import Node, NodeSpec, Provider
from tare.nodes.record import recorded_nodes
from tare.records import NetworkKind

MEBIBYTE = 1 << 20
FILES = {"network", "switch"}
SHARED = [NetworkKind.HOST, NetworkKind.DEFAULT]
pytestmark = AS_ROOT


@pytest.fixture(params=["chroot", "bubblewrap", "docker"])
def provider(request: pytest.FixtureRequest, image: Image) -> Provider:
    return ready_provider(request, image)


def specs_of(
    provider: Provider, image: Image, state: Path, kind: NetworkKind, count: int = 2
) -> list[NodeSpec]:
    names = [f"tare-test-{secrets.token_hex(4)}" for _ in range(count)]
    plans = network.plan_networks(kind, [state / "nodes" / name for name in names], None)
    common = NodeSpec(
        name="",
        technology=provider.technology,
        options={},
        directory=state,
        image_root=image.root,
        image_digest=image.digest,
        processors=(online_processors()[0],),
        memory_byte=200 * MEBIBYTE,
        shm_byte=16 * MEBIBYTE,
        cpu_quota=None,
    )
    return [
        replace(common, name=name, directory=state / "nodes" / name, network=plan)
        for name, plan in zip(names, plans, strict=True)
    ]


@contextmanager
def running(provider: Provider, specs: Sequence[NodeSpec]) -> Iterator[list[Node]]:
    times = NodeTimes()
    with running_nodes(list(specs), {provider.technology: provider}, times) as nodes:
        network.name_nodes(nodes, provider)
        yield nodes
    assert times.problems == []


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("kind", LINKED)
def test_linked_nodes_reach_each_other_by_address_and_by_name(
    provider: Provider, image: Image, state: Path, kind: NetworkKind
) -> None:
    before = {name for _, name in socket.if_nameindex()}
    with running(provider, specs_of(provider, image, state, kind)) as (first, second):
        here = {name for _, name in socket.if_nameindex()}
        for node, other in ((first, second), (second, first)):
            round_trip = try_reach(node, other, provider)
            assert round_trip.round_trip_s is not None
            assert (round_trip.transferred_byte, round_trip.remarks) == (TRANSFER_BYTE, ())
        own = process.run([*provider.prefix(first), "getent", "hosts", first.spec.name])
        assert own.stdout.split() == ["198.18.0.10", first.spec.name]
    assert not here & {"switch", "parent", "node10", "node11"}
    assert provider.technology == "docker" or here <= before


@pytest.mark.parametrize("kind", SHARED)
def test_nodes_on_a_network_that_is_not_ours_reach_each_other(
    provider: Provider, image: Image, state: Path, kind: NetworkKind
) -> None:
    with running(provider, specs_of(provider, image, state, kind)) as (first, second):
        round_trip = try_reach(first, second, provider)
        assert (round_trip.transferred_byte, round_trip.remarks) == (TRANSFER_BYTE, ())
        assert network.meeting_place([first, second])
        assert network.launcher_namespace([first, second]) is None


def test_a_node_without_network_reaches_itself_alone(provider: Provider, image: Image, state: Path) -> None:
    with running(provider, specs_of(provider, image, state, NetworkKind.NONE, count=1)) as (node,):
        assert try_reach(node, node, provider).transferred_byte == TRANSFER_BYTE
        seen = process.run([*provider.prefix(node), "cat", "/proc/net/dev"]).stdout.splitlines()
    assert [line.partition(":")[0].strip() for line in seen[2:]] == ["lo"]


KILLED = """
import sys, time
from pathlib import Path
from tare.environments import PROVIDERS
from tare.nodes.provider import NodeSpec
from tare.node_life import start_node
from pydantic import TypeAdapter
for spec in TypeAdapter(list[NodeSpec]).validate_json(sys.stdin.read()):
    start_node(spec, PROVIDERS[spec.technology])
print("STARTED", flush=True)
time.sleep(60)
"""


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("kind", LINKED)
def test_nodes_of_a_killed_runner_are_removed_with_their_network(
    provider: Provider, image: Image, state: Path, kind: NetworkKind
) -> None:
    specs = specs_of(provider, image, state, kind, count=3)
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as runner:
        assert runner.stdin is not None
        assert runner.stdout is not None
        runner.stdin.write(TypeAdapter(list[NodeSpec]).dump_json(specs))
        runner.stdin.close()
        assert runner.stdout.readline() == b"STARTED\n"
        runner.send_signal(signal.SIGKILL)
    made = {file.stat().st_ino for spec in specs for file in spec.directory.iterdir() if file.name in FILES}
    held = holders(made)
    assert len(made) == 4 <= len(held)
    assert len(recorded_nodes()) == 3
    assert sorted(remove_leftovers().removed) == sorted(spec.name for spec in specs)
    remove_parent_if_empty()
    assert mounts.mounts_below(state) == []
    assert let_go(held, made)
