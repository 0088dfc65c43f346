# SPDX-License-Identifier: Apache-2.0
"""A guest started by hand: QEMU's argv as Tare writes it and the same initramfs, and no more than that."""

import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from bench.node_cost import a_spec
from tare.environments import PROVIDERS
from tare.environments.qemu import boot, console
from tare.environments.qemu.command import QemuMachine, argv
from tare.guests.channel import DESCRIPTOR
from tare.host.process import tool_environment
from tare.image.store import Image
from tare.nodes.provider import TOOLS_DIRECTORY, Node, NodeSpec
from tare.units import MEBIBYTE

MEMORY_BYTE = 512 * MEBIBYTE
BOOT_LIMIT_S = 90.0


def spec_of(image: Image, devices: str) -> NodeSpec:
    spec = a_spec("qemu", image)
    return replace(
        spec, options={"devices": devices}, memory_byte=MEMORY_BYTE, processors=spec.processors[:1]
    )


def nothing(node: Node) -> list[str]:
    """A static program that ends at once."""
    return [*PROVIDERS["qemu"].prefix(node), f"{TOOLS_DIRECTORY}/burn", "1"]


def run(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=tool_environment(), timeout=BOOT_LIMIT_S)
    return time.perf_counter() - begun


def by_hand(spec: NodeSpec) -> float:
    """Seconds from QEMU's start to the guest's first word."""
    with prepared(spec) as (own, machine):
        return first_word_s(own, argv(machine))


@contextmanager
def prepared(spec: NodeSpec) -> Iterator[tuple[NodeSpec, QemuMachine]]:
    """A machine's folder, with all that it boots from."""
    spec = replace(spec, network=replace(spec.network, namespace=None))
    (spec.directory / "console").mkdir(parents=True)
    try:
        machine = boot.plan(spec)
        boot.make(spec, machine)
        yield spec, machine
    finally:
        subprocess.run(["rm", "-r", str(spec.directory)], check=True)


def first_word_s(spec: NodeSpec, words: Sequence[str]) -> float:
    """Seconds from the start of QEMU with these words to the guest's own first one."""
    with running(spec, words) as (begun, channel):
        await_word(channel, spec)
        return time.perf_counter() - begun


def await_word(channel: socket.socket, spec: NodeSpec) -> None:
    if not select.select([channel], [], [], BOOT_LIMIT_S)[0] or not channel.recv(4096):
        raise SystemExit(f"QEMU by hand does not get the guest up: {console.read(spec)[-500:]}")


@contextmanager
def running(spec: NodeSpec, words: Sequence[str]) -> Iterator[tuple[float, socket.socket]]:
    """QEMU in the machine's folder: when it began, and the host's end of the channel."""
    here, there = socket.socketpair()
    files = [(os.POSIX_SPAWN_DUP2, there.fileno(), DESCRIPTOR)]
    command = ["env", f"--chdir={spec.directory}", *words]
    begun = time.perf_counter()
    child = os.posix_spawnp(command[0], command, tool_environment(), file_actions=files, setsid=True)
    there.close()
    try:
        yield begun, here
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        here.close()
