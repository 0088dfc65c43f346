# SPDX-License-Identifier: Apache-2.0
"""One connection and one agent for all nodes of a host; hosts here are agents without ssh, nodes are fakes."""

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.environments.environment_example import described

from tare.environments import PROVIDERS
from tare.environments.ssh import channel as far_channel
from tare.environments.ssh import shared
from tare.environments.ssh.channel import Channel, FarAnswer
from tare.environments.ssh.connection import HERE, Far
from tare.errors import NodeError
from tare.far.images import image_root
from tare.measure.at_once import at_once
from tare.measure.running import NodeTimes, running_nodes
from tare.nodes.provider import NodeNetwork, NodeSpec
from tare.records import NetworkKind

pytestmark = pytest.mark.usefixtures("state")
DIGEST = "sha256:" + "0" * 64
Hosts = tuple[Far, Far]


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    """Two, with their connections kept."""
    folders = tmp_path / "a", tmp_path / "b"
    for folder in folders:
        image_root(folder, DIGEST).mkdir(parents=True)
    first, second = (Far(host=HERE, below="fake", state=str(folder)) for folder in folders)
    with shared.kept([first, second]):
        yield first, second


def specs_on(state: Path, *hosts: Far) -> list[NodeSpec]:
    """A node on each."""
    return [
        described(
            state / "nodes" / f"tare-run-{index}",
            name=f"tare-run-{index}",
            technology="ssh",
            options={"host": HERE, "below": "fake", "state": far.state},
            image_digest=DIGEST,
            processors=(min(os.sched_getaffinity(0)),),
            network=NodeNetwork(kind=NetworkKind.HOST),
            index=index,
        )
        for index, far in enumerate(hosts)
    ]


def agent_of(state: Path, far: Far) -> int:
    """The number of the process that a node is started by."""
    (spec,) = specs = specs_on(state, far)
    times = NodeTimes()
    with running_nodes(specs, PROVIDERS, times):
        agent = parent_of(keeper_of(spec))
    assert times.problems == []
    return agent


def there(spec: NodeSpec) -> Path:
    return Path(str(spec.options["state"])) / "nodes" / spec.name


def keeper_of(spec: NodeSpec) -> int:
    return int((there(spec) / "keeper").read_text())


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def until(done: object, limit_s: float = 20.0) -> None:
    assert callable(done)
    deadline = time.monotonic() + limit_s
    while not done() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert done()


def test_each_node_has_a_keeper_and_all_of_a_host_one_agent(hosts: Hosts, state: Path) -> None:
    specs, times = specs_on(state, hosts[0], hosts[1], hosts[0]), NodeTimes()
    with running_nodes(specs, PROVIDERS, times):
        keepers = list(map(keeper_of, specs))
        first, second, third = map(parent_of, keepers)
    assert len(set(keepers)) == 3
    assert first == third != second
    assert times.problems == []
    assert not any(there(spec).exists() or spec.directory.exists() for spec in specs)


def test_a_later_start_uses_the_connection_that_is_there(hosts: Hosts, state: Path) -> None:
    assert agent_of(state, hosts[0]) == agent_of(state, hosts[0])


def test_an_agent_that_has_ended_is_replaced(hosts: Hosts, state: Path) -> None:
    agent = agent_of(state, hosts[0])
    with shared.opened(hosts[0]) as channel:
        os.kill(agent, signal.SIGKILL)
        until(lambda: not channel.is_sound)
        assert agent_of(state, hosts[0]) != agent


