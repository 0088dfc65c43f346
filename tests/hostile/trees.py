# SPDX-License-Identifier: Apache-2.0
"""Trees as hostile workloads leave them are removed: 100,000 levels, 200,000 entries, and some hundred random ones.

Nothing of a tree stays, nothing beside it goes, and neither descriptors nor memory grow with it.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tare.host.removal import remove_tree
from tests.host.hostile_trees import deep_folder

LEVELS, ENTRIES, TREES = 100_000, 200_000, 300
MOST_GROWTH_KIB = 32 << 10
_CHANGES = ("+i", "+a", "=")


def grow(place: Path, draw: random.Random, left: int) -> int:
    """Entries of all kinds below ``place``, some closed, some immutable; returns how many more there may be."""
    place.mkdir()
    for number in range(draw.randrange(6)):
        path = place / draw.choice([f"{number}", f"new\nline {number}", f"\x1b[31m{number}", f"-rf {number}"])
        kind = draw.randrange(6)
        if kind < 3 and left > 0:
            left = grow(path, draw, left - 1)
        elif kind == 3:
            path.symlink_to(draw.choice(["../../beside", "/", ".", "absent"]))
        elif kind == 4:
            os.mkfifo(path)
        else:
            path.write_bytes(b"x")
            os.link(path, place / f"second {number}")
    if draw.random() < 0.1:
        subprocess.run(["chattr", draw.choice(_CHANGES), str(place)], capture_output=True, check=False)
    elif draw.random() < 0.2:
        place.chmod(0)
    return left


def wide_folder(top: Path) -> None:
    top.mkdir()
    at = os.open(top, os.O_RDONLY)
    for number in range(ENTRIES):
        os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)


def attack(folder: Path, seed: int) -> list[str]:
    """What got through, in words."""
    top, beside, faults = folder / "top", folder / "beside", []
    beside.write_text("kept")
    draw = random.Random(seed)  # noqa: S311 - the same trees for the same seed
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a count
    for number in range(TREES + 2):
        if number == 0:
            deep_folder(top, LEVELS)
        elif number == 1:
            wide_folder(top)
        else:
            grow(top, draw, 60)
        peak_kib, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
        remove_tree(top, limit_s=600)
        grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak_kib
        if number < 2:
            print(f"tree {number}: {time.monotonic() - begun:.1f} s, {grown_kib} KiB more")
        if top.exists() or beside.read_text() != "kept" or grown_kib > MOST_GROWTH_KIB:
            faults.append(f"tree {number} of seed {seed}")
    if len(os.listdir("/proc/self/fd")) != before:  # noqa: PTH208 - a count
        faults.append("descriptors stay open")
    print(f"{TREES + 2} trees, seed {seed}: {len(faults)} faults")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=21)
    with tempfile.TemporaryDirectory(prefix="tare-trees-") as folder:
        faults = attack(Path(folder), parser.parse_args().seed)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
