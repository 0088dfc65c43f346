# SPDX-License-Identifier: Apache-2.0
"""The kernel's small files: whatever their length, all of them is read, and what is not there is said."""

from pathlib import Path

import pytest

from tare.host.kernel_files import read_text, read_whole, write_text


@pytest.mark.parametrize("length", [0, 1, 2047, 2048, 4095, 4096, 4097, 6000, 10_000])
def test_a_file_is_read_to_its_end(tmp_path: Path, length: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * length)
    assert read_whole(str(file)) == b"x" * length


@pytest.mark.parametrize("name", ["crypto", "filesystems", "devices", "ioports"])
def test_a_list_of_the_kernels_is_read_to_its_end(name: str) -> None:
    file = Path("/proc", name)
    if not file.exists():
        pytest.skip(f"this kernel has no {file}")
    assert read_whole(str(file)) == file.read_bytes()


def test_what_is_not_there_is_no_text_and_is_not_made(tmp_path: Path) -> None:
    assert read_text(str(tmp_path / "file")) is None
    with pytest.raises(FileNotFoundError):
        write_text(str(tmp_path / "file"), "1")
    assert not list(tmp_path.iterdir())


def test_a_text_is_written_into_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    write_text(str(file), "max")
    assert file.read_text() == "max"
