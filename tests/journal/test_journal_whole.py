# SPDX-License-Identifier: Apache-2.0
"""A file is there whole or not at all, in a folder that others can write, too."""

import os
import stat
from pathlib import Path

import pytest

from tare.journal.whole import write_whole


def test_it_takes_the_place_of_what_was_there_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    for text in ("first", "second"):
        write_whole(tmp_path / "folder" / "noise.json", text)
    assert {path.name: path.read_text() for path in (tmp_path / "folder").iterdir()} == {
        "noise.json": "second"
    }


def test_a_link_planted_under_a_name_that_can_be_guessed_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("years of work")
    for name in (".noise.json", "noise.json"):
        (tmp_path / name).symlink_to("precious")
    write_whole(tmp_path / "noise.json", "{}")
    assert (tmp_path / "precious").read_text() == "years of work"
    assert not (tmp_path / "noise.json").is_symlink()


def test_a_planted_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".noise.json")
    write_whole(tmp_path / "noise.json", "{}")
    assert (tmp_path / "noise.json").read_text() == "{}"


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "full")

    (tmp_path / "noise.json").write_text("before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="full"):
        write_whole(tmp_path / "noise.json", "after")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


def test_it_has_the_rights_that_the_mask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "noise.json", "{}")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "noise.json").stat().st_mode) == 0o640
