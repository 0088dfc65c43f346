# SPDX-License-Identifier: Apache-2.0
"""Podman: what it is told, and what it leaves of its nodes, for real where it is installed."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.contract.contract_nodes import execute, make_spec, running
from tests.environments.engine_words import StandIn, mounts
from tests.environments.environment_example import MEBIBYTE, described
from tests.machine import Machine
from tests.real_environments import ready_provider

from tare.environments import PROVIDERS, podman, podman_network
from tare.errors import NodeError
from tare.host import cgroups, process
from tare.host.cgroups import V1, V2, Hierarchies
from tare.image.store import Image
from tare.network import plan_networks
from tare.node_life import start_node, stop_node
from tare.nodes.provider import Node, NodeNetwork, Provider
from tare.records import NetworkKind, Storage

PODMAN = PROVIDERS["podman"]
AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
    pytest.mark.parametrize("provider", ["podman"], indirect=True),
]


@pytest.fixture
def provider(request: pytest.FixtureRequest, image: Image) -> Provider:
    return ready_provider(request, image)


def after(argv: list[str], word: str) -> str:
    return argv[argv.index(word) + 1]


def groups_of_version(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    hierarchies = Hierarchies(version=version, mounts={"memory": Path("/sys/fs/cgroup")})
    monkeypatch.setattr(cgroups, "find_hierarchies", lambda: hierarchies)


class TestWords:
    def test_limits_name_label_groups_and_root(self) -> None:
        argv = podman._words(described(cpu_quota=0.5), ["--network", "host"])
        words = " ".join(argv)
        for expected in (
            "--detach --pull never --name tare-1 --hostname tare-1 --label tare.node=tare-1",
            "--cgroup-parent /tare/tare-1 --network host",
            "--cpuset-cpus 0,2,3 --cpu-period 100000 --cpu-quota 50000",
            f"--memory {512 * MEBIBYTE} --memory-swap {512 * MEBIBYTE} --shm-size {16 * MEBIBYTE}",
        ):
            assert expected in words
        assert argv[-3:] == ["--rootfs", "/state/nodes/tare-1/root", "/opt/tare/bin/init"]
        assert [mount["target"] for mount in mounts(argv)] == ["/mnt/tare"]

    def test_only_when_asked_for_the_filter_of_system_calls_is_left_out(self) -> None:
        without = " ".join(podman._words(described(options={"seccomp": False}), []))
        assert "--security-opt seccomp=unconfined" in without
        assert "--security-opt" not in podman._words(described(), [])
        assert "seccomp" in PROVIDERS["podman"].check_options({"seccomp": "off"})

    def test_with_its_own_storage_the_image_is_podmans(self) -> None:
        spec = described(options={"storage": "own"})
        assert podman._words(spec, [])[-2:] == ["tare:" + "ab" * 12, "/opt/tare/bin/init"]
        assert "--root" not in podman._podman(spec)

    def test_its_notes_are_the_nodes_own_and_in_a_place_that_podman_takes(self) -> None:
        argv = podman._podman(described(name="tare-0123abcd-99"))
        assert after(argv, "--root") == "/run/tare/tare-0123abcd-99/root"
        assert after(argv, "--tmpdir") == "/run/tare/tare-0123abcd-99/tmp"
        assert len(after(argv, "--runroot")) <= 50

    @pytest.mark.parametrize(("version", "expected"), [(V1, ["--runtime", "runc"]), (V2, [])])
    def test_the_runtime_is_runc_where_crun_would_refuse(
        self, version: int, expected: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        groups_of_version(version, monkeypatch)
        common = ["podman", "--cgroup-manager", "cgroupfs", "--events-backend", "none"]
        assert podman._podman() == [*common, *expected]

    @pytest.mark.parametrize(
        ("kind", "expected"),
        [
            (NetworkKind.NONE, ["--network", "none"]),
            (NetworkKind.HOST, ["--network", "host"]),
            (NetworkKind.DEFAULT, []),
        ],
    )
    def test_networks_without_a_namespace_of_ours(self, kind: NetworkKind, expected: list[str]) -> None:
        with podman._network(described(network=NodeNetwork(kind=kind))) as words:
            assert words == expected

    def test_a_namespace_is_named_without_the_characters_of_its_path(self, tmp_path: Path) -> None:
        (tmp_path / "a,b").write_text("a namespace")
        network = NodeNetwork(kind=NetworkKind.VETH, namespace=tmp_path / "a,b")
        with podman._network(described(network=network)) as (_, word):
            assert Path(word.removeprefix("ns:")).read_text() == "a namespace"
            assert "," not in word


class TestStandIn:
    """A script stands in for the podman command."""

    @pytest.fixture
    def stand_in(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
        (tmp_path / "bin").mkdir()
        return StandIn(tmp_path / "bin", "podman", monkeypatch)

    def test_a_runtime_that_is_missing_is_named(
        self, stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stand_in.does("echo podman version 4.3.1\n")
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(process, "_DEFAULT_PATH", str(tmp_path / "bin"))
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        groups_of_version(V1, monkeypatch)
        probe = PODMAN.probe()
        assert (probe.usable, probe.remedy) == (False, "apt-get install runc")
        assert stand_in.asked() == ["--version"]

    def test_a_node_that_got_no_container_is_stopped_without_podman(
        self, stand_in: StandIn, tmp_path: Path
    ) -> None:
        stand_in.does("")
        spec = described(tmp_path / "node", network=NodeNetwork(kind=NetworkKind.HOST))
        (spec.directory / "layer").mkdir(parents=True)
        PODMAN.stop(spec)
        assert stand_in.asked() == []
        assert list(spec.directory.iterdir()) == []

    def test_a_node_with_a_wrong_value_is_refused_and_can_be_stopped(self, tmp_path: Path) -> None:
        spec = described(tmp_path, options={"storage": 7}, network=NodeNetwork(kind=NetworkKind.HOST))
        with pytest.raises(NodeError, match='the option storage must be "layer" or "own", but is 7'):
            PODMAN.start(spec)
        PODMAN.stop(spec)
        assert list(tmp_path.iterdir()) == []


class TestWhatItsNetworkLeaves:
    @pytest.fixture(autouse=True)
    def host(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A folder of links, of which ``ip link delete`` is a removal."""
        (tmp_path / "links").mkdir()
        (tmp_path / "bin").mkdir()
        StandIn(tmp_path / "bin", "ip", monkeypatch).does(f"rm -r {tmp_path}/links/$3")
        monkeypatch.setattr(podman_network, "_LINKS", tmp_path / "links")
        monkeypatch.setattr(podman_network, "_NAMESPACES", tmp_path / "netns")
        return tmp_path

    def make_bridge(self, host: Path, *ports: str) -> Path:
        folder = host / "links" / "cni-podman0" / "brif"
        folder.mkdir(parents=True, exist_ok=True)
        for port in ports:
            (folder / port).touch()
        return folder

    def test_a_bridge_that_came_with_a_node_goes_with_the_last_that_uses_it(
        self, host: Path, state: Path
    ) -> None:
        podman_network.note_absent()
        bridge = self.make_bridge(host, "veth1", "veth2")
        podman_network.note_absent()
        (bridge / "veth1").unlink()
        podman_network.remove_unused()
        assert bridge.exists()
        (bridge / "veth2").unlink()
        podman_network.remove_unused()
        assert not bridge.exists()
        assert list(state.iterdir()) == []

    def test_a_bridge_that_was_there_before_stays(self, host: Path, state: Path) -> None:
        bridge = self.make_bridge(host)
        podman_network.note_absent()
        podman_network.remove_unused()
        assert bridge.exists()
        assert list(state.iterdir()) == []

    @pytest.mark.usefixtures("state")
    def test_without_a_note_nothing_is_touched(self, host: Path) -> None:
        bridge = self.make_bridge(host)
        podman_network.remove_unused()
        assert bridge.exists()

    @pytest.mark.parametrize(
        ("network", "expected"),
        [
            (NodeNetwork(kind=NetworkKind.DEFAULT), True),
            (NodeNetwork(kind=NetworkKind.HOST), False),
            (NodeNetwork(kind=NetworkKind.VETH, namespace=Path("/state/network")), False),
        ],
    )
    def test_only_podmans_own_namespaces_count(self, network: NodeNetwork, expected: bool) -> None:
        assert podman_network.is_made(described(network=network)) is expected


