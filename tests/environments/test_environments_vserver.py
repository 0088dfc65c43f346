# SPDX-License-Identifier: Apache-2.0
"""Linux-VServer, which no machine of the tests has: by transcripts written from its manual pages and scripts."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.environments.environment_example import described
from tests.environments.transcripts import only_tools, parse, replayed

from tare.environments import PROVIDERS, vserver
from tare.errors import NodeError
from tare.host import cgroups, mounts, process
from tare.measure.clean import remove_leftovers
from tare.node_life import start_node, stop_node
from tare.nodes import layer
from tare.nodes.provider import Bind, Node, NodeNetwork, NodeSpec, Probe

AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]
PROVIDER = PROVIDERS["vserver"]
VERSION = "vserver 0.30.216-pre3120 -- manages the state of vservers"


@pytest.fixture
def spec(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NodeSpec]:
    for folder in ("dev", "etc", "proc", "sys"):
        (tmp_path / "image" / folder).mkdir(parents=True)
    monkeypatch.setattr(vserver, "_CONFIGURATIONS", tmp_path / "configurations")
    monkeypatch.setattr(vserver, "_CONTEXTS", tmp_path / "contexts")
    monkeypatch.setattr(cgroups.Hierarchies, "counts_swap", lambda _: True)
    made = described(state / "nodes" / "tare-1", technology="vserver", image_root=tmp_path / "image")
    yield made
    layer.remove(made)  # after a test that failed


def places(spec: NodeSpec, tmp_path: Path) -> dict[str, object]:
    return {
        "directory": spec.directory,
        "name": spec.name,
        "configurations": tmp_path / "configurations",
        "contexts": tmp_path / "contexts",
        "newline": "\n",
    }


def configured(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text().strip() for path in files}


class TestLife:
    pytestmark = AS_ROOT

    def test_a_guest_starts_and_is_stopped_by_a_run_that_knows_its_record_alone(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "file").write_text("precious")
        whole = described(
            spec.directory,
            technology="vserver",
            image_root=spec.image_root,
            cpu_quota=0.5,
            binds=(Bind(path=tmp_path / "data", writable=True),),
        )
        with replayed(monkeypatch, tmp_path / "bin", "vserver/life.txt", **places(spec, tmp_path)):
            node = start_node(whole, PROVIDER)
            assert node.init_pid == 4194304
            assert configured(tmp_path / "configurations" / spec.name) == {
                "noncontext": "",
                "fstab": "",
                "apps/init/cmd.start": "/opt/tare/bin/init",
                "cgroup/name": spec.name,
                "cgroup/cpuset.cpus": "0,2,3",
                "cgroup/cpu.cfs_period_us": "100000",
                "cgroup/cpu.cfs_quota_us": "50000",
                "cgroup/memory.limit_in_bytes": str(512 << 20),
                "cgroup/memory.memsw.limit_in_bytes": str(512 << 20),
                "run": "49152",
            }
            guest = spec.directory / "vserver" / spec.name
            assert (guest / "dev" / "null").is_char_device()
            assert (guest / str(tmp_path).lstrip("/") / "data" / "file").read_text() == "precious"
            assert remove_leftovers().removed == [spec.name]
        assert mounts.mounts_below(spec.directory) == []
        assert not spec.directory.exists()
        assert (tmp_path / "data" / "file").read_text() == "precious"

    def test_nothing_is_mounted_in_the_guest_any_more_when_it_is_deleted(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The tool deletes the guest's directory with all that it finds there."""
        seen: list[list[Path]] = []
        run = process.run_checked

        def watched(argv: list[str], *, timeout_s: float = 60.0) -> process.Completed:
            if argv[-1] == "delete":
                seen.append(mounts.mounts_below(spec.directory))
            return run(argv, timeout_s=timeout_s)

        monkeypatch.setattr(process, "run_checked", watched)
        with replayed(monkeypatch, tmp_path / "bin", "vserver/life.txt", **places(spec, tmp_path)):
            start_node(spec, PROVIDER)
            stop_node(spec, PROVIDER)
        assert seen == [[]]

    def test_a_start_that_fails_gives_its_reason_and_leaves_nothing(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with replayed(monkeypatch, tmp_path / "bin", "vserver/start-fails.txt", **places(spec, tmp_path)):
            with pytest.raises(NodeError, match=r"vserver tare-1 start .* ended with 255: .*init\) failed"):
                start_node(spec, PROVIDER)
            stop_node(spec, PROVIDER)
        assert not spec.directory.exists()

    def test_a_guest_of_somebody_elses_is_refused_and_kept(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = tmp_path / "configurations" / spec.name
        own.mkdir(parents=True)
        (own / "vdir").symlink_to("/vservers/tare-1")
        with replayed(monkeypatch, tmp_path / "bin", "vserver/taken.txt", **places(spec, tmp_path)):
            with pytest.raises(NodeError, match="exist already"):
                start_node(spec, PROVIDER)
            stop_node(spec, PROVIDER)
        assert (own / "vdir").is_symlink()
        assert not spec.directory.exists()


class TestArguments:
    def test_a_command_is_entered_in_the_nodes_own_network(self) -> None:
        network = NodeNetwork(namespace=Path("/state/network"))
        node = Node(spec=described(network=network), init_pid=None)
        assert PROVIDER.prefix(node) == [
            *("nsenter", "--net=/state/network", "--", "vserver", "tare-1", "exec"),
        ]

    def test_without_a_quota_and_swap_accounting_neither_is_set(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cgroups.Hierarchies, "counts_swap", lambda _: False)
        limits = vserver._limits(described())
        assert limits["cpu.cfs_quota_us"] == "-1"
        assert "memory.memsw.limit_in_bytes" not in limits

    @pytest.mark.parametrize("info", [None, "", "ID:\t49152\n", "Init:\tnone\n"])
    def test_without_the_kernels_record_the_first_process_is_unknown(
        self, info: str | None, spec: NodeSpec, tmp_path: Path
    ) -> None:
        own = tmp_path / "configurations" / spec.name
        own.mkdir(parents=True)
        (own / "run").write_text("49152\n")
        if info is not None:
            (tmp_path / "contexts" / "49152").mkdir(parents=True)
            (tmp_path / "contexts" / "49152" / "info").write_text(info)
        assert vserver._init_pid(spec) is None


class TestProbe:
    @pytest.fixture(autouse=True)
    def on_a_patched_kernel(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        hierarchies = cgroups.Hierarchies(version=cgroups.V1, mounts={})
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(cgroups, "find_hierarchies", lambda: hierarchies)
        monkeypatch.setattr(vserver, "_CONTEXTS", tmp_path)

    def probed(self, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Probe:
        calls = parse(f"$ vserver --version\n{said}")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"vserver"}):
            return PROVIDER.probe()

    def test_a_host_without_the_tool_is_told_where_it_comes_from(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.reason) == (False, "the vserver command is missing")
        assert "linux-vserver.org" in probe.remedy

    def test_the_tool_is_known_by_its_version(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        probe = self.probed(f"> {VERSION}\n> This program is part of util-vserver", tmp_path, monkeypatch)
        assert (probe.usable, probe.version) == (True, VERSION)

    @pytest.mark.parametrize("said", ["> another program", ">", "= 0"])
    def test_an_unknown_version_is_not_used(
        self, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        probe = self.probed(said, tmp_path, monkeypatch)
        assert (probe.usable, probe.remedy) == (False, "install util-vserver 0.30.216 or later")

    def test_a_tool_that_fails_is_not_used(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        probe = self.probed("! Can not find util-vserver installation\n= 1", tmp_path, monkeypatch)
        assert (probe.usable, probe.remedy) == (False, "reinstall util-vserver")

    def test_another_kernel_is_told_to_be_another(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(vserver, "_CONTEXTS", tmp_path / "none")
        probe = self.probed(f"> {VERSION}", tmp_path, monkeypatch)
        assert not probe.usable
        assert "linux-vserver.org" in probe.remedy

    def test_control_groups_of_version_2_alone_are_not_enough(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        only = cgroups.Hierarchies(version=cgroups.V2, mounts={})
        monkeypatch.setattr(cgroups, "find_hierarchies", lambda: only)
        probe = self.probed(f"> {VERSION}", tmp_path, monkeypatch)
        assert (probe.usable, probe.remedy) == (False, "mount the controllers as version 1")
