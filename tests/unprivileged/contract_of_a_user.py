# SPDX-License-Identifier: Apache-2.0
"""The contract of every environment, held by the nodes of whoever runs this; ``test_unprivileged_contract`` has it run.

The technology is named by the variable ``TECHNOLOGY``: a run of pytest is for one.
"""

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from socket import if_nameindex
from types import ModuleType
from typing import Self

import pytest
from tests.contract import test_environment_confinement as confinement
from tests.contract import test_environment_contract as contract
from tests.contract import test_environment_endings as endings
from tests.contract.contract_nodes import execute, make_spec, running
from tests.environments.environment_example import way_to_stopwatch
from tests.fake_campaign import fake_context
from tests.machine import Machine
from tests.real_environments import of_a_user
from tests.runaways import at_large, bomb, ready, run

from tare.host import standing
from tare.host.mounts import mounts_text, parse_mounts
from tare.image.store import Image
from tare.measure.stopwatch import Command, Stopwatch
from tare.measure.verify_limits import verify
from tare.nodes.provider import NodeNetwork, NodeSpec, Provider
from tare.nodes.unprivileged.members import members
from tare.records import HOST_FILES, NetworkKind, Status, Storage

MEBIBYTE = 1 << 20
TALK = "from socket import *; s = create_server(('127.0.0.1', 0)); create_connection(s.getsockname(), 5)"
TECHNOLOGY = os.environ["TECHNOLOGY"]
NOT_FOR_A_USER = {
    "test_the_quota_holds_while_burning",  # takes a control group
    "test_memory_beyond_the_limit_kills_the_victim_that_the_provider_states",  # the same; see below
    "test_no_write_reaches_the_image",  # looks into the image's /root, which is closed to the user
    "test_a_measured_command_is_confined_as_the_payload_of_the_bare_tool",  # the bare tools are root's
    "test_an_ordinary_command_reaches_nothing_of_the_host",  # what it must not reach is root's
}


class OwnThings(Machine):
    """What of a machine an ordinary user could leave behind: processes, and names where everybody may put some."""

    @classmethod
    def look(cls) -> Self:
        return cls(frozenset({*(str(pid) for pid in _own_processes()), *_own_shared_memory()}))


def _own_shared_memory() -> Iterator[str]:
    for path in Path("/dev/shm").iterdir():
        with suppress(OSError):
            if path.stat().st_uid == os.geteuid():
                yield str(path)


def _own_processes() -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if (
                entry.name.isdigit()
                and entry.stat().st_uid == os.geteuid()
                and (entry / "cmdline").read_bytes()
            ):
                yield int(entry.name)


@pytest.fixture
def machine() -> Iterator[Machine]:
    before = OwnThings.look()
    yield before
    assert OwnThings.look().beyond(before) == []


@pytest.fixture
def provider() -> Provider:
    return of_a_user(TECHNOLOGY)


@pytest.fixture
def spec(provider: Provider, image: Image, state: Path) -> NodeSpec:
    return make_spec(provider, image, state, cpu_quota=None)


def without_quota(provider: Provider, image: Image, state: Path, **changes: object) -> NodeSpec:
    return make_spec(provider, image, state, **{"cpu_quota": None, **changes})


def for_a_user(module: ModuleType) -> dict[str, object]:
    """The tests of a module that are about one provider."""
    getmembers = inspect.getmembers(module, inspect.isfunction)
    return {
        name: function
        for name, function in getmembers
        if name.startswith("test_") and name not in NOT_FOR_A_USER and "provider" in _wanted(function)
    }


def _wanted(function: Callable[..., None]) -> set[str]:
    return set(inspect.signature(function).parameters)


vars(contract)["make_spec"] = without_quota
globals().update(for_a_user(confinement) | for_a_user(contract) | for_a_user(endings))


def test_memory_beyond_the_limit_is_refused_to_a_process_and_the_node_lives(
    provider: Provider, spec: NodeSpec
) -> None:
    with running(provider, spec) as (node,):
        burn = f"{node.tools_directory}/burn"
        within = execute(provider, node, burn, "--touch", str(100 * MEBIBYTE))
        beyond = execute(provider, node, burn, "--touch", str(300 * MEBIBYTE))
        alive = execute(provider, node, "true")
    assert within.returncode == 0
    assert b"Cannot allocate memory" in beyond.stderr
    assert alive.returncode == 0


