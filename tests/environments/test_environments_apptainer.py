# SPDX-License-Identifier: Apache-2.0
"""Apptainer's command line, its forms and its probe; the contract's tests run the tool itself, from a SIF."""

import csv
import os
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.contract_nodes import execute, make_spec, running
from tests.environments.environment_example import described
from tests.environments.transcripts import only_tools, parse
from tests.real_environments import make_sifs_quickly, skip_unless_usable

from tare.environments import PROVIDERS, apptainer, apptainer_fakeroot, apptainer_sif
from tare.errors import NodeError
from tare.host.paths import sifs_directory
from tare.host.user_namespaces import Obstacle
from tare.image.store import Image
from tare.nodes.provider import Bind

PROVIDER = PROVIDERS["apptainer"]
DIGEST = "sha256:" + "ab" * 32
CLOSED = Obstacle("/dev/fuse is closed to you", "ask the administrator")


@pytest.fixture(autouse=True)
def tried_anew() -> None:
    apptainer_sif.obstacle.cache_clear()


@pytest.fixture
def mountable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apptainer_sif, "obstacle", lambda: None)


@pytest.fixture
def unmountable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apptainer_sif, "obstacle", lambda: CLOSED)


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("tare.host.cgroups.find_hierarchies", lambda: None)


class TestArgv:
    @pytest.mark.parametrize("sif", [None, Path("/sifs/a.sif")])
    def test_a_node_takes_nothing_of_the_host_but_what_is_bound(self, sif: Path | None) -> None:
        words = apptainer._run(described(binds=(Bind(path=Path("/data")),)), sif)
        assert {"--contain", "--cleanenv", "--no-home", "--pid", "--no-init"} < set(words)
        assert words[words.index("--no-mount") + 1] == "tmp,hostfs,cwd,bind-paths"
        assert any(word.endswith("destination=/data,ro") for word in words)
        assert ("--writable" in words) is (sif is None)
        assert words[-1] == str(sif or described().directory / "root")

    def test_a_sif_has_the_layer_where_apptainer_would_show_the_hosts_folders(self, tmp_path: Path) -> None:
        spec = described(tmp_path, image_root=tmp_path / "image")
        for name in ("tmp", "root", "etc", "var"):
            (spec.image_root / name).mkdir(parents=True)
        (spec.image_root / "etc/hosts").touch()
        (spec.image_root / "var/tmp").symlink_to("/tmp")
        words = apptainer._run(spec, Path("/sifs/a.sif"))
        written = [word for word in words if word.startswith(f"type=bind,source={tmp_path}/root/")]
        assert written == [
            f"type=bind,source={tmp_path}/root/{name},destination=/{name}"
            for name in ("tmp", "root", "etc/hosts")
        ]

    def test_shm_has_the_stated_size(self) -> None:
        spec = described()
        words = apptainer._run(spec, None)
        assert f"size={spec.shm_byte},mode=1777,nosuid,nodev" in words
        assert f"type=bind,source={spec.directory}/layer/shm,destination=/dev/shm" in words

    def test_a_node_whose_user_may_not_read_the_images_home_has_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec = described(tmp_path, image_root=tmp_path)
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert f"type=bind,source={tmp_path}/layer/home,destination=/root" in apptainer._run(spec, None)
        monkeypatch.setattr(os, "access", lambda *_: True)
        assert not any("destination=/root" in word for word in apptainer._run(spec, None))

    @given(name=st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1))
    def test_a_name_cannot_become_an_option(self, name: str) -> None:
        option, line = apptainer._mount(Path("/data") / name, f"/data/{name}", writable=False)
        assert option == "--mount"
        assert list(csv.reader([line], strict=True)) == [
            ["type=bind", f"source={Path('/data') / name}", f"destination=/data/{name}", "ro"]
        ]


