# SPDX-License-Identifier: Apache-2.0
"""udocker's command line, its repository and its probe; the contract's tests run it where it is, also in R1."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import REPOSITORY
from tests.environments.environment_example import described
from tests.environments.transcripts import only_tools, parse

from tare.environments import PROVIDERS, udocker
from tare.environments.udocker import Mode
from tare.host import cgroups
from tare.network import has_own_hosts
from tare.nodes.devices import Device
from tare.nodes.provider import Chosen, Node, Shared
from tare.records import User

PROVIDER = PROVIDERS["udocker"]
OUTPUTS = REPOSITORY / "tests" / "outputs" / "udocker"
RELEASE = "6.18.44"
ENGINES = {
    Mode.P1: udocker._Engine(Path("/engines/proot"), "UDOCKER_USE_PROOT_EXECUTABLE"),
    Mode.P2: udocker._Engine(Path("/engines/proot"), "UDOCKER_USE_PROOT_EXECUTABLE"),
    Mode.R1: udocker._Engine(Path("/engines/runc"), "UDOCKER_USE_RUNC_EXECUTABLE"),
}
DROP = ["/image/opt/tare/bin/drop", "--user", "7:8", "--"]


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(cgroups, "find_hierarchies", lambda: None)


def words(mode: Mode, user: User | None = None, devices: tuple[Device, ...] = ()) -> list[str]:
    return udocker._run(described(user=user, devices=devices), mode, ENGINES[mode])


@pytest.mark.usefixtures("root")
class TestArguments:
    @pytest.mark.parametrize("mode", Mode)
    def test_udocker_has_its_own_folder_and_none_of_the_callers_variables(
        self, mode: Mode, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("UDOCKER_DIR", "/of-the-user")
        argv = words(mode)
        after = argv[argv.index("--ignore-environment") :]
        engine = ENGINES[mode]
        assert {"HOME=/mnt/udocker/home", "UDOCKER_DIR=/mnt/udocker", "UDOCKER_TARBALL="} < set(after)
        assert f"{engine.variable}=/mnt/udocker/bin/{engine.name}" in after
        assert not [word for word in argv if "/of-the-user" in word]

    @pytest.mark.parametrize("mode", Mode)
    def test_no_word_of_udockers_own_names_the_state_folder_which_may_hold_a_colon(self, mode: Mode) -> None:
        argv = udocker._run(described(Path("/a:b/tare-1")), mode, ENGINES[mode])
        assert not [word for word in argv[argv.index("udocker") :] if "/a:b" in word]

    @pytest.mark.parametrize("mode", [Mode.P1, Mode.P2])
    def test_a_user_starts_proot_and_keeps_the_own_number(self, mode: Mode) -> None:
        argv = words(mode, user=User(7, 8))
        assert argv[argv.index(DROP[0]) :][:4] == DROP
        assert "--user=7" in argv[argv.index("udocker") :]

    def test_a_user_starts_runc_and_is_root_inside_which_is_the_only_user_there(self) -> None:
        argv = words(Mode.R1, user=User(7, 8))
        assert argv[argv.index(DROP[0]) :][:4] == DROP
        assert not [word for word in argv if word.startswith("--user=")]

    def test_root_starts_runc_without_rights_over_the_host_and_proot_as_it_is(self) -> None:
        namespace = ["unshare", "--user", "--map-root-user", "--mount", "--"]
        argv = words(Mode.R1)
        assert argv[argv.index("env") - 5 : argv.index("env")] == namespace
        assert "--map-root-user" not in words(Mode.P1)

    def test_only_p2_is_without_the_kernels_filter(self) -> None:
        assert [mode for mode in Mode if "PROOT_NO_SECCOMP=1" in words(mode)] == [Mode.P2]

    def test_devices_and_the_sized_shm_are_named_to_runc_which_makes_a_dev_of_its_own(self) -> None:
        device = Device(path=Path("/dev/dri/card0"), major=226, minor=0)
        named = {"--device=/dev/dri/card0", "--volume=/mnt/shm:/dev/shm"}
        assert named < set(words(Mode.R1, devices=(device,)))
        assert not named & set(words(Mode.P1, devices=(device,)))

    @pytest.mark.parametrize("mode", Mode)
    def test_the_hosts_files_that_udocker_would_show_are_left_out(self, mode: Mode) -> None:
        assert {"--novol=/etc/resolv.conf", "--novol=/etc/host.conf"} < set(words(mode))
        assert ("--novol=/lib/modules" in words(mode)) is mode.traced

    @pytest.mark.parametrize("mode", Mode)
    def test_the_shell_understands_its_script(self, mode: Mode) -> None:
        argv = words(mode)
        script = argv[argv.index("-c") + 1]
        done = subprocess.run(["sh", "-n", "-c", script], capture_output=True, check=False, timeout=30)
        assert (done.returncode, done.stderr) == (0, b"")

    def test_a_command_is_started_by_the_first_process_since_udocker_has_no_way_in(self) -> None:
        prefix = PROVIDER.prefix(Node(spec=described(), init_pid=77))
        assert prefix == ["/image/opt/tare/bin/enter", "/state/nodes/tare-1/layer/work/../.tare-1", "--"]


class TestRepository:
    @pytest.mark.parametrize("mode", Mode)
    def test_it_holds_one_container_in_the_mode_with_a_place_for_the_root(
        self, mode: Mode, tmp_path: Path
    ) -> None:
        spec = described(tmp_path / "tare-1")
        spec.directory.mkdir()
        udocker._make_repository(spec, mode, ENGINES[mode])
        (container,) = (spec.directory / "udocker" / "containers").iterdir()
        assert (container.name, (container / "execmode").read_text()) == ("tare-1", mode)
        assert json.loads((container / "container.json").read_text())
        assert list((container / "ROOT").iterdir()) == []
        assert (spec.directory / "udocker" / "bin" / ENGINES[mode].name).is_file()


class TestFirstProcess:
    def test_it_is_the_last_of_the_chain_and_those_above_it_are_helpers(self) -> None:
        chain = ["sh", "-c", "sh -c 'sleep 60; :'; :"]
        with subprocess.Popen(chain, stdin=subprocess.DEVNULL, start_new_session=True) as started:
            try:
                last = started.pid
                while Path(f"/proc/{last}/comm").read_text() != "sleep\n":
                    last = udocker._last_descendant(started.pid)
                helpers = PROVIDER.helpers(Node(spec=described(), init_pid=last))
            finally:
                os.killpg(started.pid, 9)
        assert len(helpers) == 2
        assert helpers[1] == started.pid

    def test_its_root_is_the_hosts_under_proot_and_yet_its_etc_hosts_is_the_nodes(self) -> None:
        node = Node(spec=described(), init_pid=os.getpid())
        assert not has_own_hosts(node)
        assert has_own_hosts(replace(node, own_hosts=True))

    def test_a_user_who_is_root_inside_owns_what_its_commands_write(self) -> None:
        node = Node(spec=described(user=User(7, 8)), init_pid=None, made_as_user=True, keeps_user=True)
        assert (node.user, node.owner) == (None, User(7, 8))

    def test_a_node_without_one_has_no_helpers(self) -> None:
        assert PROVIDER.helpers(Node(spec=described(), init_pid=None)) == []


class TestModes:
    def test_the_default_is_udockers_own(self) -> None:
        assert udocker._mode({}) is Mode.P1

    def test_proot_has_no_process_ids_of_its_own_and_runc_a_limit_of_its_own(self) -> None:
        assert PROVIDER.configured({"mode": "P2"}).shares == {Shared.HOST_NAME, Shared.PROCESS_IDS}
        assert PROVIDER.configured({"mode": "R1"}).shares == {Shared.HOST_NAME}
        assert PROVIDER.chosen({}) == Chosen()
        assert PROVIDER.chosen({"mode": "R1"}).labels == {"limit of nofile"}

    @pytest.mark.parametrize("mode", ["F3", "p1", 1])
    def test_a_mode_that_tare_does_not_run_is_refused_with_those_that_it_does(self, mode: str | int) -> None:
        complaints = PROVIDER.check_options({"mode": mode})
        assert complaints == {"mode": f"must be one of P1, P2, R1, but is {mode!r}"}

    @pytest.mark.parametrize("engine", ["", 5, True])
    def test_an_engine_is_the_path_of_a_program(self, engine: str | int) -> None:
        complaints = PROVIDER.check_options({"engine": engine})
        assert complaints == {"engine": f"must be the path of a program, but is {engine!r}"}


@pytest.mark.usefixtures("root")
class TestProbe:
    @pytest.fixture(autouse=True)
    def a_home_and_a_kernel(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        machine = os.uname()
        known = os.uname_result((machine.sysname, machine.nodename, RELEASE, machine.version, "x86_64"))
        monkeypatch.setattr(os, "uname", lambda: known)

    def recorded(self, *names: str) -> list[dict[str, object]]:
        texts = [(OUTPUTS / f"{name}.txt").read_text() for name in names]
        return parse("\n".join(texts), release=RELEASE, place="/tmp/tare")

    def test_without_udocker_it_names_the_package(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.remedy) == (False, "pip install udocker")

    def test_a_udocker_that_fails_is_quoted(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", self.recorded("no-version"), {"udocker"}):
            probe = PROVIDER.probe()
        assert not probe.usable
        assert probe.reason.endswith("ModuleNotFoundError: No module named 'udocker'")

    def test_without_the_engine_it_says_how_to_get_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", self.recorded("version"), {"udocker"}):
            probe = PROVIDER.probe()
        assert probe.reason == "PRoot, which runs udocker's mode P1, is not on this host"
        assert probe.remedy.startswith("udocker install, which fetches PRoot")

    def test_without_runc_it_names_the_package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", self.recorded("version"), {"udocker"}):
            probe = PROVIDER.configured({"mode": "R1"}).probe()
        assert probe.reason == "runc or crun, which runs udocker's mode R1, is not on this host"
        assert "runc" in probe.remedy

    def test_r1_takes_runc_of_the_host(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = self.recorded("version", "runc")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"udocker", "runc"}):
            probe = PROVIDER.configured({"mode": "R1"}).probe()
        assert (probe.usable, probe.version) == (True, "1.3.17, mode R1 by runc")

    def test_a_proot_that_is_too_old_for_this_kernel_is_not_used(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = self.recorded("version", "proot-5.1.0")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"udocker", "proot"}):
            probe = PROVIDER.configured({"engine": "proot"}).probe()
        assert not probe.usable
        assert probe.reason.startswith("proot fails: true: error while loading shared libraries: libc.so.6")

    def test_p1_takes_the_proot_that_udocker_installed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place = tmp_path / ".udocker" / "bin"
        place.mkdir(parents=True)
        (place / "proot").symlink_to("/bin/true")
        with only_tools(monkeypatch, tmp_path / "bin", self.recorded("version"), {"udocker"}):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.version) == (True, "1.3.17, mode P1 by proot")


@given(st.lists(st.integers(0, 999), min_size=2, max_size=4), st.text(max_size=40))
def test_its_version_is_read_whatever_stands_around_it(numbers: list[int], around: str) -> None:
    version = ".".join(map(str, numbers))
    others = around.replace("version: ", "")
    assert udocker.parse_version(f"{others}\nversion: {version}\n{others}") == version


def test_an_output_without_a_version_has_none() -> None:
    assert udocker.parse_version("Error: do not run as root !\n") is None
