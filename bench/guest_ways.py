# SPDX-License-Identifier: Apache-2.0
"""What would bring a guest up sooner: each way beside the machine as Tare boots it, all in turn in each round.

Run by ``python -m bench.guest_boot --ways``. Of each way the time from QEMU's start to the guest's first word on its
channel, by hand; then of both of Tare's own starts until a first command has run. A figure of software emulation says
nothing about KVM, and the first line says which of them ran. Nothing is claimed here.
"""

import random
import secrets
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from unittest import mock

from bench.guest_by_hand import await_word, first_word_s, nothing, prepared, run, running, spec_of
from tare.environments.qemu import Qemu
from tare.environments.qemu.accelerator import WORDS
from tare.environments.qemu.command import QemuMachine, argv
from tare.environments.qemu.devices import DeviceSet
from tare.environments.qemu.monitor import Monitor, connected
from tare.environments.qemu.snapshot import restored_argv, take
from tare.errors import NodeError
from tare.guests.kernel import find_kernel
from tare.image.store import Image
from tare.node_life import start_node, stop_node
from tare.nodes.provider import NodeNetwork, NodeSpec
from tare.records import OptionValue

AS_NOW, COMMAND_AS_NOW = "as Tare boots it", "Tare: booted, to a command"
SELDOM_USED = "cryptomgr.notests audit=0 8250.nr_uarts=2 i8042.noaux i8042.nokbd i8042.nopnp pci=lastbus=0"
FEWER_DEVICES = "sata=off,smbus=off,usb=off,vmport=off,hpet=off"
MICRO = "microvm,acpi=on,pit=on,pic=on,rtc=on"
AFTER_WORD_S = 0.9
"""A guest says its word again every second; it is stopped shortly before that."""
STEP_S, LIMIT_S = 0.005, 60.0

Timed = Callable[[], float]


def show_ways(image: Image, rounds: int, kernel: str | None) -> None:
    """Print a line for each way: median, and median of its ratios to the usual one of the same round."""
    with ExitStack() as stack:
        ways = dict(stack.enter_context(all_ways(image, kernel)))
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds + 1):
            for name in random.sample(sorted(ways), len(ways)):
                times[name].append(ways[name]())
    for name, taken in times.items():
        usual = times[COMMAND_AS_NOW if name.startswith("Tare") else AS_NOW]
        ratio = statistics.median(value / other for value, other in zip(taken[1:], usual[1:], strict=True))
        print(f"{name}: {statistics.median(taken[1:]):.2f} s, {ratio:.2f} of the usual (n = {rounds})")


@contextmanager
def all_ways(image: Image, kernel: str | None) -> Iterator[Mapping[str, Timed]]:
    with ExitStack() as stack:

        def made(*modules: str, **options: OptionValue) -> tuple[NodeSpec, QemuMachine]:
            spec = spec_of(image, "paravirtual")
            with more_modules(modules):
                return stack.enter_context(prepared(replace(spec, options={**spec.options, **options})))

        spec, machine = made()
        print(f"{WORDS[machine.accelerator]}; kernel {find_kernel(None).release}; one processor")
        usual = argv(machine)
        by_mmio, _ = made("virtio_mmio")
        kernels = {} if kernel is None else {f"kernel {find_kernel(kernel).release}": made(kernel=kernel)}
        yield {
            AS_NOW: partial(first_word_s, spec, usual),
            "kernel parameters, less to look for": partial(first_word_s, spec, with_parameters(usual)),
            "q35 with fewer devices": partial(first_word_s, spec, on(f"q35,{FEWER_DEVICES}", usual)),
            "microvm, PCI": partial(first_word_s, spec, on(f"{MICRO},pcie=on", usual)),
            "microvm, virtio-mmio": partial(first_word_s, by_mmio, by_virtio_mmio(on(MICRO, usual))),
            **{
                name: partial(first_word_s, node_spec, argv(other))
                for name, (node_spec, other) in kernels.items()
            },
            "restored, memory read from a stream": streamed(*made(start="snapshot")),
            "restored, memory mapped from a file": mapped(*made(start="snapshot")),
            COMMAND_AS_NOW: partial(to_a_command, Qemu(), spec_of(image, "paravirtual")),
            "Tare: restored, to a command": partial(
                to_a_command, Qemu(), spec_of(image, "paravirtual"), start="snapshot"
            ),
        }


