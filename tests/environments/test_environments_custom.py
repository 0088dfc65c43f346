# SPDX-License-Identifier: Apache-2.0
"""A technology described by its commands: real ones of this machine, and ones that fail on purpose."""

import hashlib
import os
import secrets
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.environments import custom_examples as examples
from tests.environments.dying_runner import start_in_a_run_that_is_killed
from tests.environments.environment_example import described

from tare.environments import PROVIDERS
from tare.environments.custom import Custom
from tare.errors import NodeError
from tare.host import mounts, process
from tare.host.cgroups import named_groups
from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure.clean import remove_leftovers
from tare.measure.running import NodeTimes, running_nodes
from tare.node_life import start_node, stop_node
from tare.nodes.provider import Node, NodeNetwork, NodeSpec, Probe
from tare.records import NetworkKind, OptionValue

MEBIBYTE = 1 << 20
AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]
TECHNOLOGIES: Mapping[str, Mapping[str, OptionValue]] = {
    "chroot": examples.CHROOT,
    "unshare": examples.UNSHARE,
    "bubblewrap": examples.BUBBLEWRAP,
    "lxc": examples.lxc(),
}
SIMPLE: Mapping[str, OptionValue] = {"start": ["true"], "enter": ["chroot", "{root}"], "stop": ["true"]}
"""A node without a process of its own."""


def real_spec(image: Image, state: Path, options: Mapping[str, OptionValue], **changes: Any) -> NodeSpec:
    directory = state / "nodes" / f"tare-test-{secrets.token_hex(4)}"
    values = {
        "name": directory.name,
        "technology": "custom",
        "options": options,
        "image_root": image.root,
        "image_digest": image.digest,
        "processors": (online_processors()[-1],),
        "memory_byte": 200 * MEBIBYTE,
        "network": NodeNetwork(namespace=directory / "network"),
    }
    return described(directory, **{**values, **changes})


@contextmanager
def running(*specs: NodeSpec) -> Iterator[list[Node]]:
    times = NodeTimes()
    with running_nodes(list(specs), PROVIDERS, times) as nodes:
        yield nodes
    assert times.problems == []


def inside(node: Node, *argv: str, given: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*PROVIDERS["custom"].prefix(node), *argv],
        input=given,
        capture_output=True,
        timeout=60,
        check=False,
        env=process.tool_environment(),
    )


