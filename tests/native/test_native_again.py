# SPDX-License-Identifier: Apache-2.0
"""again: a client whose server does not listen yet is begun anew."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

PATH = {"PATH": os.environ["PATH"]}
COUNTING = 'echo x >> "$1"; [ "$(wc -l < "$1")" -ge "$2" ] && exit "$3"; exit 246'
"""Ends with 246, but at the second argument's attempt with the third."""


def again(programs: Path, *words: object) -> list[str]:
    return [str(programs / "again"), *map(str, words)]


def run(programs: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        again(programs, *words), env=PATH, capture_output=True, text=True, check=False, timeout=20
    )


@pytest.mark.parametrize("code", [0, 1, 7])
def test_a_command_runs_again_until_it_ends_otherwise(programs: Path, tmp_path: Path, code: int) -> None:
    attempts = tmp_path / "attempts"
    done = run(programs, 246, 20, "sh", "-c", COUNTING, "sh", attempts, 5, code)
    assert done.returncode == code
    assert attempts.read_text() == "x\n" * 5


def test_a_command_that_ends_otherwise_at_once_runs_once(programs: Path) -> None:
    done = run(programs, 246, 20, "sh", "-c", "echo $0; exit 3", "a b")
    assert (done.returncode, done.stdout, done.stderr) == (3, "a b\n", "")


def test_after_the_limit_the_code_is_handed_on(programs: Path, tmp_path: Path) -> None:
    attempts = tmp_path / "attempts"
    done = run(programs, 246, 1, "sh", "-c", COUNTING, "sh", attempts, 1_000_000, 0)
    assert done.returncode == 246
    assert attempts.read_text().count("x") > 1


def test_a_signal_is_told_as_the_shell_does(programs: Path) -> None:
    assert run(programs, 246, 1, "sh", "-c", "kill -KILL $$").returncode == 128 + signal.SIGKILL


def test_a_command_that_is_not_there_is_named(programs: Path) -> None:
    done = run(programs, 246, 1, "no-such-program")
    assert (done.returncode, done.stdout) == (127, "")
    assert "cannot execute 'no-such-program'" in done.stderr


def test_the_command_ends_with_its_supervisor(programs: Path) -> None:
    """Killed without a chance to say anything, as mpirun does to the others when one process has failed."""
    argv = again(programs, 246, 1, "sh", "-c", "echo $$; exec sleep 60")
    with subprocess.Popen(argv, env=PATH, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        child = int(supervisor.stdout.readline())
        supervisor.kill()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{child}").exists()


@pytest.mark.parametrize(
    "words", [[], ["246"], ["246", "1"], ["x", "1", "true"], ["246", "-1", "true"], ["246", "1s", "true"]]
)
def test_wrong_use_is_refused(programs: Path, words: list[str]) -> None:
    done = run(programs, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("again: ")
