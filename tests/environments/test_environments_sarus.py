# SPDX-License-Identifier: Apache-2.0
"""Sarus's command line, its probe and the image that it loads; the contract's tests run the tool where it is."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import REPOSITORY
from tests.contract.contract_nodes import execute, make_spec, running
from tests.environments.environment_example import described
from tests.environments.transcripts import only_tools, parse
from tests.real_environments import ready_provider

from tare.environments import PROVIDERS, sarus, sarus_image
from tare.errors import NodeError
from tare.host import cgroups
from tare.host.paths import sarus_directory
from tare.image.store import Image
from tare.nodes.devices import Device
from tare.nodes.provider import Bind, Provider
from tare.records import User

PROVIDER = PROVIDERS["sarus"]
DIGEST = "sha256:" + "ab" * 32
CONFIGURATION = (REPOSITORY / "tests" / "outputs" / "sarus" / "sarus.json").read_text()
VERSION = "$ sarus --version\n> 1.7.0"


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(cgroups, "find_hierarchies", lambda: None)


@pytest.fixture
def central(tmp_path: Path) -> Path:
    """The site's repository; and beside it the configuration of a Sarus whose programs are in ``bin``."""
    folder = tmp_path / "central"
    folder.mkdir()
    (tmp_path / "etc").mkdir()
    configure(tmp_path, CONFIGURATION.replace("{central}", str(folder)))
    return folder


def configure(prefix: Path, text: str) -> None:
    (prefix / "etc" / "sarus.json").write_text(text)