@pytest.mark.parametrize("technology", TECHNOLOGIES)
class TestRealTechnologies:
    pytestmark = AS_ROOT

    @pytest.fixture
    def spec(self, technology: str, image: Image, state: Path) -> Iterator[NodeSpec]:
        options = TECHNOLOGIES[technology]
        assert PROVIDERS["custom"].check_options(options) == {}
        probe = PROVIDERS["custom"].configured(options).probe()
        assert probe.usable, probe.reason
        made = real_spec(image, state, options)
        yield made
        assert mounts.mounts_below(state) == []
        assert list(Path("/sys/fs/cgroup").glob(f"**/*{made.name}*")) == []

    def test_bytes_and_exit_code_pass_through_unchanged(self, spec: NodeSpec) -> None:
        given = secrets.token_bytes(MEBIBYTE)
        with running(spec) as (node,):
            echoed = inside(node, "cat", given=given)
            failed = inside(node, "sh", "-c", "echo out; echo err >&2; exit 7")
        assert hashlib.sha256(echoed.stdout).digest() == hashlib.sha256(given).digest()
        assert (failed.returncode, failed.stdout, failed.stderr) == (7, b"out\n", b"err\n")

    def test_limits_hold_and_the_node_survives_them(self, spec: NodeSpec) -> None:
        with running(spec) as (node,):
            group = PROVIDERS["custom"].group(node)
            assert group is not None
            settings, before_s = group.settings(), group.cpu_s()
            seen = inside(node, "nproc").stdout
            within = inside(node, "/opt/tare/bin/burn", "--touch", str(100 * MEBIBYTE)).returncode
            beyond = inside(node, "/opt/tare/bin/burn", "--touch", str(300 * MEBIBYTE)).returncode
            alive = inside(node, "true").returncode
            kills, after_s = group.memory_kills(), group.cpu_s()
        assert settings.processors == spec.processors
        assert settings.memory_byte == spec.memory_byte
        assert seen == b"1\n"
        assert (within, alive) == (0, 0)
        assert beyond in {137, -9}
        assert kills
        assert before_s is not None
        assert after_s is not None
        assert after_s > before_s

    def test_the_work_directory_is_shared_and_shm_and_root_are_its_own(self, spec: NodeSpec) -> None:
        with running(spec) as (node,):
            (spec.work / "input").write_text("from the host")
            inside(node, "cp", "/mnt/tare/input", "/mnt/tare/output")
            copied = (spec.work / "output").read_text()
            size = inside(node, "df", "--block-size=1", "--output=size", "/dev/shm").stdout.split()[-1]
            inside(node, "sh", "-c", "echo x > /etc/hostname; rm -f /dev/null; echo x > /dev/null")
        assert copied == "from the host"
        assert int(size) == spec.shm_byte
        assert (spec.image_root / "etc" / "hostname").read_text() == ""
        assert Path("/dev/null").is_char_device()

    def test_the_network_is_the_one_that_was_made_for_it(self, spec: NodeSpec) -> None:
        with running(spec) as (node,):
            assert spec.network.namespace is not None
            assert Path(f"/proc/{node.init_pid}/ns/net").samefile(spec.network.namespace)
            seen = inside(node, "cat", "/proc/net/dev").stdout
        assert [line.split(b":")[0].strip() for line in seen.splitlines() if b":" in line] == [b"lo"]

    def test_stopping_twice_and_stopping_nothing_are_harmless(self, spec: NodeSpec) -> None:
        provider = PROVIDERS["custom"]
        provider.stop(spec)
        with running(spec):
            pass
        provider.stop(spec)
        assert not spec.directory.exists()

    def test_what_a_killed_run_leaves_is_found_and_removed(self, spec: NodeSpec) -> None:
        start_in_a_run_that_is_killed(spec)
        assert named_groups(f"tare/{spec.name}").processes()
        assert remove_leftovers().removed == [spec.name]
        assert not spec.directory.exists()
        assert not named_groups(f"tare/{spec.name}").processes()

    def test_twenty_starts_and_stops_leave_nothing(self, spec: NodeSpec, image: Image, state: Path) -> None:
        for _ in range(20):
            with running(real_spec(image, state, spec.options)):
                pass
        assert list((state / "nodes").iterdir()) == []


class TestOptions:
    def complaints(self, **changes: OptionValue) -> Mapping[str, str]:
        return Custom().check_options({**SIMPLE, **changes})

    def test_the_examples_are_right(self) -> None:
        for options in (*TECHNOLOGIES.values(), SIMPLE):
            assert Custom().check_options(options) == {}

    def test_start_enter_and_stop_are_needed(self) -> None:
        check_options = Custom().check_options({})
        assert set(check_options) == {"start", "enter", "stop"}
        assert all("is missing; give a command" in words for words in check_options.values())

    def test_a_start_command_that_stays_needs_no_stop(self) -> None:
        assert Custom().check_options({"foreground": True, "start": ["a"], "enter": ["b"]}) == {}

    @pytest.mark.parametrize("value", ["mytool start", [], [""], True, 1])
    def test_a_command_is_a_list_of_words(self, value: OptionValue) -> None:
        assert "must be a list of words" in self.complaints(start=value)["start"]

    def test_an_unknown_placeholder_is_named_with_those_that_exist(self) -> None:
        said = self.complaints(start=["mytool", "{rot}"])["start"]
        assert "unknown placeholder 'rot' in '{rot}'; known: address, cpu_quota, directory," in said

    def test_the_first_process_is_known_only_when_a_command_is_entered(self) -> None:
        assert self.complaints(enter=["mytool", "{init_pid}"]) == {}
        assert "unknown placeholder 'init_pid'" in self.complaints(start=["mytool", "{init_pid}"])["start"]

    def test_switches_are_true_or_false(self) -> None:
        assert "must be true or false" in self.complaints(system="yes")["system"]

    def test_ready_belongs_to_a_start_command_that_stays(self) -> None:
        assert "foreground = true" in self.complaints(ready="login:")["ready"]
        assert self.complaints(ready="login:", foreground=True) == {}
        assert "must be a text" in self.complaints(ready="", foreground=True)["ready"]