def test_a_fork_bomb_is_one_failed_trial_and_leaves_nothing(
    provider: Provider, image: Image, state: Path, tmp_path: Path, programs: Path, machine: Machine
) -> None:
    mark = f"bomb-{os.getpid()}"
    with standing.plain():
        context = ready(fake_context(tmp_path, programs), image, provider)
        outcome = run(context, *bomb("tree", mark), time_s=1.0)
        after = run(replace(context, raw_directory=tmp_path / "raw2"), "/bin/true", time_s=10)
    assert "/bin/sh ran into its time limit" in (outcome.reason or "")
    assert "fork" in (outcome.excerpt or "")
    assert outcome.facts["process limit"] == "64 processes by RLIMIT_NPROC"
    assert (after.status, after.reason) == (Status.OK, None)
    assert machine.things
    assert at_large(mark) == []
    assert list((state / "nodes").iterdir()) == []


def test_what_holds_the_node_is_verified_and_told(provider: Provider, spec: NodeSpec) -> None:
    with running(provider, spec) as (node,):
        command = Command(argv=("true",), directory="/", variables={}, limit_s=10)
        with Stopwatch(way_to_stopwatch(provider, node, command, node.work_directory)) as stopwatch:
            stopwatch.wait_ready(30)
            group = provider.group(node)
            assert group is not None
            facts = verify(node, group, stopwatch.seen)
    assert facts["CPU set"] == "by affinity"
    assert facts["memory limit"] == f"{spec.memory_byte} byte per process (RLIMIT_DATA)"
    assert facts["CPU time"] == "by rusage"


@pytest.mark.parametrize("storage", Storage)
def test_no_file_of_the_image_or_the_layer_lends_rights(
    storage: Storage, provider: Provider, image: Image, state: Path
) -> None:
    spec = without_quota(provider, image, state, storage=storage)
    with running(provider, spec) as (node,):
        seen = parse_mounts(execute(provider, node, "cat", "/proc/self/mounts").stdout.decode())
    root = [entry.options for entry in seen if entry.point == Path("/")][-1]
    assert {"nosuid", "nodev"} <= set(root)


@pytest.mark.parametrize("storage", Storage)
def test_files_can_be_made_changed_and_removed_on_every_medium(
    storage: Storage, provider: Provider, image: Image, state: Path
) -> None:
    spec = without_quota(provider, image, state, storage=storage)
    script = "mkdir /opt/x && echo 1 > /opt/x/y && mv /opt/x /srv/z && rm -r /srv/z"
    if provider.technology != HOST_FILES:  # there it belongs to the host's root
        script += " && echo 2 > /etc/hosts"
    with running(provider, spec) as (node,):
        done = execute(provider, node, "sh", "-c", script)
        assert (done.returncode, done.stderr) == (0, b"")
        assert storage in node.facts["layer"]
    assert list((state / "nodes").iterdir()) == []


def test_its_mounts_are_seen_by_nobody_else_and_end_with_its_first_process(
    provider: Provider, spec: NodeSpec
) -> None:
    with running(provider, spec) as (node,):
        assert spec.name not in mounts_text()
        assert members(spec.name)
        (spec.work / "kept").write_text("still here")
        os.kill(node.init_pid or 0, 9)
        assert (spec.work / "kept").read_text() == "still here"
    assert members(spec.name) == []


def test_a_network_of_its_own_has_a_loopback_and_nothing_else(
    provider: Provider, image: Image, state: Path
) -> None:
    spec = without_quota(provider, image, state)
    assert spec.network.kind is NetworkKind.NONE
    with running(provider, spec) as (node,):
        devices = execute(provider, node, "cat", "/proc/self/net/dev").stdout.decode().splitlines()[2:]
        reached = execute(provider, node, "python3", "-c", TALK)
    assert [line.split(":")[0].strip() for line in devices] == ["lo"]
    assert (reached.returncode, reached.stderr) == (0, b"")


def test_the_hosts_network_is_shared_when_that_is_asked_for(
    provider: Provider, image: Image, state: Path
) -> None:
    spec = without_quota(provider, image, state, network=NodeNetwork(kind=NetworkKind.HOST))
    with running(provider, spec) as (node,):
        inside = execute(provider, node, "cat", "/proc/self/net/dev").stdout.decode().splitlines()[2:]
    devices = [line.split(":")[0].strip() for line in inside]
    assert sorted(devices) == sorted(name for _, name in if_nameindex())