class TestReal:
    pytestmark = AS_ROOT

    @pytest.mark.parametrize("storage", Storage)
    def test_the_whole_root_is_tares_layer(
        self, provider: Provider, image: Image, state: Path, storage: Storage
    ) -> None:
        spec = make_spec(provider, image, state, storage=storage)
        with running(provider, spec) as (node,):
            seen, layer = Path(f"/proc/{node.init_pid}/root"), spec.directory / "root"
            same = [seen.stat().st_dev, (seen / "tmp").stat().st_dev, layer.stat().st_dev]
            (seen / "root" / "mark").touch()
            written = (spec.directory / "layer" / "upper" / "root" / "mark").exists()
        assert len(set(same)) == 1
        assert written
        assert node.facts == {}

    def test_with_its_own_storage_the_image_is_imported_and_the_driver_told(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        own = PODMAN.configured({"storage": "own"})
        own.prepare(image.root, image.digest)
        spec = make_spec(provider, image, state, options={"storage": "own"})
        with running(provider, spec) as (node,):
            execute(provider, node, "touch", "/root/mark")
            written = list((spec.directory / "layer").rglob("mark"))
        assert node.facts["storage driver"] == "overlay"
        assert written == []
        assert not (image.root / "root" / "mark").exists()

    @pytest.mark.parametrize("first", [0, 1])
    def test_its_default_network_leaves_nothing_whoever_ends_first(
        self, provider: Provider, image: Image, state: Path, machine: Machine, first: int
    ) -> None:
        network = NodeNetwork(kind=NetworkKind.DEFAULT)
        specs = [make_spec(provider, image, state, network=network) for _ in range(2)]
        try:
            nodes = [start_node(spec, provider) for spec in specs]
            links = [execute(provider, node, "cat", "/proc/net/dev").stdout for node in nodes]
        finally:
            for spec in (specs[first], specs[1 - first]):
                stop_node(spec, provider)
        assert all(b"eth0" in link for link in links)
        assert left(machine) == []
        assert [path.name for path in state.iterdir()] == ["nodes"]

    @pytest.mark.parametrize("name", ["a,b", "a b"])
    def test_a_namespace_in_a_folder_of_any_name_is_joined(
        self, provider: Provider, image: Image, tmp_path: Path, name: str
    ) -> None:
        spec = make_spec(provider, image, tmp_path / name)
        (network,) = plan_networks(NetworkKind.NONE, [spec.directory], None)
        spec = make_spec(
            provider, image, tmp_path / name, name=spec.name, directory=spec.directory, network=network
        )
        assert network.namespace is not None
        with running(provider, spec) as (node,):
            seen = Path(f"/proc/{node.init_pid}/ns/net").stat().st_ino
            assert seen == network.namespace.stat().st_ino

    def test_the_monitor_of_every_command_counts_as_a_helper(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        with running(provider, make_spec(provider, image, state)) as (node,):
            idle = provider.helpers(node)
            command = [*provider.prefix(node), "cat"]
            with subprocess.Popen(command, stdin=subprocess.PIPE, env=process.tool_environment()) as client:
                wait_for_two(provider, node)
                busy = provider.helpers(node)
                client.communicate()
        assert len(idle) == 1
        assert set(idle) < set(busy)
        assert not {1, os.getpid()} & set(busy)

    def test_a_container_that_lost_its_monitor_is_still_found_and_leaves_no_group(
        self, provider: Provider, image: Image, state: Path, machine: Machine
    ) -> None:
        spec = make_spec(provider, image, state)
        node = start_node(spec, provider)
        (monitor,) = provider.helpers(node)
        os.kill(monitor, signal.SIGKILL)
        alive = execute(provider, node, "true").returncode
        stop_node(spec, provider)
        assert alive == 0
        assert left(machine) == []


def left(before: Machine) -> list[str]:
    """What a node left, but for the groups' common parent, which goes with a campaign."""
    cgroups.remove_parent_if_empty()
    return before.beyond(before)


def wait_for_two(provider: Provider, node: Node, limit_s: float = 20.0) -> None:
    deadline = time.monotonic() + limit_s
    while len(provider.helpers(node)) < 2:
        assert time.monotonic() < deadline, "no second monitor"
        time.sleep(0.02)
