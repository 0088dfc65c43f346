# SPDX-License-Identifier: Apache-2.0
"""Docker: what it is told, and what its nodes see, for real where a daemon is."""

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.contract_nodes import execute, make_spec, running
from tests.environments.engine_words import StandIn, mounts
from tests.environments.environment_example import MEBIBYTE, described
from tests.machine import Machine

from tare.engines import engine_images, outline
from tare.environments import PROVIDERS, docker
from tare.errors import NodeError
from tare.host import process
from tare.image.store import Image
from tare.network import plan_networks
from tare.node_life import start_node, stop_node
from tare.nodes.provider import NodeNetwork, NodeSpec, Provider
from tare.nodes.record import write_down
from tare.records import NetworkKind, Storage

DOCKER = PROVIDERS["docker"]
AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
    pytest.mark.usefixtures("docker_daemon"),
]
LINKED = NodeNetwork(kind=NetworkKind.VETH, switch=Path("/state/nodes/tare-1/switch"))


@pytest.fixture
def image_root(tmp_path: Path) -> Path:
    root = tmp_path / "image"
    (root / "usr").mkdir(parents=True)
    (root / "bin").symlink_to("usr/bin")
    return root


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    (tmp_path / "bin").mkdir()
    return StandIn(tmp_path / "bin", "docker", monkeypatch)


class TestWords:
    @pytest.fixture
    def spec(self, tmp_path: Path, image_root: Path) -> NodeSpec:
        (tmp_path / "root" / "usr").mkdir(parents=True)
        return described(tmp_path, image_root=image_root, cpu_quota=0.5)

    def test_limits_name_label_and_image(self, spec: NodeSpec, image_root: Path) -> None:
        words = " ".join(docker._words(spec))
        for expected in (
            f"--name tare-1 --label tare.node=tare-1 --cidfile {spec.directory}/container.id",
            "--hostname tare-1 --network none",
            "--cpuset-cpus 0,2,3 --cpu-period 100000 --cpu-quota 50000",
            f"--memory {512 * MEBIBYTE} --memory-swap {512 * MEBIBYTE} --shm-size {16 * MEBIBYTE}",
        ):
            assert expected in words
        assert words.endswith(f"{outline.reference(image_root)} /opt/tare/bin/init")
        assert [mount["target"] for mount in mounts(docker._words(spec))] == ["/usr", "/mnt/tare"]

    def test_without_a_quota_none_is_set(self, tmp_path: Path, image_root: Path) -> None:
        (tmp_path / "root").mkdir()
        assert "--cpu-quota" not in docker._words(described(tmp_path, image_root=image_root))

    def test_only_when_asked_for_the_filter_of_system_calls_is_left_out(
        self, tmp_path: Path, image_root: Path
    ) -> None:
        (tmp_path / "root").mkdir()
        without = docker._words(described(tmp_path, image_root=image_root, options={"seccomp": False}))
        assert "--security-opt seccomp=unconfined" in " ".join(without)
        assert "--security-opt" not in docker._words(described(tmp_path, image_root=image_root))
        assert "seccomp" in DOCKER.check_options({"seccomp": "off"})
        assert DOCKER.check_options({"seccomp": False}) == {}

    def test_with_its_own_storage_the_whole_image_is_dockers(self, tmp_path: Path) -> None:
        words = docker._words(described(tmp_path, options={"storage": "own"}))
        assert words[-2:] == ["tare:" + "ab" * 12, "/opt/tare/bin/init"]
        assert [mount["target"] for mount in mounts(words)] == ["/mnt/tare"]

    @pytest.mark.parametrize(
        ("kind", "expected"),
        [
            (NetworkKind.NONE, ["--hostname", "tare-1", "--network", "none"]),
            (NetworkKind.VETH, ["--hostname", "tare-1", "--network", "none"]),
            (NetworkKind.MACVLAN, ["--hostname", "tare-1", "--network", "none"]),
            (NetworkKind.HOST, ["--hostname", "tare-1", "--network", "host"]),
            (NetworkKind.DEFAULT, ["--hostname", "tare-1"]),
        ],
    )
    def test_each_kind_of_network(self, kind: NetworkKind, expected: list[str]) -> None:
        assert docker._network(described(network=NodeNetwork(kind=kind))) == expected

    def test_a_runtime_that_reads_its_network_at_the_start_joins_the_container_that_has_it(
        self, tmp_path: Path, image_root: Path
    ) -> None:
        (tmp_path / "root").mkdir()
        (tmp_path / "pause.id").write_text("abc\n")
        spec = described(tmp_path, image_root=image_root, options={"runtime": "runsc"}, network=LINKED)
        node, pause = " ".join(docker._words(spec)), " ".join(docker._pause_words(spec))
        assert "--runtime runsc --network container:abc" in node
        assert "--hostname" not in node
        assert "--name tare-1-pause --label tare.node=tare-1" in pause
        assert "--runtime runc --hostname tare-1 --network none --memory 16777216" in pause

    @pytest.mark.parametrize(
        ("options", "network", "expected"),
        [
            ({"runtime": "runsc"}, LINKED, True),
            ({"runtime": "runc"}, LINKED, False),
            ({"runtime": "youki"}, LINKED, False),
            ({"runtime": "nvidia"}, LINKED, False),
            ({}, LINKED, False),
            ({"runtime": "runsc"}, NodeNetwork(), False),
            ({"runtime": "runsc"}, NodeNetwork(kind=NetworkKind.HOST), False),
        ],
    )
    def test_only_a_link_of_ours_is_waited_for(
        self, options: dict[str, str], network: NodeNetwork, expected: bool
    ) -> None:
        assert docker._comes_after_its_link(described(options=options, network=network)) is expected


