# SPDX-License-Identifier: Apache-2.0
"""Is a planted cause ranked first, and is none named where nothing is planted?

    python -m bench.planted_causes [--campaigns 10] [--blocks 10] [--only quota ...]     (as root, with the image built)

Each campaign is native against one environment to which one thing is done. The claim: the cause is first in at least 9
of 10 campaigns each, and of campaigns with nothing planted at least 19 of 20 name none.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.plants import Hog, LittleMemory, LostPackets, NarrowLink, Nothing, Quota
from bench.quiet import Quiet
from tare.analyze import attributions, verdicts
from tare.environments import PROVIDERS
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request, measure_campaign
from tare.plan.campaign import Campaign
from tare.records import (
    Attribution,
    Environment,
    Exclude,
    Layout,
    Limits,
    NetworkKind,
    Storage,
    Workload,
)
from tare.treat import signal_evidence, summaries
from tare.units import MEBIBYTE

BURN = ("{tools}/burn", "150000000")
"""About 0.2 s."""
SOCKETS = """
use IO::Socket::INET; use Socket qw(IPPROTO_TCP TCP_NODELAY);
my $door = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die "listen: $!";
if (!fork) {
    my $far = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $door->sockport) or die "connect: $!";
    setsockopt($far, IPPROTO_TCP, TCP_NODELAY, 1);
    FAR
    exit 0;
}
my $near = $door->accept or die "accept: $!";
setsockopt($near, IPPROTO_TCP, TCP_NODELAY, 1);
NEAR
wait; exit($? >> 8);
"""
PING_PONG = SOCKETS.replace(
    "FAR", 'for (1 .. 12000) { syswrite($far, "x"); sysread($far, my $word, 1) or die }'
).replace("NEAR", 'for (1 .. 12000) { sysread($near, my $word, 1) or die; syswrite($near, "x") }')
TRANSFER = SOCKETS.replace(
    "FAR", 'my $part = "x" x 65536; for (1 .. 400) { syswrite($far, $part) == 65536 or die } close($far);'
).replace("NEAR", "while (sysread($near, my $word, 65536)) {}")
READ_AGAIN = """
dd if=/dev/zero of=data bs=1M count=40 2>&1 || exit 1
for turn in 1 2 3 4; do cat data >copy || exit 1; done
rm data copy
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """What is run, and which signals stand for the cause: a kernel may not give the first of them."""

    provider: Nothing
    argv: tuple[str, ...]
    signals: frozenset[str]
    storage: Storage = Storage.TMPFS


PLANTS: Mapping[str, Plant] = {
    "quota": Plant(provider=Quota(), argv=BURN, signals=frozenset({"throttled_s", "throttled_periods"})),
    "hog": Plant(
        provider=Hog(),
        argv=BURN,
        signals=frozenset(
            {"runnable_wait_s", "psi_cpu_some_s", "host_psi_cpu_some_s", "involuntary_switches"}
        ),
    ),
    "lost-packets": Plant(
        provider=LostPackets(),
        argv=("perl", "-e", PING_PONG),
        signals=frozenset({"tcp_timeouts", "tcp_retransmissions"}),
    ),
    "little-memory": Plant(
        provider=LittleMemory(),
        argv=("sh", "-c", READ_AGAIN),
        signals=frozenset(
            {"memory_limit_hits", "pages_refaulted", "pages_reclaimed", "major_faults", "psi_memory_some_s"}
        ),
        storage=Storage.DISK,
    ),
    "narrow-link": Plant(
        provider=NarrowLink(),
        argv=("perl", "-e", TRANSFER),
        signals=frozenset({"queue_overlimits", "queue_drops"}),
    ),
}
NONE = {
    "nothing": Plant(provider=Nothing(), argv=BURN, signals=frozenset()),
    "nothing, by TCP": Plant(provider=Nothing(), argv=("perl", "-e", PING_PONG), signals=frozenset()),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=10)
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--only", nargs="*", choices=[*PLANTS, "nothing"], default=[*PLANTS, "nothing"])
    parser.add_argument("--quota", type=float, default=Quota.cpu_quota, help="smaller on a busy host")
    chosen = parser.parse_args()
    Quota.cpu_quota = chosen.quota
    holds = [
        show(name, plant, chosen.campaigns, chosen.blocks)
        for name, plant in PLANTS.items()
        if name in chosen.only
    ]
    if "nothing" in chosen.only:
        silent = [
            found for plant in NONE.values() for found in repeated(plant, chosen.campaigns, chosen.blocks)
        ]
        quiet = sum(not one.candidates for one in silent)
        print(f"nothing planted: none named in {quiet} of {len(silent)}", flush=True)
        for one in silent:
            if one.candidates:
                print(f"  {one.sentence}")
        holds.append(quiet >= 0.95 * len(silent))
    print("the claim holds" if all(holds) else "the claim does not hold")
    return 0 if all(holds) else 1


def show(name: str, plant: Plant, campaigns: int, blocks: int) -> bool:
    found = repeated(plant, campaigns, blocks)
    firsts = [one.candidates[0].signal if one.candidates else "none" for one in found]
    hits = sum(first in plant.signals for first in firsts)
    ranked = ", ".join(f"{first} {count}" for first, count in Counter(firsts).most_common())
    print(f"{name}: first in {hits} of {campaigns} ({ranked}); such as {found[-1].sentence}", flush=True)
    return hits >= 0.9 * campaigns


def repeated(plant: Plant, campaigns: int, blocks: int) -> list[Attribution]:
    return [attributed(plant, blocks) for _ in range(campaigns)]


def attributed(plant: Plant, blocks: int) -> Attribution:
    technology = plant.provider.technology
    campaign = Campaign(
        name=technology,
        environments=(Environment(name="planted", technology=technology, network=NetworkKind.NONE),),
        layouts=(Layout.parse("1c1p1i"),),
        workloads=(Workload(name="work", kind="command", options={"argv": list(plant.argv)}),),
        limits=Limits(memory_byte=256 * MEBIBYTE, shm_byte=MEBIBYTE, time_s=60.0, storage=plant.storage),
        blocks=blocks,
        margin=0.01,
        budget_s=None,
        seed=None,
        exclude=Exclude(foreign_load=None, frequency_change=None, temperature_c=None),
    )
    with tempfile.TemporaryDirectory() as folder:
        request = Request(
            campaign=campaign,
            folder=ResultFolder(Path(folder) / "result"),
            providers={**PROVIDERS, technology: plant.provider},
        )
        measure_campaign(request, Quiet())
        outcomes = read_journal(request.folder.journal).outcomes
    for one in outcomes:
        if one.reason:
            print(f"  {one.trial.identity}: {one.reason}", file=sys.stderr)
    found = summaries(outcomes, {"work": ("wall_s",)})
    (attribution,) = attributions(signal_evidence(outcomes, found), verdicts(found, campaign.margin))
    return attribution


if __name__ == "__main__":
    sys.exit(main())
