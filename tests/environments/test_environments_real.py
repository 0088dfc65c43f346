# SPDX-License-Identifier: Apache-2.0
"""Odd names, missing tools and failing starts, tried for real where the technology is on this machine."""

import os
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.real_environments import BROUGHT, ready_provider

from tare.environments import PROVIDERS, fake
from tare.errors import NodeError
from tare.host import cgroups, mounts, process
from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure.running import NodeTimes, running_nodes
from tare.nodes import confined
from tare.nodes.provider import Bind, Node, NodeSpec, Provider
from tare.nodes.unprivileged import AlsoUnprivileged

MEBIBYTE = 1 << 20
REAL = [name for name, value in PROVIDERS.items() if name not in {"fake", *BROUGHT} and not value.takes_tap]
"""But for virtual machines, which have more memory and tests of their own."""
ROOTS = [name for name in REAL if not isinstance(PROVIDERS[name], AlsoUnprivileged)]
AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]
OTHERWISE_NAMED = {"docker", "singularity", "openvz", "vserver"}
"""Their control groups are not named after the node."""
PACKAGES = {
    "charliecloud": "charliecloud-runtime",
    "docker": "docker.io",
    "podman": "podman",
    "lxc": "lxc",
    "systemd-nspawn": "systemd-container",
    "bubblewrap": "bubblewrap",
}


@pytest.fixture
def provider(request: pytest.FixtureRequest, image: Image) -> Provider:
    return ready_provider(request, image)


def real_spec(provider: Provider, image: Image, state: Path, **changes: object) -> NodeSpec:
    name = f"tare-test-{secrets.token_hex(4)}"
    values: dict[str, object] = {
        "name": name,
        "technology": provider.technology,
        "options": {},
        "directory": state / "nodes" / name,
        "image_root": image.root,
        "image_digest": image.digest,
        "processors": (online_processors()[-1],),
        "memory_byte": 128 * MEBIBYTE,
        "shm_byte": 4 * MEBIBYTE,
        "cpu_quota": None,
    }
    return NodeSpec(**{**values, **changes})  # type: ignore[arg-type]


class TestOddNames:
    pytestmark = AS_ROOT

    @pytest.mark.parametrize("provider", REAL, indirect=True)
    @pytest.mark.parametrize("name", ["in put", "a,b", "a:b", "back\\slash", "#hash", "ünïcode", 'quo"te'])
    def test_a_bound_folder_and_a_state_folder_of_any_name_work(
        self, provider: Provider, name: str, image: Image, tmp_path: Path
    ) -> None:
        if provider.technology == "sarus" and "," in name:
            pytest.skip("sarus: its --mount takes no comma in a path, which tare says")
        data = tmp_path / "data" / name
        data.mkdir(parents=True)
        (data / "file").write_text("found")
        binds = (Bind(path=data, writable=True),)
        spec = real_spec(provider, image, tmp_path / f"state {name}", binds=binds)
        times = NodeTimes()
        with running_nodes([spec], {provider.technology: provider}, times) as (node,):
            said = inside(provider, node, "cp", f"{data}/file", f"{node.work_directory}/copy")
            assert said.stderr == b""
            assert (spec.work / "copy").read_text() == "found"
        assert times.problems == []
        assert (data / "file").read_text() == "found"
        assert mounts.mounts_below(tmp_path) == []


class TestGuard:
    pytestmark = AS_ROOT

    @pytest.fixture
    def data(self, tmp_path: Path) -> Iterator[Path]:
        """A folder of the user's with another file system mounted below it."""
        below = tmp_path / "data" / "below"
        below.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tare-test", str(below)], check=True)
        (below / "file").write_text("precious")
        yield tmp_path / "data"
        subprocess.run(["umount", "--lazy", str(below)], check=True)

    @pytest.mark.parametrize("provider", REAL, indirect=True)
    def test_what_is_mounted_below_a_guarded_folder_is_seen_and_guarded_too(
        self, provider: Provider, image: Image, state: Path, data: Path
    ) -> None:
        spec = real_spec(provider, image, state, binds=(Bind(path=data),))
        times = NodeTimes()
        with running_nodes([spec], {provider.technology: provider}, times) as (node,):
            seen = inside(provider, node, "cat", f"{data}/below/file").stdout
            refused = inside(provider, node, "rm", "-f", f"{data}/below/file")
        assert seen == b"precious"
        assert refused.returncode != 0
        assert (data / "below" / "file").read_text() == "precious"
        assert times.problems == []


