# SPDX-License-Identifier: Apache-2.0
"""How a process stands with the schedulers: read from real processes, and made plain."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tare.host import standing

PLAIN = {
    "nice": 0,
    "scheduler": os.SCHED_OTHER,
    "io_priority": 0,
    "oom_score_adjustment": "0",
    "timer_slack_ns": 50_000,
}
READ_INSIDE = """
import json
from tare.host import standing
before = standing.standing()
with standing.plain():
    inside = standing.standing()
print(json.dumps([before, inside, standing.standing()]))
"""


@contextmanager
def sleeping(*before: str) -> Iterator[int]:
    """A process with another standing than this one."""
    with subprocess.Popen([*before, "sh", "-c", "echo; exec sleep 60"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("before", "name", "value"),
    [
        (("nice", "-n", "5"), "nice", 5),
        (("chrt", "--batch", "0"), "scheduler", os.SCHED_BATCH),
        (("ionice", "-c", "2", "-n", "6"), "io_priority", 2 << 13 | 6),
        (("choom", "-n", "300", "--"), "oom_score_adjustment", "300"),
    ],
)
def test_the_standing_of_another_process_is_read(before: tuple[str, ...], name: str, value: object) -> None:
    with sleeping(*before) as pid:
        assert standing.standing(pid)[name] == value


def test_of_a_process_that_is_gone_nothing_is_known() -> None:
    with sleeping() as pid:
        pass
    assert set(standing.standing(pid).values()) == {None}


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user may not raise its own priority")
def test_a_niced_runner_is_plain_while_it_measures_and_niced_again_afterwards() -> None:
    niced = ["nice", "-n", "7", "ionice", "-c", "3", "choom", "-n", "200", "--", "chrt", "--batch", "0"]
    done = subprocess.run(
        [*niced, sys.executable, "-c", READ_INSIDE], capture_output=True, check=True, timeout=60
    )
    before, inside, after = json.loads(done.stdout)
    assert (before["nice"], before["scheduler"], before["io_priority"]) == (7, os.SCHED_BATCH, 3 << 13 | 7)
    assert inside == PLAIN
    assert after == before


def test_memory_may_be_locked_while_a_fabric_is_measured_and_as_little_as_before_afterwards() -> None:
    code = (
        "import resource as r; from tare.host import standing; limit = lambda: r.getrlimit(r.RLIMIT_MEMLOCK)\n"
        "before = limit(); r.setrlimit(r.RLIMIT_MEMLOCK, (65536, before[1]))\n"
        "with standing.locking_memory(): print(limit()[0] in (-1, before[1]), limit()[0] == limit()[1])\n"
        "print(limit() == (65536, before[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.split() == ["True"] * 3


def test_processes_are_limited_to_as_many_as_the_kernel_numbers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pid_max").write_text("32768\n")
    monkeypatch.setattr(standing, "_PID_MAX", tmp_path / "pid_max")
    monkeypatch.setattr(
        resource, "getrlimit", lambda number: (500, -1) if number == resource.RLIMIT_NPROC else (1024, 4096)
    )
    limits = standing.resource_limits()
    assert limits["nproc"] == (500, 32768)
    assert limits["nofile"] == (4096, 4096)
    assert "ofile" not in limits