class TestArgv:
    def test_root_runs_a_container_of_the_loaded_image_with_a_process_namespace(self) -> None:
        words = sarus._run(
            described(binds=(Bind(path=Path("/data")), Bind(path=Path("/out"), writable=True)))
        )
        assert words[:2] == ["env", "--ignore-environment"]
        assert words[3:] == [
            *("sarus", "run", "--centralized-repository", "--name=tare-1-sarus", "--pid=private"),
            *("--workdir=/", "--mount=type=bind,source=/media/work,destination=/mnt/tare"),
            "--mount=type=bind,source=/media/0,destination=/data,readonly",
            "--mount=type=bind,source=/media/1,destination=/out",
            *("load/library/tare:image", "/opt/tare/bin/init", "attend", "/mnt/tare/.tare-1.way/socket"),
        ]

    def test_another_user_is_the_real_user_as_of_a_set_user_id_program(self) -> None:
        words = sarus._run(described(user=User(7, 8)))
        assert words[:5] == ["setpriv", "--ruid=7", "--rgid=8", "--clear-groups", "--"]

    def test_devices_are_passed_by_their_paths(self) -> None:
        device = Device(path=Path("/dev/dri/card0"), major=226, minor=0)
        assert "--device=/dev/dri/card0" in sarus._run(described(devices=(device,)))

    def test_it_sees_the_images_repository_its_own_shm_and_no_path_of_the_state_folders(
        self, central: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec = described(Path("/state a,b/tare-1"), binds=(Bind(path=Path("/data")),))
        monkeypatch.setattr(sarus_image, "repository_place", lambda: central)
        monkeypatch.setattr(sarus, "repository_place", lambda: central)
        seen, words = Path("/state a,b/tare-1/layer/seen"), sarus._seeing(spec, tmp_path)
        assert words[:3] == ["unshare", "--mount", "--"]
        assert f"size={16 << 20},mode=1777,nosuid,nodev" in words
        assert list(map(Path, words[-9:-1])) == [
            *(tmp_path, central),
            *(seen.with_name("work"), seen / "work"),
            *(seen.with_name("bound") / "0", seen / "0"),
            *(seen, Path("/media")),
        ]
        assert "/state" not in " ".join(sarus._run(spec))

    @given(st.text(st.characters(exclude_characters="\0"), max_size=20))
    def test_a_path_is_mounted_as_it_is_or_refused(self, name: str) -> None:
        target = f"/data/{name}"
        if "," in name or "=" in name:
            with pytest.raises(NodeError, match="takes no comma and no equals sign"):
                sarus._mount(Path("/media/0"), target, writable=True)
        else:
            word = sarus._mount(Path("/media/0"), target, writable=True)
            fields = dict(pair.split("=") for pair in word.removeprefix("--mount=").split(","))
            assert fields == {"type": "bind", "source": "/media/0", "destination": target}


class TestGroups:
    def test_version_2_has_one_hierarchy(self) -> None:
        group = cgroups.Group(cgroups.V2, {"cpu": Path("/groups/tare-1")})
        assert sarus._everywhere(described(), group) is group

    def test_version_1_gets_the_nodes_group_in_hierarchies_without_limits_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        host = cgroups.Hierarchies(version=cgroups.V1, mounts={"cpu": tmp_path / "cpu"})
        monkeypatch.setattr(cgroups, "find_hierarchies", lambda: host)
        monkeypatch.setattr(sarus, "group_mounts", lambda: (tmp_path / "cpu", tmp_path / "devices"))
        group = cgroups.Group(cgroups.V1, {"cpu": tmp_path / "cpu/tare/tare-1"})
        paths = sarus._everywhere(described(), group).paths
        assert paths == [f"{tmp_path}/{name}/tare/tare-1" for name in ("cpu", "devices")]
        assert Path(paths[1]).is_dir()


def test_what_the_runtime_noted_is_removed_with_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("0/tare-1-sarus", "0/tare-2-sarus", "65530/tare-1-sarus"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(sarus, "_NOTES", tmp_path)
    monkeypatch.setattr("tare.nodes.confined.remove", lambda _: None)
    PROVIDER.stop(described())
    assert [path.name for path in tmp_path.glob("*/*")] == ["tare-2-sarus"]


@pytest.mark.usefixtures("root")
class TestProbe:
    def test_without_it_the_project_that_makes_it_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            probe = PROVIDER.probe()
        assert not probe.usable
        assert "install Sarus 1.7 or later (github.com/eth-cscs/sarus)" in probe.remedy

    @pytest.mark.usefixtures("central")
    @pytest.mark.parametrize(
        ("said", "usable"),
        [
            ("1.7.0", True),
            ("1.7.0-12-g4a8fdc4", True),
            ("2.0.0", True),
            ("1.6.4", False),
            ("VERSION-NOT-AVAILABLE", False),
            ("", False),
        ],
    )
    def test_it_must_be_recent(
        self, said: str, usable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(f"$ sarus --version\n> {said}")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"sarus"}):
            probe = PROVIDER.probe()
        assert probe.usable is usable
        assert probe.version == f"Sarus {said}" if usable else "too old or unknown" in probe.reason

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (CONFIGURATION, "is no directory: {central}"),
            (CONFIGURATION.replace("centralizedRepositoryDir", "other"), "is no directory: not set"),
            (CONFIGURATION[:100], "etc/sarus.json is not understood"),
            (CONFIGURATION.replace('"{central}"', "7"), "centralizedRepositoryDir is '7', no str"),
        ],
    )
    def test_without_a_centralized_repository_it_is_not_usable(
        self, text: str, reason: str, central: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configure(central.parent, text)
        with only_tools(monkeypatch, tmp_path / "bin", parse(VERSION), {"sarus"}):
            probe = PROVIDER.probe()
        assert not probe.usable
        assert reason in probe.reason
        assert "centralizedRepositoryDir" in probe.remedy


class TestLoading:
    @pytest.fixture
    def calls(self, state: Path, central: Path, tmp_path: Path) -> list[dict[str, Any]]:
        """With ``tar`` and ``sarus`` replayed."""
        new = state / "sarus" / ".new"
        folder, image = new / "archive", tmp_path / "image"
        image.mkdir()
        shown = f"{new}/repository {central} --"
        return parse(f"""
$ tar --numeric-owner --xattrs -C {image} -cf {folder}/layer.tar .
@ write {folder}/layer.tar layer
$ tar -C {folder} -cf {folder}/image.tar manifest.json config.json layer.tar
$ unshare --mount -- sh -c '{sarus_image._SHOWING}' sh {shown} env HOME={folder} sarus load --centralized-repository
  --temp-dir={folder} {folder}/image.tar tare:image
@ write {new}/repository/images/load/library/tare/image.squashfs hsqs
""")

    def test_it_is_loaded_once_and_what_is_half_made_is_gone(
        self, calls: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"tar", "unshare", "sarus"}):
            made = sarus_image.image_repository(tmp_path / "image", DIGEST)
            assert sarus_image.image_repository(tmp_path / "image", DIGEST) == made
        assert made == sarus_directory() / ("ab" * 32)
        squashfs = made / "images/load/library/tare/image.squashfs"
        assert (squashfs.read_text(), squashfs.stat().st_mode & 0o777) == ("hsqs\n", 0o400)
        assert sorted(path.name for path in made.parent.iterdir()) == [".lock", made.name]

    def test_a_load_that_fails_leaves_nothing_and_says_what_sarus_said(
        self, calls: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls[-1] |= {"code": 1, "acts": [], "stderr": "Failed to copy 'image.tar' to OCI image\n"}
        with (
            only_tools(monkeypatch, tmp_path / "bin", calls, {"tar", "unshare", "sarus"}),
            pytest.raises(NodeError, match=r"Failed to copy 'image\.tar' to OCI image"),
        ):
            sarus_image.image_repository(tmp_path / "image", DIGEST)
        assert [path.name for path in sarus_directory().iterdir()] == [".lock"]


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
@pytest.mark.parametrize("provider", ["sarus"], indirect=True)
class TestNode:
    @pytest.fixture
    def provider(self, request: pytest.FixtureRequest, image: Image) -> Provider:
        return ready_provider(request, image)

    def test_a_users_node_is_the_users_and_nothing_is_left_of_it(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        spec = make_spec(provider, image, state, user=User(65530, 65530))
        with running(provider, spec) as (node,):
            assert execute(provider, node, "id", "-u").stdout == b"65530\n"
            assert len(provider.helpers(node)) == 2
            assert list(Path("/run/runc").glob(f"65530/{spec.name}*")) != []
        assert list(Path("/run/runc").glob(f"*/{spec.name}*")) == []
