# SPDX-License-Identifier: Apache-2.0
"""Does the driver itself bias a comparison? Native through the whole driver under another name, against native.

    python -m bench.no_op [--blocks 40]            (as root, with the image built)

Prints the 99 % signed-rank interval of the overhead in CPU time over all blocks, which must contain 0 and be narrower
than ±1 %; the t interval beside it; and both for wall time, which depends on who else uses the machine.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from bench.quiet import Quiet
from tare.analyze.estimation import as_fraction
from tare.analyze.signed_rank import hodges_lehmann
from tare.analyze.student import mean_estimate
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request, measure_campaign
from tare.plan.campaign import Campaign
from tare.records import Environment, Estimate, Layout, Limits, Workload
from tare.treat import summaries

ITERATIONS = 220_000_000
"""About 0.3 s."""
LEVEL = 0.99
WIDEST = 0.01


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=40)
    chosen = parser.parse_args()
    found = no_op(chosen.blocks)
    for (metric, method), estimate in found.items():
        assert estimate.low is not None
        assert estimate.high is not None
        print(
            f"{metric}, {method}: {estimate.point:+.3%}, "
            f"99 % interval {estimate.low:+.3%} to {estimate.high:+.3%} (n = {estimate.n})"
        )
    cpu = found["cpu_s", "signed-rank"]
    assert cpu.low is not None
    assert cpu.high is not None
    holds = cpu.low <= 0 <= cpu.high and cpu.high - cpu.low < 2 * WIDEST
    print(
        "the CPU time's interval contains 0 and is narrower than ±1 %" if holds else "the claim does not hold"
    )
    return 0 if holds else 1


def no_op(blocks: int) -> dict[tuple[str, str], Estimate]:
    """Metric and method → overhead of the no-op environment over all blocks."""
    campaign = Campaign(
        name="no-op",
        environments=(Environment(name="no-op", technology="native"),),
        layouts=(Layout.parse("1c1p1i"),),
        workloads=(
            Workload(name="burn", kind="command", options={"argv": ["{tools}/burn", str(ITERATIONS)]}),
        ),
        limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20, time_s=60.0),
        blocks=blocks,
        margin=0.01,
        budget_s=None,
        seed=None,
    )
    with tempfile.TemporaryDirectory() as folder:
        request = Request(campaign=campaign, folder=ResultFolder(Path(folder) / "result"))
        measure_campaign(request, Quiet())
        outcomes = read_journal(request.folder.journal).outcomes
    found = summaries(outcomes, {"burn": ("wall_s",)})
    methods = {"signed-rank": hodges_lehmann, "t": mean_estimate}
    return {
        (one.metric, name): as_fraction(method(one.log_ratios, LEVEL))
        for one in found
        for name, method in methods.items()
    }


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("run as root: nodes need mounts and control groups")
    sys.exit(main())
