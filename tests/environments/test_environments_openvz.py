# SPDX-License-Identifier: Apache-2.0
"""OpenVZ, which no machine of the tests has: by transcripts written from its manual pages and sources."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.environments.environment_example import described
from tests.environments.transcripts import only_tools, parse, replayed

from tare.environments import PROVIDERS, openvz
from tare.errors import NodeError
from tare.host import mounts
from tare.measure.clean import remove_leftovers
from tare.node_life import start_node, stop_node
from tare.nodes import layer
from tare.nodes.provider import Bind, Node, NodeSpec
from tare.records import NetworkKind

AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]
PROVIDER = PROVIDERS["openvz"]
TOOLS = {"vzctl": openvz._Vzctl(), "prlctl": openvz._Prlctl()}
NAMES = st.from_regex(r"tare-[a-z0-9-]{1,30}", fullmatch=True)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "file").write_text("precious")
    return tmp_path / "data"


@pytest.fixture
def spec(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NodeSpec]:
    for folder in ("dev", "etc", "proc", "sys", "usr/sbin"):
        (tmp_path / "image" / folder).mkdir(parents=True)
    (tmp_path / "image" / "sbin").symlink_to("usr/sbin")
    monkeypatch.setattr(openvz, "_CONFIGURATIONS", tmp_path / "configurations")
    monkeypatch.setattr(openvz, "_RUNNING", tmp_path / "running")
    made = described(state / "nodes" / "tare-1", technology="openvz", image_root=tmp_path / "image")
    yield made
    layer.remove(made)  # after a test that failed


def places(spec: NodeSpec, tool: str, tmp_path: Path) -> dict[str, object]:
    return {
        "directory": spec.directory,
        "name": spec.name,
        "container": TOOLS[tool].identity(spec),
        "configurations": tmp_path / "configurations",
        "running": tmp_path / "running",
        "data": tmp_path / "data",
    }


class TestLife:
    pytestmark = AS_ROOT

    @pytest.mark.parametrize(("tool", "first"), [("vzctl", None), ("prlctl", 4194304)])
    def test_a_container_starts_and_is_stopped_by_a_run_that_knows_its_record_alone(
        self,
        tool: str,
        first: int | None,
        spec: NodeSpec,
        data: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        binds = (Bind(path=data, writable=True),)
        whole = described(
            spec.directory, technology="openvz", image_root=spec.image_root, cpu_quota=0.5, binds=binds
        )
        with replayed(
            monkeypatch, tmp_path / "bin", f"openvz/{tool}-life.txt", **places(spec, tool, tmp_path)
        ):
            node = start_node(whole, PROVIDER)
            assert node.init_pid == first
            assert str((spec.directory / "root" / "usr" / "sbin" / "init").readlink()) == "/opt/tare/bin/init"
            assert remove_leftovers().removed == [spec.name]
        assert mounts.mounts_below(spec.directory) == []
        assert not spec.directory.exists()
        assert (data / "file").read_text() == "precious"
        assert not any((tmp_path / "configurations").glob("*"))

    @pytest.mark.parametrize(
        ("tool", "reason"),
        [
            ("vzctl", r"vzctl start \d+ .* ended with 7: .*Container start failed"),
            ("prlctl", r"prlctl start .* ended with 255: Failed to start the CT"),
        ],
    )
    def test_a_start_that_fails_gives_its_reason_and_leaves_nothing(
        self, tool: str, reason: str, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with replayed(
            monkeypatch, tmp_path / "bin", f"openvz/{tool}-start-fails.txt", **places(spec, tool, tmp_path)
        ):
            with pytest.raises(NodeError, match=reason):
                start_node(spec, PROVIDER)
            stop_node(spec, PROVIDER)
        assert not spec.directory.exists()

    @pytest.mark.parametrize("tool", TOOLS)
    def test_a_container_of_somebody_elses_is_refused_and_kept(
        self, tool: str, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        document = places(spec, tool, tmp_path)
        with replayed(monkeypatch, tmp_path / "bin", "openvz/foreign.txt", tool, **document):
            with pytest.raises(NodeError, match="already, and it is not this node's"):
                start_node(spec, PROVIDER)
            stop_node(spec, PROVIDER)
        (spec.directory / "layer").mkdir(parents=True)
        with replayed(monkeypatch, tmp_path / "bin", "openvz/foreign.txt", tool, **document):
            PROVIDER.stop(spec)

    def test_stopping_what_never_started_asks_nobody(
        self, spec: NodeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], {"vzctl", "vzlist"}):
            PROVIDER.stop(spec)


class TestTellingContainers:
    @given(name=NAMES)
    def test_a_container_is_found_again_by_the_nodes_name(self, name: str) -> None:
        here, there = described(name=name), described(Path("/elsewhere"), name=name)
        assert all(tool.identity(here) == tool.identity(there) for tool in TOOLS.values())
        assert 1_000_000_000 <= int(TOOLS["vzctl"].identity(here)) < 2_147_483_644

    @given(names=st.lists(NAMES, min_size=2, max_size=2, unique=True))
    def test_two_names_are_two_containers(self, names: list[str]) -> None:
        specs = [described(name=name) for name in names]
        assert all(tool.identity(specs[0]) != tool.identity(specs[1]) for tool in TOOLS.values())

    @pytest.mark.parametrize(
        "said",
        ["! Unable to connect\n= 3", "> \n= 0", "> running\n= 0", "= 0"],
        ids=["error", "blank", "half", "nothing"],
    )
    def test_an_answer_that_is_none_is_an_error_and_not_the_absence_of_the_container(
        self, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(f"$ vzlist --all --no-header --output status,private 7\n{said}")
        with (
            only_tools(monkeypatch, tmp_path / "bin", calls, {"vzlist"}),
            pytest.raises(NodeError, match="cannot ask vzlist for the container 7"),
        ):
            openvz._status("7")

    def test_the_first_process_is_number_1_of_its_own_container(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec = described()
        container = TOOLS["vzctl"].identity(spec)
        for pid, owner, inner in (
            ("70", "0", "70"),
            ("71", "101", "1"),
            ("72", container, "1"),
            ("73", container, "9"),
        ):
            (tmp_path / pid).mkdir()
            (tmp_path / pid / "status").write_text(f"Name:\tinit\nenvID:\t{owner}\nVPid:\t{inner}\n")
        monkeypatch.setattr(openvz, "_PROCESSES", tmp_path)
        assert TOOLS["vzctl"].init_pid(spec) == 72


class TestArguments:
    @pytest.mark.parametrize(
        ("tool", "words"),
        [
            ("vzctl", ["vzctl", "--quiet", "exec3", TOOLS["vzctl"].identity(described())]),
            ("prlctl", ["prlctl", "exec", TOOLS["prlctl"].identity(described()), "--without-shell"]),
        ],
    )
    def test_the_prefix_hands_words_on_without_a_shell(
        self, tool: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], {tool}):
            assert PROVIDER.prefix(Node(spec=described(), init_pid=None)) == words

    def test_with_both_tools_it_is_openvz_7(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], {"vzctl", "prlctl"}):
            assert PROVIDER.prefix(Node(spec=described(), init_pid=None))[0] == "prlctl"

    def test_without_a_quota_none_is_set(self) -> None:
        assert "--cpulimit" not in openvz._vzctl_settings(described())
        assert "--cpulimit" not in openvz._prlctl_limits(described())

    def test_the_configuration_binds_what_the_user_bound_from_where_it_is_guarded(self) -> None:
        spec = described(binds=(Bind(path=Path("/data")), Bind(path=Path("/scratch"), writable=True)))
        lines = openvz._configuration(spec, Path("/state/nodes/tare-1/openvz"), "uuid").splitlines()
        layer = "/state/nodes/tare-1/layer"
        assert f'BINDMOUNT="{layer}/work:/mnt/tare {layer}/bound/0:/data {layer}/bound/1:/scratch"' in lines
        assert 'VE_PRIVATE="/state/nodes/tare-1/openvz"' in lines

    @pytest.mark.parametrize("name", ["in put", "a:b", "a,b", 'a"b', "back\\slash", "$HOME", "`date`"])
    def test_a_name_that_its_configuration_cannot_hold_is_refused(self, name: str) -> None:
        spec = described(binds=(Bind(path=Path("/data") / name),))
        with pytest.raises(NodeError, match="OpenVZ 7 cannot bind"):
            openvz._configuration(spec, Path("/private"), "uuid")

    def test_the_image_cannot_lead_its_first_program_out_of_the_root(self, tmp_path: Path) -> None:
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside" / "init").write_text("the host's")
        (tmp_path / "root").mkdir()
        (tmp_path / "root" / "sbin").symlink_to(tmp_path / "outside")
        with pytest.raises(NodeError, match="absolute link"):
            openvz._make_first(tmp_path / "root")
        assert (tmp_path / "outside" / "init").read_text() == "the host's"

    def test_a_container_cannot_have_the_hosts_network(self) -> None:
        assert PROVIDER.networks == set(NetworkKind) - {NetworkKind.HOST}
        assert PROVIDER.makes_namespace

    def test_beancounters_are_no_control_group(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], {"vzctl"}):
            assert PROVIDER.group(Node(spec=described(), init_pid=os.getpid())) is None


class TestProbe:
    @pytest.fixture(autouse=True)
    def on_an_openvz_kernel(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(openvz, "_KERNEL", tmp_path)

    def test_a_host_without_either_tool_is_told_where_they_come_from(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.reason) == (False, "neither prlctl nor vzctl is on this host")
        assert "OpenVZ 7" in probe.remedy

    def test_another_kernel_is_told_to_be_another(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(openvz, "_KERNEL", tmp_path / "none")
        with only_tools(monkeypatch, tmp_path / "bin", [], {"vzctl"}):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.remedy) == (False, "boot the kernel of OpenVZ")

    @pytest.mark.parametrize("version", ["vzctl version 4.11.1", "prlctl version 7.0.254"])
    def test_both_tools_are_known_by_their_version(
        self, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tool = version.split(maxsplit=1)[0]
        calls = parse(f"$ {tool} --version\n> {version}")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {tool}):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.version) == (True, version)

    @pytest.mark.parametrize("said", ["vzctl version 4.7.2", "vzctl v.7.0.1", "vzctl version four", ""])
    def test_an_old_or_unknown_version_is_not_used(
        self, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(f"$ vzctl --version\n> {said}")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"vzctl"}):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.remedy) == (False, "install vzctl 4.8 or later")
        assert (said or "it printed nothing") in probe.reason

    def test_a_tool_that_fails_is_not_used(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = parse("$ prlctl --version\n! no such library\n= 127")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"prlctl"}):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.remedy) == (False, "reinstall prlctl")
