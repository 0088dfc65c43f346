# SPDX-License-Identifier: Apache-2.0
"""Looking several times: what rules of stopping promise, and what Tare's boundary does."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from bench.simulation import intervals
from bench.simulation.intervals import LOOKS, Bools
from bench.simulation.scenarios import (
    PLANTED,
    RUN,
    SCENARIOS,
    Arms,
    booted,
    clean,
    drifting,
    loaded,
    noisy,
    unequal,
)
from bench.simulation.stopping import stopped
from bench.statistics.coverage import UNLIKE
from bench.statistics.markdown import percent, table
from tare.records import Design
from tare.statistics.boundary import boundary, spending

DESIGN = Design(looks=LOOKS, margin=0.01)
OTHER_LOOKS = ((6, 12, 20), (8, 10), (10, 100), (32,))


def rules(campaigns: int, seed: int) -> str:
    """No overhead, 3 % per run, at most 32 blocks: how often a difference is found."""
    kinds = [
        scenario(np.random.default_rng(seed), campaigns, LOOKS[-1])
        for scenario in (clean(RUN, 0.0), noisy(RUN, 0.0, 0.05, 0.05), loaded(RUN, 0.0))
    ]
    ways: dict[str, Callable[[Arms], Bools]] = {
        "stop when 95 % leaves out 0, each block from 6": partial(_greedy, least=6),
        "stop when 95 % leaves out 0, each block from 10": partial(_greedy, least=10),
        "32 blocks, fixed beforehand": lambda arms: ~intervals.contains(arms, 0.0),
        "Tare's looks, stop for any reason": intervals.ever_differs,
        "Tare's looks, where Tare stops": _at_stop,
    }
    rows = [[name, *(percent(np.mean(way(arms)), 1) for arms in kinds)] for name, way in ways.items()]
    return table(["rule", "clean", "spikes in 5 % of all arms", "a load that comes and goes"], rows)


def _greedy(arms: Arms, least: int) -> Bools:
    values = [~intervals.contains(arms.leading(n), 0.0) for n in range(least, arms.blocks + 1)]
    return np.asarray(np.any(values, axis=0))


def _at_stop(arms: Arms) -> Bools:
    return ~stopped(arms, DESIGN).contains(0.0)


def boundaries(campaigns: int, seed: int) -> str:
    rows = []
    for looks in (LOOKS, *OTHER_LOOKS):
        nominal = boundary(looks, tuple(spending(n, looks[-1]) for n in looks))
        arms = clean(RUN, 0.0)(np.random.default_rng(seed), campaigns, looks[-1])
        levels = ", ".join(f"{level:.4f}" if level else "-" for level in nominal)
        covered = percent(1 - np.mean(intervals.ever_differs(arms, looks)), 1)
        rows.append([", ".join(map(str, looks)), levels, covered])
    return table(["looks", "error of each look alone", "all intervals cover"], rows)


def at_stop(campaigns: int, seed: int) -> str:
    """Coverage, false differences and blocks where Tare stops."""
    nothing = {
        "S1": clean(RUN, 0.0),
        "S2": noisy(RUN, 0.0, 0.05, 0.05),
        "S3": noisy(RUN, 0.0, 0.02, 0.02),
        "S4": drifting(0.0),
        "S5": booted(0.0),
        "S7": loaded(RUN, 0.0),
        "S8": unequal(planted=0.0),
    }
    rows = []
    for name, null in nothing.items():
        generator = np.random.default_rng([seed, 5])
        planted = SCENARIOS[name]
        truth = intervals.centre(planted, LOOKS[-1]) if name == UNLIKE else PLANTED
        seen = stopped(planted(generator, campaigns, LOOKS[-1]), DESIGN)
        covered = np.mean(seen.contains(truth))
        false = np.mean(_at_stop(null(generator, campaigns, LOOKS[-1])))
        rows.append([name, percent(covered, 1), percent(false, 1), f"{np.mean(seen.blocks):.1f}"])
    return table(["scenario", "+5 %: covers", "nothing planted: a difference is found", "+5 %: blocks"], rows)


def expected_blocks(campaigns: int, seed: int) -> str:
    noises = {"1 %": (0.01, 0.0), "1 % and spikes": (0.01, 0.05), "3 %": (RUN, 0.0), "10 %": (0.10, 0.0)}
    rows = []
    for name, (deviation, rate) in noises.items():
        cells = []
        for effect in (0.0, 0.01, 0.05, 0.20):
            made = noisy(deviation, math.log1p(effect), rate, rate)
            arms = made(np.random.default_rng(seed), campaigns, LOOKS[-1])
            blocks = float(np.mean(stopped(arms, DESIGN).blocks))
            cells.append(f"{blocks:.1f} ({percent(1 - blocks / LOOKS[-1])})")
        rows.append([name, *cells])
    return table(["a run's coefficient of variation", "no overhead", "1 %", "5 %", "20 %"], rows)


def decisions(campaigns: int, seed: int) -> str:
    """``--fail-if "overhead > 1%"`` with Tare's looks: wrong answers at the threshold itself, and blocks."""
    rows = []
    for deviation in (0.01, RUN, 0.10):
        cells = []
        for effect in (0.0, 0.01, 0.05, 0.20):
            arms = clean(deviation, math.log1p(effect))(np.random.default_rng(seed), campaigns, LOOKS[-1])
            decided = intervals.decided(arms, 0.01)
            shares = percent(np.mean(decided.exceeded)), percent(np.mean(decided.kept))
            cells.append(f"{shares[0]} / {shares[1]}, {np.mean(decided.blocks):.1f}")
        rows.append([f"{100 * deviation:g} %", *cells])
    return table(["a run's coefficient of variation", "no overhead", "1 %", "5 %", "20 %"], rows)
