# SPDX-License-Identifier: Apache-2.0
"""Processes are killed at random moments, over all environments at once: the runner, its guardian, dockerd, mpirun, a
node's init, a machine's keeper, and whatever else a trial consists of.

Each campaign is continued until it is whole; while its daemon is gone an environment is skipped, and the journal says
so. Whatever was killed: each other trial stands once, no more trials failed than processes other than the runner were
killed (but those that needed the killed daemon), nobody sees a traceback, and nothing stays on the machine.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tare.environments import PROVIDERS
from tare.host.paths import images_directory
from tare.journal.reader import read_journal
from tare.plan.campaign import load_campaign
from tare.plan.trials import plan_trials
from tare.records import Status
from tests.hostile.stage import Stage, staged
from tests.machine import Machine
from tests.real_environments import lend_guest_parts

BESIDE = ("fake", "native", "custom", "libvirt", "ssh")
BEFORE_NODES = 0.2
"""The share of moments without a node at which somebody is killed all the same."""
WHOLE_LIMIT_S = 600.0
DOCKERD_LIMIT_S = 60.0
NOTHING_COMPARED = 3
"""The exit code of a run whose every environment was missing: the daemon was away, and it is continued."""
CAMPAIGN = """
name = "killed"
blocks = 1
layouts = ["1c1p1i", "2c1p1i"]
seed = {seed}

[limits]
memory = "512 MiB"
shm = "16 MiB"
time = "60s"

{environments}

[[workload]]
kind = "command"
name = "burn"
argv = ["{{tools}}/burn", "30000000"]
layouts = ["1c1p1i"]

[[workload]]
kind = "npb"
name = "is"
benchmark = "is"
problem_class = "S"
layouts = ["2c1p1i"]
"""


@dataclass
class Attack:
    """What has been killed so far, by name, and what got through."""

    random: random.Random
    wanted: int
    killed: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def over(self) -> bool:
        return self.killed.total() >= self.wanted


def attack(stage: Stage, going: Attack, daemon: "Daemon | None") -> None:
    """Run the campaign to its end, killing all the while."""
    bystanders, daemon_kills = 0, going.killed["dockerd"]
    deadline = time.monotonic() + WHOLE_LIMIT_S
    while time.monotonic() < deadline:
        argv = [
            sys.executable,
            "-m",
            "tare",
            "run",
            str(stage.folder / "campaign.toml"),
            "--output",
            str(stage.result),
        ]
        log = stage.folder / "said"
        with log.open("wb") as said:
            runner = subprocess.Popen(
                argv, env=stage.variables(), stdout=said, stderr=said, start_new_session=True
            )
            bystanders += _kill_until_the_end(runner, stage, going, daemon, deadline)
        if "Traceback" in (text := log.read_text(errors="replace")):
            going.faults.append(f"a traceback: {text[-800:]}")
        if runner.returncode in {0, 1} and not read_journal(stage.result / "journal").sessions[-1].skipped:
            break
        if runner.returncode not in {0, 1, -signal.SIGKILL, NOTHING_COMPARED}:
            going.faults.append(f"exit code {runner.returncode}: {text[-400:]}")
        if runner.returncode == 2:
            break  # the campaign itself is wrong
    else:
        going.faults.append(f"no end within {WHOLE_LIMIT_S:.0f} s")
    going.faults += _lost(stage, bystanders, daemon_was_killed=going.killed["dockerd"] > daemon_kills)


def _kill_until_the_end(
    runner: subprocess.Popen[bytes], stage: Stage, going: Attack, daemon: "Daemon | None", deadline: float
) -> int:
    """How many processes other than the runner were killed."""
    bystanders = 0
    while time.monotonic() < deadline:
        try:
            runner.wait(
                timeout=deadline - time.monotonic() if going.over else going.random.uniform(0.05, 1.5)
            )
        except subprocess.TimeoutExpired:
            name = None if going.over else _kill_somebody(runner, stage, going.random, daemon)
            if name is not None:
                going.killed[name] += 1
                bystanders += name != "runner"
        else:
            return bystanders
    runner.kill()
    runner.wait(timeout=10)
    return bystanders


def _kill_somebody(
    runner: subprocess.Popen[bytes], stage: Stage, drawn: random.Random, daemon: "Daemon | None"
) -> str | None:
    """Every name has the same chance, however many processes bear it; ``None``: it was gone already."""
    victims = dict(_processes(stage))
    if not (set(victims.values()) - {"guardian"}) and drawn.random() > BEFORE_NODES:
        return None  # else most would fall on the runner's start
    names = sorted({*victims.values(), "runner", *(["dockerd"] if daemon else [])})
    name = drawn.choice(names)
    if name == "dockerd" and daemon is not None:
        daemon.kill()
        return name
    pid = runner.pid if name == "runner" else next(pid for pid, own in victims.items() if own == name)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return name
    return None


def _processes(stage: Stage) -> Iterator[tuple[int, str]]:
    """Of this result's nodes and helpers: those whose group, words or variables name them; never the runner."""
    nodes = [path.name for path in (stage.state / "nodes").glob("*")]
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            words = (entry / "cmdline").read_bytes().decode(errors="replace")
            group = (entry / "cgroup").read_text()
            name = (entry / "comm").read_text().strip()
            if "tare.measure.guardian" in words and str(stage.state) in (entry / "environ").read_text(
                errors="replace"
            ):
                yield int(entry.name), "guardian"
            elif any(node in group or node in words for node in nodes) and "\0run\0" not in words:
                yield int(entry.name), name.split(":")[0]


