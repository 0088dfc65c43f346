# SPDX-License-Identifier: Apache-2.0
"""Fork bombs in every environment that works here: each is one failed trial, nothing is left, and the next one runs.

A node may have few processes, so that a bomb that gets through what is tried here still spares the host.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tare.environments import PROVIDERS
from tare.host import standing
from tare.host.paths import state_directory
from tare.image.store import Image, find_image
from tare.measure.context import Context
from tare.nodes.provider import Provider
from tare.records import OptionValue, Outcome, Status
from tests.conftest import BUILD
from tests.fake_campaign import fake_context
from tests.machine import Machine
from tests.real_environments import BROUGHT, VARIANTS, lend_guest_parts
from tests.runaways import FEW, MEBIBYTE, SANDBOXES, at_large, bomb, ready, run

BOMBS = ("tree", "sessions", "chain")
LONGEST_S = 60.0
"""From the start of a trial's nodes to their end, machines included."""
LIMIT_S = 2.0


def usable(image: Image) -> Iterator[Provider]:
    """Each technology that works here, as it is by default, and the variants that count as such."""
    named: list[tuple[str, Mapping[str, OptionValue]]] = [
        (name, {}) for name in PROVIDERS if name not in {"fake", *BROUGHT}
    ]
    for technology, options in [*named, *VARIANTS.values()]:
        provider = PROVIDERS[technology].configured(options)
        probe = provider.probe()
        if probe.usable:
            provider.prepare(image.root, image.digest)
            yield provider
        else:
            print(f"{technology} is left out: {probe.reason}")


def fault_of(outcome: Outcome, provider: Provider) -> str | None:
    """What is wrong with a bomb's outcome; ``None``: it is one failed trial that names a limit."""
    reason = outcome.reason or ""
    own_kernel = provider.takes_tap or provider.technology in SANDBOXES
    limits = ("limit of", "memory limit", *(["time limit", "past its limit"] if own_kernel else []))
    if outcome.status is not Status.FAILED or not any(words in reason for words in limits):
        return f"{outcome.status}: {reason}"
    if problem := outcome.facts.get("not stopped cleanly"):
        return problem
    return None if outcome.elapsed_s < LONGEST_S else f"{outcome.elapsed_s:.0f} s until its end"


def attack(context: Context, provider: Provider, name: str, processes: int, memory_byte: int) -> list[str]:
    """One bomb, and a command after it; what got through."""
    mark, bounds = f"bomb-{time.monotonic_ns()}", replace(FEW, processes=processes)
    before = Machine.look()
    outcome = run(context, *bomb(name, mark), time_s=LIMIT_S, bounds=bounds, memory_byte=memory_byte)
    print(
        f"{provider.technology}, {name}, {processes} processes, {memory_byte // MEBIBYTE} MiB: "
        f"{outcome.elapsed_s:.1f} s, {outcome.reason}",
        flush=True,
    )
    faults = [fault_of(outcome, provider)]
    faults += [f"{len(at_large(mark))} processes are left"] if at_large(mark) else []
    own = (mark, context.session, str(state_directory()))  # others may be at work beside
    faults += [left for left in Machine.look().beyond(before) if any(name in left for name in own)]
    after = run(context, "/bin/true", time_s=20, bounds=bounds, memory_byte=memory_byte)
    faults += [] if after.status is Status.OK else [f"the next trial: {after.reason}"]
    return [f"{provider.technology}, {name}: {fault}" for fault in faults if fault]


@contextmanager
def session() -> Iterator[tuple[Context, Image]]:
    """In a state folder of its own, with the default image."""
    image = find_image()
    folder = Path(tempfile.mkdtemp(prefix="tare-hostile-"))
    os.environ["TARE_STATE"] = str(folder / "state")
    lend_guest_parts(folder / "state")
    try:
        with standing.plain():
            yield fake_context(folder, BUILD / "bin"), image
    finally:
        shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--environment", action="append", help="all that work here without it")
    asked = parser.parse_args()
    drawn = random.Random(asked.seed)  # noqa: S311 - sizes, not secrets
    faults, count = [], 0
    with session() as (context, image):
        wanted = [
            provider for provider in usable(image) if provider.technology in (asked.environment or PROVIDERS)
        ]
        for _ in range(asked.rounds):
            processes, memory_byte = drawn.randrange(40, 400), drawn.choice((256, 512)) * MEBIBYTE
            for provider in wanted:
                own = ready(context, image, provider, replace(FEW, processes=processes))
                for name in BOMBS:
                    faults += attack(own, provider, name, processes, memory_byte)
                    count += 1
    print("\n".join(faults))
    print(f"fork bombs: seed {asked.seed}, {count} bombs, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
