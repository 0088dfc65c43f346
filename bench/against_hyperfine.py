# SPDX-License-Identifier: Apache-2.0
"""Tare's design and interval against hyperfine and a plain loop, in equal time, under a load that rises and falls.

    python -m bench.against_hyperfine [--repeats 40] [--seed 1]      (with hyperfine installed; about 12 minutes)

Each repeat compares a program with itself doing 5 % more work, by three methods one after the other in random order.
All start the same program on the same processor: blocks of two native runs and one other in random order, as Tare
runs them; hyperfine with 32 runs of each; a loop of 32 runs of each. What Tare's driver costs is not in it. The load
is a process of this bench on that processor.
"""

import argparse
import json
import math
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.simulation.papers import plain_t, ratio, trimmed
from tare.statistics.contrasts import Blocks, Contrast, Differences, estimate

BURN = Path(__file__).parent.parent / "build" / "native" / "bin" / "burn"
RUN_S = 0.040
PLANTED = 0.05
RUNS = 32
"""Of each arm."""
BLOCKS = 2 * RUNS // 3
"""Of three runs each: as many runs in all, but for one."""
NATIVE_SLOTS = (0, 1)
LOAD_PERIOD_S = 120.0
LOAD_SLICE_S = 0.02
MOST_LOAD = 0.6
"""Of the processor's time that the load asks for at most."""
LONGEST_S = 3600.0


@dataclass(frozen=True, slots=True)
class Plant:
    """The two commands and how much longer the second takes, a program's start and end included."""

    native: list[str]
    other: list[str]
    truth: float


@dataclass(frozen=True, slots=True)
class Found:
    low: float
    high: float
    took_s: float


Method = Callable[[Plant, np.random.Generator], dict[str, tuple[float, float]]]
"""Name of an interval → its bounds, as fractions."""


def load(processor: int, parent: int) -> None:
    """Use the processor for a share of its time that follows a sine; ends by itself."""
    os.sched_setaffinity(0, {processor})
    begun = time.monotonic()
    while (now := time.monotonic()) - begun < LONGEST_S and os.getppid() == parent:
        share = MOST_LOAD * (1 - math.cos(2 * math.pi * (now - begun) / LOAD_PERIOD_S)) / 2
        while time.monotonic() - now < share * LOAD_SLICE_S:
            pass
        time.sleep((1 - share) * LOAD_SLICE_S)


