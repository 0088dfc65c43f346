# SPDX-License-Identifier: Apache-2.0
"""The devices of a campaign on each host of its list, by what the hosts answer."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fake_campaign import fake_campaign, fake_context

from tare.environments.ssh.channel import FarAnswer
from tare.environments.ssh.connection import Far
from tare.errors import HostError, NodeError
from tare.measure import host_devices
from tare.measure.devices import require_devices
from tare.measure.host_devices import given_on
from tare.measure.hosts import ReachedHost
from tare.nodes.devices import Device, said
from tare.nodes.given import Given
from tare.nodes.provider import Bind
from tare.records import NamedHost, User

HOSTS = (NamedHost(name="a", address="root@a"), NamedHost(name="b", address="b", state="/scratch/tare"))
UVERBS0 = {"path": "/dev/infiniband/uverbs0", "major": 231, "minor": 192, "driver": "infiniband_verbs"}
UVERBS1 = {**UVERBS0, "path": "/dev/infiniband/uverbs1", "minor": 193}
BOTH = {"root@a": [UVERBS0], "b": [UVERBS1]}


class Hosts:
    """They answer each question for devices with what they have, or fail with a text."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, has: Mapping[str, Sequence[Any] | str]) -> None:
        self._has = has
        self.asked: list[Mapping[str, object]] = []
        monkeypatch.setattr(host_devices, "opened", self._opened)

    @contextmanager
    def _opened(self, far: Far) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(ask=lambda do, **fields: self._answer(far.host, {"do": do, **fields}))

    def _answer(self, host: str, question: Mapping[str, object]) -> FarAnswer:
        self.asked.append(question)
        own = self._has[host]
        if isinstance(own, str):
            raise NodeError(f"{host}: {own}")
        return FarAnswer(host, {"devices": own})


def test_the_nodes_on_each_host_get_what_that_host_has(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = Hosts(monkeypatch, BOTH)
    own = given_on(HOSTS, ["infiniband"], User(65530, 65530))
    assert {name: said(given.devices) for name, given in own.items()} == {
        "a": "/dev/infiniband/uverbs0 231:192",
        "b": "/dev/infiniband/uverbs1 231:193",
    }
    (question, _) = hosts.asked
    assert (question["asked"], question["user"], question["in_place"]) == (
        ["infiniband"],
        [65530, 65530],
        True,
    )


def test_the_journal_has_the_devices_of_each_host(tmp_path: Path, programs: Path) -> None:
    reached = {
        host.name: ReachedHost(
            host=host, processors=(0,), memory_byte=1, facts={"kernel": "6"}, interfaces=()
        )
        for host in HOSTS
    }
    own = {
        "a": Given(devices=(Device(path=Path("/dev/infiniband/uverbs0"), major=231, minor=192),)),
        "b": Given(),
    }
    described = replace(fake_context(tmp_path, programs), hosts=reached, given=own).described_hosts
    assert described["a"]["devices"] == "/dev/infiniband/uverbs0 231:192"
    assert "devices" not in described["b"]
    assert described["b"]["kernel"] == "6"


def test_no_host_is_asked_where_nothing_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = Hosts(monkeypatch, {})
    assert given_on(HOSTS, (), None) == {"a": Given(), "b": Given()}
    assert hosts.asked == []


def test_a_plan_names_every_host_that_has_not_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    none = "devices: this host has no fabric (/dev/infiniband)"
    hosts = Hosts(monkeypatch, {"root@a": none, "b": none})
    wanted = replace(fake_campaign(), hosts=HOSTS, devices=("infiniband",))
    with pytest.raises(HostError, match=r"host a: .*no fabric \(/dev/infiniband\); host b: .*no fabric"):
        require_devices(wanted)
    assert [question["in_place"] for question in hosts.asked] == [False, False]


def test_a_path_of_different_drivers_on_two_hosts_is_not_the_same_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    switch = {"path": "/dev/switch0", "major": 240, "minor": 0, "driver": "switch"}
    Hosts(monkeypatch, {"root@a": [switch], "b": [{**switch, "driver": "tape"}]})
    words = r"/dev/switch0 is a device of the driver switch on a and of tape on b; .* name one that all hosts have"
    with pytest.raises(HostError, match=words):
        given_on(HOSTS, ["/dev/switch0"], None)


def test_other_numbers_of_the_same_driver_are_the_same_device(monkeypatch: pytest.MonkeyPatch) -> None:
    switch = {"path": "/dev/switch0", "major": 240, "minor": 0, "driver": "switch"}
    Hosts(monkeypatch, {"root@a": [switch], "b": [{**switch, "major": 241}]})
    own = given_on(HOSTS, ["/dev/switch0"], None)
    assert said(own["b"].devices) == "/dev/switch0 241:0"


@pytest.mark.parametrize(
    "strange",
    [
        [{**UVERBS0, "path": "/etc/shadow"}],
        [{**UVERBS0, "path": "/dev/mem"}],
        [{**UVERBS0, "minor": 1 << 20}],
        [{**UVERBS0, "major": "231"}],
        ["/dev/infiniband/uverbs0"],
    ],
)
def test_what_no_node_can_have_is_not_believed(strange: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    Hosts(monkeypatch, {"root@a": [UVERBS0], "b": strange})
    with pytest.raises(HostError, match="host b: "):
        given_on(HOSTS, ["infiniband"], None)


def test_the_drivers_libraries_are_in_each_hosts_own_state_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    card = {"path": "/dev/nvidia0", "major": 195, "minor": 0, "driver": None}
    Hosts(monkeypatch, {"root@a": [card], "b": [card]})
    own = given_on(HOSTS, ["nvidia"], None)
    assert own["a"].binds == (Bind(path=Path("/var/lib/tare/drivers/nvidia")),)
    assert own["b"].binds == (Bind(path=Path("/scratch/tare/drivers/nvidia")),)
