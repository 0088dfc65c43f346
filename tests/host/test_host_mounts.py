# SPDX-License-Identifier: Apache-2.0
"""Mounts come and go without harm to what they show, wherever the state folder lies and however the host shares."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.errors import NodeError
from tare.host import mounts

AS_ROOT = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts")]
STRANGE_NAMES = [
    "plain",
    "a space",
    "tab\there",
    "back\\slash",
    "line\nbreak",
    "ünïcode",
    "line\u2028separator",
]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder whose mounts are gone after the test, without the code under test."""
    yield tmp_path
    # A mount that stays under a name that is no text would break other programs of this host.
    lines = Path("/proc/self/mounts").read_bytes().split(b"\n")
    names = [line.split(b" ")[1] for line in reversed(lines) if line]
    below = [name for name in names if name.startswith(os.fsencode(tmp_path) + b"/")]
    for name in below:
        plain = re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8)]), name)
        subprocess.run(["umount", "--lazy", plain], check=True, capture_output=True)


def tmpfs(point: Path) -> Path:
    point.mkdir(parents=True, exist_ok=True)
    mounts.mount("tare-test", point, "tmpfs", mounts.MS_NOSUID, "size=64k")
    return point


class TestParsing:
    def test_octal_escapes_of_mount_points_are_undone(self) -> None:
        text = "none /a\\040b\\011c\\012d\\134e tmpfs rw 0 0\n"
        assert [entry.point for entry in mounts.parse_mounts(text)] == [Path("/a b\tc\nd\\e")]

    def test_only_a_line_feed_ends_an_entry(self) -> None:
        text = "none /a\u2028b\x0bc tmpfs rw 0 0\nnone /d proc ro,nosuid 0 0\n"
        result = mounts.parse_mounts(text)
        assert [(entry.point, entry.kind) for entry in result] == [
            (Path("/a\u2028b\x0bc"), "tmpfs"),
            (Path("/d"), "proc"),
        ]
        assert result[1].options == ("ro", "nosuid")


class TestMounting:
    pytestmark = AS_ROOT

    def test_a_refused_mount_names_target_and_reason(self, tmp_path: Path) -> None:
        with pytest.raises(NodeError, match=r"cannot mount tmpfs on .*/absent: No such file"):
            mounts.mount("none", tmp_path / "absent", "tmpfs")

    @pytest.mark.parametrize("name", STRANGE_NAMES)
    def test_mounts_are_found_under_any_name(self, name: str, folder: Path) -> None:
        tmpfs(folder / name)
        tmpfs(folder / name / "below")
        assert mounts.mounts_below(folder / name) == [folder / name / "below", folder / name]
        mounts.unmount_below(folder / name)
        assert mounts.mounts_below(folder / name) == []

    def test_a_name_that_is_no_text_hides_nothing(self, folder: Path) -> None:
        odd = Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe"))
        tmpfs(odd)
        assert mounts.mounts_below(folder) == [odd]
        mounts.unmount_below(folder)
        assert mounts.mounts_below(folder) == []

    def test_a_neighbour_with_a_longer_name_is_not_below(self, folder: Path) -> None:
        tmpfs(folder / "node-10")
        assert mounts.mounts_below(folder / "node-1") == []

    def test_mounts_are_found_through_a_link(self, folder: Path) -> None:
        tmpfs(folder / "real" / "node")
        (folder / "link").symlink_to(folder / "real")
        assert mounts.mounts_below(folder / "link") == [folder / "real" / "node"]

    def test_mounts_are_found_below_a_relative_path(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tmpfs(folder / "node")
        monkeypatch.chdir(folder)
        assert mounts.mounts_below(Path()) == [folder / "node"]


class TestBinding:
    pytestmark = AS_ROOT

    def test_a_guarded_bind_is_guarded_in_what_is_mounted_below_it_too(self, folder: Path) -> None:
        tmpfs(folder / "original")
        tmpfs(folder / "original" / "below")
        (folder / "copy").mkdir()
        mounts.bind(folder / "original", folder / "copy", writable=False)
        for place in (folder / "copy", folder / "copy" / "below"):
            with pytest.raises(OSError, match="Read-only"):
                (place / "new").touch()
        (folder / "original" / "below" / "new").touch()

    def test_a_guarded_bind_keeps_the_other_restrictions(self, folder: Path) -> None:
        tmpfs(folder / "original")
        (folder / "copy").mkdir()
        mounts.bind(folder / "original", folder / "copy", writable=False)
        assert os.statvfs(folder / "copy").f_flag & os.ST_NOSUID

    def test_unmounting_a_bind_leaves_what_is_mounted_below_the_original(self, folder: Path) -> None:
        original = tmpfs(folder / "original")
        subprocess.run(["mount", "--make-shared", str(original)], check=True)
        (tmpfs(original / "below") / "precious").touch()
        (folder / "copy").mkdir()
        mounts.bind(original, folder / "copy", writable=True)
        assert (folder / "copy" / "below" / "precious").exists()
        mounts.unmount_below(folder / "copy")
        assert mounts.mounts_below(folder / "copy") == []
        assert (original / "below" / "precious").exists()