@contextmanager
def loaded(processor: int) -> Iterator[None]:
    process = multiprocessing.Process(target=load, args=(processor, os.getpid()), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.terminate()
        process.join()


def run_s(argv: Sequence[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def planted() -> Plant:
    """Runs of about ``RUN_S``; the truth takes in what a start costs, by the shortest of many runs."""
    start_s, trial = _shortest_s(1), 10_000_000
    per_iteration_s = (_shortest_s(trial) - start_s) / trial
    count = round((RUN_S - start_s) / per_iteration_s)
    return Plant(
        native=[str(BURN), str(count)],
        other=[str(BURN), str(round(count * (1 + PLANTED)))],
        truth=PLANTED * (1 - start_s / RUN_S),
    )


def _shortest_s(iterations: int) -> float:
    return min(run_s([str(BURN), str(iterations)]) for _ in range(20))


def by_blocks(plant: Plant, generator: np.random.Generator) -> dict[str, tuple[float, float]]:
    log_ratios, controls = [], []
    for _ in range(BLOCKS):
        logs: dict[int, float] = {}
        for slot in generator.permutation(3).tolist():
            logs[slot] = math.log(run_s(plant.native if slot in NATIVE_SLOTS else plant.other))
        log_ratios.append(logs[2] - (logs[0] + logs[1]) / 2)
        controls.append(logs[1] - logs[0])
    contrasts: dict[str, Contrast] = {
        "Tare: random blocks, aligned ranks": Blocks(tuple(log_ratios), tuple(controls)),
        "the same blocks, signed ranks as before": Differences(tuple(log_ratios)),
    }
    return {name: _rank_interval(contrast) for name, contrast in contrasts.items()}


def _rank_interval(contrast: Contrast) -> tuple[float, float]:
    result = estimate(contrast)
    assert result.low is not None
    assert result.high is not None
    return math.expm1(result.low), math.expm1(result.high)


def by_hyperfine(plant: Plant, _: np.random.Generator) -> dict[str, tuple[float, float]]:
    commands = [" ".join(plant.native), " ".join(plant.other)]
    with tempfile.NamedTemporaryFile(suffix=".json") as kept:
        argv = ["hyperfine", "-N", "--style", "none", "--runs", str(RUNS), "--export-json", kept.name]
        subprocess.run([*argv, *commands], stdout=subprocess.DEVNULL, check=True)
        native, other = json.load(kept)["results"]
    quotient = other["mean"] / native["mean"]
    spread = quotient * math.hypot(other["stddev"] / other["mean"], native["stddev"] / native["mean"])
    welch = _interval(other["times"], native["times"])
    return {
        "hyperfine: its ± (standard deviations)": (quotient - spread - 1, quotient + spread - 1),
        "hyperfine: its runs, Welch's t": welch,
    }


def by_loop(plant: Plant, _: np.random.Generator) -> dict[str, tuple[float, float]]:
    native, other = ([run_s(argv) for _ in range(RUNS)] for argv in (plant.native, plant.other))
    bounds = ratio(trimmed(np.array([other])), trimmed(np.array([native])))
    return {
        "loop: Welch's t": _interval(other, native),
        "loop: highest and lowest left out, t": (math.expm1(bounds[0][0]), math.expm1(bounds[1][0])),
    }


def _interval(other: Sequence[float], native: Sequence[float]) -> tuple[float, float]:
    low, high = ratio(plain_t(np.array([other])), plain_t(np.array([native])))
    return math.expm1(low[0]), math.expm1(high[0])


METHODS: tuple[Method, ...] = (by_blocks, by_hyperfine, by_loop)


def measured(plant: Plant, repeats: int, seed: int) -> dict[str, list[Found]]:
    generator = np.random.default_rng(seed)
    result: dict[str, list[Found]] = {}
    for repeat in range(repeats):
        for place in generator.permutation(len(METHODS)).tolist():
            begun = time.monotonic()
            bounds = METHODS[place](plant, generator)
            took_s = time.monotonic() - begun
            for name, (low, high) in bounds.items():
                result.setdefault(name, []).append(Found(low, high, took_s))
        print(f"{repeat + 1} of {repeats}", file=sys.stderr)
    return result


def table(by_program: dict[str, list[Found]], truth: float) -> str:
    """Markdown."""
    lines = ["| method and interval | covers the truth | median width | median time |", "|---|---|---|---|"]
    for name, results in sorted(by_program.items(), key=lambda item: not item[0].startswith("Tare")):
        covered = sum(result.low <= truth <= result.high for result in results)
        width = 100 * statistics.median(result.high - result.low for result in results)
        took_s = statistics.median(result.took_s for result in results)
        share = covered / len(results)
        lines.append(
            f"| {name} | {covered}/{len(results)} = {share:.0%} | {width:.1f} points | {took_s:.1f} s |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    if shutil.which("hyperfine") is None or not BURN.is_file():
        print("hyperfine (Debian: apt-get install hyperfine) and `make setup` are needed", file=sys.stderr)
        return 3
    processor = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processor})
    plant = planted()
    print(
        f"planted {plant.truth:+.2%}; {BLOCKS} blocks of 3 runs, or {RUNS} runs of each, about {RUN_S:g} s a run\n"
    )
    with loaded(processor):
        result = measured(plant, chosen.repeats, chosen.seed)
    print(table(result, plant.truth))
    ours = next(results for name, results in result.items() if name.startswith("Tare"))
    return 0 if sum(our.low <= plant.truth <= our.high for our in ours) >= 0.93 * len(ours) else 1


if __name__ == "__main__":
    sys.exit(main())
