# SPDX-License-Identifier: Apache-2.0
"""Whether a cold read takes longer than a warm one, natively and in a guest of QEMU by software emulation.

    python -m bench.cold_reads [--blocks N] [--size SIZE]  (as root, with image and kernel)

One campaign of mpiio with ``cold = true`` and ``false``, a trial of each in every block, in random order. For each
environment: the medians, how often the cold read of a block took longer than its warm one, how probable that is by
chance (sign test), and what of the file was cached before. Ends with 1 unless all are told apart.

The guest's processor lacks ``erms`` and ``fsrm``: its kernel then copies from its page cache by words, and not by the
one instruction that QEMU emulates byte for byte, which takes longer than the disk.
"""

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.journal import large
from tare.journal.result import ResultFolder
from tare.records import Outcome, Status

COLD, WARM = "cold", "warm"
_CAMPAIGN = """\
name = "cold-reads"
blocks = {blocks}
layouts = ["1c1p1i"]
[limits]
storage = "disk"
memory = "512 MiB"
[[environment]]
technology = "qemu"
accelerator = "tcg"
cpu = "max,-erms,-fsrm"
[[workload]]
kind = "mpiio"
name = "cold"
operation = "read"
size = "{size}"
cold = true
[[workload]]
kind = "mpiio"
name = "warm"
operation = "read"
size = "{size}"
"""
_MOST_CHANCE = 0.05


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--size", default="64 MiB")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = measured(Path(folder), asked.blocks, asked.size)
    apart = [told_apart(name, own) for name, own in by_environment(outcomes).items()]
    print("cold and warm reads are told apart" if all(apart) else "cold and warm reads are not told apart")
    return 0 if all(apart) else 1


def measured(folder: Path, blocks: int, size: str) -> Sequence[Outcome]:
    """The campaign's trials; what went wrong has been printed."""
    campaign, result = folder / "cold.toml", folder / "result"
    campaign.write_text(_CAMPAIGN.format(blocks=blocks, size=size))
    argv = [sys.executable, "-m", "tare", "run", str(campaign), "--yes", "--output", str(result)]
    subprocess.run(argv, check=False, stdout=sys.stderr)
    return large.read_result(ResultFolder(result)).outcomes


def by_environment(outcomes: Sequence[Outcome]) -> Mapping[str, list[Outcome]]:
    grouped: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.status is Status.OK:
            grouped[outcome.trial.environment.name].append(outcome)
    return grouped


def told_apart(name: str, outcomes: Sequence[Outcome]) -> bool:
    """Print an environment's lines; whether cold reads took longer than by chance."""
    cold, warm = (_read_s(outcomes, workload) for workload in (COLD, WARM))
    blocks = sorted(cold.keys() & warm.keys())
    longer = sum(cold[block] > warm[block] for block in blocks)
    chance = sign_test(longer, len(blocks))
    for workload, read_s in ((COLD, cold), (WARM, warm)):
        values = sorted(read_s.values())
        said = {text for each in _of(outcomes, workload) for text in _cached(each)}
        print(
            f"{name}, {workload}: median {1e3 * statistics.median(values):.1f} ms, {1e3 * values[0]:.1f} to "
            f"{1e3 * values[-1]:.1f}, n = {len(values)}; before the read {', '.join(sorted(said))}"
        )
    print(f"{name}: the cold read took longer in {longer} of {len(blocks)} blocks; by chance {chance:.2g}")
    return longer > len(blocks) / 2 and chance < _MOST_CHANCE


def sign_test(longer: int, blocks: int) -> float:
    """Two-sided exact probability of a count as uneven as this, if either is as likely."""
    uneven = max(longer, blocks - longer)
    tail = sum(math.comb(blocks, count) for count in range(uneven, blocks + 1)) * 0.5**blocks
    return min(1.0, 2.0 * tail)


def _read_s(outcomes: Sequence[Outcome], workload: str) -> dict[int, float]:
    """Block → mean time of its reads; native has two in each."""
    times: dict[int, list[float]] = defaultdict(list)
    for outcome in _of(outcomes, workload):
        times[outcome.trial.block] += [each.value for each in outcome.samples if each.name == "read_s"]
    return {block: statistics.mean(values) for block, values in times.items() if values}


def _of(outcomes: Sequence[Outcome], workload: str) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.trial.workload.name == workload]


def _cached(outcome: Outcome) -> list[str]:
    labels = (label for label in outcome.facts if label.startswith("mpiio cached before the read"))
    return [outcome.facts[label].partition(": ")[2] for label in labels]


if __name__ == "__main__":
    sys.exit(main())
