# SPDX-License-Identifier: Apache-2.0
"""Scratch folders: gone after use, gone after a kill once somebody cleans up, and nobody's else's is touched."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tare.host import scratch
from tare.host.scratch import remove_unused, scratch_folder

_KILLED = """
import os, signal
from tare.host.scratch import scratch_folder
with scratch_folder("test") as folder:
    (folder / "file").write_text("left")
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def _own_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def test_a_scratch_folder_is_gone_after_use_whatever_was_raised() -> None:
    used: list[Path] = []

    def fail() -> None:
        with scratch_folder("test") as folder:
            used.append(folder)
            folder.write_text("a folder is no file")

    with pytest.raises(IsADirectoryError):
        fail()
    assert not used[0].exists()


def test_a_killed_process_leaves_a_folder_that_the_next_clean_up_removes() -> None:
    done = subprocess.run([sys.executable, "-c", _KILLED], capture_output=True, text=True, check=False)
    left = Path(done.stdout.strip())
    assert (done.returncode, (left / "file").read_text()) == (-signal.SIGKILL, "left")
    remove_unused()
    assert not left.exists()


def test_what_is_in_use_stays() -> None:
    with scratch_folder("test") as folder:
        remove_unused()
        assert folder.is_dir()


def test_where_the_file_system_knows_no_locks_a_folder_is_lent_and_none_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, operation: int) -> None:  # noqa: ARG001 - as flock has them
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    left = tmp_path / f"{scratch._prefix()}left"
    left.mkdir()
    with scratch_folder("test") as folder:
        assert folder.is_dir()
        remove_unused()
    assert [left] == list(tmp_path.iterdir())


def test_a_folder_of_another_name_a_link_and_a_file_stay(tmp_path: Path) -> None:
    kept = tmp_path / "tare-results"
    kept.mkdir()
    (tmp_path / f"{scratch._prefix()}link").symlink_to(kept)
    (tmp_path / f"{scratch._prefix()}file").write_text("")
    before = sorted(tmp_path.iterdir())
    remove_unused()
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_another_users_folder_stays_even_for_root(tmp_path: Path) -> None:
    others = tmp_path / f"{scratch._prefix()}others"
    others.mkdir()
    os.chown(others, 65534, 65534)
    remove_unused()
    assert others.is_dir()


def test_a_folder_that_was_used_on_another_host_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    left = tmp_path / f"{scratch._prefix()}test-12345678"
    left.mkdir()
    here = os.uname()
    monkeypatch.setattr(os, "uname", lambda: os.uname_result((here[0], f"not-{here[1]}", *here[2:])))
    remove_unused()
    assert left.is_dir()
    monkeypatch.setattr(os, "uname", lambda: here)
    remove_unused()
    assert not left.exists()


def test_nothing_is_removed_where_others_could_rename_a_folder_of_ours(tmp_path: Path) -> None:
    left = tmp_path / f"{scratch._prefix()}test-12345678"
    left.mkdir()
    tmp_path.chmod(0o777)
    remove_unused()
    assert left.is_dir()
    tmp_path.chmod(0o1777)
    remove_unused()
    assert not left.exists()


def test_no_folder_for_temporary_files_stops_no_clean_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    remove_unused()


def test_when_no_more_files_can_be_opened_no_folder_is_lent_without_a_lock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(descriptor: int, operation: int) -> None:  # noqa: ARG001 - as flock has them
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match="Too many open files"), scratch_folder("test"):
        pass
    assert list(tmp_path.iterdir()) == []
