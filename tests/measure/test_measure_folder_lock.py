# SPDX-License-Identifier: Apache-2.0
"""Two runners with state folders of their own never measure into one result folder at once."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.fake_campaign import Listener, fake_campaign, fake_request

from tare.errors import JournalError, LockedError
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure import folder_lock as module
from tare.measure.campaign import measure_campaign
from tare.measure.folder_lock import folder_lock

HOLD = """
import sys, time
from pathlib import Path
from tare.journal.result import ResultFolder
from tare.measure.folder_lock import folder_lock
with folder_lock(ResultFolder(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def holder(folder: ResultFolder) -> Iterator["subprocess.Popen[bytes]"]:
    """Another process that measures into the folder."""
    argv = [sys.executable, "-c", HOLD, str(folder.path)]
    child = subprocess.Popen(argv, stdout=subprocess.PIPE, env={**os.environ})
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == b"held\n"
        yield child
    finally:
        child.kill()
        child.wait(timeout=10)
        child.stdout.close()


@pytest.fixture
def folder(tmp_path: Path) -> ResultFolder:
    return ResultFolder(tmp_path / "result")


@pytest.mark.usefixtures("fake_image")
def test_a_result_that_another_run_continues_is_left_alone(folder: ResultFolder) -> None:
    """Both would run the same trials: with state folders of their own no other lock keeps them apart."""
    measure_campaign(fake_request(fake_campaign(blocks=1), folder.path), Listener())
    before = sorted(folder.journal.iterdir())
    with holder(folder) as other, pytest.raises(LockedError) as caught:
        measure_campaign(fake_request(fake_campaign(blocks=1), folder.path), Listener())
    assert f"process {other.pid} on {os.uname().nodename}, since 20" in str(caught.value)
    assert "wait for it, or choose another --output" in str(caught.value)
    assert sorted(folder.journal.iterdir()) == before


@pytest.mark.usefixtures("fake_image")
def test_a_result_that_another_run_is_about_to_begin_is_left_alone(folder: ResultFolder) -> None:
    with holder(folder), pytest.raises(LockedError):
        measure_campaign(fake_request(fake_campaign(blocks=1), folder.path), Listener())
    assert read_journal(folder.journal).sessions == ()


def test_the_folder_is_free_at_once_when_its_holder_is_killed(folder: ResultFolder) -> None:
    with holder(folder) as other:
        other.kill()
        other.wait(timeout=10)
        with folder_lock(folder) as remark:
            assert remark is None
            assert json.loads(folder.lock.read_text())["pid"] == os.getpid()


def test_a_folder_in_which_nothing_was_begun_is_taken_away_again(folder: ResultFolder) -> None:
    with pytest.raises(ZeroDivisionError), folder_lock(folder):
        1 / 0  # noqa: B018 - the error is wanted
    assert not folder.path.exists()


def test_a_folder_of_the_user_s_stays(folder: ResultFolder) -> None:
    folder.path.mkdir()
    (folder.path / "notes").touch()
    with folder_lock(folder):
        pass
    assert (folder.path / "notes").exists()


def test_a_run_that_opened_the_lock_of_a_folder_just_taken_away_is_refused(
    folder: ResultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it and the next one would each hold a file of that name."""
    begun = module._open

    def opened_too_late(path: Path) -> int:
        descriptor = begun(path)
        path.unlink()
        return descriptor

    monkeypatch.setattr(module, "_open", opened_too_late)
    with pytest.raises(LockedError, match="has just ended"), folder_lock(folder):
        pytest.fail("a file without a name locks nobody out")


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_measured_into_all_the_same_and_this_is_said(
    number: int, folder: ResultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refused)
    with folder_lock(folder) as remark:
        assert remark is not None
        assert f"without locks ({os.strerror(number)})" in remark


def refusal(folder: ResultFolder, content: str) -> str:
    """What is said to a second run when the file of the lock holds this."""
    with holder(folder):
        folder.lock.write_text(content)
        with pytest.raises(LockedError) as caught, folder_lock(folder):
            pytest.fail("both hold the folder")
    return str(caught.value)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": null}', "\0" * 20])
def test_a_lock_file_without_sense_names_nobody(content: str, folder: ResultFolder) -> None:
    assert "(it left no name)" in refusal(folder, content)


def test_a_name_that_somebody_wrote_reaches_no_terminal_as_an_escape_sequence(folder: ResultFolder) -> None:
    content = json.dumps({"pid": 1, "host": "\x1b[31mred", "since_utc": "now"})
    assert "process 1 on [31mred" in refusal(folder, content)


def test_a_link_in_the_lock_s_place_is_not_written_through(folder: ResultFolder, tmp_path: Path) -> None:
    folder.path.mkdir()
    (tmp_path / "precious").write_text("mine")
    folder.lock.symlink_to(tmp_path / "precious")
    with pytest.raises(JournalError, match="choose another --output"), folder_lock(folder):
        pytest.fail("the link was followed")
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_planted_in_the_locks_place_is_refused_at_once(kind: str, folder: ResultFolder) -> None:
    folder.path.mkdir()
    (folder.path / "precious").write_text("kept")
    if kind == "link":
        folder.lock.symlink_to("precious")
    elif kind == "pipe":
        os.mkfifo(folder.lock)
    else:
        folder.lock.mkdir()
    with pytest.raises(JournalError, match=r"cannot write to .*choose another --output"), folder_lock(folder):
        pytest.fail("it must not be held")
    assert (folder.path / "precious").read_text() == "kept"


def test_nobody_but_its_owner_can_open_the_lock_and_hold_it(folder: ResultFolder) -> None:
    with folder_lock(folder):
        assert folder.lock.stat().st_mode & 0o777 == 0o600
