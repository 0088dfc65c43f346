# SPDX-License-Identifier: Apache-2.0
"""gVisor as Docker's runtime, for real where the daemon knows it."""

import hashlib
import os
import secrets
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from tests.contract.contract_nodes import execute, running
from tests.environments.environment_example import MEBIBYTE, described, inspected
from tests.real_environments import skip_unless_usable

from tare.environments import PROVIDERS
from tare.environments.gvisor_node import kernel_processes
from tare.host.cgroups import group_of
from tare.host.facts import online_processors
from tare.image.store import Image
from tare.network import plan_networks
from tare.nodes.provider import NodeSpec, Provider
from tare.records import NetworkKind, OptionValue
from tare.workloads.kind import Shape
from tare.workloads.mpi import preflight

RUNSC = {"runtime": "runsc"}
pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
    pytest.mark.usefixtures("docker_daemon"),
]


def ready(image: Image, options: Mapping[str, OptionValue]) -> Provider:
    """Docker with these options, knowing the image; or skipped, as a daemon that was there before is used as it is."""
    provider = PROVIDERS["docker"].configured(options)
    skip_unless_usable(provider.probe(), "docker")
    provider.prepare(image.root, image.digest)
    return provider


def specs(
    image: Image, state: Path, options: Mapping[str, OptionValue], kind: NetworkKind, count: int = 1
) -> list[NodeSpec]:
    directories = [state / "nodes" / f"tare-test-{secrets.token_hex(4)}" for _ in range(count)]
    return [
        described(
            directory,
            name=directory.name,
            technology="docker",
            options=options,
            image_root=image.root,
            image_digest=image.digest,
            processors=(online_processors()[-1],),
            cpu_quota=0.5,
            network=network,
        )
        for directory, network in zip(directories, plan_networks(kind, directories, None), strict=True)
    ]


@pytest.mark.parametrize("storage", ["layer", "own"])
@pytest.mark.parametrize("runtime", ["runsc", "runsc-ptrace"])
def test_a_node_runs_in_gvisor_with_its_limits_verified(
    runtime: str, storage: str, image: Image, state: Path
) -> None:
    options = {"runtime": runtime, "storage": storage}
    provider = ready(image, options)
    with running(provider, *specs(image, state, options, NetworkKind.NONE)) as (node,):
        facts = inspected(provider, node).facts
        kernel = execute(provider, node, "uname", "-v").stdout
    assert facts["processors"] == "0"
    assert facts["CPU quota"] == "0.5 processors"
    assert os.uname().version not in kernel.decode()


def test_bytes_and_exit_code_pass_through_unchanged(image: Image, state: Path) -> None:
    provider, given = ready(image, RUNSC), secrets.token_bytes(MEBIBYTE)
    with running(provider, *specs(image, state, RUNSC, NetworkKind.NONE)) as (node,):
        echoed = execute(provider, node, "cat", given=given)
        failed = execute(provider, node, "sh", "-c", "echo out; echo err >&2; exit 7")
    assert hashlib.sha256(echoed.stdout).digest() == hashlib.sha256(given).digest()
    assert (failed.returncode, failed.stdout, failed.stderr) == (7, b"out\n", b"err\n")


def test_memory_beyond_the_limit_ends_the_node(image: Image, state: Path) -> None:
    provider = ready(image, RUNSC)
    with running(provider, *specs(image, state, RUNSC, NetworkKind.NONE)) as (node,):
        burn = f"{node.tools_directory}/burn"
        within = execute(provider, node, burn, "--touch", str(node.spec.memory_byte // 2))
        with suppress(subprocess.TimeoutExpired):  # docker exec may wait on for a node that is gone
            execute(provider, node, burn, "--touch", str(node.spec.memory_byte * 2), timeout_s=3)
        alive = execute(provider, node, "true")
    assert within.returncode == 0
    assert alive.returncode != 0


def test_sentry_and_gofer_are_found_and_no_other_nodes(image: Image, state: Path) -> None:
    provider = ready(image, RUNSC)
    with running(provider, *specs(image, state, RUNSC, NetworkKind.NONE, 2)) as nodes:
        groups = [group_of(node.init_pid) for node in nodes if node.init_pid is not None]
        first, second = (set(kernel_processes(group)) for group in groups)
        assert {node.init_pid for node in nodes} < first | second
    assert len(first) == len(second) == 2
    assert not first & second


def test_two_nodes_reach_each_other_and_mpi_starts_in_one(image: Image, state: Path) -> None:
    provider = ready(image, RUNSC)
    with running(provider, *specs(image, state, RUNSC, NetworkKind.VETH, 2)) as nodes:
        for node in nodes:
            inspected(provider, node)
        tools = nodes[0].tools_directory
        shape = Shape(processors=2, memory_byte=MEBIBYTE, instance=0, tools_directory=tools)
        started = execute(provider, nodes[0], *preflight(shape))
        script = "import socket, sys; socket.create_connection((sys.argv[1], 9), 5)"
        peer = str(nodes[1].spec.network.address)
        refused = execute(provider, nodes[0], "python3", "-c", script, peer)
    assert started.returncode == 0, started.stderr
    assert b"Connection refused" in refused.stderr


def test_a_runtime_that_the_daemon_does_not_know_is_told_by_the_probe() -> None:
    probe = PROVIDERS["docker"].configured({"runtime": "no-such-runtime"}).probe()
    assert not probe.usable
    assert "no runtime 'no-such-runtime'" in probe.reason
