# SPDX-License-Identifier: Apache-2.0
"""Virtual machines by QEMU itself: with KVM or by software emulation, para-virtualized or fully virtualized.

``options`` are a campaign's settings; ``command`` makes the argv, purely; ``boot`` the guest's boot files;
``accelerator`` tries KVM; ``monitor`` looks at a running machine from the host, ``inside`` from within
(docs/virtual-machines.md).
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from tare.engines import engine
from tare.environments.qemu import boot, console, host, inside, processor, snapshot, virtiofs
from tare.environments.qemu.accelerator import WORDS, kvm_obstacle
from tare.environments.qemu.command import QemuMachine, argv
from tare.environments.qemu.monitor import Monitor, connected, move_others, pin, run_on, virtual_processors
from tare.environments.qemu.options import (
    OPTION_NAMES,
    Accelerator,
    BindWay,
    QemuOptions,
    StartWay,
    complaints,
)
from tare.errors import NodeError
from tare.guests import channel, route
from tare.guests.group import Held, OwnMachineGroup
from tare.guests.kernel import find_kernel, lack_of_modules
from tare.guests.provider import GuestProvider
from tare.host import cgroups
from tare.host.distribution import to_install
from tare.host.facts import online_processors
from tare.host.told import part
from tare.nodes import confined
from tare.nodes.provider import Node, NodeGroup, NodeSpec, Probe
from tare.records import NetworkKind, OptionValue

_NO_NETWORK = {
    NetworkKind.HOST: "a guest has a network of its own and cannot be given the host's",
    NetworkKind.MACVLAN: "a guest's link ends in a tap device, and that in a bridge",
}


class Qemu(GuestProvider):
    technology = "qemu"
    option_names: Mapping[str, str] = OPTION_NAMES
    networks = frozenset({NetworkKind.NONE, NetworkKind.VETH, NetworkKind.DEFAULT})
    takes_tap = True

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Keep the options for ``probe`` and ``prepare``; nodes have their own."""
        self.options: Mapping[str, OptionValue] = options or {}
        self._saved: dict[tuple[object, ...], snapshot.Saved] = {}
        """Only the latest: each is a file as large as the guest's memory."""

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return complaints(options)

    def check_spanning(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        if options.get("start") != StartWay.SNAPSHOT:
            return {}
        return {"start": 'must be "boot" where an instance spans nodes: a restored guest has no link'}

    def configured(self, options: Mapping[str, OptionValue]) -> Self:
        return type(self)(options)

    def probe(self) -> Probe:
        """Check for QEMU; boots a guest with KVM if not yet tried since this host booted, which takes some seconds."""
        probe = confined.probe_root()
        if not probe.usable:
            return probe
        if shutil.which("mkfs.erofs") is None:
            reason = "mkfs.erofs is missing, which makes the image a disk"
            return Probe(usable=False, reason=reason, remedy=to_install("erofs-utils"))
        try:
            return self._versions()
        except NodeError as error:
            install = to_install("qemu-system-x86")
            remedy = f"{install}; tare image kernel; or change the option that it names"
            return Probe(usable=False, reason=str(error), remedy=remedy)

    def _versions(self) -> Probe:
        """The versions that are here; ``NodeError`` for a missing part."""
        options, version = QemuOptions.of(self.options), host.qemu_version()
        kernel = find_kernel(options.kernel)
        accelerator = boot.accelerator_of(options, kernel)
        host.uses_vhost(options, accelerator)
        if options.share is BindWay.VIRTIOFS:
            virtiofs.program()
        emulated = accelerator is Accelerator.TCG
        if options.accelerator is None and emulated:
            words = f"{kvm_obstacle(kernel, version)}: software emulation will be used"
        else:
            words = WORDS[accelerator]
        said = f"{version}, kernel {kernel.release}; {words}"
        return Probe(usable=True, version=said, emulated=emulated)

    def lacking_flags(self, flags: AbstractSet[str]) -> AbstractSet[str]:
        options = QemuOptions.of(self.options)
        accelerator = boot.accelerator_of(options, find_kernel(options.kernel))
        return processor.lacking_flags(options, accelerator, frozenset(flags))

    def start(self, spec: NodeSpec) -> Node:
        engine.require(self.check_options(spec.options))
        if why := _NO_NETWORK.get(spec.network.kind):
            raise NodeError(f"qemu has no network {spec.network.kind}: {why}; choose veth or none")
        machine = boot.plan(spec)
        spec.work.mkdir(parents=True, exist_ok=True)
        console.make(spec)
        boot.make(spec, machine)
        saved = self._saved_state(spec, machine)
        words = argv(machine) if saved is None else snapshot.restored_argv(machine, saved)
        keeper, monitor = _keep(spec, machine, words)
        _place_threads(spec, machine.options, (keeper, monitor))
        if saved is not None:
            snapshot.renew(channel.prefix(spec), spec.name, saved)
        return Node(
            spec=spec,
            init_pid=monitor,
            facts=_look(spec, machine),
            own_kernel=True,
            machine=True,
        )

    def _saved_state(self, spec: NodeSpec, machine: QemuMachine) -> snapshot.Saved | None:
        """The state from which to restore, made in the node's control group if there is none; ``None``: it boots."""
        if machine.options.start is StartWay.BOOT:
            return None
        alike = snapshot.likeness(spec, machine)
        if alike not in self._saved:
            self._saved.clear()
            with _in_group(spec, machine) as before:
                self._saved[alike] = snapshot.take(spec, machine, before)
            cgroups.own_group(spec.name).remove()  # what it counts is not the node's
        return self._saved[alike]

    def helpers(self, node: Node) -> list[int]:
        """QEMU and the keeper: everything in the node's control group."""
        return cgroups.own_group(node.spec.name).processes()

    def virtual_processors(self, node: Node) -> list[int]:
        with connected(node.spec.directory) as monitor:
            return list(virtual_processors(monitor))

    def group(self, node: Node) -> NodeGroup | None:
        spec = node.spec
        if node.init_pid is None:
            return None
        with connected(spec.directory) as monitor:
            memory_byte = _base_memory_byte(monitor)
            own = virtual_processors(monitor)
        pinned = run_on(own) if QemuOptions.of(spec.options).pin else None
        held = Held(memory_byte=memory_byte, processors=pinned)
        group = cgroups.group_of(node.init_pid)
        return OwnMachineGroup(group, node.init_pid, spec, held, channel.prefix(spec), partial(_gone, spec))

    def stop(self, spec: NodeSpec) -> None:
        """Switch it off: nothing that it wrote is needed."""
        confined.remove(spec)
        channel.release(spec)
        for left in ("qmp", *(f"bind{number}" for number in range(len(spec.binds)))):
            (spec.directory / left).unlink(missing_ok=True)


def _base_memory_byte(monitor: Monitor) -> int:
    summary = part(dict[str, Any], monitor.ask("query-memory-size-summary"), "query-memory-size-summary")
    return part(int, summary.get("base-memory"), "query-memory-size-summary (base-memory)")


def _keep(spec: NodeSpec, machine: QemuMachine, words: Sequence[str]) -> tuple[int, int]:
    """Process ids of the keeper and of QEMU, whose argv is ``words``."""
    with _in_group(spec, machine) as before:
        virtiofs.serve(spec, machine, before)
        return channel.keep_machine(spec, before, words)


@contextmanager
def _in_group(spec: NodeSpec, machine: QemuMachine) -> Iterator[list[str]]:
    """The argv prefix for what runs the machine; ``NodeError`` with the end of the guest kernel's output."""
    monitor_byte = host.monitor_memory_byte(machine.accelerator)
    group = confined.create_group(
        replace(
            spec,
            processors=_all_processors(spec, machine),
            memory_byte=spec.memory_byte + monitor_byte,
            bounds=replace(spec.bounds, processes=None),  # the guest's kernel enforces it
        )
    )
    folder = ["env", f"--chdir={spec.directory}", f"TMPDIR={spec.directory}"]
    try:
        yield [*confined.join(spec, group, _network(spec)), *folder]
    except NodeError as error:
        hints = (virtiofs.complaint(spec), lack_of_modules(machine.options.kernel))
        raise _with_console(spec, str(error), *hints) from error


def _all_processors(spec: NodeSpec, machine: QemuMachine) -> tuple[int, ...]:
    """The guest's and the monitor's; ``NodeError`` for a processor that this host does not have."""
    extra = machine.options.vmm_processors
    if missing := sorted(set(extra) - set(online_processors())):
        raise NodeError(f"the option vmm_processors names {missing}, which this host does not have online")
    return tuple(sorted({*spec.processors, *extra}))


def _network(spec: NodeSpec) -> Path | None:
    """The namespace with the tap device; without a link, an empty namespace of the node's own."""
    return spec.network.switch or spec.network.namespace


def _place_threads(spec: NodeSpec, options: QemuOptions, pids: Sequence[int]) -> None:
    with connected(spec.directory) as monitor:
        own = virtual_processors(monitor)
    if len(own) != len(spec.processors):
        raise NodeError(f"QEMU runs {len(own)} processors for the guest and not {len(spec.processors)}")
    if options.pin:
        pin(own, spec.processors)
    if options.vmm_processors:
        move_others(pids, own, options.vmm_processors)


def _look(spec: NodeSpec, machine: QemuMachine) -> dict[str, str]:
    """The facts of a guest that is as requested, once its route is."""
    prefix = channel.prefix(spec)
    seen = inside.look(prefix)
    inside.verify(machine, seen)
    network = spec.network
    if network.rto_min_s is not None and network.address is not None:
        subnet = f"{network.address.rsplit('.', 2)[0]}.0.0/{boot.PREFIX_LENGTH}"
        route.set_rto_min(prefix, subnet, network.address, network.rto_min_s)
    return {**_told(machine), **inside.facts(machine, seen)}


def _told(machine: QemuMachine) -> dict[str, str]:
    """The facts known without asking the guest."""
    options, link = machine.options, machine.link
    vmm = cgroups.format_processors(options.vmm_processors) or "the guest's"
    vhost = (
        "no paravirtual link" if link is None or not machine.devices.paravirtual else str(link.vhost).lower()
    )
    restored = {snapshot.FACT: snapshot.RESTORED} if options.start is StartWay.SNAPSHOT else {}
    return {
        **restored,
        "accelerator": WORDS[machine.accelerator],
        "QEMU": f"{host.qemu_version()}, machine {options.machine}, processor {machine.cpu}",
        "vhost": vhost,
        "huge pages": "no" if machine.huge_pages is None else "yes",
        "guest's processors": "one on each of the node's"
        if options.pin
        else "anywhere in the node's CPU set",
        "QEMU's own threads": f"on {vmm} processors",
    }


def _gone(spec: NodeSpec) -> NodeError:
    """Why a machine has ended in the middle of its work."""
    return _with_console(spec, channel.await_last_words(spec))


def _with_console(spec: NodeSpec, words: str, *hints: str) -> NodeError:
    said = console.read(spec)
    parts = [words, f"the guest's console: {console.reason(said)}" if said else "", *hints]
    return NodeError("; ".join(filter(None, parts)), console.end_of(said) or None)
