# SPDX-License-Identifier: Apache-2.0
"""The guardian takes a killed runner's nodes away, and otherwise does nothing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.measure.measure_nodes import AS_ROOT, campaign_file, node_spec, state_with, wait_until

from tare.environments.fake import Fake
from tare.host import mounts
from tare.image.store import Image
from tare.measure import guardian
from tare.measure.guardian import guarded
from tare.measure.lock import host_lock
from tare.node_life import start_node


def guardians(state: Path) -> list[int]:
    """Guardians of this state folder."""
    wanted, value = f"TARE_STATE={state}".encode(), []
    for entry in Path("/proc").iterdir():
        try:
            ours = b"\0-m\0tare.measure.guardian\0" in (entry / "cmdline").read_bytes()
            if ours and wanted in (entry / "environ").read_bytes().split(b"\0"):
                value.append(int(entry.name))
        except (OSError, ValueError):
            continue
    return value


def cpu_ticks(pid: int) -> int:
    """User and system time, in clock ticks (proc(5))."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


def is_waiting(pid: int) -> bool:
    """Whether it has started and blocks in reading its pipe."""
    try:
        return Path(f"/proc/{pid}/wchan").read_text().startswith(("pipe_", "anon_pipe_"))
    except OSError:
        return False


@pytest.fixture
def patient_runner(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for its guardian's end longer than a test may take."""
    monkeypatch.setattr(guardian, "_START_LIMIT_S", 600.0)


@pytest.mark.usefixtures("patient_runner")
def test_after_a_clean_end_it_is_gone_at_once(state: Path) -> None:
    with host_lock("any") as descriptor:
        with guarded(descriptor):
            wait_until(lambda: guardians(state))
        assert guardians(state) == []


def test_after_a_clean_end_it_touches_no_node(state: Path) -> None:
    spec = node_spec(state)
    start_node(spec, Fake())
    with host_lock("any") as descriptor, guarded(descriptor):
        pass
    assert (spec.directory / "node.json").exists()


def test_it_goes_after_an_error_too(state: Path) -> None:
    with pytest.raises(ZeroDivisionError), host_lock("any") as descriptor, guarded(descriptor):
        1 / 0  # noqa: B018 - the error is wanted
    assert guardians(state) == []


def test_while_it_waits_it_uses_no_processor(state: Path) -> None:
    with host_lock("any") as descriptor, guarded(descriptor):
        wait_until(lambda: any(map(is_waiting, guardians(state))))
        (pid,) = guardians(state)
        before = cpu_ticks(pid)
        time.sleep(1.0)
        assert cpu_ticks(pid) == before


@pytest.mark.usefixtures("patient_runner")
def test_its_own_death_does_not_hold_up_the_runner(state: Path) -> None:
    with host_lock("any") as descriptor, guarded(descriptor):
        wait_until(lambda: guardians(state))
        os.kill(guardians(state)[0], signal.SIGKILL)
    with host_lock("next"):
        pass


def test_no_module_of_the_current_folder_is_run(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    for name in ("json", "signal", "tare"):
        (tmp_path / "here" / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path / "here")
    with host_lock("any") as descriptor, guarded(descriptor):
        wait_until(lambda: any(map(is_waiting, guardians(state))))
    assert not (tmp_path / "run").exists()


RUNNER = """
import pathlib, sys, time
sys.path.insert(0, {repository!r})
from tests.measure.measure_nodes import node_spec
from tare.environments.fake import Fake
from tare.host.paths import state_directory
from tare.measure.guardian import guarded
from tare.measure.lock import host_lock
from tare.node_life import start_node
with host_lock("doomed") as descriptor, guarded(descriptor):
    start_node(node_spec(state_directory()), Fake())
    print("started", flush=True)
    time.sleep(60)
"""


@contextmanager
def doomed(**variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A runner with a node, about to be killed."""
    script = RUNNER.format(repository=str(Path(__file__).resolve().parents[2]))
    runner = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env={**os.environ, **variables}
    )
    assert runner.stdout is not None
    try:
        assert runner.stdout.readline() == b"started\n"
        yield runner
    finally:
        runner.kill()
        runner.wait(timeout=10)
        runner.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_outlives_the_signals_that_end_the_runner(number: signal.Signals, state: Path) -> None:
    with doomed() as runner:
        wait_until(lambda: any(map(is_waiting, guardians(state))))
        (pid,) = guardians(state)
        os.kill(pid, number)
        time.sleep(0.2)
        assert guardians(state) == [pid]
        runner.kill()
        wait_until(lambda: not guardians(state), 5)
    assert list((state / "nodes").iterdir()) == []


def test_it_looks_where_the_runner_keeps_its_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TARE_STATE", raising=False)
    monkeypatch.chdir(tmp_path)
    with doomed(TARE_STATE="relative") as runner:
        nodes = tmp_path / "relative" / "nodes"
        assert len(list(nodes.iterdir())) == 1
        runner.kill()
        wait_until(lambda: not list(nodes.iterdir()), 5)


class TestRealNode:
    pytestmark = AS_ROOT

    def test_a_runner_killed_in_the_middle_of_a_native_node_is_cleaned_up_without_a_command(
        self, image: Image, tmp_path: Path
    ) -> None:
        state = state_with(image, tmp_path / "state")
        argv = [sys.executable, "-m", "tare", "run", str(campaign_file(tmp_path, "/bin/sleep", "60"))]
        runner = subprocess.Popen(
            [*argv, "--output", str(tmp_path / "result")],
            env={**os.environ, "TARE_STATE": str(state)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            wait_until(lambda: list(state.glob("nodes/*/layer/work/i0.output/stdout")))
            (node,) = (state / "nodes").iterdir()
            name = node.name
            groups = [folder for folder in Path("/sys/fs/cgroup").glob(f"**/tare/{name}") if folder.is_dir()]
            assert groups
        finally:
            runner.kill()
            runner.wait(timeout=10)
        wait_until(lambda: not list((state / "nodes").iterdir()))
        assert mounts.mounts_below(state) == []
        assert not any(folder.exists() for folder in groups)
        wait_until(lambda: not guardians(state), 5)
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("TARE_STATE", str(state))
            with host_lock("next"):
                pass
