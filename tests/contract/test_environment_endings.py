# SPDX-License-Identifier: Apache-2.0
"""How commands and nodes of every environment end: by signals, by limits, and when whoever watches them is killed."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.contract.contract_nodes import Lent, execute
from tests.environments.environment_example import way_to_stopwatch
from tests.machine import Machine

from tare.errors import NodeError
from tare.host.process import tool_environment
from tare.measure.stopwatch import Command, Stopwatch, wait_all
from tare.node_life import start_node, stop_node
from tare.nodes.provider import Node, NodeSpec, Provider, Shared

LIMIT_S = 30
pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]


def stopwatch_argv(provider: Provider, node: Node, *argv: str, limit_s: float = LIMIT_S) -> list[str]:
    command = Command(
        argv=argv, directory=node.work_directory, variables={"PATH": "/usr/bin"}, limit_s=limit_s
    )
    return way_to_stopwatch(provider, node, command, node.work_directory)


def long_sleep(seconds: int) -> list[str]:
    """A sleep that no other worker's test runs: some environments show all the host's processes."""
    return ["sleep", f"{seconds}.{os.getpid()}"]


def is_at_work(provider: Provider, node: Node, word: str) -> bool:
    """Whether a process of the node has ``word`` in its command line, seen from inside."""
    script = f"cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c '[{word[0]}]{word[1:]}'"
    return execute(provider, node, "sh", "-c", script).stdout.strip() not in {b"", b"0"}


def test_a_command_that_a_signal_ends_is_told_apart_from_one_that_fails(
    provider: Provider, spec: NodeSpec, lent: Lent
) -> None:
    with lent.node(provider, spec) as node:
        ended = execute(provider, node, "sh", "-c", "kill -TERM $$")
        argv = stopwatch_argv(provider, node, "sh", "-c", "kill -USR1 $$")
        with Stopwatch(argv) as stopwatch:
            stopwatch.wait_ready(LIMIT_S)
            stopwatch.go()
            (said,) = wait_all([stopwatch], LIMIT_S)
    assert ended.returncode in {128 + signal.SIGTERM, -signal.SIGTERM}
    assert (said["exit_code"], said["signal"]) == (None, signal.SIGUSR1)


def test_the_time_limit_is_kept_inside_the_node(provider: Provider, spec: NodeSpec, lent: Lent) -> None:
    asleep = long_sleep(7654)
    with lent.node(provider, spec) as node:
        with Stopwatch(stopwatch_argv(provider, node, *asleep, limit_s=0.3)) as stopwatch:
            stopwatch.wait_ready(LIMIT_S)
            stopwatch.go()
            (said,) = wait_all([stopwatch], LIMIT_S)
        left = is_at_work(provider, node, " ".join(asleep))
    assert said["timed_out"]
    assert not left


def test_a_killed_client_takes_the_measured_command_with_it(
    provider: Provider, spec: NodeSpec, lent: Lent
) -> None:
    asleep = long_sleep(8765)
    with lent.node(provider, spec) as node:
        client = subprocess.Popen(
            stopwatch_argv(provider, node, *asleep),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=tool_environment(),
            start_new_session=True,
        )
        with client:
            assert client.stdin is not None
            assert client.stdout is not None
            assert client.stdout.readline().startswith(b"READY")
            client.stdin.write(b"GO\n")
            client.stdin.flush()
            begun = wait_for(lambda: is_at_work(provider, node, " ".join(asleep)))
            client.kill()
        ended = wait_for(lambda: not is_at_work(provider, node, " ".join(asleep)))
    assert begun
    assert ended


def test_a_node_whose_supervisor_was_killed_is_cleaned_up(
    provider: Provider, spec: NodeSpec, machine: Machine
) -> None:
    node = start_node(spec, provider)
    assert node.init_pid is not None
    for pid in {supervisor(node.init_pid), *own_helpers(provider, node)}:
        with suppress(ProcessLookupError):  # gVisor's ends with the other
            os.kill(pid, signal.SIGKILL)
    stop_node(spec, provider)
    assert not spec.directory.exists()
    assert machine.look().beyond(machine, LIMIT_S) == []


def test_a_node_whose_first_process_was_killed_is_reported_and_cleaned_up(
    provider: Provider, spec: NodeSpec, machine: Machine
) -> None:
    """One that shares the host's process ids goes on without its first process."""
    node = start_node(spec, provider)
    assert node.init_pid is not None
    os.kill(node.init_pid, signal.SIGKILL)
    assert wait_for(lambda: not Path(f"/proc/{node.init_pid}/cwd").exists())
    if Shared.PROCESS_IDS not in provider.shares:
        with pytest.raises(NodeError, match=r"in time|broke|closed|ended"):
            ask(provider, node)
    stop_node(spec, provider)
    assert machine.look().beyond(machine, LIMIT_S) == []


def ask(provider: Provider, node: Node) -> None:
    with Stopwatch(stopwatch_argv(provider, node, "true")) as stopwatch:
        stopwatch.wait_ready(LIMIT_S)


def supervisor(pid: int) -> int:
    """The parent of the node's first process, or that itself when its parent is this test."""
    parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid if parent in {1, os.getpid()} else parent


def own_helpers(provider: Provider, node: Node) -> list[int]:
    """Those that serve this node alone: a daemon serves others too, and stays."""
    return [pid for pid in provider.helpers(node) if is_named_for(node, pid)]


def is_named_for(node: Node, pid: int) -> bool:
    return node.spec.name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()


def wait_for(happened: object, limit_s: float = LIMIT_S) -> bool:
    deadline = time.monotonic() + limit_s
    while not happened():  # type: ignore[operator]
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
