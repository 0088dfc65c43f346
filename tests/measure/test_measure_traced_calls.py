# SPDX-License-Identifier: Apache-2.0
"""A spare run's system calls are counted natively and in an environment; what cannot be traced has its reason."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.fake_campaign import (
    Listener,
    command_workload,
    fake_campaign,
    fake_environment,
    fake_request,
)
from tests.machine import Machine
from tests.measure.measure_nodes import campaign_file, state_with, wait_until

from tare.host.facts import memory_byte, online_processors
from tare.image.store import Image
from tare.journal.result import ResultFolder
from tare.measure import strace
from tare.measure.campaign import Request
from tare.measure.traced_calls import spare_trials, trace_calls
from tare.plan.campaign import Campaign, load_campaign, load_preset
from tare.records import CallCounts, Cell, TracedCalls

WORK = Cell(workload="work", layout="1c1p1i")
COPY = ("dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=500")
ENDLESS = ("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
PROCESSORS, MEMORY_BYTE = len(online_processors()), memory_byte()
KILLED = """
import sys
from pathlib import Path
from tests.measure.test_measure_traced_calls import traced_file
traced_file(Path(sys.argv[1]), 60.0)
"""

needs_strace = pytest.mark.skipif(not strace.is_installed(), reason="apt-get install strace")


def traced(campaign: Campaign, window_s: float = 20.0) -> TracedCalls:
    return trace_calls(fake_request(campaign, Path("/nowhere")), Listener(), window_s)


def traced_file(path: Path, window_s: float) -> TracedCalls:
    campaign = load_campaign(path, host_processors=PROCESSORS, host_memory_byte=MEMORY_BYTE)
    request = Request(campaign=campaign, folder=ResultFolder(path.parent / "result"))
    return trace_calls(request, Listener(), window_s)


def allowed(calls: TracedCalls) -> dict[str, CallCounts]:
    """The counts of the only cell; skips where this user may trace nothing."""
    refused = [words for words in calls.untraced.get(WORK, {}).values() if "may not trace" in words]
    if refused:
        pytest.skip(refused[0])
    return dict(calls.counts[WORK])


def stand_in(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program by the name of strace."""
    folder.mkdir()
    (folder / "strace").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "strace").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_each_workload_is_run_once_whole_and_by_itself_in_each_environment() -> None:
    quick = load_preset("quick", host_processors=PROCESSORS, host_memory_byte=MEMORY_BYTE)
    trials = spare_trials(quick)
    pairs = {(trial.workload.name, trial.environment.name) for trial in trials}
    assert len(pairs) == len(trials) == 4 * 5
    assert {trial.turns for trial in trials} == {None}


@needs_strace
@pytest.mark.usefixtures("fake_image")
def test_the_counts_are_those_of_the_command(machine: Machine) -> None:
    counts = allowed(traced(fake_campaign(workload=command_workload(*COPY))))
    assert sorted(counts) == ["native", "slow"]
    for call_counts in counts.values():
        assert 500 <= call_counts.made["read"] <= 520
        assert 500 <= call_counts.made["write"] <= 520
        assert (
            call_counts.failed["access"] == call_counts.made["access"]
        )  # of /etc/ld.so.preload, which nobody has
        assert call_counts.whole
    assert machine.beyond(machine) == []


@needs_strace
@pytest.mark.usefixtures("fake_image")
def test_what_the_command_starts_is_counted_with_it() -> None:
    script = "for each in 1 2 3; do dd if=/dev/zero of=/dev/null bs=1 count=100; done"
    counts = allowed(traced(fake_campaign(workload=command_workload("sh", "-c", script))))
    assert 300 <= counts["native"].made["read"] <= 330


@needs_strace
@pytest.mark.usefixtures("fake_image")
def test_a_window_ends_a_long_run_in_time() -> None:
    counts = allowed(traced(fake_campaign(workload=command_workload(*ENDLESS)), window_s=0.5))
    for call_counts in counts.values():
        assert call_counts.made["read"] > 10
        assert 0.5 <= call_counts.traced_s < 20, "the time limit of a trial"
        assert not call_counts.whole


@needs_strace
@pytest.mark.usefixtures("fake_image")
def test_a_command_that_fails_has_no_counts_but_the_reason() -> None:
    calls = traced(fake_campaign(workload=command_workload("dd", "if=/no/such/file")))
    assert calls.counts == {}
    if "may not trace" not in calls.untraced[WORK]["native"]:
        assert "did not end well while it was traced: exit code 1" in calls.untraced[WORK]["native"]


