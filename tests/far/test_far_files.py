# SPDX-License-Identifier: Apache-2.0
"""Files to and from a work directory in which the node may have done anything."""

from pathlib import Path

import pytest

from tare.errors import NodeError
from tare.far.files import get, put

MEBIBYTE = 1 << 20


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_folders_and_files_are_written_with_their_modes(work: Path) -> None:
    entries = [
        {"name": "i0", "mode": 0o755, "size": None},
        {"name": "i0/run", "mode": 0o755, "size": 3},
        {"name": "i0/deep/er/data", "mode": 0o600, "size": 2},
        {"name": "empty", "mode": 0o644, "size": 0},
    ]
    put(work, entries, b"abcde")
    put(work, entries, b"ABCDE")
    assert (work / "i0" / "run").read_bytes() == b"ABC"
    assert (work / "i0" / "run").stat().st_mode & 0o777 == 0o755
    assert (work / "i0" / "deep" / "er" / "data").read_bytes() == b"DE"
    assert (work / "i0" / "deep" / "er" / "data").stat().st_mode & 0o777 == 0o600
    assert (work / "empty").read_bytes() == b""


def test_a_link_of_the_nodes_is_not_followed(work: Path) -> None:
    outside = work.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (work / "i0").symlink_to(outside)
    (work / "file").symlink_to(outside / "secret")
    with pytest.raises(OSError, match="i0"):
        put(work, [{"name": "i0/new", "mode": 0o644, "size": 1}], b"x")
    put(work, [{"name": "file", "mode": 0o644, "size": 1}], b"x")
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]
    assert (outside / "secret").read_text() == "secret"
    assert get(work, ["i0/secret"]) == ([], b"")


@pytest.mark.parametrize("name", ["../outside/new", "/etc/new", "i0/../../new"])
def test_nothing_is_written_outside(work: Path, name: str) -> None:
    with pytest.raises(NodeError, match="not inside the node's work directory"):
        put(work, [{"name": name, "mode": 0o644, "size": 1}], b"x")


def test_what_is_there_comes_and_what_is_not_is_left_out(work: Path) -> None:
    (work / "a").write_bytes(b"first")
    (work / "folder").mkdir()
    (work / "b").write_bytes(b"second")
    value, content = get(work, ["a", "missing", "folder", "b"])
    assert [entry["name"] for entry in value] == ["a", "b"]
    assert [entry["pieces"] for entry in value] == [[[0, 5]], [[0, 6]]]
    assert content == b"firstsecond"


def test_of_a_long_file_the_middle_stays_away(work: Path) -> None:
    with (work / "long").open("wb") as opened:
        opened.write(b"head")
        opened.truncate(100 * MEBIBYTE)
        opened.seek(-4, 2)
        opened.write(b"tail")
    (value,), content = get(work, ["long"])
    assert value["whole"] == 100 * MEBIBYTE
    assert value["pieces"] == [[0, 17 * MEBIBYTE], [99 * MEBIBYTE, MEBIBYTE]]
    assert content[:4] + content[-4:] == b"headtail"
