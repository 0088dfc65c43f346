# SPDX-License-Identifier: Apache-2.0
"""What a node on another host owes, tried for real against an sshd on the loopback."""

import hashlib
import os
import secrets
import signal
import subprocess
from pathlib import Path

import pytest
from tests.environments import custom_examples
from tests.environments.environment_example import MEBIBYTE
from tests.environments.far_example import PROVIDER, far_spec, inside, leftovers, own_connections, running
from tests.environments.loopback_sshd import Sshd, running_sshd
from tests.real_environments import skip_unless_usable

from tare.environments.ssh import shared
from tare.host import process
from tare.image.store import Image
from tare.measure.at_once import at_once
from tare.nodes.provider import Bind, NodeNetwork, NodeSpec
from tare.records import NetworkKind

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="the nodes need root for mounts and cgroups"),
]


FROM_SSH = (b"mux", b"ssh", b"kex", b"channel", b"Connection", b"Session")
"""How its complaints begin; what a login shell's own files print there is the host's."""


class TestContract:
    def test_bytes_and_exit_code_pass_through_unchanged(self, spec_on_far: NodeSpec) -> None:
        given = secrets.token_bytes(MEBIBYTE)
        with running(spec_on_far) as (node,):
            echoed = inside(node, "cat", given=given)
            failed = inside(node, "sh", "-c", "echo out; echo err >&2; exit 7")
            killed = inside(node, "sh", "-c", "kill -TERM $$")
        assert hashlib.sha256(echoed.stdout).digest() == hashlib.sha256(given).digest()
        assert (failed.returncode, failed.stdout, failed.stderr) == (7, b"out\n", b"err\n")
        assert (killed.returncode, killed.stdout, killed.stderr) == (128 + signal.SIGTERM, b"", b"")

    def test_words_reach_the_command_as_they_are(self, spec_on_far: NodeSpec) -> None:
        words = [
            "a b",
            "",
            "'",
            '"',
            "$HOME",
            "`id`",
            "*",
            "line\nend",
            "-x",
            "~",
            "\\",
            "ünïcode",
            "!",
            ";#&|",
        ]
        with running(spec_on_far) as (node,):
            said = inside(node, "printf", r"%s\0", *words).stdout
        assert said.decode().split("\0")[:-1] == words

    def test_limits_hold_there_and_are_told_here(self, spec_on_far: NodeSpec) -> None:
        with running(spec_on_far) as (node,):
            group = PROVIDER.group(node)
            assert group is not None
            settings, before_s = group.settings(), group.cpu_s()
            seen = inside(node, "nproc").stdout
            beyond = inside(node, "/opt/tare/bin/burn", "--touch", str(300 * MEBIBYTE))
            alive = inside(node, "true").returncode
            kills, after_s = group.memory_kills(), group.cpu_s()
        assert settings.processors == spec_on_far.processors
        assert (settings.memory_byte, settings.cpu_quota) == (spec_on_far.memory_byte, 0.5)
        assert seen == b"1\n"
        assert (beyond.returncode, beyond.stderr, alive) == (137, b"", 0)
        assert kills == 1
        assert before_s is not None
        assert after_s is not None
        assert after_s > before_s

    def test_an_entered_command_is_in_the_nodes_group(self, spec_on_far: NodeSpec) -> None:
        with running(spec_on_far) as (node,):
            group = PROVIDER.group(node)
            assert group is not None
            with subprocess.Popen(
                [*PROVIDER.prefix(node), "sh", "-c", "echo $$; read word"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=process.tool_environment(),
            ) as entered:
                assert entered.stdin is not None
                assert entered.stdout is not None
                pid = int(entered.stdout.readline())
                assert group.lacks(pid) == []
                assert group.lacks(os.getpid()) is None
                entered.stdin.close()

    def test_files_go_there_and_come_back(self, spec_on_far: NodeSpec) -> None:
        with running(spec_on_far) as (node,):
            (spec_on_far.work / "i0" / "deep").mkdir(parents=True)
            (spec_on_far.work / "i0" / "deep" / "input").write_bytes(b"\0from here")
            (spec_on_far.work / "i0" / "run").write_text("#!/bin/sh\ncp i0/deep/input i0/output\n")
            (spec_on_far.work / "i0" / "run").chmod(0o755)
            PROVIDER.send(node, ["i0"])
            copied = inside(node, "sh", "-c", f"cd {node.work_directory} && i0/run")
            inside(node, "ln", "-s", "/etc/passwd", f"{node.work_directory}/i0/link")
            PROVIDER.fetch(node, ["i0/output", "i0/missing", "i0/link", "../node.json"])
            assert copied.stderr == b""
            assert (spec_on_far.work / "i0" / "output").read_bytes() == b"\0from here"
            assert not (spec_on_far.work / "i0" / "missing").exists()
            assert not (spec_on_far.work / "i0" / "link").exists()

    def test_nothing_of_the_two_hosts_users_reaches_a_command(
        self, spec_on_far: NodeSpec, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
        with running(spec_on_far) as (node,):
            seen = inside(node, "env").stdout.decode().splitlines()
        assert {line.partition("=")[0] for line in seen} <= {"PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR"}

    def test_bound_directories_are_those_of_the_other_host(
        self, sshd: Sshd, far: Path, image: Image, state: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "kept").mkdir()
        (tmp_path / "kept" / "data").write_text("precious")
        spec = far_spec(sshd.reach(far), image, state, binds=(Bind(path=tmp_path / "kept"),))
        with running(spec) as (node,):
            assert inside(node, "cat", f"{tmp_path}/kept/data").stdout == b"precious"
            assert inside(node, "touch", f"{tmp_path}/kept/new").returncode != 0

    def test_two_nodes_at_once_do_not_meet(self, sshd: Sshd, far: Path, image: Image, state: Path) -> None:
        with running(*(far_spec(sshd.reach(far), image, state) for _ in range(2))) as nodes:
            inside(nodes[0], "sh", "-c", "echo first > /root/mark")
            assert inside(nodes[1], "cat", "/root/mark").returncode != 0

    def test_a_node_can_use_the_work_directory_of_another(
        self, sshd: Sshd, far: Path, image: Image, state: Path
    ) -> None:
        first = far_spec(sshd.reach(far), image, state)
        second = far_spec(sshd.reach(far), image, state, shared_work=first.work)
        with running(first, second) as nodes:
            inside(nodes[0], "sh", "-c", "echo mine > /mnt/tare/mark")
            assert inside(nodes[1], "cat", "/mnt/tare/mark").stdout == b"mine\n"

    def test_the_network_is_the_other_hosts_or_none(
        self, sshd: Sshd, far: Path, image: Image, state: Path
    ) -> None:
        on_host = far_spec(sshd.reach(far), image, state, network=NodeNetwork(kind=NetworkKind.HOST))
        alone = far_spec(sshd.reach(far), image, state)
        with running(on_host, alone) as nodes:
            seen = [inside(node, "readlink", "/proc/self/ns/net").stdout.decode().strip() for node in nodes]
        here = str(Path("/proc/self/ns/net").readlink())
        assert seen[0] == here != seen[1]

    def test_several_starts_and_stops_leave_nothing(
        self, sshd: Sshd, far: Path, image: Image, state: Path
    ) -> None:
        for _ in range(5):
            with running(far_spec(sshd.reach(far), image, state)):
                pass
        assert list((state / "nodes").iterdir()) == []
        assert list((far / "nodes").iterdir()) == []

    def test_stopping_twice_and_stopping_nothing_are_harmless(self, spec_on_far: NodeSpec) -> None:
        PROVIDER.stop(spec_on_far)
        with running(spec_on_far):
            pass
        PROVIDER.stop(spec_on_far)

    def test_a_state_folder_with_a_long_or_odd_name_works(
        self, sshd: Sshd, far: Path, image: Image, tmp_path: Path
    ) -> None:
        for name in ("l" * 120, "a b%h'c"):
            spec = far_spec(sshd.reach(far), image, tmp_path / name)
            with running(spec) as (node,):
                assert inside(node, "true").returncode == 0
            assert not shared._folder().exists()

    @pytest.mark.parametrize("below", ["bubblewrap", "lxc", "systemd-nspawn"])
    def test_other_technologies_work_there_too(
        self, below: str, sshd: Sshd, far: Path, image: Image, state: Path
    ) -> None:
        options = sshd.reach(far, below=below)
        skip_unless_usable(PROVIDER.configured(options).probe(), below)
        spec = far_spec(options, image, state)
        with running(spec) as (node,):
            name = inside(node, "cat", "/proc/sys/kernel/hostname").stdout.decode().strip()
            group = PROVIDER.group(node)
            assert group is not None
            assert group.settings().memory_byte == spec.memory_byte
        assert name == spec.name
        assert leftovers(far, spec.name) == []

    def test_a_technology_below_gets_its_options_and_whoever_is_root_there_is_asked(
        self, sshd: Sshd, far: Path, image: Image, state: Path
    ) -> None:
        given = custom_examples.as_words(custom_examples.CHROOT)
        options = sshd.reach(far, below="custom", below_options=given, become=["env", "BECAME=root"])
        spec = far_spec(options, image, state)
        with running(spec) as (node,):
            group = PROVIDER.group(node)
            assert group is not None
            assert group.settings().memory_byte == spec.memory_byte
            assert inside(node, "env").stdout.count(b"BECAME") == 0
        assert leftovers(far, spec.name) == []

    def test_many_nodes_are_entered_at_once_over_few_connections(
        self, sshd: Sshd, far: Path, image: Image, state: Path
    ) -> None:
        """The agent's connection and two more for nine nodes; sshd drops some of ten new ones at the same time."""
        specs = [
            far_spec(sshd.reach(far, below="fake"), image, state, network=NodeNetwork(kind=NetworkKind.HOST))
            for _ in range(9)
        ]
        with running(*specs) as nodes:
            entered = at_once(lambda node: inside(node, "sleep", "0.5"), nodes)
            assert len(own_connections()) == 3
        said = [line for each in entered for line in each.stderr.splitlines()]
        assert [line for line in said if line.startswith(FROM_SSH)] == []
        assert {each.returncode for each in entered} == {0}

    def test_an_sshd_that_allows_one_session_on_a_connection_is_enough(
        self, far: Path, image: Image, state: Path, tmp_path: Path
    ) -> None:
        with running_sshd(tmp_path / "sshd", "MaxSessions 1") as narrow:
            spec = far_spec(narrow.reach(far), image, state)
            with running(spec) as (node,):
                assert inside(node, "echo", "in").stdout == b"in\n"
        assert leftovers(far, spec.name) == []
