# SPDX-License-Identifier: Apache-2.0
"""Causes that are put into one environment: a process in the image, as ``chroot`` is, and one thing done to it.

What is done begins when the limits have been verified and the measured commands are about to start.
"""

import subprocess
from collections.abc import Sequence
from contextlib import suppress

from tare.environments.native import Chroot
from tare.environments.provider import TOOLS_DIRECTORY, Node, NodeSpec
from tare.host import cgroups, process
from tare.units import MEBIBYTE

ENDLESS = "1000000000000"
QUOTA = 0.5
LITTLE_BYTE = 20 * MEBIBYTE
RATE = "600mbit"
LOSSES = """
tc qdisc replace dev lo root pfifo
for turn in 1 2 3 4; do
    sleep 0.06
    tc qdisc replace dev lo root blackhole
    sleep 0.02
    tc qdisc replace dev lo root pfifo
    sleep 0.2
done
"""
"""Packets vanish for 20 ms, again and again: each time TCP waits for its retransmission timeout."""


class Nothing(Chroot):
    """Nothing is done to it."""

    technology = "nothing"

    def __init__(self) -> None:
        self._begun: set[str] = set()
        self._beside: dict[str, subprocess.Popen[bytes]] = {}

    def helpers(self, node: Node) -> list[int]:
        """Asked for right before the measured commands start."""
        if node.spec.name not in self._begun:
            self._begun.add(node.spec.name)
            self.begin(node)
        return super().helpers(node)

    def begin(self, node: Node) -> None:
        """What is done."""

    def beside(self, node: Node, argv: Sequence[str]) -> None:
        """Run this on the host for as long as the node lives."""
        self._beside[node.spec.name] = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def stop(self, spec: NodeSpec) -> None:
        child = self._beside.pop(spec.name, None)
        if child is not None:
            with suppress(ProcessLookupError):
                child.kill()
            child.wait()
        super().stop(spec)


class Quota(Nothing):
    """On a busy host a large one takes nothing away: others hold the job back more."""

    technology = "quota"
    cpu_quota = QUOTA

    def begin(self, node: Node) -> None:
        cgroups.own_group(node.spec.name).limit(node.spec.processors, node.spec.memory_byte, self.cpu_quota)


class Hog(Nothing):
    technology = "hog"

    def begin(self, node: Node) -> None:
        processors = cgroups.format_processors(node.spec.processors)
        burn = f"{node.spec.image_root}{TOOLS_DIRECTORY}/burn"
        self.beside(node, ["taskset", "--cpu-list", processors, burn, ENDLESS])


class LittleMemory(Nothing):
    technology = "little-memory"

    def begin(self, node: Node) -> None:
        cgroups.own_group(node.spec.name).limit(node.spec.processors, LITTLE_BYTE, None)


class LostPackets(Nothing):
    technology = "lost-packets"

    def begin(self, node: Node) -> None:
        inside = ["nsenter", f"--net={node.spec.network.namespace}", "--"]
        process.run_checked([*inside, "sysctl", "--quiet", "net.ipv4.tcp_early_retrans=0"])
        self.beside(node, [*inside, "sh", "-c", LOSSES])


class NarrowLink(Nothing):
    technology = "narrow-link"

    def begin(self, node: Node) -> None:
        inside = ["nsenter", f"--net={node.spec.network.namespace}", "--"]
        bucket = ["tbf", "rate", RATE, "burst", "256kb", "latency", "50ms"]
        process.run_checked([*inside, "tc", "qdisc", "replace", "dev", "lo", "root", *bucket])
