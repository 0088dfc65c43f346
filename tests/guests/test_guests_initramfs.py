# SPDX-License-Identifier: Apache-2.0
"""The reader here is proved on what GNU cpio wrote, and then reads what Tare wrote."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.guests.kernel_example import OUTPUTS

from tare.errors import NodeError
from tare.guests import initramfs
from tare.guests.initramfs import write_initramfs

FOLDER_MODE, FILE_MODE = stat.S_IFDIR | 0o755, stat.S_IFREG | 0o644


def padded(length: int) -> int:
    return -(-length // 4) * 4


def entries(content: bytes) -> Iterator[tuple[str, int, int, bytes]]:
    """Name, mode, device and contents of each entry up to the end mark, which must be there."""
    at = 0
    while True:
        assert content[at : at + 6] == b"070701"
        numbers = [int(content[at + 6 + 8 * field : at + 14 + 8 * field], 16) for field in range(13)]
        mode, size, name_byte = numbers[1], numbers[6], numbers[11]
        assert numbers[2:4] == [0, 0], "it belongs to root"
        name = content[at + 110 : at + 110 + name_byte]
        start = at + padded(110 + name_byte)
        assert name.endswith(b"\0")
        if name == b"TRAILER!!!\0":
            assert start == len(content)
            return
        yield name[:-1].decode(), mode, os.makedev(numbers[9], numbers[10]), content[start : start + size]
        at = start + padded(size)


def test_the_reader_reads_what_gnu_cpio_wrote() -> None:
    assert list(entries((OUTPUTS / "newc.cpio").read_bytes())) == [
        ("folder", FOLDER_MODE, 0, b""),
        ("folder/file", FILE_MODE, 0, b"five!"),
    ]


def test_folders_files_and_devices_are_written_as_given() -> None:
    written = initramfs.archive(
        [
            initramfs.folder("folder"),
            initramfs.file("folder/file", b"five!"),
            initramfs.file("empty", b"", 0o755),
            initramfs.character_device("null", 1, 3),
        ]
    )
    assert list(entries(written)) == [
        ("folder", FOLDER_MODE, 0, b""),
        ("folder/file", FILE_MODE, 0, b"five!"),
        ("empty", stat.S_IFREG | 0o755, 0, b""),
        ("null", stat.S_IFCHR | 0o600, os.makedev(1, 3), b""),
    ]


def test_an_initramfs_holds_the_first_process_its_settings_a_console_and_the_modules(tmp_path: Path) -> None:
    for name in ("init", "one.ko", "two.ko"):
        (tmp_path / name).write_text(name)
    modules = [tmp_path / "two.ko", tmp_path / "one.ko"]
    write_initramfs(tmp_path / "initramfs", init=tmp_path / "init", modules=modules, boot="name g1\n")
    result = {name: rest for name, *rest in entries((tmp_path / "initramfs").read_bytes())}
    assert result["init"] == [stat.S_IFREG | 0o755, 0, b"init"]
    assert result["boot.conf"][2] == b"name g1\n"
    assert result["dev/console"][:2] == [stat.S_IFCHR | 0o600, os.makedev(5, 1)]
    assert [result[f"modules/{name}.ko"][2] for name in ("one", "two")] == [b"one.ko", b"two.ko"]


def test_every_folder_of_an_initramfs_comes_before_what_lies_in_it(tmp_path: Path) -> None:
    (tmp_path / "init").touch()
    write_initramfs(tmp_path / "initramfs", init=tmp_path / "init", modules=[tmp_path / "init"], boot="")
    names = [name for name, *_ in entries((tmp_path / "initramfs").read_bytes())]
    inner = [name for name in names if "/" in name]
    assert len(inner) == 2
    assert [name for name in inner if name.rpartition("/")[0] not in names[: names.index(name)]] == []


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match=r"gone: No such file.*tare image build"):
        write_initramfs(tmp_path / "initramfs", init=tmp_path / "gone", modules=[], boot="")