class TestForm:
    def test_another_form_is_an_error_at_its_option(self) -> None:
        assert "form" in PROVIDER.check_options({"form": ["sif"]})
        assert PROVIDER.check_options({"form": "ext3"}) == {
            "form": """must be "sif" or "sandbox", not 'ext3'"""
        }
        assert PROVIDER.check_options({}) == PROVIDER.check_options({"form": "sandbox"}) == {}

    def test_fakeroot_is_true_or_false_and_takes_a_sif(self) -> None:
        assert PROVIDER.check_options({"fakeroot": True}) == {}
        assert "must be true or false" in PROVIDER.check_options({"fakeroot": "yes"})["fakeroot"]
        said = PROVIDER.check_options({"fakeroot": True, "form": "sandbox"})
        assert "changes nothing in a writable sandbox" in said["fakeroot"]
        assert "--fakeroot" in apptainer._run(described(options={"fakeroot": True}), Path("/sifs/a.sif"))
        assert "--fakeroot" not in apptainer._run(described(), None)

    def test_without_a_program_fakeroot_nothing_is_preloaded_and_it_is_said(self) -> None:
        assert apptainer_fakeroot.variables("tare-never-made-0") == {}
        assert apptainer_fakeroot.told({}) == "a user namespace alone: the host has no fakeroot"

    @pytest.mark.usefixtures("mountable")
    def test_where_one_can_be_mounted_a_sif_is_run_unless_a_sandbox_is_asked_for(self) -> None:
        assert apptainer._form({}) is apptainer.Form.SIF
        assert apptainer._form({"form": "sandbox"}) is apptainer.Form.SANDBOX

    @pytest.mark.usefixtures("unmountable")
    def test_elsewhere_a_sandbox_is_run_unless_a_sif_is_asked_for(self) -> None:
        assert apptainer._form({}) is apptainer.Form.SANDBOX
        assert apptainer._form({"form": "sif"}) is apptainer.Form.SIF

    @pytest.mark.usefixtures("unmountable", "state")
    def test_a_sandbox_needs_no_sif(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            PROVIDER.prepare(tmp_path, DIGEST)
        assert not sifs_directory().exists()

    def test_a_sif_that_was_unpacked_is_an_error_and_not_weighed(self) -> None:
        with pytest.raises(
            NodeError, match=r'mounted no SIF but unpacked /sifs/a\.sif: choose form = "sandbox"'
        ):
            apptainer_sif.root_files("tare-1", os.getpid(), Path("/sifs/a.sif"))


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
def test_a_sifs_root_is_read_only_and_a_sandboxs_is_not(
    image: Image, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_sifs_quickly(monkeypatch)
    said = {}
    for form in ("sif", "sandbox"):
        provider = PROVIDER.configured({"form": form})
        skip_unless_usable(provider.probe(), "apptainer")
        with running(provider, make_spec(provider, image, state)) as (node,):
            code = execute(provider, node, "sh", "-c", "touch /tmp/x /var/tmp/x /root/x && touch /opt/x")
            said[node.facts["root files"]] = code.stderr
    assert said == {
        "SIF, mounted by the kernel, under overlay": b"touch: cannot touch '/opt/x': Read-only file system\n",
        "sandbox, in Tare's layer": b"",
    }


class TestMaking:
    pytestmark = pytest.mark.usefixtures("root", "state")

    def test_it_is_made_once_and_what_is_half_made_is_gone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "image").mkdir()
        sifs = sifs_directory()
        content, new = sifs / ".new.squashfs", sifs / ".new.sif"
        command = f"env APPTAINER_CONFIGDIR={tmp_path} apptainer --silent --nocolor sif"
        calls = parse(f"""
$ mksquashfs {tmp_path}/image {content} -noappend -no-progress -quiet -comp gzip
@ write {content} hsqs
$ {command} new {new}
@ write {new} SIF
$ {command} add --datatype 4 --parttype 2 --partfs 1 --partarch 2 {new} {content}
""")
        monkeypatch.setattr(apptainer_sif, "scratch_folder", lambda _: nullcontext(tmp_path))
        monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Linux", "host", "6", "", "x86_64")))
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"mksquashfs", "env"}):
            made = apptainer_sif.image_sif(tmp_path / "image", DIGEST)
            assert apptainer_sif.image_sif(tmp_path / "image", DIGEST) == made
        assert (made.name, made.read_text()) == (f"{'ab' * 32}.sif", "SIF\n")
        assert sorted(path.name for path in sifs.iterdir()) == [".lock", made.name]

    def test_an_ordinary_users_is_roots_inside_and_lacks_what_the_user_may_not_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(apptainer_sif, "ordinary_user", lambda: True)
        monkeypatch.setattr(apptainer_sif, "unreadable", lambda _: iter([Path("etc/shadow"), Path("root")]))
        argv = apptainer_sif._mksquashfs(tmp_path, tmp_path / "new")
        assert argv[-4:] == ["-all-root", "-e", "etc/shadow", "root"]