class TestProbe:
    def test_without_a_campaign_there_is_nothing_to_try(self) -> None:
        probe = Custom().probe()
        assert not probe.usable
        assert "docs/custom-environment.md" in probe.remedy

    @pytest.fixture(autouse=True)
    def as_if_root(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tare.nodes.confined.probe_root", lambda: Probe(usable=True))

    @pytest.mark.parametrize(
        ("options", "usable", "said"),
        [
            ({"start": ["no-such-tool"]}, False, "there is no program 'no-such-tool'"),
            ({"start": ["sh"], "probe": ["no-such-tool"]}, False, "there is no program 'no-such-tool'"),
            (
                {"start": ["sh"], "probe": ["sh", "-c", "echo no daemon; exit 3"]},
                False,
                "ended with 3: no daemon",
            ),
            ({"start": ["sh"]}, True, ""),
            ({"start": ["sh"], "probe": ["echo", "mytool 7\nmore"]}, True, "mytool 7"),
        ],
    )
    def test_it_asks_the_technology(
        self, options: Mapping[str, OptionValue], usable: bool, said: str
    ) -> None:
        probe = Custom().configured(options).probe()
        assert probe.usable is usable
        assert said in probe.reason or said == probe.version

    def test_the_image_is_made_known_by_the_campaigns_command(self, tmp_path: Path) -> None:
        options = {"prepare": ["cp", "{image}/a", f"{tmp_path}/{{image_digest}}"]}
        (tmp_path / "a").write_text("imported")
        Custom().configured(options).prepare(tmp_path, "sha256:1")
        assert (tmp_path / "sha256:1").read_text() == "imported"


class TestCommandsThatFail:
    pytestmark = AS_ROOT

    @pytest.fixture
    def scripts(self, tmp_path: Path) -> Path:
        """Commands of a technology that keeps its nodes as files."""
        (tmp_path / "scripts").mkdir()
        return tmp_path / "scripts"

    def fails(self, image: Image, state: Path, said: str, **changes: OptionValue) -> None:
        spec, times = real_spec(image, state, {**SIMPLE, **changes}), NodeTimes()
        with pytest.raises(NodeError, match=said), running_nodes([spec], PROVIDERS, times):
            pytest.fail("it must not run")
        assert times.problems == []
        assert not spec.directory.exists()
        assert mounts.mounts_below(state) == []

    def test_a_start_that_fails_is_told_with_its_last_words(self, image: Image, state: Path) -> None:
        start = ["sh", "-c", "echo first; echo no memory >&2; exit 3"]
        self.fails(image, state, "start command ended with 3: first / no memory", start=start)

    def test_a_start_that_is_no_program_is_told(self, image: Image, state: Path) -> None:
        self.fails(image, state, "start command ended with 127: .*no-such-tool", start=["no-such-tool"])

    def test_a_start_that_stays_and_ends_is_told_with_its_last_words(self, image: Image, state: Path) -> None:
        start = ["sh", "-c", "echo no kernel >&2"]
        self.fails(image, state, "did not get ready .*: no kernel", start=start, foreground=True)

    def test_a_node_that_cannot_be_entered_is_told(
        self, image: Image, state: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tare.environments.custom._ENTER_LIMIT_S", 0.2)
        enter = ["sh", "-c", "echo no such node; exit 1"]
        self.fails(image, state, "cannot be entered .*: sh ended with 1: no such node", enter=enter)

    def test_a_process_id_that_is_none_is_told(self, image: Image, state: Path) -> None:
        self.fails(
            image,
            state,
            "init_pid command prints is not understood: 'running' is no integer",
            init_pid=["echo", "running"],
        )

    def test_wrong_options_are_told_before_anything_is_made(self, image: Image, state: Path) -> None:
        self.fails(image, state, "start: unknown placeholder 'rot'", start=["mytool", "{rot}"])

    def test_a_node_on_the_hosts_network_is_refused_unless_asked_for(self, image: Image, state: Path) -> None:
        staying: Mapping[str, OptionValue] = {
            "start": ["chroot", "{root}", examples.INIT],
            "enter": ["chroot", "{root}"],
            "foreground": True,
            "control_group": True,
        }
        self.fails(image, state, "did not give the node the network none: it has the host's", **staying)
        on_host = NodeNetwork(kind=NetworkKind.HOST)
        with running(real_spec(image, state, staying, network=on_host)) as (node,):
            assert inside(node, "true").returncode == 0

    def test_a_link_needs_a_start_command_that_joins_it(self, image: Image, state: Path) -> None:
        linked = NodeNetwork(kind=NetworkKind.VETH, namespace=state / "n", switch=state / "s")
        spec = real_spec(image, state, SIMPLE, network=linked)
        with pytest.raises(
            NodeError, match=r"network veth needs a start command that joins \{network_namespace"
        ):
            PROVIDERS["custom"].start(spec)

    def test_a_daemon_that_keeps_its_output_open_is_not_waited_for(
        self, image: Image, state: Path, scripts: Path
    ) -> None:
        (scripts / "start").write_text("echo up; sleep 50 & echo $! > $1/pid\n")
        options = {
            "start": ["sh", f"{scripts}/start", "{directory}"],
            "enter": ["chroot", "{root}"],
            "stop": ["sh", "-c", 'kill $(cat "$0")', "{directory}/pid"],
        }
        with running(real_spec(image, state, options)) as (node,):
            daemon = (node.spec.directory / "pid").read_text().strip()
            assert Path(f"/proc/{daemon}/comm").read_text() in {"sh\n", "sleep\n"}, "it was waited for"
            assert inside(node, "true").returncode == 0

    def test_a_stop_that_fails_is_harmless_when_the_node_is_gone(self, image: Image, state: Path) -> None:
        gone = ["sh", "-c", "echo not running; exit 1"]
        with running(real_spec(image, state, {**SIMPLE, "stop": gone, "is_running": ["false"]})):
            pass

    def test_a_stop_that_fails_is_told_while_the_node_is_there(
        self, image: Image, state: Path, scripts: Path
    ) -> None:
        (scripts / "up").touch()
        options = {
            **SIMPLE,
            "stop": ["sh", "-c", "echo busy; exit 1"],
            "is_running": ["test", "-e", f"{scripts}/up"],
        }
        spec = real_spec(image, state, options)
        start_node(spec, PROVIDERS["custom"])
        with pytest.raises(
            NodeError, match=f"{spec.name} is still there after its stop: sh ended with 1: busy"
        ):
            stop_node(spec, PROVIDERS["custom"])
        (scripts / "up").unlink()
        stop_node(spec, PROVIDERS["custom"])
        assert not spec.directory.exists()

    def test_without_a_question_the_node_is_there_while_it_can_be_entered(
        self, image: Image, state: Path
    ) -> None:
        spec = real_spec(image, state, {**SIMPLE, "stop": ["false"]})
        start_node(spec, PROVIDERS["custom"])
        with pytest.raises(NodeError, match="still there after its stop"):
            stop_node(spec, PROVIDERS["custom"])
        gone = {**SIMPLE, "stop": ["false"], "enter": ["no-such-tool"]}
        stop_node(replace(spec, options=gone), PROVIDERS["custom"])

    def test_what_supervises_from_outside_the_nodes_group_is_counted_as_a_helper(
        self, image: Image, state: Path
    ) -> None:
        supervised, confined = examples.lxc_in_the_foreground(), examples.UNSHARE
        assert Custom().check_options(supervised) == {}
        with running(real_spec(image, state, supervised), real_spec(image, state, confined)) as nodes:
            (monitor,), counted_with_the_node = map(PROVIDERS["custom"].helpers, nodes)
            assert Path(f"/proc/{monitor}/comm").read_text() == "lxc-start\n"
        assert counted_with_the_node == []
