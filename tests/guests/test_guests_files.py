# SPDX-License-Identifier: Apache-2.0
"""Files there and back, through a prefix that enters nothing; and what a guest that lies can do with it."""

import secrets
from pathlib import Path

import pytest

from tare.errors import NodeError
from tare.guests import files
from tare.guests.files import END_BYTE, WHOLE_BYTE, fetch, place, send

HERE = ("env",)


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    folder = tmp_path / "inside"
    folder.mkdir()
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


class TestSending:
    def test_folders_come_with_all_that_is_in_them(self, work: Path, inside: Path) -> None:
        content = secrets.token_bytes(100_000)
        (work / "i0" / "deep er").mkdir(parents=True)
        (work / "i0" / "deep er" / "data").write_bytes(content)
        (work / "i0" / "run").write_text("#!/bin/sh\n")
        (work / "i0" / "run").chmod(0o751)
        (work / "other").touch()
        send(HERE, work, ["i0"], str(inside))
        assert (inside / "i0" / "deep er" / "data").read_bytes() == content
        assert (inside / "i0" / "run").stat().st_mode & 0o777 == 0o751
        assert [path.name for path in inside.iterdir()] == ["i0"]

    def test_a_guest_that_takes_nothing_is_an_error_with_its_words(self, work: Path) -> None:
        (work / "i0").mkdir()
        with pytest.raises(NodeError, match=r"cannot be brought .*nowhere"):
            send(HERE, work, ["i0"], "/nowhere/at/all")


class TestFetching:
    def test_bytes_come_back_as_they_are_and_missing_ones_stay_away(self, work: Path, inside: Path) -> None:
        content = secrets.token_bytes(300_000)
        (inside / "i0").mkdir()
        (inside / "i0" / "-n out put").write_bytes(content)
        (inside / "empty").touch()
        (inside / "link").symlink_to("/etc/passwd")
        fetch(HERE, work, ["i0/-n out put", "missing", "i0", "empty", "link"], str(inside))
        assert (work / "i0" / "-n out put").read_bytes() == content
        assert (work / "empty").read_bytes() == b""
        assert not (work / "missing").exists()
        assert not (work / "link").exists()

    def test_of_a_long_one_the_ends_come_in_their_places(
        self, work: Path, inside: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files, "WHOLE_BYTE", 100)
        monkeypatch.setattr(files, "END_BYTE", 10)
        (inside / "long").write_bytes(b"a" * 20 + b"b" * 200 + b"c" * 20)
        fetch(HERE, work, ["long"], str(inside))
        assert (work / "long").read_bytes() == b"a" * 10 + bytes(220) + b"c" * 10

    def test_what_is_left_out_is_more_than_anybody_reads(self) -> None:
        assert WHOLE_BYTE >= 16 << 20
        assert 2 * END_BYTE < WHOLE_BYTE


class TestLies:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "did not report the size"),
            (b"-5\nabc", "did not report the size"),
            (b"9999999999999999\n" + bytes(2 * END_BYTE), "did not report the size"),
            (b"10\nshort", "cut short"),
            (b"3\nabcmore", "more than"),
        ],
    )
    def test_what_is_torn_or_too_much_is_an_error(self, work: Path, content: bytes, words: str) -> None:
        with pytest.raises(NodeError, match=words):
            place(content, work, ["file"])

    def test_a_size_that_no_file_has_takes_no_room(self, work: Path) -> None:
        with pytest.raises(NodeError, match=r"cut short"):
            place(b"99999999999\nx", work, ["file"])
        assert (work / "file").stat().st_blocks * 512 < 1 << 20
