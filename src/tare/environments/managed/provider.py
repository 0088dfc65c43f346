# SPDX-License-Identifier: Apache-2.0
"""The life of a node in a machine that the user provides: on, reached by ssh, the node inside, off again."""

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from tare.environments.managed.machine import Machine, wait_for
from tare.environments.managed.options import (
    boot_limit_s,
    far_options,
    inside_complaints,
    is_pinned,
    machine_memory_byte,
)
from tare.environments.ssh import Ssh, shared
from tare.environments.ssh.connection import Far, unreachable, variables
from tare.errors import NodeError
from tare.host import process
from tare.host.cgroups import Settings
from tare.host.removal import remove_what_goes
from tare.nodes.provider import DEVICES_OF_A_GUEST, Node, NodeGroup, NodeSpec, Provider
from tare.records import OptionValue

_END_LIMIT_S = 60.0
_SSH = Ssh()
_TRY_LIMIT_S = 60.0
_PAUSE_S = 0.5
_SSH_FAILED = 255
_BOOTING = (
    *("Connection refused", "timed out", "No route to host", "Network is unreachable", "Host is down"),
    *("Connection reset", "Connection closed", "kex_exchange_identification", "System is booting up"),
)
"""ssh's messages while a system is not yet up; waiting does not change any other."""


@dataclass(frozen=True, slots=True)
class ManagedMachineGroup:
    """A ``NodeGroup`` (``tare.nodes.provider``).

    The hypervisor enforces the processors, counts the CPU time, and gives the machine its memory; the control group
    inside says how much of that the node may have.
    """

    machine: Machine
    inside: NodeGroup

    def settings(self) -> Settings:
        """``NodeError`` if the machine lacks the processors and the memory that its node was promised."""
        spec, held, inside = self.machine.spec, self.machine.holds(), self.inside.settings()
        own = self.machine.own_processors
        if inside.processors != own:
            raise NodeError(
                f"{self.machine.name} should have the processors {own}, and has {inside.processors}"
            )
        wanted = machine_memory_byte(spec.options, spec.memory_byte)
        if held.memory_byte != wanted:
            raise NodeError(
                f"{self.machine.name} should have {wanted} byte of memory, and has {held.memory_byte}"
            )
        processors = held.processors if is_pinned(spec.options) else spec.processors
        return Settings(
            processors=processors,
            memory_byte=inside.memory_byte,
            cpu_quota=held.cpu_quota,
            processes=inside.processes,
        )

    def cpu_s(self) -> float | None:
        """The hypervisor's count; the machine's own kernel does not measure what the host spent."""
        return self.machine.cpu_s()

    def memory_kills(self) -> int | None:
        return self.inside.memory_kills()

    def refused_processes(self) -> int | None:
        return self.inside.refused_processes()

    def lacks(self, inner_pid: int) -> list[str] | None:
        return self.inside.lacks(inner_pid)


