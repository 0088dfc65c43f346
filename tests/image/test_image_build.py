# SPDX-License-Identifier: Apache-2.0
"""Builds with stand-ins for mmdebstrap and the compiler, and looks at the real default image where there is one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tare.errors import HostError, ImageError, InputError
from tare.image import Image, find_image, list_images, verify
from tare.image.build import build_image
from tare.image.tool import CAGE, run_tool
from tests.image.stand_ins import MMDEBSTRAP, quiet, sources, write_program


@pytest.mark.root
@pytest.mark.usefixtures("stand_ins")
class TestBuild:
    def test_an_image_is_built_once_and_found_afterwards(self, tmp_path: Path) -> None:
        said: list[str] = []
        built = build_image(progress=said.append, source=sources(tmp_path))
        assert any("I: making" in line for line in said)
        again = build_image(progress=pytest.fail, source=sources(tmp_path))
        assert again == built
        verify(built)
        assert built.manifest["packages"] == {"tool": "1"}
        assert (built.root / "opt/tare/bin/init").is_file()
        assert (built.root / "etc/resolv.conf").read_text() == ""

    def test_changed_sources_redo_the_compile_only(self, tmp_path: Path) -> None:
        first = build_image(progress=quiet, source=sources(tmp_path))
        second = build_image(progress=quiet, source=sources(tmp_path, "2"))
        assert (tmp_path / "count").read_text().count("run") == 2  # base and builder, once each
        assert (tmp_path / "compiled").read_text() == "--build\n--build\n"
        assert second.manifest["keys"]["native"] != first.manifest["keys"]["native"]
        assert second.manifest["keys"]["base"] == first.manifest["keys"]["base"]

    def test_two_builds_give_one_digest(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        first = build_image(progress=quiet, source=sources(tmp_path))
        monkeypatch.setenv("TARE_STATE", str(tmp_path / "other state"))
        before = os.umask(0o077)
        second = build_image(progress=quiet, source=sources(tmp_path))
        os.umask(before)
        assert second.digest == first.digest

    def test_refresh_fetches_the_packages_again(self, tmp_path: Path) -> None:
        build_image(progress=quiet, source=sources(tmp_path))
        build_image(progress=quiet, source=sources(tmp_path), refresh=True)
        assert (tmp_path / "count").read_text().count("run") == 3

    def test_a_failed_fetch_keeps_the_last_lines_and_leaves_no_image(
        self, tmp_path: Path, stand_ins: Path, state: Path
    ) -> None:
        write_program(
            stand_ins / "mmdebstrap", "#!/bin/sh\necho 'E: Temporary failure resolving' >&2\nexit 25\n"
        )
        with pytest.raises(
            ImageError, match=r"mmdebstrap failed with exit code 25.*\n.*Temporary failure resolving"
        ):
            build_image(progress=quiet, source=sources(tmp_path))
        assert list_images() == []
        assert list((state / "cache").iterdir()) == []

    def test_a_failed_compile_keeps_the_current_image(self, tmp_path: Path, stand_ins: Path) -> None:
        current = build_image(progress=quiet, source=sources(tmp_path))
        write_program(stand_ins / "bwrap", "#!/bin/sh\necho 'error: expected ;'\nexit 1\n")
        with pytest.raises(ImageError, match="expected ;"):
            build_image(progress=quiet, source=sources(tmp_path, "2"))
        verify(current)
        assert find_image() == current

    def test_a_build_that_is_killed_leaves_no_image_and_no_process(
        self, tmp_path: Path, stand_ins: Path, state: Path
    ) -> None:
        waiting = tmp_path / "waiting"
        mount = 'for target; do :; done\nmount -t tmpfs none "$target"'
        write_program(
            stand_ins / "mmdebstrap", f"#!/bin/sh\n{mount}\necho $$ >{waiting}\nexec sleep 60.0625\n"
        )
        code = f"from tare.image.build import *\nbuild_image(progress=print, source=Path({str(sources(tmp_path))!r}))"
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while not waiting.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        assert wait_until_nothing_runs(["sleep", "60"], deadline)
        assert str(state) not in Path("/proc/self/mounts").read_text()
        assert list_images() == []
        write_program(stand_ins / "mmdebstrap", MMDEBSTRAP.replace("$COUNT", str(tmp_path / "count")))
        verify(build_image(progress=quiet, source=sources(tmp_path)))

    def test_an_imported_image_is_not_overwritten(self, tmp_path: Path) -> None:
        image = build_image(progress=quiet, source=sources(tmp_path))
        manifest = image.root.parent / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"build"', '"import"'))
        with pytest.raises(InputError, match="was imported"):
            build_image(progress=quiet, source=sources(tmp_path, "2"))


def wait_until_nothing_runs(argv: list[str], deadline: float) -> bool:
    wanted = "\0".join(argv) + "\0"
    while time.monotonic() < deadline:
        lines = []
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                lines.append(file.read_text(errors="replace"))
            except OSError:
                continue
        if wanted not in lines:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.root
def test_a_missing_mmdebstrap_is_named_as_a_package(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(state))
    with pytest.raises(HostError, match="apt-get install mmdebstrap util-linux"):
        build_image(progress=quiet, source=sources(tmp_path))


@pytest.mark.root
@pytest.mark.usefixtures("stand_ins")
def test_too_little_space_is_said_with_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("usage", (), {"free": 1 << 30}))
    with pytest.raises(HostError, match=r"needs 3 GiB free at .*, which has 1 GiB"):
        build_image(progress=quiet, source=sources(tmp_path))


def test_a_tool_that_never_ends_is_ended() -> None:
    with pytest.raises(ImageError, match=r"sleep did not end within 0\.2 s"):
        run_tool(["sleep", "64.0625"], limit_s=0.2)
    assert wait_until_nothing_runs(["sleep", "64.0625"], time.monotonic() + 5)


@pytest.mark.root
def test_the_cage_ends_children_and_mounts(tmp_path: Path) -> None:
    script = f"mount -t tmpfs none {tmp_path}; sleep 61.0625 & echo started; sleep 62.0625"
    with pytest.raises(ImageError, match=r"sh did not end within 0\.5 s.*\n.*started"):
        run_tool([*CAGE, "sh", "-c", script], limit_s=0.5)
    for number in ("61.0625", "62.0625"):
        assert wait_until_nothing_runs(["sleep", number], time.monotonic() + 5)
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()


@pytest.mark.root
class TestDefaultImage:
    def test_it_verifies_within_a_second_or_so(self, image: Image) -> None:
        """It is so before every campaign. Processor time is meant, whoever else may read the disk."""
        verify(image)
        before_s = time.process_time()
        verify(image)
        assert time.process_time() - before_s < 3

    def test_its_blas_is_openblas_and_its_tools_run(self, image: Image) -> None:
        link = (image.root / "etc/alternatives/libblas.so.3-x86_64-linux-gnu").readlink()
        assert "openblas" in str(link)
        for command in (["hpcc", "--version"], ["mpirun", "--version"], ["python3", "-c", "import json"]):
            completed = subprocess.run(
                ["chroot", image.root, "which", command[0]], capture_output=True, check=False
            )
            assert completed.returncode == 0, command

    def test_its_manifest_says_what_is_in_it(self, image: Image) -> None:
        packages = image.manifest["packages"]
        assert {"hpcc", "libopenblas0-serial", "openmpi-bin", "python3", "libc6"} <= set(packages)
        assert image.manifest["suite"] == "bookworm"
        assert image.manifest["architecture"] == os.uname().machine

    def test_nothing_of_this_host_is_in_it(self, image: Image) -> None:
        for name in ("etc/hostname", "etc/machine-id", "etc/resolv.conf"):
            assert (image.root / name).read_bytes() == b""
        for name in ("var/log", "var/cache", "tmp", "run"):
            assert list((image.root / name).iterdir()) == []
        assert not (image.root / "etc/apt/sources.list").exists()
