# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: A005 - it is always named bench.statistics
"""The tables of docs/statistics.md.

python -m bench.statistics [--campaigns 4000] [--seed 1] [--only NAME] [--beside FILE]
                                                                               (about half an hour of one processor)

``--only words`` gives the tables of false words (``bench.words``) alone, in about twelve minutes. ``--beside`` puts
before each figure what FILE, the output for an earlier tree, has in the row of the same name.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from bench.statistics import before_after, busy, coverage, days, many_claims, power, sequential, slow_runs
from bench.statistics.markdown import beside
from bench.words import after_effects, agreement, dependence, load, slow, stopping

TABLES: dict[str, tuple[str, float, Callable[[int, int], str]]] = {
    "coverage": ("Coverage in % · median width in points, at n = 5/10/30", 1, coverage.coverage),
    "before": ("Before and after: coverage, median width in points", 0.1, before_after.coverage),
    "slow": ('Slow runs and starts: claims without "typically", before and after', 0.05, slow_runs.claims),
    "families": ("A hundred claims at ten blocks", 0.025, before_after.families),
    "busy": ("A busy machine: words of claims", 0.05, busy.words),
    "turns": ("This machine's noise now: in turns and one after another", 0.00025, before_after.turns),
    "iterations": (
        "Thirty runs as starts and iterations: coverage, median width in points",
        1,
        coverage.iterations,
    ),
    "papers": ("The papers' treatments of 32 runs", 5, coverage.of_papers),
    "equivalence": ("Blocks for an equivalence, power 80 % / 90 %", 1, power.equivalence),
    "claims": ("Forty claims at once", 1, many_claims.claims),
    "rules": ("When to stop: how often a difference is found where there is none", 2, sequential.rules),
    "boundaries": ("Boundaries", 25, sequential.boundaries),
    "stop": ("Where Tare stops", 1, sequential.at_stop),
    "blocks": ("Blocks until Tare stops (and saved of 32)", 1, sequential.expected_blocks),
    "decisions": ("--fail-if 'overhead > 1%': exceeded / not exceeded, blocks", 1, sequential.decisions),
    "words-after-effects": ("Words: after-effects on what runs next", 0.1, after_effects.table_of),
    "words-slow": ("Words: slow slices, starts and runs", 0.05, slow.table_of),
    "words-load": ("Words: a load of other programs", 0.1, load.table_of),
    "words-dependence": ("Words: dependence, and noise of one arm alone", 0.075, dependence.table_of),
    "words-days": ("Words: the newest of several results where days differ", 0.25, days.table),
    "words-agreement": ("Words: 28 claims, and the interval beside each", 0.25, agreement.table_of),
    "words-stopping": ("Words: where campaigns stop", 0.1, stopping.table_of),
}
"""Name → title, times as many campaigns as asked for, table."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=[*TABLES, "words"])
    parser.add_argument("--beside", type=Path)
    chosen = parser.parse_args()
    earlier = chosen.beside.read_text() if chosen.beside else ""
    for name, (title, times, made) in TABLES.items():
        if chosen.only in {None, name} or name.startswith(f"{chosen.only}-"):
            begun = time.process_time()
            campaigns = max(1, round(times * chosen.campaigns))
            text = beside(made(campaigns, chosen.seed), earlier)
            took_s = time.process_time() - begun
            print(
                f"### {title}\n\n{text}\n\n({campaigns} campaigns, seed {chosen.seed}, {took_s:.0f} s)\n",
                flush=True,
            )


if __name__ == "__main__":
    main()
