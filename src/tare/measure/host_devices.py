# SPDX-License-Identifier: Apache-2.0
"""The devices of a campaign on each host of its list: asked there, and the same kind of device under each path."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from tare.environments.ssh.shared import opened
from tare.errors import HostError, NodeError
from tare.host.devices import NVIDIA
from tare.measure.at_once import at_once
from tare.measure.hosts import far_of
from tare.nodes.devices import Device, is_possible
from tare.nodes.given import Given, library_folder
from tare.nodes.provider import Bind
from tare.records import NamedHost, User

_LIMIT_S = 120.0
"""A driver's libraries may have to be copied there."""


class _FarDevice(TypedDict):
    path: str
    major: int
    minor: int
    driver: str | None
    """That the numbers mean there; ``None``: not known."""


class FarDevices(TypedDict):
    """What a host says of the devices that it was asked for."""

    devices: list[_FarDevice]


def given_on(
    hosts: Sequence[NamedHost], asked: Sequence[str], user: User | None, *, in_place: bool = True
) -> dict[str, Given]:
    """Host → what its nodes get; ``in_place``: with the driver's libraries there already.

    ``HostError`` names each host that has not what is asked, or has another kind of device under the same path.
    """
    if not asked:
        return {host.name: Given() for host in hosts}
    answers = at_once(lambda host: _asked(host, asked, user, in_place=in_place), hosts)
    if failed := [str(answer) for answer in answers if isinstance(answer, NodeError)]:
        raise HostError("; ".join(failed))
    answered = {
        host.name: answer
        for host, answer in zip(hosts, answers, strict=True)
        if not isinstance(answer, NodeError)
    }
    _refuse_other_drivers({name: said["devices"] for name, said in answered.items()})
    return {host.name: _given(host, asked, answered[host.name]) for host in hosts}


def devices_of(said: FarDevices) -> tuple[Device, ...]:
    """The devices in a host's answer; ``NodeError`` for any that no node could have."""
    devices = tuple(
        Device(path=Path(each["path"]), major=each["major"], minor=each["minor"]) for each in said["devices"]
    )
    if strange := [device for device in devices if not is_possible(device)]:
        raise NodeError(f"says that it has {str(strange[0].path)[:80]!r}, which is no device to pass")
    return devices


def _asked(
    host: NamedHost, asked: Sequence[str], user: User | None, *, in_place: bool
) -> FarDevices | NodeError:
    try:
        with opened(far_of(host)) as channel:
            numbers = None if user is None else [user.uid, user.gid]
            answer = channel.ask(
                "devices", limit_s=_LIMIT_S, asked=list(asked), user=numbers, in_place=in_place
            )
            said = answer.told(FarDevices)
        devices_of(said)
    except NodeError as error:
        return NodeError(f"host {host.name}: {error}")
    return said


def _given(host: NamedHost, asked: Sequence[str], said: FarDevices) -> Given:
    folder = library_folder(Path(far_of(host).state))
    return Given(devices=devices_of(said), binds=(Bind(path=folder),) if NVIDIA in asked else ())


def _refuse_other_drivers(told: Mapping[str, Sequence[_FarDevice]]) -> None:
    """``HostError`` if a path is of one driver on a host and of another elsewhere: its numbers say nothing there."""
    seen: dict[str, tuple[str, str]] = {}
    for name, devices in told.items():
        for each in devices:
            driver = each["driver"]
            if driver is None:
                continue
            first, usual = seen.setdefault(each["path"], (name, driver))
            if driver != usual:
                raise HostError(
                    f"devices: {each['path']} is a device of the driver {usual} on {first} and of {driver} on {name}; "
                    "all arms are to have the same, so name one that all hosts have"
                )
