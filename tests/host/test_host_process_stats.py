# SPDX-License-Identifier: Apache-2.0
"""The processes' texts, taken again and again: the newest each time, and no file stays open."""

import os
import subprocess
from pathlib import Path

import pytest

from tare.host import process_stats
from tare.host.process_stats import ProcessStats


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - only counted


def fake(root: Path, pid: int, text: str) -> Path:
    file = root / str(pid) / "stat"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


@pytest.mark.parametrize("most", [0, 1, 256])
def test_each_time_what_is_there_now_is_read(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few may be held."""
    monkeypatch.setattr(process_stats, "MOST_HELD", most)
    fake(tmp_path, 1, "first")
    fake(tmp_path, 2, "second")
    (tmp_path / "self").mkdir()
    stats = ProcessStats(str(tmp_path))
    assert stats.texts() == {1: b"first", 2: b"second"}
    fake(tmp_path, 2, "changed")
    fake(tmp_path, 3, "new")
    assert stats.texts() == {1: b"first", 2: b"changed", 3: b"new"}
    stats.close()


def test_a_process_that_ended_is_left_out() -> None:
    stats = ProcessStats()
    with subprocess.Popen(["sleep", "60"]) as child:
        assert child.pid in stats.texts()
        child.kill()
    assert child.pid not in stats.texts()
    assert os.getpid() in stats.texts()
    stats.close()


def test_a_number_that_is_another_processs_by_now_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, 7, "early")
    stats = ProcessStats(str(tmp_path))
    stats.texts()
    fake(tmp_path, 7, "gone").unlink()
    fake(tmp_path, 7, "another")
    first = os.pread

    def ended(descriptor: int, *rest: int) -> bytes:
        if first(descriptor, *rest) == b"gone":
            raise ProcessLookupError
        return first(descriptor, *rest)

    monkeypatch.setattr(os, "pread", ended)
    assert stats.texts() == {7: b"another"}
    stats.close()


def test_no_file_stays_open() -> None:
    before, stats = open_files(), ProcessStats()
    stats.texts()
    assert open_files() > before
    stats.close()
    assert open_files() == before


def test_of_processes_that_ended_no_file_stays_open(tmp_path: Path) -> None:
    stats = ProcessStats(str(tmp_path))
    before = open_files()
    for pid in range(1, 400):
        stat = fake(tmp_path, pid, "short-lived")
        assert stats.texts() == {pid: b"short-lived"}
        stat.unlink()
        stat.parent.rmdir()
    assert open_files() <= before + 1
    stats.close()
