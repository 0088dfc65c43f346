# SPDX-License-Identifier: Apache-2.0
"""The devices of a campaign, alike in every arm: in every node those of its host, and open to the command."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

from tare.errors import NodeError, UnequalArms
from tare.host import process, standing
from tare.host.devices import NVIDIA
from tare.measure.at_once import for_each
from tare.measure.host_devices import given_on
from tare.measure.hosts import far_of
from tare.measure.instances import Instance, run_aside
from tare.measure.seats import clean
from tare.nodes.devices import LABEL, Device, asks_fabric, said
from tare.nodes.given import library_folder, look
from tare.nodes.provider import Node
from tare.plan.campaign import Campaign
from tare.records import OptionValue, User, Workload

_VARIABLE = "LD_LIBRARY_PATH"
_KIND = "command"
_OPENS = 'for path do test -r "$path" && test -w "$path" || { echo "$path"; exit 1; }; done'
_OUTPUT = ".devices"
_REFUSED = 1
_LIMIT_S = 60.0


def fit_limits(asked: Sequence[str]) -> AbstractContextManager[None]:
    """While it lasts, this process and its nodes have the limits that these devices need."""
    return standing.locking_memory() if asks_fabric(asked) else nullcontext()


def require_devices(campaign: Campaign, user: User | None = None) -> None:
    """``HostError`` where a host that has nodes, or this one without a list, has not what the campaign asks for."""
    if campaign.hosts:
        given_on(campaign.hosts, campaign.devices, user, in_place=False)
    else:
        look(campaign.devices, user)


def with_libraries(campaign: Campaign) -> Campaign:
    """The campaign whose commands find the driver's libraries first, before what their image states."""
    if NVIDIA not in campaign.devices:
        return campaign
    folders = dict.fromkeys(Path(far_of(host).state) for host in campaign.hosts) or (None,)
    own = [str(library_folder(state)) for state in folders]
    return replace(campaign, workloads=tuple(_leading(workload, own) for workload in campaign.workloads))


def _leading(workload: Workload, folders: Sequence[str]) -> Workload:
    """With these folders in front; hosts may have theirs in different places, and a linker passes over the others."""
    if workload.kind != _KIND:
        return workload
    stated = workload.options.get("variables", [])
    pairs = [entry.partition("=") for entry in stated] if isinstance(stated, list) else []
    own = {name: value for name, _, value in pairs}
    before = [part for part in own.get(_VARIABLE, "").split(":") if part and part not in folders]
    own[_VARIABLE] = ":".join([*folders, *before])
    options: dict[str, OptionValue] = {
        **workload.options,
        "variables": [f"{name}={value}" for name, value in own.items()],
    }
    return replace(workload, options=options)


def expected(asked: Sequence[Device]) -> Mapping[str, str]:
    """What every node must have, as ``Parity.host`` says it."""
    return {LABEL: said(asked)} if asked else {}


def require_given(node: Node) -> None:
    """``UnequalArms`` if a node on another host shows other devices than it was given there."""
    seen = None if node.elsewhere is None else node.facts.get(LABEL)
    if seen is not None and seen != said(node.spec.devices):
        raise UnequalArms(
            f"{_place(node)} has devices {seen} instead of {said(node.spec.devices)}; see that its own settings pass "
            "them"
        )


def refuse_closed(instance: Instance) -> None:
    """``NodeError`` if the command may not open a device where it runs: a group's rule may forbid it there.

    access(2) asks for the permission, the rules of control groups included, and opens nothing. An image without a
    shell is not asked.
    """
    seat = instance.seat
    if not seat.members[0].spec.devices:
        return
    if seat.node == seat.members[0]:
        done = run_aside(instance, _asking(seat.node), _OUTPUT)
        if done["exit_code"] == _REFUSED and not done["error"]:
            raise _closed(seat.node, instance.printed(_OUTPUT, "stdout") or "")
        return
    for_each(seat.member_provider, lambda node: _refuse_closed_in(instance, node), seat.members)


def _refuse_closed_in(instance: Instance, node: Node) -> None:
    """The same in a node of an instance that spans several, as the launcher's daemon enters it."""
    argv = [*instance.seat.member_provider.prefix(node), *clean(node), *_asking(node)]
    done = process.run(argv, timeout_s=_LIMIT_S)
    if done.code == _REFUSED and done.stdout.startswith("/dev/"):
        raise _closed(node, done.stdout)


def _asking(node: Node) -> tuple[str, ...]:
    return ("sh", "-c", _OPENS, "sh", *(str(device.path) for device in node.spec.devices))


def _closed(node: Node, path: str) -> NodeError:
    return NodeError(
        f"the command may not open {path.strip()} in {_place(node)}; see that its own rules allow it"
    )


def _place(node: Node) -> str:
    """The technology, and on another host that one's, with the host."""
    if node.elsewhere is None:
        return node.spec.technology
    options = node.spec.options
    return f"{options.get('below', node.spec.technology)} on {options.get('host', 'another host')}"
