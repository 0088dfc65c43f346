# SPDX-License-Identifier: Apache-2.0
"""The runner killed at random moments: nothing is lost, nothing stands twice, nothing stays behind."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.machine import Machine

from tare.image.store import Image
from tare.journal.reader import read_journal
from tare.plan.campaign import load_campaign
from tare.plan.trials import plan_trials
from tare.records import Status

KILLS = 20
LAST_LIMIT_S = 180
CAMPAIGN = """
name = "killed"
blocks = 4
layouts = ["1c1p1i"]
seed = 7

[limits]
memory = "256 MiB"
shm = "16 MiB"
time = "20s"

[[environment]]
technology = "bubblewrap"
[[environment]]
technology = "systemd-nspawn"
[[environment]]
technology = "lxc"
[[environment]]
technology = "docker"

[[workload]]
kind = "command"
name = "burn"
argv = ["{tools}/burn", "30000000"]
"""


@pytest.mark.root
@pytest.mark.timeout(600)
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
@pytest.mark.usefixtures("docker_daemon")
def test_twenty_kills_lose_nothing_repeat_nothing_and_leave_nothing(
    image: Image, tmp_path: Path, machine: Machine
) -> None:
    campaign, result = tmp_path / "killed.toml", tmp_path / "result"
    campaign.write_text(CAMPAIGN)
    state = tmp_path / "state"
    state.mkdir()
    (state / "images").symlink_to(image.root.parent.parent)
    argv = [sys.executable, "-m", "tare", "run", str(campaign), "--output", str(result)]
    environment = {**os.environ, "TARE_STATE": str(state)}
    moments_s = [random.uniform(0.2, 2.2) for _ in range(KILLS)]  # noqa: S311 - moments, not secrets
    kills = sum(_killed(argv, environment, moment_s) for moment_s in moments_s)
    done = subprocess.run(
        argv, env=environment, capture_output=True, text=True, timeout=LAST_LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    assert kills > KILLS / 2, "the campaign ended before it could be killed often"
    _check_journal(campaign, result)
    assert machine.beyond(machine) == []


def _killed(argv: list[str], environment: dict[str, str], after_s: float) -> bool:
    """Start, wait, kill -9; whether it was still at work."""
    runner = subprocess.Popen(
        argv, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        runner.wait(timeout=after_s)
    except subprocess.TimeoutExpired:
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait(timeout=10)
        return True
    return False


def _check_journal(campaign: Path, result: Path) -> None:
    planned = plan_trials(load_campaign(campaign, host_processors=1, host_memory_byte=1 << 40), 7)
    outcomes = read_journal(result / "journal").outcomes
    assert sorted(outcome.trial.identity for outcome in outcomes) == sorted(
        trial.identity for trial in planned
    )
    bad = [
        f"{outcome.trial.identity}: {outcome.reason}"
        for outcome in outcomes
        if outcome.status is not Status.OK
    ]
    assert bad == []
