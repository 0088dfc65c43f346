# SPDX-License-Identifier: Apache-2.0
"""SIF and squashfs files; the SIF header is written here after its specification."""

import os
import shutil
import stat
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tare.errors import InputError
from tare.image import recipe
from tare.image.importing import import_image
from tare.image.limits import Account
from tare.image.squashfs import partition_offset, unpack_squashfs
from tests.image.stand_ins import quiet, sources

ARCHITECTURE = {"x86_64": b"02\0", "aarch64": b"04\0"}.get(os.uname().machine, b"00\0")
needs_squashfs = pytest.mark.skipif(shutil.which("mksquashfs") is None, reason="squashfs-tools is missing")


def sif(partition: bytes, *, filesystem: int = 1, architecture: bytes = ARCHITECTURE, role: int = 2) -> bytes:
    start, table = 4096, 128
    launch = b"#!/usr/bin/env run-singularity\n".ljust(32, b"\0")
    numbers = (0, 0, 0, 1, table, 585, start, len(partition))
    header = struct.pack(
        "<32s10s3s3s16s8q", launch, b"SIF_MAGIC\0", b"01\0", architecture, bytes(16), *numbers
    )
    extra = struct.pack("<ii3s", filesystem, role, architecture).ljust(384, b"\0")
    places = (start, len(partition), len(partition), 0, 0, 0, 0)
    descriptor = struct.pack(
        "<i?III7q128s384s", 0x4004, True, 1, 1, 0, *places, b"root".ljust(128, b"\0"), extra
    )
    return (header + descriptor).ljust(start, b"\0") + partition


@pytest.fixture
def squashed(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "bin").mkdir(parents=True)
    (root / "bin/tool").write_bytes(b"program")
    (root / "bin/two words").write_text("x")
    (root / "bin/link").symlink_to("tool -> x")
    (root / ".singularity.d/env").mkdir(parents=True)
    (root / ".singularity.d/env/90-environment.sh").write_text(
        '#!/bin/sh\nexport PATH="/opt/own:/bin"\nexport A=\'b c\'\nexport HOST=$(hostname)\nB="$A"\n'
    )
    file = tmp_path / "image.sqsh"
    argv = ["mksquashfs", str(root), str(file), "-quiet", "-no-progress", "-all-root", "-noappend"]
    devices = ["-p", "dev d 755 0 0", "-p", "dev/null c 666 0 0 1 3"]
    subprocess.run([*argv, *devices], check=True, capture_output=True)
    return file


@needs_squashfs
def test_a_sif_gives_the_files_of_its_primary_partition_without_devices(
    squashed: Path, tmp_path: Path
) -> None:
    file = tmp_path / "image.sif"
    file.write_bytes(sif(squashed.read_bytes()))
    offset = partition_offset(file)
    assert offset == 4096
    account = Account(tmp_path)
    unpack_squashfs(file, offset, tmp_path / "root", quiet, account)
    assert (tmp_path / "root/bin/tool").read_bytes() == b"program"
    assert (tmp_path / "root/bin/two words").exists()
    assert not (tmp_path / "root/dev/null").exists()
    assert account.devices == ["dev/null"]
    assert account.size_byte > 0


@needs_squashfs
@pytest.mark.root
def test_a_squashfs_is_imported_with_the_variables_that_need_no_shell(
    squashed: Path, tmp_path: Path, stand_ins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stand_ins.is_dir()
    monkeypatch.setattr(recipe, "native_source", lambda: sources(tmp_path))
    image = import_image(squashed, "squashed", quiet)
    assert image.manifest["source"]["format"] == "squashfs"
    assert image.manifest["config"]["variables"] == {"PATH": "/opt/own:/bin", "A": "b c", "B": "b c"}
    assert (image.root / "bin/link").is_symlink()


@needs_squashfs
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes device nodes")
def test_no_device_node_hides_behind_a_line_break(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    os.mknod(tmp_path / "tree/a\nb", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    (tmp_path / "tree/c\nd").write_text("12345")
    file = tmp_path / "image.sqsh"
    subprocess.run(["mksquashfs", tmp_path / "tree", file, "-quiet"], check=True, capture_output=True)
    account = Account(tmp_path)
    unpack_squashfs(file, 0, tmp_path / "root", quiet, account)
    assert os.listdir(tmp_path / "root") == ["c\nd"]  # noqa: PTH208 - names are wanted
    assert account.size_byte == 5


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (sif(b"x", filesystem=2), "no squashfs"),
        (sif(b"x", architecture=b"09\0", role=1), "no root file system"),
        (sif(b"x")[:400], "cut short"),
        (sif(b"x", architecture=b"04\0" if ARCHITECTURE[:2] == b"02" else b"02\0"), "this host is"),
    ],
)
def test_a_sif_that_cannot_be_used_is_refused_with_the_reason(
    content: bytes, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "image.sif"
    file.write_bytes(content)
    with pytest.raises(InputError, match=says):
        partition_offset(file)


def test_another_file_is_neither(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for content in (b"", b"hsq", b"PK\x03\x04" * 100):
        file.write_bytes(content)
        assert partition_offset(file) is None


@settings(deadline=None, max_examples=50)
@given(some.binary(min_size=1, max_size=600), some.integers(0, 700))
def test_a_damaged_header_is_refused_or_read_and_never_a_fault(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int
) -> None:
    file = tmp_path_factory.mktemp("damaged") / "image.sif"
    content = bytearray(sif(b"x"))
    content[at : at + len(noise)] = noise
    file.write_bytes(bytes(content))
    try:
        partition_offset(file)
    except InputError:
        return


@needs_squashfs
def test_a_squashfs_that_is_cut_short_is_refused_in_the_tools_own_words(
    squashed: Path, tmp_path: Path
) -> None:
    squashed.write_bytes(squashed.read_bytes()[:200])
    with pytest.raises(InputError, match=r"may be cut short or broken\. unsquashfs failed with exit code 1"):
        unpack_squashfs(squashed, 0, tmp_path / "root", quiet, Account(tmp_path))
