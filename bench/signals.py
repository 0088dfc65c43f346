# SPDX-License-Identifier: Apache-2.0
"""What a look at all signals costs: the time that one takes before GO and one after DONE, in total and by family.

    python -m bench.signals [--rounds 200] [TECHNOLOGY...]      (as root, with the image built)

One node of one processor with a link of its own, idle. The claim: a look takes less than 2 ms.
"""

import argparse
import secrets
import statistics
import sys
import time
from collections.abc import Callable

from tare.environments import PROVIDERS
from tare.host.facts import online_processors
from tare.host.paths import nodes_directory
from tare.image.store import find_image
from tare.measure.running import NodeTimes, running_nodes
from tare.network import plan_networks
from tare.nodes.provider import Node, NodeSpec
from tare.records import NATIVE, NetworkKind
from tare.signals import FAMILIES
from tare.signals.place import place_of
from tare.signals.watch import watched_signals

MOST_MS = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("technology", nargs="*", default=[NATIVE, "bubblewrap"])
    chosen = parser.parse_args()
    held = [measured(name, chosen.rounds) for name in chosen.technology]
    return 0 if all(held) else 1


def measured(technology: str, rounds: int) -> bool:
    """Print the lines of one technology; whether the claim holds for it."""
    provider = PROVIDERS[technology]
    probe = provider.probe()
    if not probe.usable:
        print(f"{technology}: not here: {probe.reason}")
        return True
    image = find_image()
    provider.prepare(image.root, image.digest)
    with running_nodes([spec(technology)], PROVIDERS, NodeTimes()) as nodes:
        return look(technology, nodes[0], rounds)


def spec(technology: str) -> NodeSpec:
    image = find_image()
    directory = nodes_directory() / f"tare-bench-{secrets.token_hex(4)}"
    kind = NetworkKind.VETH if NetworkKind.VETH in PROVIDERS[technology].networks else NetworkKind.HOST
    return NodeSpec(
        name=directory.name,
        technology=technology,
        options={},
        directory=directory,
        image_root=image.root,
        image_digest=image.digest,
        processors=online_processors()[-1:],
        memory_byte=1 << 28,
        shm_byte=1 << 20,
        cpu_quota=None,
        network=plan_networks(kind, [directory], None)[0],
    )


def look(technology: str, node: Node, rounds: int) -> bool:
    provider = PROVIDERS[technology]
    group = provider.group(node)
    place = place_of([node], [] if group is None else [group])
    with watched_signals(place, FAMILIES) as watch:
        before_ms = times_ms(watch.begin, rounds)
        after_ms = times_ms(watch.end, rounds)
        result = watch.found()
    print(f"{technology}: a look: {said(before_ms)} before, {said(after_ms)} after ({rounds} each)")
    print(f"  {len(result.signals)} signals there, {len(result.missing)} missing")
    for name, why in result.missing.items():
        print(f"    {name}: {why}")
    for family in FAMILIES:
        with watched_signals(place, [family]) as alone:
            print(
                f"  {type(family).__name__} ({family.kinds[0].name}): {said(times_ms(alone.begin, rounds))}"
            )
    return statistics.median(before_ms) < MOST_MS and statistics.median(after_ms) < MOST_MS


def times_ms(action: Callable[[], None], rounds: int) -> list[float]:
    collected = []
    for _ in range(rounds):
        begun = time.perf_counter()
        action()
        collected.append(1000 * (time.perf_counter() - begun))
    return collected


def said(values_ms: list[float]) -> str:
    ordered = sorted(values_ms)
    return f"median {statistics.median(ordered):.3f} ms, 95th percentile {ordered[int(0.95 * len(ordered))]:.3f} ms"


if __name__ == "__main__":
    sys.exit(main())