class Managed(Provider):
    """A technology adds ``technology``, ``option_names`` (with ``INSIDE_OPTIONS``), ``probe`` and ``machine``."""

    networks = Ssh.networks
    own_kernel = True
    device_refusal = DEVICES_OF_A_GUEST
    makes_namespace = True
    """In the machine: nothing of it is made here."""

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Keep the options for ``probe``; nodes have their own. ``None``: outside any campaign."""
        self._options = options

    def configured(self, options: Mapping[str, OptionValue]) -> Self:
        return type(self)(options)

    @abstractmethod
    def machine(self, spec: NodeSpec) -> Machine:
        """The node's machine, made or not."""

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return inside_complaints(options)

    def check_spanning(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return _SSH.check_spanning(options)

    def start(self, spec: NodeSpec) -> Node:
        """Switch the machine on and start the node in it; a machine that is already on is in use, and left alone."""
        for option, words in self.check_options(spec.options).items():
            raise NodeError(f"the option {option} {words}")
        machine = self.machine(spec)
        if machine.is_on():
            raise NodeError(
                f"{machine.name} is on already: shut it down, Tare starts it for every block anew"
            )
        _taken(spec).touch()
        machine.make()
        machine.switch_on()
        return self._start_inside(spec, machine)

    def _start_inside(self, spec: NodeSpec, machine: Machine) -> Node:
        options = far_options(spec.options, None if "host" in spec.options else _address(machine))
        wait_until_it_answers(options, spec.index, boot_limit_s(spec.options), machine.is_on)
        far = Far.of(options, spec.index)
        shared.forget(far)  # a new copy has nothing yet, whatever had this address before
        inside = _inside(machine, {**options, "host": far.host})
        _SSH.configured(inside.options).prepare(spec.image_root, spec.image_digest)
        node = _SSH.start(inside)
        return replace(
            node,
            spec=spec,
            own_kernel=machine.own_kernel,
            facts={**node.facts, **_weaker(spec), **machine.facts()},
        )

    def prefix(self, node: Node) -> list[str]:
        return _SSH.prefix(node)

    def helpers(self, node: Node) -> list[int]:
        return self.machine(node.spec).helpers()

    def virtual_processors(self, node: Node) -> list[int]:
        return self.machine(node.spec).virtual_processors()

    def group(self, node: Node) -> NodeGroup | None:
        inside = _SSH.group(node)
        return None if inside is None else ManagedMachineGroup(self.machine(node.spec), inside)

    def send(self, node: Node, names: Sequence[str]) -> None:
        _SSH.send(node, names)

    def fetch(self, node: Node, names: Sequence[str]) -> None:
        _SSH.fetch(node, names)

    def stop(self, spec: NodeSpec) -> None:
        """Stop the node inside, then the machine. A machine that this node never took is not touched."""
        if _taken(spec).exists():
            machine = self.machine(spec)
            _leave(spec, machine)
            machine.unmake()
        _taken(spec).unlink(missing_ok=True)
        remove_what_goes(spec.directory / "layer")


def _taken(spec: NodeSpec) -> Path:
    """The mark that exists from the moment when the machine is this node's to switch off."""
    return spec.directory / "taken"


def _address(machine: Machine) -> str:
    """The machine's address from the hypervisor; ``NodeError`` if it does not learn it in time."""
    limit_s = boot_limit_s(machine.spec.options)
    return wait_for(
        machine.address, limit_s, f"the address of {machine.name} (else say it by the option host)"
    )


def _inside(machine: Machine, options: Mapping[str, OptionValue]) -> NodeSpec:
    """The node for the machine's own system to start. The CPU quota is the hypervisor's."""
    return replace(
        machine.spec,
        technology=_SSH.technology,
        options=options,
        processors=machine.own_processors,
        cpu_quota=None,
    )


def _weaker(spec: NodeSpec) -> dict[str, str]:
    """The limits that the user has given up, as a fact."""
    return (
        {} if is_pinned(spec.options) else {"CPU set": f"{len(spec.processors)} of the hypervisor's choice"}
    )


def _leave(spec: NodeSpec, machine: Machine) -> None:
    """End the node inside if the machine still lives, then the machine, cleanly if its disk is kept."""
    if not machine.is_on():
        _SSH.forget(spec)
        return
    with suppress(NodeError):  # the machine ends now, and the node with it
        _SSH.stop(replace(spec, technology=_SSH.technology, options=_reached(spec, machine)))
    _SSH.forget(spec)
    if machine.outlives_node:
        with suppress(NodeError):
            machine.ask_to_end()
            wait_for(lambda: not machine.is_on(), _END_LIMIT_S, f"the end of {machine.name}")
    machine.switch_off()


def _reached(spec: NodeSpec, machine: Machine) -> dict[str, OptionValue]:
    return far_options(spec.options, None if "host" in spec.options else machine.address())


def wait_until_it_answers(
    options: Mapping[str, OptionValue], index: int, limit_s: float, is_on: Callable[[], bool]
) -> None:
    """``NodeError`` when it refuses, when the machine ends, or when it stays silent until the limit."""
    far, deadline = Far.of(options, index), time.monotonic() + limit_s
    while (refusal := _refusal(far)) is not None:
        if not is_on():
            raise NodeError(f"the machine ended before {far.host} answered ssh; see its console")
        if time.monotonic() > deadline:
            raise NodeError(
                f"{refusal}; that is {limit_s:.0f} s after it was switched on (option boot_limit)"
            )
        time.sleep(_PAUSE_S)


def _refusal(far: Far) -> NodeError | None:
    """Why it cannot be reached yet; ``None`` if it can be; raises if it never will."""
    done = process.run([*far.ssh(), "true"], timeout_s=_TRY_LIMIT_S, variables=variables())
    if done.code != _SSH_FAILED:
        return None
    node_error = unreachable(far, done.stderr)
    if not any(words in done.stderr for words in _BOOTING):
        raise node_error
    return node_error
