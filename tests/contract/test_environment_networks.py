# SPDX-License-Identifier: Apache-2.0
"""Nodes of every environment meet on a network, know each other's names, and share one MPI job."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.contract.contract_nodes import execute, make_spec, running
from tests.contract.reach import ORDINARY

from tare import network
from tare.environments import PROVIDERS
from tare.host.facts import online_processors
from tare.host.process import tool_environment
from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.trial import run_trial
from tare.nodes.provider import Node, NodeSpec, Provider
from tare.records import NATIVE, Environment, Layout, Limits, NetworkKind, Status, Trial, Workload
from tare.units import MEBIBYTE

_PROBE = 'test "$(id -u) $(id -g)" = "{ids}" && touch mine && exec /opt/tare/bin/mpiprobe'
pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]


def connected_specs(provider: Provider, image: Image, state: Path) -> list[NodeSpec]:
    specs = [make_spec(provider, image, state, cpu_quota=None) for _ in range(2)]
    planned = network.plan_networks(NetworkKind.VETH, [spec.directory for spec in specs], None)
    return [
        make_spec(
            provider,
            image,
            state,
            name=spec.name,
            directory=spec.directory,
            network=node_network,
            cpu_quota=None,
        )
        for spec, node_network in zip(specs, planned, strict=True)
    ]


def test_each_node_reaches_the_other_by_its_name(provider: Provider, image: Image, state: Path) -> None:
    if provider.technology == NATIVE:
        pytest.skip("native is always one node")
    with running(provider, *connected_specs(provider, image, state)) as nodes:
        network.name_nodes(nodes, provider)
        for node, other in (nodes, nodes[::-1]):
            words = execute(provider, node, "getent", "hosts", other.spec.name).stdout.split()
            assert words[:1] == [str(other.spec.network.address).encode()]
            assert greeting(provider, node, other) == b"hello"


def greeting(provider: Provider, client: Node, server: Node) -> bytes:
    """What the client reads from a TCP connection to the server's name."""
    serve = "import socket; s = socket.create_server(('', 5000)); print(1, flush=True); s.accept()[0].send(b'hello')"
    ask = f"import socket; print(socket.create_connection(('{server.spec.name}', 5000), 20).recv(9).decode(), end='')"
    argv = [*provider.prefix(server), "timeout", "30", "python3", "-c", serve]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=tool_environment()) as serving:
        assert serving.stdout is not None
        assert serving.stdout.readline() == b"1\n"
        return execute(provider, client, "python3", "-c", ask).stdout


@pytest.mark.usefixtures("state")
def test_one_mpi_job_of_an_ordinary_user_runs_in_two_nodes(
    provider: Provider, image: Image, tmp_path: Path
) -> None:
    context = Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=tmp_path / "raw",
        available_processors=online_processors(),
        providers={**PROVIDERS, provider.technology: provider},
        user=ORDINARY,
    )
    outcome = run_trial(context, mpi_trial(provider))
    assert (outcome.status, outcome.reason) == (Status.OK, None), outcome.excerpt
    inside = "shared memory" if provider.technology == NATIVE else "TCP ("
    assert outcome.facts["mpi transport"].startswith(inside)


def mpi_trial(provider: Provider) -> Trial:
    technology, options = provider.technology, getattr(provider, "options", {})
    ids = (
        "0 0" if options.get("mode") == "R1" else f"{ORDINARY.uid} {ORDINARY.gid}"
    )  # runc's one user is root inside
    argv = ["sh", "-c", _PROBE.format(ids=ids)]
    return Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name="e", technology=technology, options=options),
        replicate=0,
        layout=Layout.parse("2c1p1i"),
        workload=Workload(name="w", kind="command", options={"argv": argv, "mpi": True}),
        limits=Limits(memory_byte=512 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=60.0),
    )
