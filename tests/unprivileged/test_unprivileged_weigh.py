# SPDX-License-Identifier: Apache-2.0
"""``tare weigh`` and ``tare run`` by an ordinary user, from the command line to the report."""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.machine import Machine
from tests.unprivileged.ordinary_user import AS_ROOT, PYTHON, TARE, USER, OrdinaryUser, made_user

from tare.image.store import Image
from tare.journal.reader import Journal, read_journal
from tare.nodes.unprivileged.members import members
from tare.records import Status

pytestmark = [*AS_ROOT, pytest.mark.usefixtures("image", "machine")]
SEEN = "import os; print(len(os.sched_getaffinity(0)), os.getuid(), os.uname().nodename)"
CAMPAIGN = """
name = "mine"
blocks = 2
layouts = ["1c1p1i"]
seed = 7
{more}
[limits]
memory = "128 MiB"
shm = "4 MiB"
time = "20s"
{limits}
[[environment]]
technology = "bubblewrap"

[[workload]]
kind = "command"
name = "work"
argv = {argv}
"""


def campaign(user: OrdinaryUser, *argv: str, more: str = "", limits: str = "") -> str:
    path = user.home / "campaign.toml"
    path.write_text(CAMPAIGN.format(argv=json.dumps(argv), more=more, limits=limits))
    return str(user.own(path))


def journal(user: OrdinaryUser) -> Journal:
    return read_journal(user.home / "result" / "journal")


@dataclass(frozen=True)
class Weighed:
    """One weighing, and what it printed."""

    result: Path
    stdout: str
    journal: Journal


@pytest.fixture(scope="module")
def weighed() -> Iterator[Weighed]:
    with made_user() as user:
        words = ["--blocks", "1", "--layout", "1c1p1i", "--output", "result", "--verbose"]
        named = [word for name in ("bubblewrap", "systemd-nspawn") for word in ("--env", name)]
        done = user.tare("weigh", *words, *named, "--", "python3", "-c", SEEN)
        assert done.returncode == 0, done.stderr
        yield Weighed(user.home / "result", done.stdout, journal(user))


def test_native_and_bubblewrap_are_measured_without_root(weighed: Weighed) -> None:
    outcomes = weighed.journal.outcomes
    assert {"native", "bubblewrap"} <= {outcome.trial.environment.name for outcome in outcomes}
    assert {outcome.status for outcome in outcomes} == {Status.OK}
    assert all(outcome.cpu_s for outcome in outcomes)
    assert weighed.journal.sessions[0].host["privileges"] == "an ordinary user's, without control groups"


def test_tables_and_report_say_what_is_weaker(weighed: Weighed) -> None:
    for text in (weighed.stdout, (weighed.result / "report.html").read_text()):
        flat = " ".join(text.split())
        assert "Measured without root. What is weaker than in root" in flat
        assert "kept by affinity" in flat
        assert "one of each process on its own" in flat


def test_what_needs_root_is_skipped_with_the_reason(weighed: Weighed) -> None:
    reasons = {skipped.environment: skipped.reason for skipped in weighed.journal.sessions[0].skipped}
    assert "needs root" in reasons["systemd-nspawn"]
    assert "native" not in reasons


def test_the_command_is_root_on_one_processor_of_its_node(weighed: Weighed) -> None:
    printed = {
        path.parent.name.split("-")[3]: path.read_text().split()
        for path in (weighed.result / "raw").rglob("i0.stdout")
    }
    assert {tuple(words[:2]) for words in printed.values()} == {("1", "0")}
    assert printed["bubblewrap"][2].startswith("tare-")
    assert printed["native"][2] == os.uname().nodename


def test_a_command_beyond_its_memory_fails_and_says_so(user: OrdinaryUser) -> None:
    done = user.tare("run", campaign(user, "{tools}/burn", "--touch", "200000000"), "--output", "result")
    assert done.returncode == 1, done.stderr
    outcomes = journal(user).outcomes
    assert {outcome.status for outcome in outcomes} == {Status.FAILED}
    assert all("Cannot allocate memory" in str(outcome.excerpt) for outcome in outcomes)