class TestObstacle:
    def test_without_the_program_that_makes_one_its_package_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            why = apptainer_sif.obstacle()
        assert why == Obstacle("mksquashfs is missing, which makes a SIF", "apt-get install squashfs-tools")

    @pytest.mark.parametrize(
        ("tools", "device", "reason"),
        [
            ({"mksquashfs"}, "/dev/null", "squashfuse is missing, which mounts a SIF without root"),
            ({"mksquashfs", "squashfuse"}, "/dev/none", "/dev/none is missing"),
            ({"mksquashfs", "squashfuse_ll"}, "/dev/zero", "/dev/zero is closed to you"),
        ],
    )
    def test_an_ordinary_user_needs_a_program_and_the_device(
        self, tools: set[str], device: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(apptainer_sif, "ordinary_user", lambda: True)
        closed = Path(device)
        monkeypatch.setattr(apptainer_sif, "_FUSE", closed)
        real = os.access
        monkeypatch.setattr(os, "access", lambda path, mode: path != closed and real(path, mode))
        with only_tools(monkeypatch, tmp_path / "bin", [], tools):
            why = apptainer_sif.obstacle()
        assert why is not None
        assert why.reason == reason

    @pytest.mark.usefixtures("root")
    def test_a_host_whose_kernel_mounts_none_says_so(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(apptainer_sif, "_mounting", lambda *_: ["unshare", "mount"])
        monkeypatch.setattr(apptainer_sif, "scratch_folder", lambda _: nullcontext(tmp_path))
        calls = parse(
            f"$ mksquashfs {tmp_path}/point {tmp_path}/image -noappend -no-progress -quiet -comp gzip\n"
            "$ unshare mount\n! mount: failed to setup loop device\n= 32"
        )
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"mksquashfs", "unshare"}):
            why = apptainer_sif.obstacle()
        assert why is not None
        assert why.reason == "no SIF can be mounted here: mount: failed to setup loop device"
        assert "loop" in why.remedy


@pytest.mark.usefixtures("root")
class TestProbe:
    @pytest.fixture(autouse=True)
    def any_form(self, mountable: None) -> None:
        """Every host can mount a SIF here."""

    def test_a_host_without_it_is_told_where_it_comes_from(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.reason) == (False, "apptainer is not on this host")
        assert "apptainer.org" in probe.remedy

    @pytest.mark.parametrize(
        ("said", "usable"),
        [
            ("apptainer version 1.4.3", True),
            ("apptainer version 1.2.0-1.el9", True),
            ("apptainer version 1.1.9", False),
            ("singularity-ce version 4.1.5", False),
            ("", False),
        ],
    )
    def test_a_version_that_is_too_old_or_unknown_is_not_used(
        self, said: str, usable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(f"$ apptainer --nocolor --version\n> {said}")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"apptainer"}):
            probe = PROVIDER.probe()
        assert probe.usable is usable
        assert probe.version == (f"{said}, from a SIF" if usable else "")
        assert usable or "install Apptainer 1.2 or later" in probe.remedy

    def test_a_tool_that_fails_is_not_used(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = parse("$ apptainer --nocolor --version\n! no such library\n= 127")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"apptainer"}):
            probe = PROVIDER.probe()
        assert not probe.usable
        assert "no such library" in probe.reason

    def test_root_is_refused_a_fakeroot(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = parse("$ apptainer --nocolor --version\n> apptainer version 1.4.3")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"apptainer"}):
            probe = PROVIDER.configured({"fakeroot": True}).probe()
        assert (probe.usable, probe.reason) == (False, "root needs no fakeroot")

    @pytest.mark.usefixtures("unmountable")
    def test_a_sandbox_instead_of_a_sif_is_said_with_its_reason_unless_a_sif_was_asked_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said = "$ apptainer --nocolor --version\n> apptainer version 1.4.3\n"
        with only_tools(monkeypatch, tmp_path / "bin", parse(said * 3), {"apptainer"}):
            default, asked, sandbox = (
                PROVIDER.configured(options).probe() for options in ({}, {"form": "sif"}, {"form": "sandbox"})
            )
        assert default.version == "apptainer version 1.4.3, from a sandbox, since /dev/fuse is closed to you"
        assert (asked.usable, asked.reason) == (False, "/dev/fuse is closed to you")
        assert asked.remedy == "ask the administrator; or choose a sandbox"
        assert sandbox.version == "apptainer version 1.4.3"
