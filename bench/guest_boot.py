# SPDX-License-Identifier: Apache-2.0
"""From nothing to a guest in which a command can run, beside QEMU started by hand with the same kernel and image.

    python -m bench.guest_boot [--rounds 12] [--devices paravirtual emulated]     (as root, with image and kernel)
    python -m bench.guest_boot --boots 50 [--busy]                                (how many of them fail)
    python -m bench.guest_boot --ways [--kernel VMLINUZ]                          (what would bring a guest up sooner)

By hand means: QEMU's argv as Tare writes it and the same initramfs, made beforehand; no control group, no keeper, no
look inside; until the guest's first word on its channel. Both ways in turn, in random order within a round. The
claims: at most 1.2 times as long; a command that does nothing takes less than 10 ms; no boot fails.
"""

import argparse
import math
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.guest_by_hand import by_hand, nothing, run, spec_of
from bench.guest_ways import show_ways
from bench.node_cost import LEVEL
from tare.environments import PROVIDERS
from tare.errors import TareError
from tare.host.facts import online_processors
from tare.image.store import Image, find_image
from tare.node_life import start_node, stop_node
from tare.nodes.provider import NodeSpec
from tare.statistics.estimate import as_fraction
from tare.statistics.signed_rank import hodges_lehmann

MOST, MOST_NO_OP_S = 1.2, 0.010
WARM_UPS, NO_OPS = 20, 200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--devices", nargs="*", default=["paravirtual", "emulated"])
    parser.add_argument("--boots", type=int, default=0)
    parser.add_argument("--busy", action="store_true", help="keep all processors busy meanwhile")
    parser.add_argument("--ways", action="store_true", help="try what would bring a guest up sooner")
    parser.add_argument(
        "--kernel", help="beside these, another kernel with its modules, such as Debian's for clouds"
    )
    chosen = parser.parse_args()
    image = find_image()
    PROVIDERS["qemu"].prepare(image.root, image.digest)
    if chosen.ways:
        show_ways(image, chosen.rounds, chosen.kernel)
        return 0
    if chosen.boots:
        held = [boots(image, devices, chosen.boots, busy=chosen.busy) for devices in chosen.devices]
    else:
        held = [compare(image, devices, chosen.rounds) for devices in chosen.devices]
    return 0 if all(held) else 1


def compare(image: Image, devices: str, rounds: int) -> bool:
    """Print the lines of one kind of guest; whether its claims hold."""
    ours, bare = [], []
    for _ in range(rounds + 1):
        for way in random.sample(("ours", "bare"), 2):
            if way == "bare":
                bare.append(by_hand(spec_of(image, devices)))
            else:
                ours.append(by_tare(spec_of(image, devices)))
    no_ops = commands_that_do_nothing(spec_of(image, devices))
    ratios = [math.log(value / other) for value, other in zip(ours[1:], bare[1:], strict=True)]
    estimate = as_fraction(hodges_lehmann(ratios, LEVEL))
    median_s = statistics.median(no_ops)
    print(
        f"{devices}: {statistics.median(ours):.2f} s here, {statistics.median(bare):.2f} s by hand; "
        f"ratio {1 + estimate.point:.2f} ({LEVEL:.0%} {1 + (estimate.low or math.nan):.2f} to "
        f"{1 + (estimate.high or math.nan):.2f}, n = {estimate.n}); a command that does nothing: "
        f"median {median_s * 1000:.1f} ms, 99 % within {sorted(no_ops)[int(0.99 * len(no_ops))] * 1000:.1f} ms "
        f"(n = {len(no_ops)})"
    )
    return 1 + estimate.point <= MOST and median_s <= MOST_NO_OP_S


def by_tare(spec: NodeSpec) -> float:
    """Seconds until a first command has run."""
    begun = time.perf_counter()
    node = start_node(spec, PROVIDERS["qemu"])
    try:
        run(nothing(node))
        return time.perf_counter() - begun
    finally:
        stop_node(spec, PROVIDERS["qemu"])


def commands_that_do_nothing(spec: NodeSpec) -> list[float]:
    """Seconds of each, in one guest, after some that let software emulation translate its code."""
    node = start_node(spec, PROVIDERS["qemu"])
    try:
        return [run(nothing(node)) for _ in range(WARM_UPS + NO_OPS)][WARM_UPS:]
    finally:
        stop_node(spec, PROVIDERS["qemu"])


def boots(image: Image, devices: str, count: int, *, busy: bool) -> bool:
    """Print how many of so many boots failed, and why."""
    provider, failed, times = PROVIDERS["qemu"], [], []
    with company(busy=busy):
        for _ in range(count):
            spec = spec_of(image, devices)
            begun = time.perf_counter()
            try:
                start_node(spec, provider)
                times.append(time.perf_counter() - begun)
            except TareError as error:
                failed.append(str(error))
            finally:
                stop_node(spec, provider)
    print(
        f"{devices}: {count} boots{' with all processors busy' if busy else ''}, {len(failed)} failed; "
        f"median {statistics.median(times):.2f} s, longest {max(times):.2f} s"
    )
    print(*failed, sep="\n", end="")
    return not failed


@contextmanager
def company(*, busy: bool) -> Iterator[None]:
    """One process that never rests for each processor."""
    count = len(online_processors()) if busy else 0
    endless = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(endless) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("run as root: nodes need mounts and control groups")
    sys.exit(main())