@contextmanager
def more_modules(names: Sequence[str]) -> Iterator[None]:
    """Loaded before the modules that the devices need."""
    usual = DeviceSet.modules
    with mock.patch.object(DeviceSet, "modules", lambda *own: [*names, *usual(*own)]):
        yield


def with_parameters(words: Sequence[str]) -> list[str]:
    """Of the kernel's admin-guide: no self-tests, and no search for what this guest has none of."""
    return [word.replace("quiet", f"quiet {SELDOM_USED}") for word in words]


def on(machine: str, words: Sequence[str]) -> list[str]:
    changed = list(words)
    changed[changed.index("-machine") + 1] = machine
    return changed


def by_virtio_mmio(words: Sequence[str]) -> list[str]:
    """A microvm has no PCI by itself; ACPI tells the guest of its devices."""
    models = {"virtio-serial-pci": "virtio-serial-device", "virtio-blk-pci,": "virtio-blk-device,"}
    for model, other in models.items():
        words = [word.replace(model, other) for word in words]
    return list(words)


def streamed(spec: NodeSpec, machine: QemuMachine) -> Timed:
    """As the option start = snapshot does it."""
    saved = take(spec, machine, ["env", f"--chdir={spec.directory}"])
    return lambda: first_word_s(spec, restored_argv(machine, saved))


def mapped(spec: NodeSpec, machine: QemuMachine) -> Timed:
    """The memory is a file, of which a restored guest sees a private copy, page by page as it touches them."""
    words, capability = with_memory_file(machine, "on"), "x-ignore-shared"
    with running(spec, words) as (_, channel):
        await_word(channel, spec)
        with connected(spec.directory) as monitor:
            allow(monitor, capability)
            await_word(channel, spec)
            time.sleep(AFTER_WORD_S)
            monitor.ask("stop")
            monitor.ask("migrate", uri="exec:cat > state")
            await_saved(monitor)

    def restored_s() -> float:
        with running(spec, [*with_memory_file(machine, "off"), "-incoming", "defer"]) as (begun, channel):
            await_monitor(spec)
            with connected(spec.directory) as monitor:
                allow(monitor, capability)
                monitor.ask("migrate-incoming", uri="exec:cat state")
                await_saved(monitor)
                monitor.ask("cont")
            await_word(channel, spec)
            return time.perf_counter() - begun

    return restored_s


def with_memory_file(machine: QemuMachine, share: str) -> list[str]:
    memory = f"memory-backend-file,id=memory,size={machine.memory_byte},mem-path=memory,share={share}"
    return [*on("q35,memory-backend=memory", argv(machine)), "-object", memory]


def allow(monitor: Monitor, capability: str) -> None:
    monitor.ask("migrate-set-capabilities", capabilities=[{"capability": capability, "state": True}])


def await_saved(monitor: Monitor) -> None:
    """Or restored."""
    deadline = time.monotonic() + LIMIT_S
    while monitor.ask("query-migrate").get("status") != "completed":
        if time.monotonic() > deadline:
            raise SystemExit("QEMU does not get the guest's state to a file or back")
        time.sleep(STEP_S)


def await_monitor(spec: NodeSpec) -> None:
    deadline = time.monotonic() + LIMIT_S
    while True:
        try:
            with connected(spec.directory):
                return
        except NodeError:
            if time.monotonic() > deadline:
                raise
        time.sleep(STEP_S)


def to_a_command(provider: Qemu, spec: NodeSpec, **options: OptionValue) -> float:
    """By all of Tare: control group, keeper, look inside. The first restored one boots, and is not counted."""
    name = f"{spec.name}-{secrets.token_hex(2)}"
    own = replace(
        spec, name=name, directory=spec.directory.parent / name, options={**spec.options, **options}
    )
    begun = time.perf_counter()
    node = start_node(replace(own, network=NodeNetwork()), provider)
    try:
        run(nothing(node))
        return time.perf_counter() - begun
    finally:
        stop_node(own, provider)
