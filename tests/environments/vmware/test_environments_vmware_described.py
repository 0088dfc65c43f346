# SPDX-License-Identifier: Apache-2.0
"""What govc prints is understood, and what it does not print is told."""

import json
from typing import Any

import pytest
from tests.conftest import REPOSITORY
from tests.environments.environment_example import MEBIBYTE

from tare.environments.vmware.described import Described, machine, properties
from tare.errors import NodeError

RECORDED = (REPOSITORY / "tests" / "outputs" / "vmware" / "vm-info.json").read_text()
FIRST = ("virtualMachines", 0)


def changed(path: tuple[str | int, ...], value: object) -> str:
    """The recorded output with one thing in it another; ``None``: without it."""
    text = json.loads(RECORDED)
    inner: Any = text
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return json.dumps(text)


def test_a_recorded_machine_is_read() -> None:
    assert machine(RECORDED) == Described(
        is_on=False,
        host="HostSystem:host-21",
        processors=2,
        memory_byte=1024 * MEBIBYTE,
        cpu_limit_megahertz=1147,
        cpu_reservation_megahertz=0,
        memory_limit_mebibyte=None,
        memory_reservation_mebibyte=1024,
        affinity=(0, 1),
        address=None,
        hardware="vmx-13",
    )


@pytest.mark.parametrize("none", ['{"virtualMachines": null}', '{"virtualMachines": []}'])
def test_no_machine_is_none(none: str) -> None:
    assert machine(none) is None


def test_a_suspended_machine_is_on() -> None:
    described = machine(changed((*FIRST, "runtime", "powerState"), "suspended"))
    assert described is not None
    assert described.is_on


@pytest.mark.parametrize(
    ("guest", "address"),
    [
        ({"ipAddress": "10.1.2.3"}, "10.1.2.3"),
        ({"ipAddress": "fe80::1", "net": [{"ipAddress": ["fe80::1", "10.1.2.3"]}]}, "10.1.2.3"),
        ({"net": [{}, {"ipAddress": ["169.254.1.1", "2001:db8::7"]}]}, "2001:db8::7"),
        ({"ipAddress": "", "net": None}, None),
    ],
)
def test_the_address_is_one_that_others_can_reach(guest: dict[str, object], address: str | None) -> None:
    described = machine(changed((*FIRST, "guest"), guest))
    assert described is not None
    assert described.address == address


@pytest.mark.parametrize("text", ["", "all", " "])
def test_any_processor_is_none_in_particular(text: str) -> None:
    extra = [{"key": "sched.cpu.affinity", "value": text}]
    described = machine(changed((*FIRST, "config", "extraConfig"), extra))
    assert described is not None
    assert described.affinity is None


@pytest.mark.parametrize(
    "broken",
    [
        "",
        RECORDED[:300],
        "[]",
        '{"virtualMachines": [{}]}',
        changed((*FIRST, "runtime", "host"), None),
        changed((*FIRST, "config", "hardware", "memoryMB"), "much"),
        changed((*FIRST, "config", "extraConfig"), [{"key": "sched.cpu.affinity", "value": "one"}]),
        changed((*FIRST, "guest"), {"ipAddress": "nowhere"}),
    ],
    ids=["nothing", "cut", "list", "empty", "no host", "memory", "affinity", "address"],
)
def test_what_is_not_understood_is_an_error_of_the_node(broken: str) -> None:
    with pytest.raises(NodeError, match=r"what govc vm\.info prints is not understood"):
        machine(broken)


def test_properties_are_read_and_nonsense_is_told() -> None:
    assert properties('[{"name": "a", "val": 1}, {"name": "b"}]') == {"a": 1, "b": None}
    for broken in ("", "[1]", "null"):
        with pytest.raises(NodeError, match=r"object\.collect"):
            properties(broken)
