# SPDX-License-Identifier: Apache-2.0
"""A disk that fails at any write, or loses power at any moment, costs no trial but the one that was being written."""

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.journal.journal_example import a_session, an_outcome

from tare.errors import JournalError
from tare.journal.reader import read_journal
from tare.journal.writer import JournalWriter
from tare.records import Fault, Outcome

OUTCOMES = [an_outcome(f"b{number:03d}", "x" * 500) for number in range(3)]
CALLS = 2 * (1 + len(OUTCOMES) + 1)
"""A write and an fsync for the session, each trial and the end."""


@dataclass
class Disk:
    """Counts the writes and fsyncs of a journal's file, and fails at one of them."""

    fails_at: int
    number: int = errno.ENOSPC
    calls: int = 0
    synced: list[bytes] = field(default_factory=list)

    def put(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """In the place of the system's."""
        write, fsync = os.write, os.fsync

        def written(descriptor: int, content: bytes) -> int:
            if self._fails(descriptor):
                write(descriptor, content[: len(content) // 2])
                raise OSError(self.number, os.strerror(self.number))
            return write(descriptor, content)

        def kept(descriptor: int) -> None:
            if self._fails(descriptor):
                raise OSError(self.number, os.strerror(self.number))
            fsync(descriptor)
            if self._is_journal(descriptor):
                self.synced.append(Path(f"/proc/self/fd/{descriptor}").read_bytes())

        monkeypatch.setattr("os.write", written)
        monkeypatch.setattr("os.fsync", kept)

    def _is_journal(self, descriptor: int) -> bool:
        return str(Path(f"/proc/self/fd/{descriptor}").readlink()).endswith(".jsonl")

    def _fails(self, descriptor: int) -> bool:
        if not self._is_journal(descriptor):
            return False
        self.calls += 1
        return self.calls == self.fails_at + 1


def measure(path: Path, left: list[Outcome]) -> list[Outcome]:
    """As a session does; gives what was written when it ended, in whatever way."""
    done: list[Outcome] = []
    try:
        with JournalWriter(path) as writer:
            writer.append(a_session(path.stem))
            for outcome in left:
                writer.append(outcome)
                done.append(outcome)
    except JournalError as error:
        assert "All earlier lines are safe; make room and run the same command again" in str(error)  # noqa: PT017
        return done
    assert done == left
    return done


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("fails_at", range(CALLS))
def test_a_disk_that_fails_once_leaves_earlier_lines_safe_and_the_next_run_completes(
    fails_at: int, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(fails_at, number)
    with monkeypatch.context() as patch:
        disk.put(patch)
        done = measure(tmp_path / "1.jsonl", OUTCOMES)
    assert disk.calls > fails_at
    journal = read_journal(tmp_path)
    assert list(journal.outcomes) == done
    assert journal.integrity.damage == ()
    left = [outcome for outcome in OUTCOMES if outcome.trial.identity not in journal.done]
    assert measure(tmp_path / "2.jsonl", left) == left
    assert list(read_journal(tmp_path).outcomes) == OUTCOMES


def all_of(rest: bytes) -> bytes:
    return rest


def none_of(_: bytes) -> bytes:
    return b""


def half_of(rest: bytes) -> bytes:
    return rest[: len(rest) // 2]


def blank(rest: bytes) -> bytes:
    """Its length is on disk, its content is not."""
    return bytes(len(rest))


def blank_before_its_end(rest: bytes) -> bytes:
    return bytes(len(rest) - 9) + rest[-9:]


@pytest.mark.parametrize("left_of", [all_of, none_of, half_of, blank, blank_before_its_end])
def test_after_a_power_cut_at_any_moment_all_is_there_that_was_told_to_be_on_disk(
    left_of: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(fails_at=-1)
    with monkeypatch.context() as patch:
        disk.put(patch)
        measure(tmp_path / "whole.jsonl", OUTCOMES)
    assert len(disk.synced) == len(OUTCOMES) + 2
    for number, (synced, after) in enumerate(zip([b"", *disk.synced], disk.synced, strict=False)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "whole.jsonl").write_bytes(synced + left_of(after[len(synced) :]))
        if number == 0 and left_of is blank_before_its_end:
            continue  # nothing was ever on disk, and nothing can be read
        journal = read_journal(folder)
        safe = OUTCOMES[: max(0, number - 1)]
        assert list(journal.outcomes)[: len(safe)] == safe
        assert {damage.fault for damage in journal.integrity.damage} <= {Fault.DAMAGED}
        assert all(outcome in OUTCOMES for outcome in journal.outcomes)
