# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.native.conversation import effort, eventually, pid_in, process_exists, process_lives

ENDING = [signal.SIGTERM, signal.SIGINT, signal.SIGPWR, signal.SIGRTMIN + 3]


@contextlib.contextmanager
def running(argv: list[object]) -> Iterator[subprocess.Popen[bytes]]:
    """A started init that has said READY."""
    process = subprocess.Popen([str(part) for part in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"READY\n"
        yield process
    finally:
        process.kill()
        process.wait(timeout=20)
        process.stdout.close()


def blocks(pid: int, number: signal.Signals) -> bool:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    mask = next(line for line in status.splitlines() if line.startswith("SigBlk:"))
    return bool(int(mask.split()[1], 16) >> (number - 1) & 1)


@pytest.mark.parametrize("number", ENDING)
def test_init_ends_well_when_told(programs: Path, number: int) -> None:
    with running([programs / "init"]) as process:
        process.send_signal(number)
        assert process.wait(timeout=20) == 0


@pytest.mark.parametrize(
    "number", [signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE, signal.SIGQUIT, signal.SIGALRM]
)
def test_init_ignores_every_other_signal(programs: Path, number: signal.Signals) -> None:
    with running([programs / "init"]) as process:
        process.send_signal(number)
        time.sleep(0.05)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0


def test_init_reaps_children_that_die_before_and_after_its_start(programs: Path, tmp_path: Path) -> None:
    script = f"""
    sh -c 'echo $$ > {tmp_path}/early' &
    sh -c 'echo $$ > {tmp_path}/late; sleep 0.3' &
    exec "$0"
    """
    with running(["sh", "-c", script, programs / "init"]) as process:
        children = [pid_in(tmp_path / name) for name in ("early", "late")]
        eventually(lambda: not any(map(process_exists, children)), "both children were reaped")
        assert process.poll() is None


def test_init_reaps_even_where_sigchld_was_ignored(programs: Path, tmp_path: Path) -> None:
    script = f"trap '' CHLD; sh -c 'echo $$ > {tmp_path}/child; sleep 0.1' & exec \"$0\""
    with running(["sh", "-c", script, programs / "init"]):
        child = pid_in(tmp_path / "child")
        eventually(lambda: not process_exists(child), "the child was reaped")


def test_init_works_when_nobody_reads_it(programs: Path) -> None:
    script = 'exec "$0" >&-'
    process = subprocess.Popen(["sh", "-c", script, str(programs / "init")])
    try:
        eventually(lambda: blocks(process.pid, signal.SIGUSR1), "init blocks its signals")
        time.sleep(0.05)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.wait(timeout=20)


def test_init_costs_nothing_while_idle(programs: Path) -> None:
    with running([programs / "init"]) as process:
        time.sleep(0.05)
        before = effort(process.pid)
        time.sleep(0.5)
        assert effort(process.pid) == before


@pytest.mark.root
def test_init_as_first_process_takes_its_node_along(programs: Path) -> None:
    script = 'sleep 300 & exec "$0"'
    argv: list[object] = ["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", script, programs / "init"]
    with running(argv) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8")
        first = int(children)
        (inner,) = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="utf-8").split()
        os.kill(first, signal.SIGTERM)
        assert process.wait(timeout=20) == 0
        eventually(lambda: not process_lives(int(inner)), "what ran in the node died")