@needs_strace
@pytest.mark.usefixtures("fake_image")
def test_an_environment_that_cannot_be_traced_leaves_the_others_theirs() -> None:
    environments = (
        fake_environment("guest", clock="honest"),
        fake_environment("broken", broken="start"),
        fake_environment(),
    )
    calls = traced(fake_campaign(*environments, workload=command_workload(*COPY)))
    assert "a kernel of their own" in calls.untraced[WORK]["guest"]
    assert "told to fail at its start" in calls.untraced[WORK]["broken"]
    assert sorted(allowed(calls)) == ["native", "slow"]


def test_without_strace_nothing_is_started_and_all_have_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tare.measure.traced_calls.is_installed", lambda: False)
    calls = traced(fake_campaign())
    assert calls.counts == {}
    assert calls.untraced == {WORK: dict.fromkeys(("native", "slow"), strace.MISSING)}


@pytest.mark.usefixtures("fake_image")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "echo 'strace: attach: Operation not permitted' >&2; exit 1",
            "Operation not permitted; run as root",
        ),
        ("exit 1", "it said nothing; run as root"),
        ("sleep 60", "was not attached within 1 s"),
    ],
)
def test_a_tracer_that_may_not_trace_is_a_reason(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path / "bin", text, monkeypatch)
    monkeypatch.setattr(strace, "_ATTACH_LIMIT_S", 1.0)
    calls = traced(fake_campaign(workload=command_workload(*COPY)))
    assert calls.counts == {}
    assert all(said in words for words in calls.untraced[WORK].values())


@needs_strace
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
@pytest.mark.parametrize("technology", ["docker", "lxc", "systemd-nspawn", "bubblewrap"])
def test_a_real_environment_has_the_same_counts_as_native(
    technology: str,
    image: Image,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    machine: Machine,
    request: pytest.FixtureRequest,
) -> None:
    if technology == "docker":
        request.getfixturevalue("docker_daemon")
    monkeypatch.setenv("TARE_STATE", str(state_with(image, tmp_path / "state")))
    calls = traced_file(campaign_file(tmp_path, *COPY, technology=technology), 20.0)
    if words := calls.untraced.get(WORK, {}).get("other"):
        pytest.skip(words)
    native, other = calls.counts[WORK]["native"], calls.counts[WORK]["other"]
    for name in ("read", "write"):
        assert 500 <= native.made[name] <= 520
        assert abs(native.made[name] - other.made[name]) <= 2
    assert machine.beyond(machine) == []


@needs_strace
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
@pytest.mark.usefixtures("docker_daemon")
def test_a_call_that_dockers_filter_refuses_is_counted_as_failed(
    image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TARE_STATE", str(state_with(image, tmp_path / "state")))
    path = campaign_file(tmp_path, *COPY, technology="docker")
    text = path.read_text().replace('"1c1p1i"', '"1c2p1i"').partition("[[workload]]")[0]
    path.write_text(
        text.replace("128 MiB", "1 GiB").replace("4 MiB", "128 MiB") + '[[workload]]\nname = "messages"\n'
    )
    calls = traced_file(path, 6.0)
    (cell,) = calls.counts
    native, docker = calls.counts[cell]["native"], calls.counts[cell]["other"]
    assert native.made["process_vm_readv"] > 0
    assert "process_vm_readv" not in native.failed
    if "process_vm_readv" not in docker.failed:
        pytest.skip("this Docker's filter lets process_vm_readv pass")
    assert docker.failed["process_vm_readv"] == docker.made["process_vm_readv"] > 0


@needs_strace
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_run_leaves_neither_tracer_nor_nodes(
    number: signal.Signals, image: Image, tmp_path: Path, machine: Machine
) -> None:
    variables = {**os.environ, "TARE_STATE": str(state_with(image, tmp_path / "state"))}
    runner = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(campaign_file(tmp_path, *ENDLESS))],
        env=variables,
        cwd=Path(__file__).resolve().parents[2],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until(lambda: list((tmp_path / "state" / "nodes").glob("*/calls")))
        time.sleep(0.3)
    finally:
        runner.send_signal(number)
        runner.wait(timeout=60)
    wait_until(lambda: not list((tmp_path / "state" / "nodes").glob("*")))
    assert machine.beyond(machine) == []
