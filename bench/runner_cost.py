# SPDX-License-Identifier: Apache-2.0
"""What the runner itself costs: time per trial beyond the nodes and the command, CPU while a trial runs, start-up.

    python -m bench.runner_cost            (as root, with the image built)

The time beyond is each trial's distance to the next, less node start, node stop, and the command's wall time, less
the two ways into the node (the same prefix and stopwatch by hand), of which one looks at the node and one runs the
command. All figures are medians of one run on one machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.quiet import Quiet
from tare.environments import PROVIDERS
from tare.environments.fake import Fake
from tare.host.facts import online_processors
from tare.image.store import find_image
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request, measure_campaign
from tare.node_life import start_node, stop_node
from tare.plan.campaign import Campaign
from tare.records import Environment, Layout, Limits, Workload

BLOCKS = 20
WAYS_IN = 2
"""Inspection, and the command itself."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    figures = {
        "fake: time per trial beyond node and command (ms, median)": beyond_ms("fake"),
        "native: time per trial beyond node and command (ms, median)": beyond_ms("native"),
        "bubblewrap: time per trial beyond node and command (ms, median)": beyond_ms("bubblewrap"),
        "CPU of the runner while a 10 s trial runs (% of a core)": waiting_cpu_percent(),
        "tare --help (s, median of 11)": help_s(),
    }
    if chosen.json:
        print(json.dumps({"schema": 1, "figures": figures}))
    else:
        for label, value in figures.items():
            print(f"{label}: {value:.3f}")


def campaign(technology: str, argv: list[str], blocks: int) -> Campaign:
    return Campaign(
        name="runner-cost",
        environments=(Environment(name="arm", technology=technology),),
        layouts=(Layout.parse("1c1p1i"),),
        workloads=(Workload(name="command", kind="command", options={"argv": argv}),),
        limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20, time_s=60.0),
        blocks=blocks,
        margin=0.01,
        budget_s=None,
        seed=1,
    )


def beyond_ms(technology: str) -> float:
    """From one trial's end to the next's end, less node start and stop, the way in, and the command."""
    providers = {**PROVIDERS, "native": Fake()} if technology == "fake" else PROVIDERS
    with tempfile.TemporaryDirectory() as folder:
        request = Request(
            campaign=campaign(technology, ["{tools}/burn", "1000"], BLOCKS),
            folder=ResultFolder(Path(folder) / "result"),
            providers=providers,
        )
        audience = Quiet()
        measure_campaign(request, audience)
    rests = []
    for (ended_s, outcome), (next_s, following) in zip(audience.ends, audience.ends[1:], strict=False):
        assert following.node_start_s is not None
        assert following.node_stop_s is not None
        assert outcome.trial.identity != following.trial.identity
        inside_s = following.node_start_s + following.node_stop_s + following.instances[0].clocks.wall_s
        if technology in {following.trial.environment.technology, "fake"}:
            rests.append(next_s - ended_s - inside_s)
    return (statistics.median(rests) - WAYS_IN * way_in_s(technology)) * 1000


def way_in_s(technology: str) -> float:
    """The prefix and a stopwatch that starts, runs nothing and ends: what exec itself costs."""
    image = find_image()
    audience = Quiet()
    provider = Fake() if technology == "fake" else PROVIDERS[technology]
    spec = audience.spec(technology, image, online_processors()[:1])
    node = start_node(spec, provider)
    try:
        argv = [*provider.prefix(node), f"{node.tools_directory}/stopwatch", "--", "true"]
        times = []
        for _ in range(BLOCKS):
            begun = time.perf_counter()
            subprocess.run(argv, input=b"", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            times.append(time.perf_counter() - begun)
    finally:
        stop_node(spec, provider)
    return statistics.median(times)


def waiting_cpu_percent() -> float:
    """CPU time of this process over the wall time of trials that sleep for 10 s."""
    with tempfile.TemporaryDirectory() as folder:
        request = Request(
            campaign=campaign("native", ["sleep", "10"], 1), folder=ResultFolder(Path(folder) / "result")
        )
        audience = Quiet()
        measure_campaign(request, audience)
    busy_s = statistics.median(audience.waiting_cpu_s)
    return busy_s / 10 * 100


def help_s() -> float:
    times = []
    for _ in range(11):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-m", "tare", "--help"], stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("run as root: nodes need mounts and control groups")
    main()