def inside(provider: Provider, node: Node, *argv: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*provider.prefix(node), *argv],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
        env=process.tool_environment(),
    )


class TestProbe:
    @pytest.mark.parametrize("technology", PACKAGES)
    def test_a_missing_tool_names_the_package_that_has_it(
        self, technology: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(process, "_DEFAULT_PATH", str(tmp_path))
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        probe = PROVIDERS[technology].probe()
        assert not probe.usable
        assert probe.reason
        assert probe.remedy == f"apt-get install {PACKAGES[technology]}"

    @pytest.mark.parametrize("technology", ROOTS)
    def test_without_root_it_says_to_be_root(self, technology: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
        probe = PROVIDERS[technology].probe()
        assert (probe.usable, probe.remedy) == (False, "run as root")

    def test_without_control_groups_it_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def none() -> None:
            raise NodeError("no control groups are mounted")

        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr("tare.host.cgroups.find_hierarchies", none)
        probe = confined.probe_root()
        assert not probe.usable
        assert "no control groups" in probe.reason

    @pytest.mark.parametrize(
        ("script", "reason", "remedy"),
        [
            ("echo broken library >&2; exit 127", "bwrap fails: broken library", "reinstall bubblewrap"),
            ("sleep 60", "did not end within", "apt-get install bubblewrap"),
        ],
    )
    def test_a_tool_that_fails_or_hangs_is_not_usable(
        self, script: str, reason: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr("tare.host.cgroups.find_hierarchies", lambda: None)
        monkeypatch.setattr(confined, "_PROBE_LIMIT_S", 0.3)
        (tmp_path / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bwrap").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
        probe = PROVIDERS["bubblewrap"].probe()
        assert not probe.usable
        assert reason in probe.reason
        assert probe.remedy == remedy


class TestControlGroups:
    pytestmark = AS_ROOT
    SHARED = ("payload", "supervisor", "lxc.pivot", "lxc.monitor")
    """What systemd-nspawn and LXC would make at the top of every hierarchy, and leave there."""

    def groups(self) -> set[Path]:
        return {path for name in self.SHARED for path in Path("/sys/fs/cgroup").glob(f"**/{name}")}

    @pytest.mark.parametrize(
        "provider", [name for name in REAL if name not in OTHERWISE_NAMED], indirect=True
    )
    def test_none_is_left_in_any_hierarchy(self, provider: Provider, image: Image, state: Path) -> None:
        spec, before = real_spec(provider, image, state), self.groups()
        with running_nodes([spec], {provider.technology: provider}, NodeTimes()):
            assert any(Path("/sys/fs/cgroup").glob(f"**/*{spec.name}"))
        assert not any(Path("/sys/fs/cgroup").glob(f"**/*{spec.name}"))
        cgroups.remove_parent_if_empty()
        assert self.groups() <= before
        assert not any(Path("/sys/fs/cgroup").glob(f"*/{cgroups.PARENT}/{cgroups.ENDING}"))


class TestLxc:
    pytestmark = AS_ROOT

    @pytest.mark.parametrize("provider", ["lxc"], indirect=True)
    def test_a_start_that_fails_gives_its_reason_and_leaves_nothing(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        spec = real_spec(provider, image, state, processors=(4095,))
        times = NodeTimes()
        with (
            pytest.raises(NodeError, match=r"lxc-start ended with 1: .*cgroup"),
            running_nodes([spec], {"lxc": provider}, times),
        ):
            pytest.fail("it must not run")
        assert times.problems == []
        assert mounts.mounts_below(state) == []
        assert not any(Path("/sys/fs/cgroup").glob(f"*/*{spec.name}*"))


class TestFake:
    def test_what_it_wrote_goes_and_a_second_stop_is_harmless(self, tmp_path: Path) -> None:
        provider = fake.Fake()
        spec = NodeSpec(
            name="tare-x",
            technology="fake",
            options={"slowdown": 0.25},
            directory=tmp_path / "tare-x",
            image_root=Path("/image"),
            image_digest="",
            processors=(0,),
            memory_byte=1,
            shm_byte=1,
            cpu_quota=None,
        )
        node = provider.start(spec)
        assert node.variables == {"TARE_FAKE_SLOWDOWN": "0.25"}
        assert node.tools_directory == "/image/opt/tare/bin"
        assert provider.prefix(node) == []
        provider.stop(spec)
        provider.stop(spec)
        assert list(spec.directory.iterdir()) == []
