# SPDX-License-Identifier: Apache-2.0
"""SingularityCE, which is not on this machine: by transcripts of what SingularityCE 4.1.5 did."""

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.environments.environment_example import described
from tests.environments.transcripts import only_tools, parse, replayed

from tare.environments import PROVIDERS, singularity
from tare.errors import NodeError
from tare.host import cgroups, mounts
from tare.measure.clean import remove_leftovers
from tare.node_life import start_node, stop_node
from tare.nodes import layer
from tare.nodes.provider import Bind, Node, NodeNetwork, NodeSpec

AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]
PROVIDER = PROVIDERS["singularity"]
ALL_CAPABILITIES = {"CapPrm": "000001ffffffffff"}
LESS_CAPABILITIES = {"CapPrm": "000001fffeffffff"}


@pytest.fixture
def spec(state: Path, tmp_path: Path) -> Iterator[NodeSpec]:
    for folder in ("dev", "etc", "proc", "sys", "tmp"):
        (tmp_path / "image" / folder).mkdir(parents=True)
    directory = state / "nodes" / "tare-1"
    made = described(directory, technology="singularity", image_root=tmp_path / "image")
    yield made
    layer.remove(made)  # after a test that failed


@pytest.fixture(autouse=True)
def any_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """What differs from host to host: capabilities, swap accounting."""
    monkeypatch.setattr(singularity, "_status", lambda _: ALL_CAPABILITIES)
    monkeypatch.setattr(cgroups.Hierarchies, "counts_swap", lambda _: False)


def places(spec: NodeSpec) -> dict[str, object]:
    return {"directory": spec.directory, "name": spec.name}


