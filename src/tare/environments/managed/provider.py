# SPDX-License-Identifier: Apache-2.0
"""The life of a node in a machine that the user provides: on, reached by ssh, the node inside, off again."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Self

from tare.environments.managed.answering import wait_until_it_answers
from tare.environments.managed.group import ManagedMachineGroup
from tare.environments.managed.machine import Machine
from tare.environments.managed.options import boot_limit_s, far_options, inside_complaints, is_pinned
from tare.environments.managed.waiting import wait_for
from tare.environments.remote import code
from tare.environments.remote.connection import Far
from tare.environments.ssh import Ssh
from tare.errors import NodeError
from tare.host.removal import remove_what_goes
from tare.nodes.provider import Node, NodeGroup, NodeSpec, Provider
from tare.records import OptionValue

_END_LIMIT_S = 60.0
_SSH = Ssh()


class Managed(Provider):
    """A technology adds ``technology``, ``option_names`` (with ``INSIDE_OPTIONS``), ``probe`` and ``machine``."""

    networks = Ssh.networks
    own_kernel = True
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
        code.forget(far)  # a new copy has nothing yet, whatever had this address before
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
