# SPDX-License-Identifier: Apache-2.0
"""Disks made for real of small trees, and looked into by the file systems' own tools."""

import fcntl
import os
import re
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tare.errors import NodeError
from tare.guests import disk
from tare.guests.disk import image_disk, layer_disk
from tare.host.paths import disks_directory
from tare.image.digest import differences, list_tree
from tare.image.store import Image, install

DIGEST = f"sha256:{'0123456789abcdef' * 4}"
MEBIBYTE = 1 << 20
NOBODY = 65534
OLD_S = 1_000_000_000


def tool(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout


def extracted(made: Path, target: Path) -> Path:
    """The tree in a disk, with owners and times where the user may make them."""
    tool("fsck.erofs", f"--extract={target}", str(made))
    return target


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "rootfs"
    for folder in ("usr/bin", "tmp", "dev"):
        (root / folder).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    (root / "usr/bin/program").write_bytes(b"program" * 1000)
    (root / "usr/bin/program").chmod(0o755)
    (root / "usr/bin/other").hardlink_to(root / "usr/bin/program")
    (root / "bin").symlink_to("usr/bin")
    (root / "secret").write_text("secret")
    (root / "secret").chmod(0o600)
    os.utime(root / "usr/bin/program", (OLD_S, OLD_S))
    return root


@pytest.mark.usefixtures("state")
def test_the_disk_holds_the_tree_and_nothing_else(tree: Path, tmp_path: Path) -> None:
    out = extracted(image_disk(tree, DIGEST), tmp_path / "out")
    assert differences(list_tree(tree), list_tree(out)) == []


@pytest.mark.usefixtures("state")
def test_files_keep_their_times_or_python_would_compile_its_modules_anew(tree: Path, tmp_path: Path) -> None:
    out = extracted(image_disk(tree, DIGEST), tmp_path / "out")
    assert (out / "usr/bin/program").stat().st_mtime == OLD_S
    assert (out / "secret").stat().st_mtime_ns == (tree / "secret").stat().st_mtime_ns


@pytest.mark.root
@pytest.mark.usefixtures("state")
def test_owners_device_nodes_set_user_id_bits_and_capabilities_stay(tree: Path, tmp_path: Path) -> None:
    os.chown(tree / "usr/bin/program", 7, 8)
    (tree / "usr/bin/program").chmod(0o4755)
    os.mknod(tree / "dev/null", 0o020666, os.makedev(1, 3))
    capability = bytes.fromhex("0100000200200000000000000000000000000000")
    os.setxattr(tree / "secret", "security.capability", capability)
    made = image_disk(tree, DIGEST)
    assert "Xattr size: 0" not in tool("dump.erofs", "--path=/secret", str(made))
    assert mode_in(made, "/usr/bin/program") == (tree / "usr/bin/program").stat().st_mode
    os.removexattr(tree / "secret", "security.capability")  # this fsck.erofs extracts neither these
    (tree / "usr/bin/program").chmod(0o755)  # nor set-user-id bits
    assert differences(list_tree(tree), list_tree(extracted(made, tmp_path / "out"))) == []


def mode_in(made: Path, path: str) -> int:
    """The mode that a disk's inode holds (the kernel's fs/erofs/erofs_fs.h)."""
    content = made.read_bytes()
    number = re.search(r"NID: (\d+)", tool("dump.erofs", f"--path={path}", str(made)))
    assert number is not None
    (first_block,) = struct.unpack_from("<I", content, 1024 + 40)
    (mode,) = struct.unpack_from("<H", content, 4096 * first_block + 32 * int(number[1]) + 4)
    return int(mode)


@pytest.mark.usefixtures("state")
def test_a_disk_is_made_once_and_two_of_one_tree_are_the_same_bytes(tree: Path) -> None:
    made = image_disk(tree, DIGEST)
    first, number = made.read_bytes(), made.stat().st_ino
    assert image_disk(tree, DIGEST).stat().st_ino == number
    made.unlink()
    assert image_disk(tree, DIGEST).read_bytes() == first
    assert [path.name for path in disks_directory().iterdir() if path != made] == [".lock"]


@pytest.mark.usefixtures("state")
def test_the_disks_identity_is_the_digests_and_others_may_not_read_it(tree: Path) -> None:
    made = image_disk(tree, DIGEST)
    assert "01234567-89ab-cdef-0123-456789abcdef" in tool("dump.erofs", str(made))
    assert made.stat().st_mode & 0o777 == 0o400


@contextmanager
def as_nobody() -> Iterator[None]:
    """This process without rights, and those that it starts; it can come back."""
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.fixture
def nobodys(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the tree where an ordinary user may go, and a state folder of that user's."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        tool("cp", "-a", str(tree), str(folder / "rootfs"))
        (folder / "state").mkdir()
        os.chown(folder / "state", NOBODY, NOBODY)
        monkeypatch.setenv("TARE_STATE", str(folder / "state"))
        yield folder / "rootfs"


@pytest.mark.root
def test_everything_in_an_ordinary_users_image_is_roots_in_the_guest(nobodys: Path, tmp_path: Path) -> None:
    for path in (nobodys, *nobodys.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    with as_nobody():
        made = image_disk(nobodys, DIGEST)
    out = extracted(made, tmp_path / "out")
    assert differences(list_tree(nobodys, single_owner=True), list_tree(out)) == []


@pytest.mark.root
def test_an_ordinary_users_disk_of_roots_image_lacks_what_the_user_may_not_read(
    nobodys: Path, tmp_path: Path
) -> None:
    (nobodys / "root").mkdir(mode=0o700)
    (nobodys / "hidden link").symlink_to("secret")
    with as_nobody():
        made = image_disk(nobodys, DIGEST)
    out = extracted(made, tmp_path / "out")
    assert differences(list_tree(nobodys), list_tree(out)) == ["removed root", "removed secret"]


@pytest.mark.usefixtures("state")
def test_a_disk_that_cannot_be_made_leaves_nothing_and_says_what_the_tool_said(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mkfs.erofs").write_text('#!/bin/sh\nfor file; do :; done\necho "no room" >&2\nexit 1\n')
    (tmp_path / "bin/mkfs.erofs").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(NodeError, match=r"mkfs\.erofs: no room"):
        image_disk(tree, DIGEST)
    assert [path.name for path in disks_directory().iterdir()] == [".lock"]


@pytest.mark.usefixtures("state")
def test_too_little_room_is_said_before_anything_is_written(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_ROOM", 1e15)
    with pytest.raises(NodeError, match=r"MB are free; free some"):
        image_disk(tree, DIGEST)


@pytest.mark.usefixtures("state")
def test_who_waits_too_long_for_another_maker_is_told(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_LOCK_LIMIT_S", 0.0)
    disks_directory().mkdir(parents=True)
    with (disks_directory() / ".lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(NodeError, match="is it stuck"):
            image_disk(tree, DIGEST)
    assert image_disk(tree, DIGEST).is_file()


def test_a_state_folder_that_cannot_be_written_is_named(
    tree: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.mkdir()
    (state / "disks").write_text("a file")
    with pytest.raises(NodeError, match=r"cannot be written.*TARE_STATE"):
        image_disk(tree, DIGEST)
    monkeypatch.setenv("TARE_STATE", str(state.parent / "other"))
    assert image_disk(tree, DIGEST).is_file()


def test_the_disk_of_a_replaced_image_goes_and_that_of_another_stays(state: Path) -> None:
    first, other = installed(state, "default", "one"), installed(state, "other", "two")
    disks = [image_disk(image.root, image.digest) for image in (first, other)]
    installed(state, "default", "three")
    assert [path.exists() for path in disks] == [False, True]


def installed(state: Path, name: str, text: str) -> Image:
    staged = state / "images" / ".staged"
    (staged / "rootfs").mkdir(parents=True)
    (staged / "rootfs/file").write_text(text)
    return install(staged, name, {"packages": {}, "source": {"kind": "test"}})


@pytest.mark.parametrize("size_byte", [64 * MEBIBYTE, 4096 * MEBIBYTE])
def test_a_layer_is_whole_and_takes_little_of_the_hosts_disk(tmp_path: Path, size_byte: int) -> None:
    path = tmp_path / "layer"
    layer_disk(path, size_byte)
    assert path.stat().st_size == size_byte
    assert path.stat().st_blocks * 512 < 80 * MEBIBYTE
    tool("e2fsck", "-fn", str(path))
    described = tool("dumpe2fs", str(path))
    groups = re.split(r"^(?=Group \d+:)", described, flags=re.MULTILINE)[1:]
    assert groups
    assert [group for group in groups if "ITABLE_ZEROED" not in group] == []


def test_a_layer_too_small_for_a_file_system_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match="mke2fs"):
        layer_disk(tmp_path / "layer", 1024)