def _lost(stage: Stage, bystanders: int, *, daemon_was_killed: bool) -> Iterator[str]:
    campaign = load_campaign(
        stage.folder / "campaign.toml", host_processors=os.cpu_count() or 1, host_memory_byte=1 << 40
    )
    journal = read_journal(stage.result / "journal")
    there = {outcome.trial.identity for outcome in journal.outcomes}
    said = {skipped.environment for session in journal.sessions for skipped in session.skipped}
    planned = plan_trials(campaign, campaign.seed or 0)
    wanted = {trial.identity for trial in planned if trial.environment.name not in said}
    if missing := wanted - there:
        yield f"{len(missing)} trials are lost: {sorted(missing)[:3]}"
    if journal.repeated:
        yield f"{len(journal.repeated)} trials stand twice"
    bad = [outcome for outcome in journal.outcomes if outcome.status is not Status.OK]
    counted = [
        outcome
        for outcome in bad
        if not (daemon_was_killed and outcome.trial.environment.technology == "docker")
    ]
    if len(counted) > bystanders:
        yield f"{len(counted)} trials failed, {bystanders} processes were killed: {counted[-1].reason}"
    yield from (f"{outcome.trial.identity} failed without a reason" for outcome in bad if not outcome.reason)


class Daemon:
    """A Docker daemon that is started again when it was killed, as a service manager would."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = self._answering()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(timeout=10)
        self._process = self._answering()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=DOCKERD_LIMIT_S)

    def _answering(self) -> subprocess.Popen[bytes]:
        """It ends at once as long as what the killed one had started is still there."""
        deadline = time.monotonic() + DOCKERD_LIMIT_S
        process = self._started()
        while not _answers() and time.monotonic() < deadline:
            process = self._started() if process.poll() is not None else process
            time.sleep(0.3)
        return process

    def _started(self) -> subprocess.Popen[bytes]:
        with (self._folder / "dockerd.log").open("ab") as log:
            return subprocess.Popen(["dockerd"], stdout=log, stderr=log, start_new_session=True)


@contextmanager
def own_daemon(folder: Path) -> Iterator[Daemon | None]:
    """``None`` where Docker is missing, or somebody else's daemon is at work, which is not ours to kill."""
    if shutil.which("dockerd") is None or _answers():
        print("dockerd is left alone: it is missing, or somebody else's runs", flush=True)
        yield None
        return
    daemon = Daemon(folder)
    try:
        yield daemon
    finally:
        daemon.stop()


def _answers() -> bool:
    return subprocess.run(["docker", "version"], capture_output=True, check=False, timeout=30).returncode == 0


def usable_technologies() -> list[str]:
    return [name for name, provider in PROVIDERS.items() if name not in BESIDE and provider.probe().usable]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--environment", action="append", help="all that work here without it")
    asked = parser.parse_args()
    going = Attack(random.Random(asked.seed), asked.count)  # noqa: S311 - moments, not secrets
    campaigns = 0
    with staged() as stage, ExitStack() as stack:
        shutil.rmtree(stage.state / "images")
        (stage.state / "images").symlink_to(images_directory())
        lend_guest_parts(stage.state)
        daemon = stack.enter_context(own_daemon(stage.folder))
        before = Machine.look()
        names = asked.environment or usable_technologies()
        entries = "\n".join(f'[[environment]]\ntechnology = "{name}"' for name in names)
        print(f"kills in {', '.join(names)}", flush=True)
        while not going.over:
            stage.begin_anew()
            text = CAMPAIGN.format(seed=asked.seed * 1000 + campaigns, environments=entries)
            (stage.folder / "campaign.toml").write_text(text)
            known = len(going.faults)
            attack(stage, going, daemon)
            campaigns += 1
            print("\n".join(going.faults[known:]), end="\n" if going.faults[known:] else "", flush=True)
            print(
                f"{going.killed.total()} kills, {campaigns} campaigns, {len(going.faults)} faults", flush=True
            )
        cleaned = stage.tare("clean")
        left = [*stage.left(), *Machine.look().beyond(before)]
        if left:
            going.faults.append(f"stayed: {', '.join(left)} ({cleaned.said.strip()})")
            print(going.faults[-1], flush=True)
    victims = ", ".join(f"{name} {count}" for name, count in going.killed.most_common())
    print(f"kills: {going.killed.total()} ({victims}; seed {asked.seed}), {len(going.faults)} faults")
    return 1 if going.faults else 0


if __name__ == "__main__":
    sys.exit(main())