class TestLife:
    pytestmark = AS_ROOT

    def test_an_instance_starts_and_is_stopped_by_a_run_that_knows_its_record_alone(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "in put").mkdir()
        node_spec = described(
            spec.directory,
            technology="singularity",
            image_root=spec.image_root,
            cpu_quota=0.5,
            binds=(Bind(path=tmp_path / "in put"),),
        )
        monkeypatch.setattr(singularity, "_status", lambda _: LESS_CAPABILITIES)
        monkeypatch.setattr(cgroups.Hierarchies, "counts_swap", lambda _: True)
        with replayed(
            monkeypatch,
            tmp_path / "bin",
            "singularity/life.txt",
            **places(spec),
            tool="singularity",
            data=tmp_path,
        ):
            node = start_node(node_spec, PROVIDER)
            assert node.init_pid == 4194304
            script = spec.directory / "root" / ".singularity.d" / "startscript"
            assert str(script.readlink()) == "/opt/tare/bin/init"
            assert remove_leftovers().removed == [spec.name]
        assert mounts.mounts_below(spec.directory) == []
        assert not spec.directory.exists()
        assert (tmp_path / "in put").is_dir()

    def test_a_start_that_fails_gives_the_tools_reason_and_leaves_nothing(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bad = described(
            spec.directory, technology="singularity", image_root=spec.image_root, processors=(4095,)
        )
        with replayed(monkeypatch, tmp_path / "bin", "singularity/start-fails.txt", **places(spec)):
            with pytest.raises(NodeError, match="numerical result out of range"):
                start_node(bad, PROVIDER)
            stop_node(bad, PROVIDER)
        assert not spec.directory.exists()

    def test_an_instance_that_ended_at_once_is_an_error(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(singularity, "_instance_start", lambda *_: ["singularity", "start"])
        calls = parse("$ singularity start")
        with (
            only_tools(monkeypatch, tmp_path / "bin", calls, {"singularity"}),
            pytest.raises(NodeError, match="tare-1 has no first process"),
        ):
            start_node(spec, PROVIDER)
        layer.remove(spec)

    def test_an_instance_that_the_tool_forgot_is_found_by_its_root_and_killed(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec.directory.mkdir(parents=True)
        layer.prepare(spec)
        left = _idle_in(layer.mount_root(spec))
        elsewhere = _idle_in(Path("/"))
        try:
            with replayed(monkeypatch, tmp_path / "bin", "singularity/forgotten.txt", **places(spec)):
                PROVIDER.stop(spec)
            assert left.wait(timeout=10) == -9
            assert elsewhere.poll() is None
        finally:
            elsewhere.kill()
            elsewhere.wait()
        assert mounts.mounts_below(spec.directory) == []

    def test_an_instance_of_the_same_name_from_another_root_is_left_alone(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (spec.directory / "root").mkdir(parents=True)
        with replayed(monkeypatch, tmp_path / "bin", "singularity/foreign.txt", **places(spec)):
            PROVIDER.stop(spec)

    def test_a_list_that_is_no_list_is_an_error_and_not_the_absence_of_the_instance(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (spec.directory / "root").mkdir(parents=True)
        calls = parse("$ singularity --silent instance list --json tare-1\n! FATAL:   no such home\n= 255")
        with (
            only_tools(monkeypatch, tmp_path / "bin", calls, {"singularity"}),
            pytest.raises(NodeError, match="cannot ask singularity for the instance tare-1: FATAL"),
        ):
            PROVIDER.stop(spec)

    def test_no_process_is_in_a_root_that_is_not_mounted(self, tmp_path: Path) -> None:
        assert singularity._processes_in(tmp_path) == []

    def test_the_image_cannot_lead_the_start_script_out_of_the_root(
        self, spec: NodeSpec, tmp_path: Path
    ) -> None:
        (tmp_path / "outside").mkdir()
        (tmp_path / "root").mkdir()
        (tmp_path / "root" / ".singularity.d").symlink_to(tmp_path / "outside")
        with pytest.raises(NodeError, match="is a link"):
            singularity._furnish(spec, tmp_path / "root")
        assert list((tmp_path / "outside").iterdir()) == []


def _idle_in(root: Path) -> "subprocess.Popen[bytes]":
    """A process of ours whose root directory is this one; it tells when it is there."""
    script = "import os, sys, time; os.chroot(sys.argv[1]); print(flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", script, str(root)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    child.stdout.close()
    return child


class TestArguments:
    def test_a_node_with_a_network_of_its_own_is_started_there(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        alone = described(spec.directory, network=NodeNetwork(namespace=Path("/state/network")))
        monkeypatch.setattr(layer, "prepare", lambda _: None)
        monkeypatch.setattr(layer, "mount_root", lambda _: tmp_path)
        monkeypatch.setattr(singularity, "_furnish", lambda *_: None)
        monkeypatch.setattr(singularity, "_instance_start", lambda *_: ["singularity", "start"])
        monkeypatch.setattr(singularity, "_first_process", lambda _: 77)
        calls = parse("$ nsenter --net=/state/network -- singularity start")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"nsenter", "singularity"}):
            assert PROVIDER.start(alone).init_pid == 77

    def test_the_prefix_names_the_instance_and_lets_nothing_of_the_host_in(self, spec: NodeSpec) -> None:
        argv = PROVIDER.prefix(Node(spec=spec, init_pid=77))
        assert argv == [
            *("singularity", "--silent", "exec", "--cleanenv", "--pwd", "/"),
            "instance://tare-1",
        ]

    def test_without_a_quota_none_is_set(self) -> None:
        assert singularity._limits(described()) == ["--cpuset-cpus", "0,2,3", "--memory", str(512 << 20)]

    @given(name=st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1))
    def test_a_name_cannot_become_an_option(self, name: str) -> None:
        option, line = singularity._mount(Path("/data") / name, f"/data/{name}", writable=False)
        assert option == "--mount"
        assert list(csv.reader([line], strict=True)) == [
            ["type=bind", f"source={Path('/data') / name}", f"destination=/data/{name}", "ro"]
        ]


class TestHelpers:
    def test_the_helper_is_the_first_process_parent(
        self, spec: NodeSpec, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(singularity, "_status", lambda _: {"PPid": "70"})
        assert PROVIDER.helpers(Node(spec=spec, init_pid=77)) == [70]

    @pytest.mark.parametrize("status", [{}, {"PPid": "1"}])
    def test_there_is_none_when_it_was_killed(
        self, status: dict[str, str], spec: NodeSpec, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(singularity, "_status", lambda _: status)
        assert PROVIDER.helpers(Node(spec=spec, init_pid=77)) == []


class TestProbe:
    @pytest.fixture(autouse=True)
    def root(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr("tare.host.cgroups.find_hierarchies", lambda: None)

    @pytest.fixture
    def without_systemd(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(singularity, "_SYSTEMD", tmp_path / "none")

    def test_a_host_without_it_is_told_where_they_come_from(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.reason) == (False, "singularity is not on this host")
        assert "sylabs.io" in probe.remedy

    @pytest.mark.usefixtures("without_systemd")
    @pytest.mark.parametrize(
        ("program", "version"),
        [
            ("singularity", "singularity-ce version 4.1.5"),
            ("singularity", "singularity-ce version 3.11.0-rc.1"),
            ("singularity", "SingularityPRO version 4.1.6-1.el9"),
            ("singularity", "apptainer version 1.3.4"),
        ],
    )
    def test_every_descendant_is_known_by_its_version(
        self, program: str, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        transcript = (
            f"$ {program} --version\n> {version}\n$ {program} config global --get 'systemd cgroups'\n> no"
        )
        with only_tools(monkeypatch, tmp_path / "bin", parse(transcript), {program}):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.version) == (True, version)

    @pytest.mark.parametrize(
        ("said", "reason", "remedy"),
        [
            ("singularity-ce version 3.10.5", "is too old", "install singularity 3.11 or later"),
            ("singularity version 3.8.7-1.el8", "is too old", "install singularity 3.11 or later"),
            ("apptainer version 1.1.9", "is too old", "install apptainer 1.2 or later"),
            ("2.6.1-dist", "unknown version: 2.6.1-dist", "install a release of"),
            ("singularity-ce version four", "unknown version", "install a release of"),
            ("", "unknown version: it printed nothing", "install a release of"),
        ],
    )
    def test_an_old_or_unknown_version_is_not_used(
        self, said: str, reason: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(f"$ singularity --version\n> {said}")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"singularity"}):
            probe = PROVIDER.probe()
        assert not probe.usable
        assert reason in probe.reason
        assert remedy in probe.remedy

    def test_a_tool_that_fails_is_not_used(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = parse("$ singularity --version\n! no such library\n= 127")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"singularity"}):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.remedy) == (False, "reinstall singularity")
        assert "no such library" in probe.reason

    @pytest.mark.usefixtures("without_systemd")
    def test_a_tool_that_wants_systemd_where_there_is_none_is_not_used(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        transcript = """
$ singularity --version
> singularity-ce version 4.1.5
$ singularity config global --get 'systemd cgroups'
> yes
"""
        with only_tools(monkeypatch, tmp_path / "bin", parse(transcript), {"singularity"}):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.remedy) == (
            False,
            'singularity config global --set "systemd cgroups" no',
        )
