# SPDX-License-Identifier: Apache-2.0
"""How long it takes to analyse a result of 50 million samples, and how much memory.

    python -m bench.fifty_million [--most 50]        (needs 2 GB of disk in the temporary folder)

Makes results of 5, 10, 20 and 50 million samples as Tare condenses large journals to (docs/method.md): 32 blocks of
native, native again and three environments, four metrics, four instances, and as many iterations as it takes. A child
process then analyses each from end to end; printed are its CPU time with all imports, and its peak of memory.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tare.journal.columns import Arrays, ColumnWriter, journal_contents
from tare.journal.lines import encode
from tare.journal.result import ResultFolder
from tare.plan.campaign import Campaign
from tare.plan.trials import plan_trials
from tare.records import Direction, Environment, Layout, Limits, Outcome, Session, Status, Trial, Workload
from tare.records.columns import SampleKind

MILLION = 1_000_000
BLOCKS = 32
INSTANCES = 4
SLOWER = {"native": 1.0, "even": 1.0, "slow": 1.05, "slower": 1.2}
METRICS = (("wall_s", "s"), ("second_s", "s"), ("third_s", "s"), ("fourth_s", "s"))
MOST_CPU_S = 4.0
MOST_BYTE = 1 << 30
MOST_GROWTH = 1.2
"""Times what proportional growth would be."""
CHILD = """
import resource, sys
from pathlib import Path
from tare import pipeline
pipeline.LARGE_JOURNAL_BYTE = 0
analysis = pipeline.analyse_result(Path(sys.argv[1]))
for verdict in analysis.verdicts:
    if verdict.overhead.summary.primary:
        print(verdict.sentence)
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""


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
    planned = plan_trials(campaign(), 1)
    iterations = samples // (len(planned) * len(METRICS) * INSTANCES)
    folder = ResultFolder(path)
    folder.write_campaign(json.dumps(campaign().to_json()))
    folder.journal.mkdir()
    kinds = [
        SampleKind(name=name, unit=unit, direction=Direction.LESS, x=None, x_unit=None, first=first)
        for name, unit in METRICS
        for first in (True, False)
    ]
    session = Session(
        identity="bench",
        started_utc="2026-01-01T00:00:00Z",
        tare_version="0",
        seed=1,
        image_name="none",
        image_digest="none",
        host={},
        skipped=(),
        planned_trials=len(planned),
    )
    generator = np.random.default_rng(1)
    with ColumnWriter(folder.derived) as writer, (folder.journal / "bench.jsonl").open("wb") as journal:
        writer.add(session)
        journal.write(encode(session))
        for trial in planned:
            light = outcome(trial)
            writer.add_columns(light, arrays(generator, SLOWER[trial.environment.name], iterations), kinds)
            journal.write(encode(light))
    writer.finish(journal_contents(folder.journal))
    return iterations * len(planned) * len(METRICS) * INSTANCES


def arrays(generator: np.random.Generator, factor: float, iterations: int) -> Arrays:
    """One trial's rows: start to start 2 % apart, iteration to iteration 5 %."""
    start = factor * np.exp(generator.normal(0.0, 0.02, (len(METRICS), 1, 1)))
    shape = (len(METRICS), iterations, INSTANCES)
    values = start * np.exp(generator.normal(0.0, 0.05, shape))
    kind, iteration, instance = np.indices(shape, dtype=np.int32)
    return {
        "kind": (2 * kind + (iteration > 0)).ravel().astype(np.int32),
        "iteration": iteration.ravel(),
        "instance": instance.ravel(),
        "value": values.ravel(),
    }


def outcome(trial: Trial) -> Outcome:
    return Outcome(
        trial=trial,
        status=Status.OK,
        reason=None,
        excerpt=None,
        started_utc="2026-01-01T00:00:00Z",
        elapsed_s=1.0,
        node_start_s=None,
        node_stop_s=None,
        barrier_skew_s=None,
        cpu_s=None,
        samples=(),
        instances=(),
        image_digest="none",
    )


def analysed(path: Path) -> tuple[list[str], float, int]:
    """The verdicts on the primary metric, CPU seconds and peak memory in byte, of a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, check=True
    )
    *sentences, figures = done.stdout.splitlines()
    cpu_s, peak_byte = figures.split()
    return sentences, float(cpu_s), int(peak_byte)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=50, help="million samples")
    most = parser.parse_args().most
    print("| samples | CPU time | peak of memory |\n|---|---|---|")
    found = []
    for millions in sorted({size for size in (5, 10, 20, 50, most) if size <= most}):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "result"
            count = write_result(path, millions * MILLION)
            sentences, cpu_s, peak_byte = analysed(path)
        found.append((count, cpu_s, peak_byte))
        print(f"| {count / MILLION:.1f} million | {cpu_s:.2f} s | {peak_byte / 2**20:.0f} MiB |", flush=True)
    print("\n" + "\n".join(sentences))
    (fewest, first_s, _), (count, cpu_s, peak_byte) = found[0], found[-1]
    linear = cpu_s <= MOST_GROWTH * first_s * count / fewest
    return 0 if cpu_s <= MOST_CPU_S and peak_byte <= MOST_BYTE and linear else 1


if __name__ == "__main__":
    sys.exit(main())
