# SPDX-License-Identifier: Apache-2.0
"""Signals of far hosts: nodes of a host together, hosts together, and nothing taken on trust or for 0."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.environments.environment_example import described

from tare.environments.ssh.readings import FarReadings
from tare.far.signals import SignalsHere
from tare.host.facts import online_processors
from tare.host.told import part
from tare.measure import far_signals
from tare.measure.exclusion import FOREIGN
from tare.measure.far_signals import FarSignals, host_signals, together
from tare.nodes.provider import Elsewhere, Node
from tare.records import Scope
from tare.records.signals import HostSignals
from tare.signals import FAMILIES


def told(
    *signals: tuple[str, str, float],
    missing: dict[str, str] | None = None,
    used_s: float | None = 5.0,
    node_s: float | None = 2.0,
) -> FarReadings:
    return {
        "signals": [
            {"name": name, "unit": "made up", "scope": scope, "value": value, "lost_time": False}
            for name, scope, value in signals
        ],
        "missing": missing or {},
        "span_s": 2.0,
        "used_s": used_s,
        "own_s": 0.5,
        "node_s": node_s,
    }


def values(of: HostSignals) -> dict[str, float]:
    return {signal.name: signal.value for signal in of.signals}


def test_nodes_of_a_host_add_up_and_what_is_the_hosts_counts_once() -> None:
    both = [
        told(("throttled_s", "node", 1.0), ("softirq_s", "host", 0.3)),
        told(("throttled_s", "node", 0.25), ("softirq_s", "host", 0.4)),
    ]
    host = host_signals(both, 2)
    assert values(host) == {"throttled_s": 1.25, "softirq_s": 0.3, FOREIGN: 0.0}
    assert (host.processors, host.span_s) == (2, 2.0)
    throttled = next(signal for signal in host.signals if signal.name == "throttled_s")
    assert (throttled.unit, throttled.scope, throttled.lost_time) == ("s", Scope.NODE, True)


def test_foreign_time_is_what_neither_nodes_nor_agents_used() -> None:
    assert values(host_signals([told()], 1)) == {FOREIGN: 2.5}
    for lacking in (told(used_s=None), told(node_s=None)):
        host = host_signals([lacking], 1)
        assert values(host) == {}
        assert "not known" in host.missing[FOREIGN]


def test_a_signal_that_a_node_lacks_is_missing_with_why() -> None:
    host = host_signals([told(("throttled_s", "node", 1.0)), told(missing={"throttled_s": "no quota"})], 1)
    assert "throttled_s" not in values(host)
    assert host.missing["throttled_s"] == "no quota"
    assert set(values(host)) | set(host.missing) == {
        kind.name for family in FAMILIES for kind in family.kinds
    } | {FOREIGN}


def test_a_name_that_nobody_knows_or_that_comes_twice_is_not_believed() -> None:
    host = host_signals([told(("made_up", "host", 1.0), *[("throttled_s", "node", 1.0)] * 2)], 1)
    assert set(values(host)) == {FOREIGN}


def test_a_value_that_no_trial_can_have_is_missing() -> None:
    both = [told(("block_written_byte", "host", 1e308), ("throttled_s", "node", 1e308))] * 2
    host = host_signals(both, 1)
    assert set(values(host)) == {FOREIGN}
    assert host.missing["throttled_s"] == "the other host does not tell it"


def test_hosts_together_are_summed_or_joined_as_their_family_does() -> None:
    hosts = {
        "a": host_signals([told(("throttled_s", "node", 1.0), ("temperature_c", "host", 50.0))], 1),
        "b": host_signals([told(("throttled_s", "node", 2.0), ("temperature_c", "host", 70.0))], 1),
    }
    found = together(hosts)
    assert {signal.name: signal.value for signal in found.signals} == {
        "throttled_s": 3.0,
        "temperature_c": 70.0,
        FOREIGN: 5.0,
    }


def test_a_signal_that_one_host_lacks_is_missing_for_all_and_names_the_host() -> None:
    hosts = {"a": host_signals([told(("throttled_s", "node", 1.0))], 1), "b": host_signals([told()], 1)}
    found = together(hosts)
    assert "throttled_s" not in {signal.name for signal in found.signals}
    assert found.missing["throttled_s"].endswith("(on b)")


def node(index: int, processors: tuple[int, ...]) -> Node:
    spec = described(Path(f"/state/nodes/tare-{index}"), index=index, processors=processors)
    return Node(spec=spec, init_pid=None, elsewhere=Elsewhere())


def test_each_node_is_asked_on_its_host_for_all_processors_of_the_trial_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, Sequence[int]]] = []
    monkeypatch.setattr(far_signals, "begin_signals", lambda at, own: asked.append((at.spec.index, own)))
    monkeypatch.setattr(far_signals, "end_signals", lambda _: told(("throttled_s", "node", 1.0)))
    watch = FarSignals({"a": [node(0, (0,)), node(2, (1,))], "b": [node(1, (0,))]})
    assert watch
    watch.begin()
    watch.end()
    assert sorted(asked) == [(0, [0, 1]), (1, [0]), (2, [0, 1])]
    assert values(watch.by_host["a"])["throttled_s"] == 2.0
    assert [host.processors for host in watch.by_host.values()] == [2, 1]


def test_without_a_list_of_hosts_there_is_nothing_to_ask() -> None:
    watch = FarSignals({})
    watch.begin()
    watch.glance()
    watch.end()
    assert not watch
    assert watch.by_host == {}


def test_what_the_far_side_says_is_understood_here() -> None:
    """It travels as JSON."""
    here = Node(spec=described(), init_pid=os.getpid())
    watch = SignalsHere(here, None, online_processors())
    watch.glance()
    said = part(FarReadings, json.loads(json.dumps(watch.end())), "far")
    host = host_signals([said], len(online_processors()))
    assert {"host_switches", "host_minor_faults"} <= set(values(host))
    assert host.missing["throttled_s"] == "no control group of this host holds the nodes"
