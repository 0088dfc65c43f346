# SPDX-License-Identifier: Apache-2.0
"""Environments into which a cause is put: known technologies with one thing done to them, each with its cure.

What is done to a ``chroot`` or ``bubblewrap`` node is undone by an option of its own, a limit or a route, as in a
real environment, so that the product's knobs cure it.
"""

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from tare.environments.bubblewrap import Bubblewrap
from tare.environments.docker import Docker
from tare.environments.native import Chroot, Native
from tare.host import cgroups, process
from tare.nodes import confined
from tare.nodes.provider import TOOLS_DIRECTORY, Node, NodeSpec

ENDLESS = "1000000000000"
SYNCHRONOUS = "BENCH_SYNCHRONOUS"
"""Environment variable by which the plant's program waits for the disk."""
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
_DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")


class Beside:
    """Programs that run on the host for as long as a node lives."""

    def __init__(self) -> None:
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, spec: NodeSpec, argv: Sequence[str]) -> None:
        self._running[spec.name] = subprocess.Popen(
            [*_DIES_WITH_US, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def numbers(self, spec: NodeSpec) -> list[int]:
        """Its process id, if one runs."""
        return [self._running[spec.name].pid] if spec.name in self._running else []

    def stop(self, spec: NodeSpec) -> None:
        child = self._running.pop(spec.name, None)
        if child is not None:
            with suppress(ProcessLookupError):
                child.kill()
            child.wait()


class Nothing(Chroot):
    """Nothing is done to it."""

    technology = "nothing"


class LostPackets(Chroot):
    """Its program talks to itself; ``rto_min`` of its network is that of its loopback too."""

    technology = "lost-packets"

    def __init__(self) -> None:
        self._beside = Beside()

    def start(self, spec: NodeSpec) -> Node:
        node = super().start(spec)
        inside = self._inside(spec)
        process.run_checked([*inside, "sysctl", "--quiet", "net.ipv4.tcp_early_retrans=0"])
        if spec.network.rto_min_s is not None:
            route = ["local", "127.0.0.1", "dev", "lo", "table", "local", "proto", "kernel", "scope", "host"]
            least = f"{1000 * spec.network.rto_min_s:g}ms"
            process.run_checked(
                [*inside, "ip", "route", "replace", *route, "src", "127.0.0.1", "rto_min", least]
            )
        return node

    def helpers(self, node: Node) -> list[int]:
        """Asked for right before the measured commands start: so do the losses."""
        if not self._beside.numbers(node.spec):
            self._beside.start(node.spec, [*self._inside(node.spec), "sh", "-c", LOSSES])
        return super().helpers(node)

    def stop(self, spec: NodeSpec) -> None:
        self._beside.stop(spec)
        super().stop(spec)

    @staticmethod
    def _inside(spec: NodeSpec) -> list[str]:
        return ["nsenter", f"--net={spec.network.namespace}", "--"]


class SynchronousWrites(Chroot):
    technology = "synchronous-writes"

    def start(self, spec: NodeSpec) -> Node:
        return replace(super().start(spec), variables={SYNCHRONOUS: "1"})


class SmallPages(Bubblewrap):
    technology = "small-pages"
    option_names: Mapping[str, str] = {"huge_pages": "true: huge pages as natively"}

    def prefix(self, node: Node) -> list[str]:
        cured = node.spec.options.get("huge_pages") is True
        return _hindered(super().prefix(node), "--no-huge-pages", cured=cured)


class SlowClock(Chroot):
    technology = "slow-clock"
    option_names: Mapping[str, str] = {"cpu": "with invtsc: the clock as natively"}

    def prefix(self, node: Node) -> list[str]:
        cured = "invtsc" in str(node.spec.options.get("cpu", ""))
        return _hindered(super().prefix(node), "--no-vdso", cured=cured)


class SupervisedCall(Bubblewrap):
    """A supervisor looks at each call of one name before it goes on."""

    option_names: Mapping[str, str] = {"seccomp": "false: no filter, as natively"}

    def __init__(self, technology: str, call: str, added_us: int) -> None:
        self.technology = technology
        self._delay = f"{call}={added_us}"

    def prefix(self, node: Node) -> list[str]:
        cured = node.spec.options.get("seccomp") is False
        return _hindered(super().prefix(node), "--delay", self._delay, cured=cured)


class Agent(Bubblewrap):
    """What a monitoring agent leaves in every program of a container.

    Tare's programs are static, so that no loader reads LD_PRELOAD: hinder maps the agent's memory into them instead.
    """

    technology = "agent"
    option_names: Mapping[str, str] = {"variables": "with LD_PRELOAD=: the agent is in every program"}
    MAPPINGS = 40

    def prefix(self, node: Node) -> list[str]:
        cured = "LD_PRELOAD" not in str(node.spec.options.get("variables"))
        return _hindered(super().prefix(node), "--mappings", str(self.MAPPINGS), cured=cured)


def _hindered(prefix: list[str], *how: str, cured: bool) -> list[str]:
    return prefix if cured else [*prefix, f"{TOOLS_DIRECTORY}/hinder", *how]


class _Rival:
    """An endless program on a node's first processor, in a control group of its own of the default weight."""

    def __init__(self) -> None:
        self._beside = Beside()

    def start(self, spec: NodeSpec) -> None:
        group = cgroups.create_own_group(self._name(spec))
        group.limit(spec.processors[:1], spec.memory_byte, None)
        burn = f"{spec.image_root}{TOOLS_DIRECTORY}/burn"
        self._beside.start(spec, [*confined.join(spec, group), burn, ENDLESS])

    def numbers(self, spec: NodeSpec) -> list[int]:
        return self._beside.numbers(spec)

    def stop(self, spec: NodeSpec) -> None:
        self._beside.stop(spec)
        cgroups.own_group(self._name(spec)).remove()

    @staticmethod
    def _name(spec: NodeSpec) -> str:
        return f"{spec.name}-rival"


_RIVAL = _Rival()


class ContestedNative(Native):
    """Its processor is shared; whom it is shared with counts as its helper, and not as others' work."""

    def start(self, spec: NodeSpec) -> Node:
        _RIVAL.start(spec)
        return super().start(spec)

    def helpers(self, node: Node) -> list[int]:
        return [*super().helpers(node), *_RIVAL.numbers(node.spec)]

    def stop(self, spec: NodeSpec) -> None:
        _RIVAL.stop(spec)
        super().stop(spec)


class ContestedDocker(Docker):
    """The same."""

    def start(self, spec: NodeSpec) -> Node:
        _RIVAL.start(spec)
        return super().start(spec)

    def helpers(self, node: Node) -> list[int]:
        return [*super().helpers(node), *_RIVAL.numbers(node.spec)]

    def stop(self, spec: NodeSpec) -> None:
        _RIVAL.stop(spec)
        super().stop(spec)
