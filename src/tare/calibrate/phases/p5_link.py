# SPDX-License-Identifier: Apache-2.0
"""P5: 8 MB over one connection through a token bucket of 100 and one of 95 Mbit/s."""

import math
import shutil
import statistics

from tare.analyze.contrasts import between_two
from tare.calibrate.bench import WORK, PhaseSetting, Run, campaign
from tare.calibrate.evidence import Evidence, Series, pooled
from tare.calibrate.gates import POOLED_LEVEL, Named, lies_within, meets, percent, told
from tare.calibrate.phases.phase import Phase
from tare.environments.planted import LINK_BIT_PER_S
from tare.host.distribution import to_install
from tare.host.privileges import ordinary_user
from tare.records import Environment, Estimate, Gate, NetworkKind, Workload
from tare.statistics.estimate import as_fraction

RUN = "link"
SIZE_BYTE = 8_000_000
FAST_BIT_PER_S, SLOW_BIT_PER_S = 100e6, 95e6
MOST_HALF_WIDTH = 0.02
"""A bucket is steady: a wider interval would detect nothing."""
_FAST, _SLOW = "link-100", "link-95"
_NAMED = Named("P5", "rate", "95 instead of 100 Mbit/s is found in the wall time of 8 MB, to 2 points")


def runs(setting: PhaseSetting) -> tuple[Run, ...]:
    """Two environments, each with its own network namespace; native's transfer has no limit."""
    if not setting.bench.real:
        return ()
    workload = Workload(
        name=WORK, kind="command", options={"argv": ["{tools}/plant", "transfer", str(SIZE_BYTE)]}
    )
    links = tuple(
        Environment(name=name, technology="chroot", options={LINK_BIT_PER_S: rate}, network=NetworkKind.NONE)
        for name, rate in ((_FAST, FAST_BIT_PER_S), (_SLOW, SLOW_BIT_PER_S))
    )
    return (Run(name=RUN, campaign=campaign(RUN, workload, setting.size.link_blocks, links)),)


def obstacle() -> str | None:
    """Say what is missing for a token bucket in a network namespace; ``None`` if nothing."""
    if ordinary_user():
        return "a rate limit needs root"
    missing = [tool for tool in ("tc", "ip", "nsenter") if shutil.which(tool) is None]
    return f"{', '.join(missing)} is not here: {to_install('iproute2', 'util-linux')}" if missing else None


def judge(evidence: Evidence) -> tuple[Gate, ...]:
    """Compare the slow link with the fast one, block by block.

    Both buckets start equally full and empty at R, so their times are (B - burst) / R, in the ratio of the rates. The
    time besides the transfer is equal in both, and at most the total time of native's transfer, so the truth lies
    between the ratio and a little less.
    """
    if RUN not in evidence.rounds:
        return (_NAMED.not_run(evidence.obstacles.get("P5", "no run was made")),)
    fast, slow = (evidence.series(RUN, name, "wall_s") for name in (_FAST, _SLOW))
    estimate = _between(evidence, fast, slow)
    if estimate is None or estimate.low is None:
        return (_NAMED.not_run("too few blocks in which both transfers ended well"),)
    whole = FAST_BIT_PER_S / SLOW_BIT_PER_S - 1
    least = whole * (1 - min(1.0, _beside(fast)))
    narrow = lies_within(estimate, estimate.point - MOST_HALF_WIDTH, estimate.point + MOST_HALF_WIDTH)
    seen = f"{told(estimate)}; planted {percent(least)} to {percent(whole)}"
    return (_NAMED.passed(narrow and meets(estimate, least, whole), seen),)


def _between(evidence: Evidence, fast: Series, slow: Series) -> Estimate | None:
    """The slow link's overhead over the fast one; native cancels out of their log-ratios."""
    pairs = list(zip(pooled(fast), pooled(slow), strict=False))
    if len(pooled(fast)) != len(pooled(slow)) or not pairs:
        return None
    between = between_two([slower - faster for faster, slower in pairs])
    return as_fraction(evidence.estimator.interval(between, 1 - POOLED_LEVEL))


def _beside(fast: Series) -> float:
    """Native's unlimited transfer, including everything around it, as a share of the limited transfer's time."""
    return math.exp(-statistics.median(pooled(fast)))


LINK = Phase(name="P5", title="a slower link", runs=runs, judge=judge, obstacle=obstacle)
