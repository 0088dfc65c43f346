# SPDX-License-Identifier: Apache-2.0
"""enroot's command line, its settings and its probe; the contract's tests run the tool itself, where it is here."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.contract.contract_nodes import execute, make_spec, running
from tests.environments.environment_example import described
from tests.environments.transcripts import only_tools, replayed
from tests.real_environments import skip_unless_usable

from tare.environments import PROVIDERS, enroot
from tare.errors import NodeError
from tare.host import cgroups
from tare.image.store import Image
from tare.nodes.provider import Bind, Node
from tare.records import Storage, User

PROVIDER = PROVIDERS["enroot"]


class TestArguments:
    def test_a_writable_root_is_started_with_everything_mounted_below_it(self) -> None:
        words = enroot._run(described())
        assert words[words.index("enroot") :] == [
            *("enroot", "start", "--rw", "--rc", "/mnt/rc", "--env", "HOME=/"),
            *("--mount", "/mnt/all:/:none:rbind", "--", "root"),
        ]

    def test_no_path_of_the_nodes_reaches_enroot_which_takes_no_space_and_no_colon(self) -> None:
        spec = described(Path("/a b:c/tare-1"), binds=(Bind(path=Path("/d e:f")),))
        words = enroot._run(spec)
        assert words[3:5] == ["/a b:c/tare-1/layer/enroot", "/a b:c/tare-1/root"]
        assert not [word for word in words[5:] if re.search(r"[\s]|a b|d e", word)]

    def test_neither_folders_nor_settings_are_the_hosts_or_the_users(self) -> None:
        words = enroot._run(described())
        settings = dict(word.split("=", 1) for word in words if word.startswith("ENROOT_"))
        assert {settings[f"ENROOT_{name}_PATH"] for name in ("SYSCONF", "CONFIG")} == {"/mnt/none"}
        assert all(value.startswith("/mnt") for name, value in settings.items() if name.endswith("_PATH"))
        assert settings["ENROOT_LOGIN_SHELL"] == "yes"
        assert settings["ENROOT_ALLOW_SUPERUSER"] == settings["ENROOT_UNSHARE_PID"] == "no"

    def test_a_user_starts_enroot_and_is_the_only_one_inside(self) -> None:
        words = enroot._run(described(user=User(7, 8)))
        at = words.index("/mnt/root/opt/tare/bin/drop")
        assert words[at : at + 5] == ["/mnt/root/opt/tare/bin/drop", "--user", "7:8", "--", "env"]
        assert "/mnt/root/opt/tare/bin/drop" not in enroot._run(described())

    def test_a_command_is_a_child_of_the_first_process(self) -> None:
        assert PROVIDER.prefix(Node(spec=described(), init_pid=77)) == [
            *("/image/opt/tare/bin/enter", "/state/nodes/tare-1/layer/work/../.tare-1", "--")
        ]

    def test_an_image_by_which_enroot_would_write_to_the_host_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / ".lock").symlink_to("/etc/passwd")
        with pytest.raises(NodeError, match=r"the image's /\.lock is a link"):
            PROVIDER.start(described(tmp_path / "tare-1", image_root=tmp_path))
        assert not (tmp_path / "tare-1").exists()

    def test_handing_over_follows_no_link(self, tmp_path: Path) -> None:
        (tmp_path / "lock").symlink_to(tmp_path / "another")
        with pytest.raises(OSError, match="symbolic links"):
            enroot._hand_over(tmp_path / "lock", tmp_path, User(7, 8))
        assert not (tmp_path / "another").exists()


class TestProbe:
    @pytest.fixture(autouse=True)
    def root(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(cgroups, "find_hierarchies", lambda: None)

    def test_a_host_without_it_is_told_where_it_comes_from(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            probe = PROVIDER.probe()
        assert not probe.usable
        assert "'enroot' is not on this host" in probe.reason
        assert "github.com/NVIDIA/enroot" in probe.remedy

    @pytest.mark.parametrize("version", ["3.4.1", "4.1.2"])
    def test_its_version_is_told(self, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with replayed(monkeypatch, tmp_path / "bin", f"enroot/{version}.txt"):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.version) == (True, f"enroot {version}")

    @pytest.mark.parametrize(
        ("transcript", "reason", "remedy"),
        [
            ("no-library", r"enroot fails: .*/common\.sh: No such file or directory", "install a release"),
            ("another-program", r"enroot fails: Usage: enroot \[--help\]", "install a release"),
            ("no-namespaces", r"enroot cannot make its namespaces: .*No space left on device", "allow user"),
        ],
    )
    def test_one_that_does_not_work_is_not_used(
        self, transcript: str, reason: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with replayed(monkeypatch, tmp_path / "bin", f"enroot/{transcript}.txt"):
            probe = PROVIDER.probe()
        assert not probe.usable
        assert re.fullmatch(reason, probe.reason)
        assert probe.remedy.startswith(remedy)

    def test_its_folders_at_home_are_not_made(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """As a fake that makes them where it is told to, as enroot does."""
        (tmp_path / "enroot").write_text(
            '#!/bin/sh\nmkdir -p "${ENROOT_DATA_PATH:-$HOME/data}" "${ENROOT_CACHE_PATH:-$HOME/cache}"'
            ' "${ENROOT_RUNTIME_PATH:-$HOME/run}" && echo 4.1.2\n'
        )
        (tmp_path / "enroot-nsenter").write_text("#!/bin/sh\n")
        for name in ("enroot", "enroot-nsenter"):
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        assert PROVIDER.probe().usable
        assert not (tmp_path / "home").exists()


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
@pytest.mark.parametrize("storage", Storage)
def test_a_users_node_has_nothing_of_the_hosts_and_is_made_in_a_folder_closed_to_that_user(
    image: Image, state: Path, storage: Storage
) -> None:
    skip_unless_usable(PROVIDER.probe(), "enroot")
    spec = make_spec(PROVIDER, image, state, user=User(65530, 65530), storage=storage)
    with running(PROVIDER, spec) as (node,):
        assert execute(PROVIDER, node, "id", "-u").stdout == b"65530\n"
        assert spec.directory.stat().st_mode & 0o077 == 0
        assert (spec.work.stat().st_uid, spec.work.stat().st_gid) == (os.geteuid(), os.getegid())
        seen = execute(PROVIDER, node, "cat", "/proc/self/mounts").stdout.decode().splitlines()
        names = ["/proc/self/ns/user", "/proc/self/ns/mnt"]
        inside = execute(PROVIDER, node, "readlink", *names).stdout
        own = subprocess.run(["readlink", *names], capture_output=True, check=True).stdout
    points = {line.split()[1] for line in seen}
    assert points == {"/", "/proc", "/sys", "/dev", "/dev/pts", "/dev/shm", "/mnt/tare", "/.lock"}
    assert not set(inside.splitlines()) & set(own.splitlines())