@pytest.mark.parametrize(
    ("limits", "more", "said"),
    [
        ("cpu_quota = 0.5", "", "a CPU quota takes a control group"),
        ("", 'networks = ["veth"]', "its nodes need the network veth, which only root can make"),
    ],
)
def test_what_an_ordinary_user_cannot_have_is_said_before_anything_runs(
    limits: str, more: str, said: str, user: OrdinaryUser
) -> None:
    done = user.tare("run", campaign(user, "true", limits=limits, more=more), "--output", "result")
    assert said in done.stderr
    assert "failed" not in done.stdout
    assert all(outcome.trial.environment.name == "native" for outcome in journal(user).outcomes)


def test_a_result_is_not_continued_with_other_rights(
    user: OrdinaryUser, image: Image, tmp_path: Path
) -> None:
    path = campaign(user, "true")
    assert user.tare("run", path, "--output", "result").returncode == 0
    state = tmp_path / "root's state"
    state.mkdir()
    (state / "images").symlink_to(image.root.parent.parent)
    done = subprocess.run(
        [*TARE, "run", str(user.home / "result")],
        env={**os.environ, "TARE_STATE": str(state), "SUDO_UID": str(USER)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "was begun with other rights (an ordinary user's, without control groups, now root)" in done.stderr


@pytest.mark.timeout(280)
def test_a_killed_runner_leaves_nothing_and_loses_nothing(user: OrdinaryUser, machine: Machine) -> None:
    others = "".join(f'[[environment]]\ntechnology = "{name}"\n' for name in ("podman", "charliecloud"))
    path = campaign(user, "{tools}/burn", "30000000", more=others)
    argv = user.argv(*TARE, "run", path, "--output", "result")
    for moment_s in [random.uniform(0.3, 2.0) for _ in range(8)]:  # noqa: S311 - moments, not secrets
        _kill_after(argv, moment_s)
    done = user.tare("run", path, "--output", "result")
    assert done.returncode == 0, done.stderr
    outcomes, planned = journal(user).outcomes, journal(user).sessions[-1].planned_trials
    assert len({outcome.trial.identity for outcome in outcomes}) == len(outcomes) == planned
    assert {outcome.status for outcome in outcomes} == {Status.OK}
    assert list((user.state / "nodes").iterdir()) == []
    assert machine.look().beyond(machine) == []


def _kill_after(argv: list[str], moment_s: float) -> None:
    runner = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        runner.wait(timeout=moment_s)
    except subprocess.TimeoutExpired:
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait(timeout=10)


def test_what_a_runner_without_a_guardian_leaves_is_cleaned_by_name(user: OrdinaryUser) -> None:
    code = """
import os, sys
from pathlib import Path
from tests.contract.contract_nodes import make_spec
from tare.environments import PROVIDERS
from tare.image.store import find_image
from tare.node_life import start_node
provider = PROVIDERS[sys.argv[1]]
spec = make_spec(provider, find_image(), Path(os.environ["TARE_STATE"]), cpu_quota=None)
start_node(spec, provider)
print(spec.name, flush=True)
os._exit(0)
"""
    repository = str(Path(__file__).parents[2])
    names = [
        user.run(PYTHON, "-c", code, technology, PYTHONPATH=repository).stdout.strip()
        for technology in ("native", "bubblewrap")
    ]
    assert all(members(name) for name in names), names
    cleaned = user.tare("clean")
    assert cleaned.returncode == 0, cleaned.stderr
    assert sorted(cleaned.stdout.split("\n")) == sorted(["", *(f"removed {name}" for name in names)])
    deadline = time.monotonic() + 5
    while any(members(name) for name in names) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(members(name) for name in names)
    assert list((user.state / "nodes").iterdir()) == []
