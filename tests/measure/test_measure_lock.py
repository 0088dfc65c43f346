# SPDX-License-Identifier: Apache-2.0
"""Two runs never overlap; a run that died frees the host as soon as what it began has been cleaned up."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tare.errors import HostError, LockedError
from tare.host import process
from tare.measure import lock as module
from tare.measure.clean import clean_up
from tare.measure.lock import host_lock, tools_lock

HOLD = """
import sys, time
from tare.measure.lock import host_lock
with host_lock("a campaign"):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def holder() -> Iterator["subprocess.Popen[bytes]"]:
    """Another process that holds the host."""
    child = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, env={**os.environ})
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == b"held\n"
        yield child
    finally:
        child.kill()
        child.wait(timeout=10)
        child.stdout.close()


@pytest.fixture(autouse=True)
def own_state(state: Path) -> None:
    """Every test here has a host of its own."""


def test_a_second_run_is_told_who_measures_and_why_it_may_not() -> None:
    with holder() as other, pytest.raises(LockedError) as caught, host_lock("another"):
        pytest.fail("both hold the host")
    assert f"(a campaign, process {other.pid})" in str(caught.value)
    assert "spoil both" in str(caught.value)


def test_the_host_is_free_again_after_the_first_run(state: Path) -> None:
    for purpose in ("first", "second"):
        with host_lock(purpose):
            assert json.loads((state / "lock").read_text()) == {"pid": os.getpid(), "purpose": purpose}


def test_the_host_is_free_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), host_lock("fails"):
        1 / 0  # noqa: B018 - the error is wanted
    with host_lock("next"):
        pass


def test_the_host_is_free_at_once_when_its_holder_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    with holder() as other:
        other.kill()
        other.wait(timeout=10)
        monkeypatch.setattr(module, "_CLEAN_UP_LIMIT_S", -1.0)  # who would have to wait is refused
        with host_lock("next"):
            pass


@contextmanager
def guardian_of_a_dead_run(state: Path, pid: int) -> Iterator[int]:
    """The lock held by somebody who is not the one that it names; yields its descriptor."""
    state.mkdir(exist_ok=True)
    descriptor = os.open(state / "lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, json.dumps({"pid": pid, "purpose": "killed"}).encode())
        yield descriptor
    finally:
        os.close(descriptor)


def test_the_guardian_of_a_dead_run_is_waited_for(state: Path) -> None:
    with guardian_of_a_dead_run(state, 4194305) as descriptor:
        gone = threading.Event()

        def go() -> None:
            gone.set()
            fcntl.flock(descriptor, fcntl.LOCK_UN)

        timer = threading.Timer(0.4, go)
        timer.start()
        with host_lock("next"):
            assert gone.is_set()
        timer.join()


def test_a_dead_run_that_nobody_collected_counts_as_dead(state: Path) -> None:
    zombie = subprocess.Popen(["true"])
    try:
        while Path(f"/proc/{zombie.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.01)
        with guardian_of_a_dead_run(state, zombie.pid) as descriptor:
            timer = threading.Timer(0.2, fcntl.flock, (descriptor, fcntl.LOCK_UN))
            timer.start()
            with host_lock("next"):
                pass
            timer.join()
    finally:
        zombie.wait(timeout=10)


def test_a_clean_up_that_hangs_is_not_waited_for_without_end(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CLEAN_UP_LIMIT_S", 0.2)
    with (
        guardian_of_a_dead_run(state, 4194305),
        pytest.raises(LockedError, match="still being cleaned up"),
        host_lock("next"),
    ):
        pytest.fail("both hold the host")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": null, "purpose": ""}', "\0" * 20])
def test_a_lock_file_without_sense_names_nobody_and_is_waited_for(
    content: str, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CLEAN_UP_LIMIT_S", 0.1)
    state.mkdir()
    with (state / "lock").open("w") as opened:
        opened.write(content)
        opened.flush()
        fcntl.flock(opened, fcntl.LOCK_EX)
        with pytest.raises(LockedError, match="still being cleaned up"), host_lock("next"):
            pytest.fail("both hold the host")
    with host_lock("next"):
        pass


def test_a_state_folder_that_cannot_be_made_is_an_error_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TARE_STATE", str(tmp_path / "file" / "state"))
    with pytest.raises(HostError, match="set TARE_STATE to a folder of yours"), host_lock("any"):
        pytest.fail("there is no lock")


def test_a_full_disk_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.pwrite", full)
    with pytest.raises(HostError, match=r"cannot write to .*: No space left on device"), host_lock("any"):
        pytest.fail("nobody would know who holds the lock")


class TestTools:
    def test_a_tool_at_work_holds_the_lock_and_another_run_waits_for_it(self, tmp_path: Path) -> None:
        begun, note = tmp_path / "begun", tmp_path / "done"
        with tools_lock():
            script = f"echo > {begun}; sleep 0.5; echo > {note}"
            tool = threading.Thread(target=process.run, args=(["sh", "-c", script],))
            tool.start()
            while not begun.exists():
                time.sleep(0.01)
        clean_up()
        assert note.exists()
        tool.join()

    def test_a_tool_of_a_killed_runner_is_waited_for(self, tmp_path: Path) -> None:
        begun, note = tmp_path / "begun", tmp_path / "done"
        script = (
            "from tare.host import process\nfrom tare.measure.lock import tools_lock\n"
            f"with tools_lock():\n    process.run(['sh', '-c', 'echo > {begun}; sleep 0.5; echo > {note}'])\n"
        )
        runner = subprocess.Popen([sys.executable, "-c", script])
        while not begun.exists():
            time.sleep(0.01)
        runner.send_signal(signal.SIGKILL)
        runner.wait(timeout=10)
        clean_up()
        assert note.exists()

    def test_a_tool_that_hangs_does_not_stop_the_clean_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_TOOLS_LIMIT_S", 0.2)
        with tools_lock():
            begun = time.monotonic()
            clean_up()
            assert time.monotonic() - begun > 0.1

    def test_no_tool_inherits_the_lock_afterwards(self, state: Path) -> None:
        with tools_lock():
            during = process.run(["sh", "-c", "ls -l /proc/$$/fd"]).stdout
        after = process.run(["sh", "-c", "ls -l /proc/$$/fd"]).stdout
        assert str(state / "tools.lock") in during
        assert str(state / "tools.lock") not in after