class TestOptions:
    def test_good_values_are_taken(self) -> None:
        assert DOCKER.check_options({"storage": "own", "runtime": "runsc"}) == {}

    @pytest.mark.parametrize("value", ["", 7, True, ["runsc"]])
    def test_a_runtime_is_a_name(self, value: object) -> None:
        complaints = DOCKER.check_options({"runtime": value})  # type: ignore[dict-item]
        assert complaints == {"runtime": f"must be the name of a runtime, but is {value!r}"}

    def test_a_node_with_a_wrong_value_is_refused_and_can_be_stopped(self, tmp_path: Path) -> None:
        spec = described(tmp_path, options={"storage": "disk"})
        with pytest.raises(NodeError, match='the option storage must be "layer" or "own", but is \'disk\''):
            DOCKER.start(spec)
        DOCKER.stop(spec)
        assert list(tmp_path.iterdir()) == []


class TestDaemon:
    """A script stands in for the docker command."""

    RUNTIMES = 'case $1 in version) echo 20.10 ;; info) echo \'{"runc":{},"runsc":{"path":"/x"}}\' ;; esac\n'

    def test_one_that_is_down_is_said_with_the_way_to_start_it(
        self, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("TARE_DOCKERD_STARTING", raising=False)
        stand_in.does("echo 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
        probe = DOCKER.probe()
        assert not probe.usable
        assert "daemon does not answer: Cannot connect" in probe.reason
        assert "systemctl start docker" in probe.remedy

    def test_one_that_is_being_started_is_waited_for(
        self, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TARE_DOCKERD_STARTING", "1")
        stand_in.does("if [ -e {folder}/up ]; then echo 20.10; else : > {folder}/up; exit 1; fi\n")
        probe = DOCKER.probe()
        assert (probe.usable, probe.version) == (True, "20.10")

    def test_a_runtime_that_it_knows_is_usable(self, stand_in: StandIn) -> None:
        stand_in.does(self.RUNTIMES)
        assert DOCKER.configured({"runtime": "runsc"}).probe().usable

    def test_a_runtime_that_it_does_not_know_is_said_with_those_that_it_does(self, stand_in: StandIn) -> None:
        stand_in.does(self.RUNTIMES)
        probe = DOCKER.configured({"runtime": "kata"}).probe()
        assert not probe.usable
        assert probe.reason == "the Docker daemon knows no runtime 'kata', only runc, runsc"
        assert "daemon.json" in probe.remedy

    def test_a_node_left_behind_waits_for_one_that_is_being_started(
        self, stand_in: StandIn, tmp_path: Path
    ) -> None:
        stand_in.does("case $1 in version) : > {folder}/up; echo 1 ;; ps) [ -e {folder}/up ] ;; esac\n")
        spec = described(tmp_path / "tare-1")
        (spec.directory / "layer").mkdir(parents=True)
        DOCKER.stop(spec)
        assert list(spec.directory.iterdir()) == []

    def test_one_that_stays_away_is_an_error_with_the_container(
        self, stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TARE_DOCKERD_STARTING", "1")
        monkeypatch.setattr(docker, "_STARTING_LIMIT_S", 0.1)
        stand_in.does("echo no daemon >&2\nexit 1\n")
        spec = described(tmp_path / "tare-1")
        (spec.directory / "layer").mkdir(parents=True)
        with pytest.raises(NodeError, match="cannot ask docker for the container tare-1: no daemon"):
            DOCKER.stop(spec)


@pytest.fixture
def odd_image(tmp_path: Path, image: Image) -> Image:
    """Files and a link at the top, no mount point but /opt, and nothing in /etc."""
    root = tmp_path / "odd" / "rootfs"
    (root / "opt" / "tare" / "bin").mkdir(parents=True)
    shutil.copy(image.root / "opt" / "tare" / "bin" / "init", root / "opt" / "tare" / "bin")
    for name, mode in (("etc", 0o755), ("tmp", 0o1777), ("root", 0o700), ("private", 0o750)):
        (root / name).mkdir()
        (root / name).chmod(mode)
    os.chown(root / "private", 12, 34)
    (root / "job.txt").write_text("as in the image")
    (root / "jobs").symlink_to("private")
    return Image("odd", root, f"sha256:{secrets.token_hex(32)}")


@pytest.fixture
def prepared(image: Image) -> Provider:
    DOCKER.prepare(image.root, image.digest)
    return DOCKER


def listing(root: Path) -> list[tuple[str, int]]:
    return sorted((str(path.relative_to(root)), path.lstat().st_mtime_ns) for path in root.rglob("*"))


class TestLayer:
    pytestmark = AS_ROOT

    def test_any_top_level_is_seen_as_it_is_and_never_written_to(self, odd_image: Image, state: Path) -> None:
        before = listing(odd_image.root)
        DOCKER.prepare(odd_image.root, odd_image.digest)
        with running(DOCKER, make_spec(DOCKER, odd_image, state)) as (node,):
            seen = Path(f"/proc/{node.init_pid}/root")
            modes = {name: oct((seen / name).stat().st_mode & 0o7777) for name in ("tmp", "root", "private")}
            owner = (seen / "private").stat()
            link, text = (seen / "jobs").readlink(), (seen / "job.txt").read_text()
            hosts = (seen / "etc" / "hosts").read_text()
            for name in ("job.txt", "etc/hosts", "etc/resolv.conf", "private/new", "new"):
                (seen / name).write_text("written by the node")
        assert modes == {"tmp": "0o1777", "root": "0o700", "private": "0o750"}
        assert (owner.st_uid, owner.st_gid) == (12, 34)
        assert (str(link), text) == ("private", "as in the image")
        assert "localhost" in hosts
        assert listing(odd_image.root) == before

    @pytest.mark.parametrize("storage", Storage)
    def test_every_top_level_directory_lies_on_tares_layer(
        self, prepared: Provider, image: Image, state: Path, storage: Storage
    ) -> None:
        spec = make_spec(prepared, image, state, storage=storage)
        with running(prepared, spec) as (node,):
            seen, layer = Path(f"/proc/{node.init_pid}/root"), spec.directory / "root"
            names = [path.name for path in layer.iterdir() if path.is_dir() and not path.is_symlink()]
            elsewhere = [name for name in names if (seen / name).stat().st_dev != layer.stat().st_dev]
            (seen / "root" / "mark").touch()
            written = (spec.directory / "layer" / "upper" / "root" / "mark").exists()
        assert sorted(elsewhere) == ["dev", "proc", "sys"]
        assert written
        assert node.facts == {}

    def test_an_image_that_was_never_prepared_is_an_error_and_nothing_stays(
        self, odd_image: Image, state: Path, machine: Machine
    ) -> None:
        (odd_image.root / secrets.token_hex(4)).mkdir()
        spec = make_spec(DOCKER, odd_image, state)
        with pytest.raises(NodeError, match=r"docker run --detach .* ended with 125"):
            start_node(spec, DOCKER)
        stop_node(spec, DOCKER)
        assert not spec.directory.exists()
        assert machine.beyond(machine) == []

    def test_a_foreign_container_of_the_same_name_is_refused_and_kept(
        self, prepared: Provider, image: Image, state: Path
    ) -> None:
        spec = make_spec(prepared, image, state)
        create = ["docker", "create", "--name", spec.name, outline.reference(image.root), "true"]
        subprocess.run(create, check=True, capture_output=True)
        try:
            with pytest.raises(NodeError, match="already in use"):
                start_node(spec, prepared)
            stop_node(spec, prepared)
            kept = subprocess.run(["docker", "inspect", spec.name], capture_output=True, check=False)
            assert kept.returncode == 0
        finally:
            subprocess.run(["docker", "rm", "--force", spec.name], check=True, capture_output=True)


class TestOwnStorage:
    pytestmark = AS_ROOT

    def test_the_image_is_imported_and_the_driver_told(self, image: Image, state: Path) -> None:
        provider = DOCKER.configured({"storage": "own"})
        provider.prepare(image.root, image.digest)
        spec = make_spec(provider, image, state, options={"storage": "own"})
        with running(provider, spec) as (node,):
            execute(provider, node, "touch", "/root/mark")
            written = list((spec.directory / "layer").rglob("mark"))
        assert node.facts["storage driver"]
        assert written == []
        assert not (image.root / "root" / "mark").exists()

    @pytest.fixture
    def old_image(self, tmp_path: Path) -> Iterator[str]:
        (tmp_path / "old").mkdir()
        name = engine_images.reference(secrets.token_hex(32))
        engine_images.ensure(("docker",), tmp_path / "old", name)
        yield name
        process.run(["docker", "image", "rm", "--force", name])

    def test_an_image_that_is_no_longer_tares_goes_unless_a_container_uses_it(
        self, image: Image, old_image: str
    ) -> None:
        user = process.run_checked(["docker", "create", old_image, "true"]).stdout.strip()
        DOCKER.prepare(image.root, image.digest)
        used = process.run(["docker", "image", "inspect", old_image]).code
        process.run_checked(["docker", "rm", user])
        DOCKER.prepare(image.root, image.digest)
        assert used == 0
        assert process.run(["docker", "image", "inspect", old_image]).code != 0


class TestNetworkFirst:
    """With runc, which does not need it, but takes the same way."""

    pytestmark = AS_ROOT

    @pytest.fixture
    def spec(
        self, prepared: Provider, image: Image, state: Path, monkeypatch: pytest.MonkeyPatch
    ) -> NodeSpec:
        monkeypatch.setattr(docker, "PLAIN_RUNTIMES", frozenset())
        node_spec = make_spec(prepared, image, state, options={"runtime": "runc"})
        (network,) = plan_networks(NetworkKind.VETH, [node_spec.directory], None)
        return make_spec(
            prepared,
            image,
            state,
            name=node_spec.name,
            directory=node_spec.directory,
            options=node_spec.options,
            network=network,
        )

    def test_the_node_has_the_link_its_own_name_and_its_own_limits(
        self, spec: NodeSpec, machine: Machine
    ) -> None:
        with running(DOCKER, spec) as (node,):
            assert DOCKER.group(node) is not None
            links = execute(DOCKER, node, "cat", "/proc/net/dev").stdout.decode()
            name = execute(DOCKER, node, "cat", "/proc/sys/kernel/hostname").stdout.decode().strip()
            group = DOCKER.group(node)
            assert group is not None
            memory_byte = group.settings().memory_byte
        assert "eth0" in links
        assert name == spec.name
        assert memory_byte == spec.memory_byte
        assert machine.beyond(machine) == []

    def test_a_start_that_ended_before_the_node_itself_is_cleaned_up(
        self, spec: NodeSpec, machine: Machine
    ) -> None:
        write_down(spec)
        first = DOCKER.start(spec)
        assert first.init_pid is not None
        stop_node(spec, DOCKER)
        assert not Path(f"/proc/{first.init_pid}").exists()
        assert machine.beyond(machine) == []


class TestHelpers:
    pytestmark = AS_ROOT

    def test_they_are_the_containers_shim_and_the_daemons(
        self, prepared: Provider, image: Image, state: Path
    ) -> None:
        specs = [make_spec(prepared, image, state) for _ in range(2)]
        with running(prepared, *specs) as nodes:
            helpers = [prepared.helpers(node) for node in nodes]
        names = [(Path(f"/proc/{pid}/comm").read_text().strip()) for pid in set(helpers[0]) & set(helpers[1])]
        assert {"dockerd", "containerd"} <= set(names)
        assert "containerd-shim" not in names
        assert all(len(helper) == len(names) + 1 for helper in helpers)
        assert not {1, os.getpid()} & {pid for helper in helpers for pid in helper}
