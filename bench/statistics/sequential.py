# SPDX-License-Identifier: Apache-2.0
"""Looking several times: what rules of stopping promise, and what Tare's boundary does."""

import math

import numpy as np

from bench.simulation import intervals
from bench.simulation.intervals import LOOKS
from bench.simulation.scenarios import RUN, Floats, Scenario, booted, clean, drifting, noisy
from bench.statistics.markdown import percent, table
from tare.analyze.boundary import boundary, spending
from tare.records import Design

DESIGN = Design(looks=LOOKS, margin=0.01)
OTHER_LOOKS = ((6, 12, 20), (8, 10), (10, 100), (32,))


def rules(campaigns: int, seed: int) -> str:
    """No overhead, 3 % per run, at most 32 blocks: how often a difference is found."""
    clean_rows = clean(RUN, 0.0)(np.random.default_rng(seed), campaigns, LOOKS[-1]).log_ratios
    spiking = noisy(RUN, 0.0, 0.05, 0.05)(np.random.default_rng(seed), campaigns, LOOKS[-1]).log_ratios
    kinds = clean_rows, spiking
    rows = [
        [
            f"stop when 95 % leaves out 0, each block from {least}",
            *(percent(_greedy(one, least), 1) for one in kinds),
        ]
        for least in (6, 10)
    ]
    fixed = [percent(np.mean(intervals.excludes_0(intervals.signed_rank(one))), 1) for one in kinds]
    rows.append(["32 blocks, fixed beforehand", *fixed])
    rows.append(["Tare's looks, stop for any reason", *(percent(_any_look(one, LOOKS), 1) for one in kinds)])
    rows.append(["Tare's looks, where Tare stops", *(percent(_at_stop(one), 1) for one in kinds)])
    return table(["rule", "clean", "spikes in 5 % of all arms"], rows)


def _greedy(rows: Floats, least: int) -> float:
    found = [
        intervals.excludes_0(intervals.signed_rank(rows[:, :n])) for n in range(least, rows.shape[1] + 1)
    ]
    return float(np.mean(np.any(found, axis=0)))


def _any_look(rows: Floats, looks: tuple[int, ...]) -> float:
    return float(
        np.mean(np.any([intervals.excludes_0(one) for one in intervals.repeated(rows, looks)], axis=0))
    )


def _at_stop(rows: Floats) -> float:
    seen = intervals.stopped(rows, DESIGN)
    return float(np.mean(intervals.excludes_0((seen.low, seen.high))))


def boundaries(campaigns: int, seed: int) -> str:
    rows = []
    for looks in (LOOKS, *OTHER_LOOKS):
        stages = boundary(looks, tuple(spending(n, looks[-1]) for n in looks))
        count = min(campaigns, 2_000_000 // looks[-1] ** 2 * 100)
        values = clean(RUN, 0.0)(np.random.default_rng(seed), count, looks[-1]).log_ratios
        rows.append(
            [
                ", ".join(map(str, looks)),
                ", ".join("-" if stage.critical is None else str(stage.critical) for stage in stages),
                ", ".join(f"{stage.error:.4f}" for stage in stages),
                f"{percent(1 - _any_look(values, looks), 1)} of {count}",
            ]
        )
    return table(["looks", "c", "error of each look alone", "all intervals cover"], rows)


def at_stop(campaigns: int, seed: int) -> str:
    """Coverage, false differences and blocks where Tare stops."""
    scenarios: dict[str, tuple[Scenario, Scenario]] = {
        "S1": (clean(RUN, math.log(1.05)), clean(RUN, 0.0)),
        "S2": (noisy(RUN, math.log(1.05), 0.05, 0.05), noisy(RUN, 0.0, 0.05, 0.05)),
        "S3": (noisy(RUN, math.log(1.05), 0.02, 0.10), noisy(RUN, 0.0, 0.02, 0.02)),
        "S4": (drifting(), drifting(0.0)),
        "S5": (booted(), booted(0.0)),
    }
    rows = []
    for name, (planted, nothing) in scenarios.items():
        generator = np.random.default_rng([seed, 5])
        truth = intervals.pseudo_median(planted(generator, 20_000, LOOKS[-1]).log_ratios, generator)
        seen = intervals.stopped(planted(generator, campaigns, LOOKS[-1]).log_ratios, DESIGN)
        covered = np.mean(intervals.covers((seen.low, seen.high), truth))
        false = _at_stop(nothing(generator, campaigns, LOOKS[-1]).log_ratios)
        rows.append([name, percent(covered, 1), percent(false, 1), f"{np.mean(seen.blocks):.1f}"])
    return table(["scenario", "+5 %: covers", "nothing planted: a difference is found", "+5 %: blocks"], rows)


def expected_blocks(campaigns: int, seed: int) -> str:
    noises = {"1 %": (0.01, 0.0), "1 % and spikes": (0.01, 0.05), "3 %": (RUN, 0.0), "10 %": (0.10, 0.0)}
    rows = []
    for name, (deviation, rate) in noises.items():
        cells = []
        for effect in (0.0, 0.01, 0.05, 0.20):
            made = noisy(deviation, math.log1p(effect), rate, rate)
            values = made(np.random.default_rng(seed), campaigns, LOOKS[-1]).log_ratios
            blocks = float(np.mean(intervals.stopped(values, DESIGN).blocks))
            cells.append(f"{blocks:.1f} ({percent(1 - blocks / LOOKS[-1])})")
        rows.append([name, *cells])
    return table(["a run's coefficient of variation", "no overhead", "1 %", "5 %", "20 %"], rows)


def decisions(campaigns: int, seed: int) -> str:
    """``--fail-if "overhead > 1%"`` with Tare's looks: wrong answers at the threshold itself, and blocks."""
    rows = []
    for deviation in (0.01, RUN, 0.10):
        cells = []
        for effect in (0.0, 0.01, 0.05, 0.20):
            values = clean(deviation, math.log1p(effect))(
                np.random.default_rng(seed), campaigns, LOOKS[-1]
            ).log_ratios
            exceeded, kept, blocks = _decided(values - math.log1p(0.01))
            cells.append(f"{percent(exceeded)} / {percent(kept)}, {blocks:.1f}")
        rows.append([f"{100 * deviation:g} %", *cells])
    return table(["a run's coefficient of variation", "no overhead", "1 %", "5 %", "20 %"], rows)


def _decided(beyond: Floats) -> tuple[float, float, float]:
    """Shares that exceed and that do not, and blocks, of log-ratios less the threshold."""
    open_ones = np.ones(len(beyond), dtype=np.bool_)
    blocks = np.full(len(beyond), LOOKS[-1])
    exceeded, kept = 0, 0
    for look, (low, high) in zip(LOOKS, intervals.deciding(beyond), strict=True):
        above, below = open_ones & (low > 0), open_ones & (high <= 0)
        exceeded, kept = exceeded + int(above.sum()), kept + int(below.sum())
        blocks[above | below] = look
        open_ones &= ~(above | below)
    return exceeded / len(beyond), kept / len(beyond), float(blocks.mean())
