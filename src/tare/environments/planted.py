# SPDX-License-Identifier: Apache-2.0
"""Nodes with a known cost planted in them, for ``tare calibrate``: otherwise native.

No campaign file can ask for them: ``tare calibrate`` replaces native's own providers by these.
"""

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tare.environments.native import Chroot, Native
from tare.errors import NodeError
from tare.host import process
from tare.nodes.provider import Node, NodeSpec, Provider
from tare.records import OptionValue

MORE_WORK = "more work"
"""Option: each run's additional work, as a fraction."""
BOOT_SD = "boot sd"
"""Option: standard deviation of a factor on the work, drawn for each start."""
QUOTA = "quota"
"""Option: processors' worth of CPU time."""
LINK_BIT_PER_S = "link"
"""Option: rate of the loopback device, by a token bucket."""
PLANTED = "planted work"
"""Label of the fact with a start's total additional work."""
BURST_BYTE = 16384
_QUEUE_BYTE = 1 << 24
_PACKET_BYTE = 1500
_LIMIT_S = 20.0


class Planting(Provider):
    """A mixin placed before a provider's class; ``drift`` is each start's added work over the previous start's."""

    def __init__(self, drift: float = 0.0, first: int = 0) -> None:
        self._drift, self._starts = drift, first
        self._random = random.Random(f"boots-{first}")  # noqa: S311 - noise, not a secret

    def begin(self, spec: NodeSpec) -> Node:
        """Start the node as the provider's class does."""
        raise NotImplementedError

    def start(self, spec: NodeSpec) -> Node:
        more = self._more_work(spec.options)
        self._starts += 1
        quota = spec.options.get(QUOTA)
        node = self.begin(spec if quota is None else replace(spec, cpu_quota=_number(quota)))
        if (rate := spec.options.get(LINK_BIT_PER_S)) is not None and spec.network.namespace is not None:
            _limit_loopback(spec.network.namespace, _number(rate))
        text = f"{more:.9f}"
        planted = {"TARE_PLANT": text, "TARE_FAKE_SLOWDOWN": text}
        return replace(
            node, variables={**node.variables, **planted}, facts={**node.facts, PLANTED: f"{more:+.6f}"}
        )

    def _more_work(self, options: Mapping[str, OptionValue]) -> float:
        drifted = 1 + self._drift * self._starts
        boot = self._random.gauss(1.0, _number(options.get(BOOT_SD, 0.0)))
        return (1 + _number(options.get(MORE_WORK, 0.0))) * drifted * max(boot, 0.0) - 1


class PlantedNative(Planting, Native):
    def begin(self, spec: NodeSpec) -> Node:
        return Native.start(self, spec)


class PlantedChroot(Planting, Chroot):
    def begin(self, spec: NodeSpec) -> Node:
        return Chroot.start(self, spec)


def _number(value: OptionValue) -> float:
    if isinstance(value, int | float):
        return float(value)
    raise NodeError(f"{value!r} is no number that could be planted")


def _limit_loopback(namespace: Path, bit_per_s: float) -> None:
    """A token bucket (tc-tbf(8)) on the node's own loopback, whose packets are first reduced to Ethernet's size."""
    inside = ["nsenter", f"--net={namespace}", "--"]
    bucket = ["rate", f"{bit_per_s:.0f}bit", "burst", str(BURST_BYTE), "limit", str(_QUEUE_BYTE)]
    for argv in (
        ["ip", "link", "set", "dev", "lo", "mtu", str(_PACKET_BYTE)],
        ["tc", "qdisc", "add", "dev", "lo", "root", "tbf", *bucket],
    ):
        done = process.run([*inside, *argv], timeout_s=_LIMIT_S)
        if done.code != 0:
            raise NodeError(f"{argv[0]} cannot limit the loopback device: {done.last_words}")
