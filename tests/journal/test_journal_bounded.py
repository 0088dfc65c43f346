# SPDX-License-Identifier: Apache-2.0
"""A result that somebody prepared to hang or to fill its reader is an error in words, soon and in little memory."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.journal.journal_example import a_session, an_outcome

from tare.commands import noise
from tare.errors import InputError, JournalError
from tare.host.own_files import read_plain
from tare.journal.calibrations import read_calibration
from tare.journal.calls import CALLS_FILE, read_calls
from tare.journal.column_state import journal_contents
from tare.journal.reader import campaign_digest, read_journal
from tare.journal.result import CAMPAIGN_FILE, ResultFolder
from tare.journal.writer import JournalWriter
from tare.records import Fault, Outcome

MEMORY_BYTE = 3 << 30
"""Address space, which numpy's threads take more of than they use."""
SPARSE_BYTE = 100 << 30


def as_a_pipe(path: Path) -> None:
    os.mkfifo(path)


def as_a_sparse_file(path: Path) -> None:
    path.touch()
    os.truncate(path, SPARSE_BYTE)


def as_a_link(path: Path) -> None:
    path.symlink_to("/dev/zero")


def write(path: Path, outcome: Outcome) -> None:
    with JournalWriter(path) as writer:
        writer.append(a_session())
        writer.append(outcome)


TRAPS = pytest.mark.parametrize("trap", [as_a_pipe, as_a_sparse_file, as_a_link])
Trap = Callable[[Path], None]


@TRAPS
def test_a_campaign_that_is_no_file_of_some_size_is_told(trap: Trap, tmp_path: Path) -> None:
    trap(tmp_path / CAMPAIGN_FILE)
    with pytest.raises(InputError, match=r"is not a result folder of tare; campaign\.json: "):
        ResultFolder(tmp_path).read_campaign()
    assert campaign_digest(tmp_path) is None


@TRAPS
def test_what_lies_beside_the_journal_is_read_as_if_it_were_not_there_or_told(
    trap: Trap, tmp_path: Path
) -> None:
    for name in ("calibration.json", CALLS_FILE):
        trap(tmp_path / name)
    assert read_calibration(tmp_path / "calibration.json") is None
    with pytest.raises(JournalError, match="cannot read"):
        read_calls(tmp_path)


@TRAPS
def test_noise_that_others_kept_is_passed_over(trap: Trap, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / CAMPAIGN_FILE).touch()
    trap(tmp_path / "theirs" / "noise.json")
    assert noise.kept_histories(tmp_path) == []


def test_the_longest_file_is_read_and_no_longer_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 10)
    assert read_plain(tmp_path / "file", 10) == b"x" * 10
    with pytest.raises(OSError, match="longer than"):
        read_plain(tmp_path / "file", 9)


@pytest.mark.parametrize(
    ("trap", "command"),
    [(as_a_pipe, "show"), (as_a_pipe, "report"), (as_a_pipe, "explain"), (as_a_sparse_file, "show")],
)
def test_every_command_that_reads_a_result_ends_soon_in_words(
    trap: Trap, command: str, tmp_path: Path
) -> None:
    trap(tmp_path / CAMPAIGN_FILE)
    done = subprocess.run(
        [sys.executable, "-m", "tare", command, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTE, MEMORY_BYTE)),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a result folder of tare; campaign.json" in done.stderr


def read_byte() -> int:
    """What this process has read of files so far, of their gaps too (proc(5), io)."""
    return int(Path("/proc/self/io").read_text().split()[1])


def test_a_tail_without_an_end_is_damage_and_ends_the_reading_soon(tmp_path: Path) -> None:
    outcome = an_outcome()
    write(tmp_path / "a.jsonl", outcome)
    lines = (tmp_path / "a.jsonl").read_bytes().count(b"\n")
    os.truncate(tmp_path / "a.jsonl", SPARSE_BYTE)
    before = read_byte()
    journal = read_journal(tmp_path)
    assert read_byte() - before < SPARSE_BYTE / 100
    assert journal.outcomes == (outcome,)
    assert [(damage.fault, damage.line) for damage in journal.integrity.damage] == [
        (Fault.DAMAGED, lines + 1)
    ]


def test_what_a_large_journal_is_known_by_is_computed_soon_and_sees_all_that_is_read(
    tmp_path: Path,
) -> None:
    write(tmp_path / "a.jsonl", an_outcome())
    whole = journal_contents(tmp_path)
    os.truncate(tmp_path / "a.jsonl", SPARSE_BYTE)
    before = read_byte()
    assert journal_contents(tmp_path) != whole
    assert read_byte() - before < SPARSE_BYTE / 100


def test_a_pipe_beside_a_large_journal_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    with pytest.raises(OSError, match="no plain file"):
        journal_contents(tmp_path)
