# SPDX-License-Identifier: Apache-2.0
"""Charliecloud: what its nodes have of their own, where ch-run would show the host's; really run where it is here."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.contract.contract_nodes import execute, make_spec, running
from tests.environments.environment_example import described
from tests.environments.transcripts import only_tools, parse
from tests.real_environments import ready_provider

from tare.environments import PROVIDERS, charliecloud
from tare.host import cgroups
from tare.image.store import Image
from tare.nodes.provider import Node, NodeNetwork, Provider
from tare.records import Storage, User

PROVIDER = PROVIDERS["charliecloud"]


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
@pytest.mark.parametrize("provider", ["charliecloud"], indirect=True)
class TestNode:
    @pytest.fixture
    def provider(self, request: pytest.FixtureRequest, image: Image) -> Provider:
        return ready_provider(request, image)

    @pytest.mark.parametrize("name", ["/tmp/tare-test", "/etc/hosts", "/etc/machine-id", "/etc/resolv.conf"])
    def test_what_is_written_where_the_tool_would_show_the_host_stays_in_the_node(
        self, name: str, provider: Provider, image: Image, state: Path
    ) -> None:
        before = Path(name).read_bytes() if Path(name).exists() else None
        with running(provider, make_spec(provider, image, state)) as (node,):
            written = execute(provider, node, "tee", name, given=b"the node's")
            read = execute(provider, node, "cat", name)
        assert (written.returncode, read.stdout) == (0, b"the node's")
        assert (Path(name).read_bytes() if Path(name).exists() else None) == before

    def test_the_hosts_sys_cannot_be_written(self, provider: Provider, image: Image, state: Path) -> None:
        with running(provider, make_spec(provider, image, state)) as (node,):
            refused = execute(provider, node, "sh", "-c", "echo x > /sys/kernel/profiling")
            groups = execute(provider, node, "ls", "/sys/fs/cgroup")
        assert b"Read-only file system" in refused.stderr
        assert groups.stdout == b""

    def test_all_commands_of_a_node_are_in_one_container(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        """Processes of two may not read each other's memory, as MPI does to copy but once (ch-run(1), --join)."""
        with running(provider, make_spec(provider, image, state)) as (node,):
            namespaces = [
                execute(provider, node, "readlink", "/proc/self/ns/user", "/proc/self/ns/mnt").stdout
                for _ in range(2)
            ]
            own = subprocess.run(
                ["readlink", "/proc/self/ns/user", "/proc/self/ns/mnt"], capture_output=True, check=True
            ).stdout
        assert namespaces[0] == namespaces[1] != own

    def test_the_variable_that_the_tool_demands_does_not_reach_a_command(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        with running(provider, make_spec(provider, image, state)) as (node,):
            variables = execute(provider, node, "env").stdout
        assert b"USER=" not in variables


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
@pytest.mark.parametrize("storage", Storage)
def test_an_ordinary_users_node_is_made_in_a_folder_that_is_closed_to_that_user(
    image: Image, state: Path, storage: Storage
) -> None:
    if not (probe := PROVIDER.probe()).usable:
        pytest.skip(probe.reason)
    spec = make_spec(PROVIDER, image, state, user=User(65530, 65530), storage=storage)
    with running(PROVIDER, spec) as (node,):
        assert execute(PROVIDER, node, "id", "-u").stdout == b"65530\n"
        assert spec.directory.stat().st_mode & 0o077 == 0


class TestArguments:
    @pytest.fixture(autouse=True)
    def a_host_with_groups(self, monkeypatch: pytest.MonkeyPatch) -> None:
        group = cgroups.Group(cgroups.V2, {"cpu": Path("/groups/tare-1")})
        monkeypatch.setattr(cgroups, "own_group", lambda _: group)

    def test_a_command_joins_the_group_the_network_and_the_first_process(self) -> None:
        network = NodeNetwork(namespace=Path("/state/network"))
        assert PROVIDER.prefix(Node(spec=described(network=network), init_pid=77)) == [
            *("/image/opt/tare/bin/join", "/groups/tare-1/cgroup.procs", "--net=/state/network", "--"),
            *("env", "--chdir=/", "USER=root", "ch-run", "--unset-env=USER", "--join-pid=77"),
            *("/state/nodes/tare-1/root", "--"),
        ]

    def test_an_ordinary_user_starts_the_tool_and_is_no_root_inside(self) -> None:
        spec = described(user=User(7, 8))
        prefix = PROVIDER.prefix(Node(spec=spec, init_pid=77, made_as_user=True))
        assert [
            *("/image/opt/tare/bin/drop", "--user", "7:8", "--"),
            *(
                "env",
                "--chdir=/",
                "USER=root",
                "ch-run",
                "--unset-env=USER",
                "--join-pid=77",
                "/mnt/root",
                "--",
            ),
        ] == prefix[-12:]
        assert not [word for word in charliecloud._options(spec) if word.startswith(("--uid", "--gid"))]

    def test_no_bind_of_the_tools_names_the_state_folder_which_may_hold_a_colon(self, tmp_path: Path) -> None:
        spec = described(tmp_path / "a:b" / "tare-1", image_root=tmp_path / "image")
        for name in ("dev", "sys", "tmp", "etc"):
            (spec.image_root / name).mkdir(parents=True)
        binds = [word for word in charliecloud._options(spec) if word.startswith("--bind")]
        assert binds == ["--bind=dev:/dev", "--bind=sys:/sys", "--bind=tmp:/tmp"]

    def test_files_are_bound_as_far_as_the_image_has_them(self, tmp_path: Path) -> None:
        spec = described(tmp_path / "tare-1", image_root=tmp_path / "image")
        etc = spec.image_root / "etc"
        etc.mkdir(parents=True)
        (etc / "hosts").touch()
        (etc / "resolv.conf").symlink_to("/run/resolv.conf")
        assert charliecloud._options(spec)[-1] == "--bind=etc/hosts:/etc/hosts"


class TestProbe:
    @pytest.fixture(autouse=True)
    def root(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(cgroups, "find_hierarchies", lambda: None)

    def test_a_missing_tool_names_the_package_that_has_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.remedy) == (False, "apt-get install charliecloud-runtime")

    @pytest.mark.parametrize("mark", [">", "!"])
    def test_its_version_may_stand_on_either_output(
        self, mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(f"$ ch-run --version\n{mark} 0.31\n$ ch-checkns\n> ok")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"ch-run", "ch-checkns"}):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.version) == (True, "0.31")

    @pytest.mark.parametrize(
        ("transcript", "reason", "remedy"),
        [
            (
                "$ ch-run --version\n! no such library\n= 127\n$ ch-checkns\n= 127",
                "ch-run fails: no such library",
                "reinstall charliecloud-runtime",
            ),
            (
                "$ ch-run --version\n! 0.31\n$ ch-checkns\n! error: unshare: No space left on device\n= 1",
                "ch-run cannot make its namespaces: error: unshare: No space left on device",
                "allow user namespaces",
            ),
        ],
    )
    def test_a_tool_that_does_not_work_is_not_used(
        self, transcript: str, reason: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", parse(transcript), {"ch-run", "ch-checkns"}):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.reason) == (False, reason)
        assert probe.remedy.startswith(remedy)
