# SPDX-License-Identifier: Apache-2.0
"""Campaigns of four nodes, killed at random moments: does anything stay behind, even once?

    scripts/with-dockerd python -m bench.killed_campaigns [--count 100] [TECHNOLOGY...]   (as root, with the image)

Each campaign has its own result folder and one technology; half of them run one MPI job over the four nodes. After the
kill -9 of the runner its guardian gets its time, then mounts, links, network namespaces, control groups, containers and
processes are compared with those before. Prints one line for each kill; exit code 1 if anything was left.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.machine import Machine

from tare.environments import PROVIDERS
from tare.image.store import find_image

LATEST_S = 4.0
LATEST_MACHINES_S = 20.0
"""Four machines need some ten seconds to start by software emulation."""
CLEAN_LIMIT_S = 60.0
CAMPAIGN = """
name = "killed"
blocks = 3
layouts = ["{layout}"]

[limits]
memory = "1 GiB"
shm = "16 MiB"
time = "30s"

[[environment]]
technology = "{technology}"
name = "four"
network = "veth"

[[workload]]
kind = "command"
name = "work"
mpi = {mpi}
argv = ["{{tools}}/burn", "300000000"]
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("technology", nargs="*", default=usable())
    chosen = parser.parse_args()
    image = find_image()
    for name in chosen.technology:
        PROVIDERS[name].prepare(image.root, image.digest)
    left = [text for number in range(chosen.count) for text in kill_one(number, chosen.technology)]
    print(f"{chosen.count} campaigns, {len(left)} things left behind")
    return 1 if left else 0


def usable() -> list[str]:
    """Those that need nothing of the user's, and have a network of Tare's."""
    others = {"native", "fake", "custom", "libvirt", "ssh", "virtualbox", "vmware", "xen"}
    return [name for name, provider in PROVIDERS.items() if name not in others and provider.probe().usable]


def kill_one(number: int, technologies: Sequence[str]) -> list[str]:
    """One campaign, killed; what it left."""
    technology = random.choice(technologies)  # noqa: S311 - not secrets
    latest_s = LATEST_MACHINES_S if PROVIDERS[technology].takes_tap else LATEST_S
    moment_s = random.uniform(0.2, latest_s)  # noqa: S311 - the same
    cooperative = number % 2 == 0
    before = Machine.look()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "campaign.toml"
        layout, mpi = ("4c1p1i", "true") if cooperative else ("4c1p4i", "false")
        path.write_text(CAMPAIGN.format(technology=technology, layout=layout, mpi=mpi))
        what = killed(path, moment_s)
    left = before.look().beyond(before, CLEAN_LIMIT_S)
    print(f"{number}: {technology} {layout} {what} at {moment_s:.2f} s: {left or 'nothing left'}", flush=True)
    return left


def killed(campaign: Path, moment_s: float) -> str:
    argv = [sys.executable, "-m", "tare", "run", str(campaign), "--output", str(campaign.parent / "result")]
    runner = subprocess.Popen(
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return f"ended with {runner.wait(moment_s)}"
    except subprocess.TimeoutExpired:
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait(10)
        return "killed"


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("run as root: nodes need mounts and control groups")
    sys.exit(main())