def test_a_host_that_shows_no_life_is_waited_for_once(
    hosts: Hosts, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one whose Slurm daemons and steps are all killed: srun does not end then, and says nothing."""
    agent = agent_of(state, hosts[0])
    with shared.opened(hosts[0]) as channel, monkeypatch.context() as quicker:
        quicker.setattr(far_channel, "_SILENCE_LIMIT_S", 0.3)
        os.kill(agent, signal.SIGSTOP)
        with pytest.raises(NodeError, match="does not answer any more"):
            channel.ask("clock", limit_s=1000.0)
        assert not channel.is_sound
        with pytest.raises(NodeError, match="does not answer any more"):
            channel.ask("stop", limit_s=1000.0)
        os.kill(agent, signal.SIGKILL)
    assert agent_of(state, hosts[0]) != agent


def test_a_host_that_is_slow_but_alive_is_not_given_up(
    hosts: Hosts, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the question's own limit ends the wait for it."""
    monkeypatch.setattr(far_channel, "_SILENCE_LIMIT_S", 20.0)
    agent = agent_of(state, hosts[0])
    with shared.opened(hosts[0]) as channel:
        os.kill(agent, signal.SIGSTOP)
        with pytest.raises(NodeError, match="does not answer any more"):
            channel.ask("clock", limit_s=0.2)
        os.kill(agent, signal.SIGCONT)
        assert channel.ask("clock").fields["clock_ns"] > 0
    assert agent_of(state, hosts[0]) == agent


def test_a_killed_agent_takes_all_its_nodes_with_it(hosts: Hosts, state: Path) -> None:
    specs, times = specs_on(state, hosts[0], hosts[0], hosts[1]), NodeTimes()
    with running_nodes(specs, PROVIDERS, times):
        os.kill(parent_of(keeper_of(specs[0])), signal.SIGKILL)
        until(lambda: not there(specs[0]).exists() and not there(specs[1]).exists())
        assert there(specs[2]).exists()
    assert times.problems == []
    assert not there(specs[2]).exists()


def test_a_killed_keeper_is_told_and_the_others_stay(hosts: Hosts, state: Path) -> None:
    specs, times = specs_on(state, hosts[0], hosts[0]), NodeTimes()
    with running_nodes(specs, PROVIDERS, times) as nodes:
        os.kill(keeper_of(specs[0]), signal.SIGKILL)
        with pytest.raises(NodeError, match=r"looked after tare-run-0 has ended|no node was started"):
            PROVIDERS["ssh"].send(nodes[0], [])
        PROVIDERS["ssh"].send(nodes[1], [])
    assert times.problems == []
    assert not any(there(spec).exists() for spec in specs)


def test_a_host_that_dies_in_the_middle_of_a_start_leaves_nothing_anywhere(hosts: Hosts, state: Path) -> None:
    """Its agent is stopped, so that the start on it hangs until it is killed."""
    specs, times = specs_on(state, hosts[0], hosts[1], hosts[0]), NodeTimes()
    with shared.opened(hosts[1]) as channel:
        agent = agent_of(state, hosts[1])
        os.kill(agent, signal.SIGSTOP)
        killed = threading.Timer(0.3, os.kill, (agent, signal.SIGKILL))
        killed.start()
        with pytest.raises(NodeError, match="here"), running_nodes(specs, PROVIDERS, times):
            pytest.fail("it must not run")
        killed.join()
        assert not channel.is_sound
    assert times.problems == []
    assert not any(there(spec).exists() or spec.directory.exists() for spec in specs)
    agent_of(state, hosts[1])  # the next trial has a new agent


def test_all_starts_end_before_a_failed_one_is_told(hosts: Hosts, state: Path) -> None:
    good, bad = specs_on(state, *hosts)
    bad = replace(bad, options={**bad.options, "below_options": ["broken=start"]})
    times = NodeTimes()
    with (
        pytest.raises(NodeError, match="told to fail at its start"),
        running_nodes([bad, good], PROVIDERS, times),
    ):
        pytest.fail("it must not run")
    assert times.problems == []
    assert not any(there(spec).exists() for spec in (good, bad))


class _Scripted(Channel):
    """A channel whose answers come in an order of the test's."""

    def __init__(self, order: Sequence[int]) -> None:
        self._begin(Far(host="far"))
        self._order = list(order)
        self._all_sent = threading.Barrier(len(order))

    def _send(self, content: bytes) -> None:
        """To nobody."""

    def _next(self, deadline: float) -> FarAnswer:  # noqa: ARG002 - all have arrived
        number = self._order.pop(0)
        return FarAnswer("far", {"number": number, "said": number})

    def _handed_out(self, number: int, deadline: float) -> FarAnswer | None:
        if number not in self._met:
            self._met.add(number)
            self._all_sent.wait(10.0)
        answer = super()._handed_out(number, deadline)
        assert answer is None or answer.fields["said"] == number
        return answer

    _met: set[int]


@given(st.integers(1, 6).flatmap(lambda count: st.permutations(range(1, count + 1))))
def test_threads_that_ask_at_the_same_time_get_their_own_answers(order: list[int]) -> None:
    channel = _Scripted(order)
    channel._met = set()
    answers = at_once(lambda _: channel.ask("x", limit_s=10.0).fields["said"], order)
    assert sorted(answers) == sorted(order)
    assert channel._answers == {}
