# SPDX-License-Identifier: Apache-2.0
"""How long it takes to analyse a result of 50 million samples from its journal, and how much memory.

    python -m bench.fifty_million [--most 50] [--before PATH]         (needs 10 GB of disk in the temporary folder)

Makes journals of 5, 10, 20 and 50 million samples: 32 blocks of native, native again and three environments, four
metrics, four instances, and as many iterations as it takes. It is samples that are measured: each trial has signals and
resources of a single run, as if one start of a program had printed them all; of many short trials ``bench.ingest``
tells. A process of its own then analyses each from end to end,
which condenses the journal to columns on the way (docs/method.md), and another one analyses it again; printed are the
CPU times of both, with all imports, and their peaks of memory. ``--before``: also with another checkout's sources.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.children import took
from bench.ingest import SLOWER, forget, outcome, write_journal
from tare.journal.result import ResultFolder
from tare.plan.campaign import Campaign
from tare.plan.trials import plan_trials
from tare.records import Direction, Environment, Layout, Limits, Outcome, Sample, Trial, Workload
from tare.records.columns import filled

MILLION = 1_000_000
BLOCKS = 32
INSTANCES = 4
METRICS = ("wall_s", "second_s", "third_s", "fourth_s")
MOST_INGEST_S = 4e-6
"""Of CPU time for each sample, once."""
MOST_CPU_S, MOST_LOOK_S = 4.0, 0.2e-6
"""At every later command: of all, and for each sample, whose 170 bytes in the journal are looked at by CRC."""
MOST_BYTE = 1 << 30
MOST_GROWTH = 1.2
"""Times what proportional growth would be."""
CHILD = """
import sys
from pathlib import Path
from tare import pipeline
try:
    from tare.journal import large
except ImportError:
    large = pipeline
large.LARGE_JOURNAL_BYTE = 0
analysis = pipeline.analyse_result(Path(sys.argv[1]))
for verdict in analysis.verdicts:
    if verdict.overhead.summary.primary:
        print(verdict.sentence)
"""


@dataclass(frozen=True, slots=True)
class Analysed:
    """What one process said, and what it took."""

    sentences: Sequence[str]
    cpu_s: float
    peak_byte: int

    def __str__(self) -> str:
        return f"{self.cpu_s:.2f} s | {self.peak_byte / 2**20:.0f} MiB"


def campaign() -> Campaign:
    return Campaign(
        name="many samples",
        environments=tuple(
            Environment(name=name, technology="native") for name in SLOWER if name != "native"
        ),
        layouts=(Layout.parse(f"1c{INSTANCES}p{INSTANCES}i"),),
        workloads=(Workload(name="work", kind="command", options={"argv": ["true"]}, iterations=2),),
        limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20, time_s=60.0),
        blocks=BLOCKS,
        margin=0.01,
        budget_s=None,
        seed=1,
    )


def write_result(path: Path, samples: int) -> int:
    """Make it; gives how many samples it really holds."""
    own = campaign()
    planned = plan_trials(own, 1)
    iterations = samples // (len(planned) * len(METRICS) * INSTANCES)
    write_journal(path, own, outcomes(planned, iterations), len(planned))
    return iterations * len(planned) * len(METRICS) * INSTANCES


def outcomes(planned: Sequence[Trial], iterations: int) -> Iterator[Outcome]:
    generator = np.random.default_rng(1)
    for trial in planned:
        values = drawn(generator, SLOWER[trial.environment.name], iterations)
        yield outcome(
            trial, tuple(sample for number in range(len(METRICS)) for sample in samples(number, values))
        )


def drawn(generator: np.random.Generator, factor: float, iterations: int) -> NDArray[np.float64]:
    """By metric, iteration and instance: start to start 2 % apart, iteration to iteration 5 %."""
    start = factor * np.exp(generator.normal(0.0, 0.02, (len(METRICS), 1, 1)))
    return np.asarray(start * np.exp(generator.normal(0.0, 0.05, (len(METRICS), iterations, INSTANCES))))


def samples(metric: int, values: NDArray[np.float64]) -> list[Sample]:
    own = values[metric]
    iteration, instance = (axis.ravel().tolist() for axis in np.indices(own.shape))
    same = {"name": METRICS[metric], "unit": "s", "direction": Direction.LESS}
    nothing = dict.fromkeys(("x", "x_unit", "round", "process"))
    constant = {name: [value] * own.size for name, value in {**same, **nothing}.items()}
    columns = {**constant, "value": own.ravel().tolist(), "iteration": iteration, "instance": instance}
    return filled(Sample, columns, own.size)


def analysed(tree: Path, result: Path) -> Analysed:
    """In a process of its own, with the sources of ``tree``."""
    sentences, own = took(tree, CHILD, result)
    return Analysed(sentences, own.cpu_s, own.peak_byte)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=50, help="million samples")
    parser.add_argument("--before", type=Path, help="another checkout of Tare")
    options = parser.parse_args()
    trees = {"now": Path(__file__).parents[1], **({"before": options.before} if options.before else {})}
    print("| tree | samples | journal | with ingest: CPU time | peak | later: CPU time | peak |")
    print("|---|---|---|---|---|---|---|")
    sizes = sorted({size for size in (5, 10, 20, 50, options.most) if size <= options.most})
    rows = [measured(trees, millions * MILLION) for millions in sizes]
    print("\n" + "\n".join(rows[-1][2].sentences))
    return 0 if meets(rows) else 1


def measured(trees: dict[str, Path], wanted: int) -> tuple[int, Analysed, Analysed]:
    """Make a result, have each tree analyse it twice, and print that; gives what ours took."""
    taken = {}
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result"
        result.mkdir()
        count = write_result(result, wanted)
        size = f"{count / MILLION:.1f} million | {ResultFolder(result).journal_byte / 2**20:.0f} MiB"
        for name, tree in trees.items():
            forget(result)
            first, later = taken[name] = analysed(tree, result), analysed(tree, result)
            print(f"| {name} | {size} | {first} | {later} |", flush=True)
    if len({tuple(run.sentences) for pair in taken.values() for run in pair}) != 1:
        raise SystemExit("the verdicts differ")
    return count, *taken["now"]


def meets(rows: Sequence[tuple[int, Analysed, Analysed]]) -> bool:
    """Whether the last is good enough, and grew no more than in proportion to the first."""
    (fewest, _, least), (count, first, later) = rows[0], rows[-1]
    linear = later.cpu_s <= MOST_GROWTH * least.cpu_s * count / fewest
    small = max(first.peak_byte, later.peak_byte) <= MOST_BYTE
    return (
        linear
        and small
        and later.cpu_s <= MOST_CPU_S + MOST_LOOK_S * count
        and first.cpu_s <= MOST_INGEST_S * count
    )


if __name__ == "__main__":
    sys.exit(main())
