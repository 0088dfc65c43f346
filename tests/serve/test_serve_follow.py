# SPDX-License-Identifier: Apache-2.0
import fcntl
import os
from pathlib import Path

import pytest

from tare.journal.result import ResultFolder
from tare.serve.follow import Follower, is_locked
from tests.serve.serve_example import BLOCKS, ENVIRONMENTS, GrowingJournal, make_result

TRIALS = BLOCKS * (ENVIRONMENTS + 2)


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GrowingJournal:
    monkeypatch.setattr("tare.serve.follow.LEAST_REST_S", 0.0)
    return GrowingJournal(make_result(tmp_path / "result", is_hostile=True))


def test_each_trial_is_counted_once_as_it_ends_and_lost_ones_by_themselves(journal: GrowingJournal) -> None:
    journal.begin(2)
    follower = Follower(ResultFolder(journal.result))
    assert (follower.progress().measured, follower.progress().planned) == (0, TRIALS)
    journal.grow(3)
    assert follower.progress().measured == 3
    assert follower.progress().left_s
    journal.grow()
    last = follower.progress()
    assert (last.state, last.measured, last.lost) == ("ended", TRIALS, 1)
    assert last.said == f"ended: {TRIALS} of {TRIALS} trials, 1 lost"


def test_a_torn_line_waits_for_its_end_and_a_damaged_one_does_not_count(journal: GrowingJournal) -> None:
    (path,) = journal.result.glob("journal/*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]) + lines[4][:50])
    follower = Follower(ResultFolder(journal.result))
    assert follower.progress().measured == 2
    with path.open("ab") as opened:
        opened.write(lines[4][50:] + lines[5].replace(b'"ok"', b'"OK"'))
    assert follower.progress().measured == 3


def test_a_runner_that_is_silent_for_long_has_stopped_unless_its_lock_is_held(
    journal: GrowingJournal,
) -> None:
    journal.begin(10)
    (path,) = journal.result.glob("journal/*.jsonl")
    follower = Follower(ResultFolder(journal.result))
    assert follower.progress().state == "running"
    os.utime(path, (1, 1))
    assert follower.progress().state == "stopped"
    assert "stopped before its end" in follower.progress().said
    lock = journal.result / "lock"
    with lock.open("w") as opened:
        assert not is_locked(lock)
        fcntl.flock(opened, fcntl.LOCK_EX)
        assert is_locked(lock)
        assert follower.progress().state == "running"
    assert not is_locked(lock)
