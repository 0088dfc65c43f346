# SPDX-License-Identifier: Apache-2.0
"""What starting and stopping a node costs, beside the technology's own commands for the same node.

    scripts/with-dockerd python -m bench.node_cost [--rounds 20] [TECHNOLOGY...]      (as root, with the image built)

Both ways in turn, in random order within a round; the ratio is the median over rounds with its signed-rank interval.
The claim: Tare's way takes at most 1.15 times as long as the same system calls made directly (``bench.lean_nodes``),
and 1.25 times as long as scripts and the engines' commands where the technology has no such twin.
"""

import argparse
import math
import os
import random
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from bench.bare_nodes import BARE, Bare, by_daemon
from bench.lean_nodes import LEAN, Lean
from bench.quiet import Quiet
from tare import network
from tare.environments import PROVIDERS
from tare.host import cgroups
from tare.host.facts import online_processors
from tare.host.paths import nodes_directory
from tare.image.store import Image, find_image
from tare.node_life import start_node, stop_node
from tare.nodes.provider import NodeSpec
from tare.records import NATIVE, NetworkKind
from tare.statistics.estimate import as_fraction
from tare.statistics.signed_rank import hodges_lehmann

MOST, MOST_OF_LEAN = 1.25, 1.15
LEVEL = 0.95
BARE_IMAGE = "localhost/tare-bench:bare"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("technology", nargs="*", default=[*LEAN, *BARE, "docker", "podman"])
    chosen = parser.parse_args()
    image = find_image()
    return 0 if hold([compare(name, image, chosen.rounds) for name in chosen.technology]) else 1


def hold(claims: Sequence[bool | None]) -> bool:
    """Whether all that could be compared do, and there is one; prints how many could not."""
    if missing := claims.count(None):
        print(f"not compared: {missing} of {len(claims)}")
    return missing < len(claims) and False not in claims


def compare(technology: str, image: Image, rounds: int) -> bool | None:
    """Print the line of one technology; whether the claim holds for it, ``None`` where it is not here."""
    provider = PROVIDERS[technology]
    probe = provider.probe()
    if not probe.usable:
        print(f"{technology}: not here: {probe.reason}")
        return None
    provider.prepare(image.root, image.digest)
    bare = twin(technology, image)
    ways = {
        "tare": lambda spec: timed(spec, start_with_tare, stop_with_tare),
        "bare": lambda spec: timed(spec, bare.up, bare.down),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name in random.sample(sorted(ways), 2):
            times[name].append(ways[name](a_spec(technology, image)))
    return report(technology, *(times[name][1:] for name in ("tare", "bare")))


def twin(technology: str, image: Image) -> Lean | Bare:
    if technology in LEAN:
        cgroups.prepare_parent()
        return LEAN[technology]()
    return BARE[technology]() if technology in BARE else engine(technology, image)


def report(technology: str, ours: list[float], bare: list[float]) -> bool:
    ratios = [math.log(value / other) for value, other in zip(ours, bare, strict=True)]
    estimate = as_fraction(hodges_lehmann(ratios, LEVEL))
    assert estimate.low is not None
    assert estimate.high is not None
    print(
        f"{technology}: {statistics.median(ours) * 1000:.0f} ms here, {statistics.median(bare) * 1000:.0f} ms bare; "
        f"ratio {1 + estimate.point:.2f} (95 % {1 + estimate.low:.2f} to {1 + estimate.high:.2f}, n = {estimate.n})"
    )
    return 1 + estimate.point <= (MOST_OF_LEAN if technology in LEAN else MOST)


def a_spec(technology: str, image: Image) -> NodeSpec:
    spec = Quiet.spec(technology, image, online_processors()[:1])
    name = f"{spec.name}-{secrets.token_hex(2)}"
    directory = nodes_directory() / name
    kind = NetworkKind.HOST if technology == NATIVE else NetworkKind.NONE
    (planned,) = network.plan_networks(kind, [directory], None)
    return replace(spec, name=name, directory=directory, network=planned)


def timed(spec: NodeSpec, up: Callable[[NodeSpec], None], down: Callable[[NodeSpec], None]) -> float:
    begun = time.perf_counter()
    up(spec)
    down(spec)
    return time.perf_counter() - begun


def start_with_tare(spec: NodeSpec) -> None:
    start_node(spec, PROVIDERS[spec.technology])


def stop_with_tare(spec: NodeSpec) -> None:
    stop_node(spec, PROVIDERS[spec.technology])


def engine(technology: str, image: Image) -> Bare:
    """Docker or Podman with the image imported as their users do."""
    archive = subprocess.Popen(["tar", "-C", str(image.root), "-c", "."], stdout=subprocess.PIPE)
    tool = ["docker"] if technology == "docker" else ["podman", "--runtime", "runc"]
    subprocess.run([*tool, "import", "-", BARE_IMAGE], stdin=archive.stdout, check=True, capture_output=True)
    archive.wait()
    words = " ".join(tool)
    limits = " --ulimit nofile=1024:1024 --ulimit nproc=1000:1000" if technology == "podman" else ""
    return by_daemon(words, f"{limits} {BARE_IMAGE}".strip())


if __name__ == "__main__":
    if os.geteuid() != 0 or not Path("/proc/self/ns/net").exists():
        sys.exit("run as root: nodes need mounts and control groups")
    sys.exit(main())
