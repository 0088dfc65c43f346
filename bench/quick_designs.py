# SPDX-License-Identifier: Apache-2.0
"""What the preset quick decides by turns, and what the same programs decide as whole trials in equal time.

    python -m bench.quick_designs [--seeds 1 2 3]              (as root, with the image built and dockerd running)

Whole trials, one arm after the other in randomized blocks, are the design before arms took turns. Prints each claim's
interval and word both ways, the median half-widths, how many claims are decided, and whether the seeds agree.
"""

import argparse
import dataclasses
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from bench.quiet import Quiet
from tare.host.facts import memory_byte, online_processors
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request
from tare.pipeline import run_campaign
from tare.plan.campaign import Campaign, load_campaign
from tare.records import Verdict, Word

WIDEST = 0.05
"""The widest margin whose "within" counts as decided."""
Key = tuple[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    chosen = parser.parse_args()
    source = files("tare.plan").joinpath("presets", "quick.toml").read_text()
    turns = [_claims(source, seed) for seed in chosen.seeds]
    whole = _claims(source.replace("[turns]", '[turns]\nway = "whole"'), chosen.seeds[0])
    for key in turns[0]:
        row = [*(claims[key] for claims in turns), whole[key]]
        print(f"{key[0]}, {key[1]}: {' | '.join(map(_cell, row))}")
    for label, claims in [(f"turns, seed {s}", c) for s, c in zip(chosen.seeds, turns, strict=True)] + [
        ("whole trials", whole)
    ]:
        print(f"{label}: {_summary(claims)}")
    contrary = [key for key in turns[0] if {Word.SLOWER, Word.FASTER} <= {each[key].word for each in turns}]
    print(f"claims that two seeds contradict: {len(contrary)} of {len(turns[0])}")
    return 0


def _claims(source: str, seed: int) -> Mapping[Key, Verdict]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "quick.toml"
        file.write_text(source)
        campaign = dataclasses.replace(_loaded(file), seed=seed)
        request = Request(campaign=campaign, folder=ResultFolder(Path(folder) / "result"))
        judged = run_campaign(request, Quiet()).verdicts
    summaries = [(verdict, verdict.overhead.summary) for verdict in judged]
    return {(each.environment, each.metric): verdict for verdict, each in summaries if each.primary}


def _loaded(file: Path) -> Campaign:
    return load_campaign(file, host_processors=len(online_processors()), host_memory_byte=memory_byte())


def _half_width(verdict: Verdict) -> float | None:
    typical = verdict.overhead.typical
    return None if typical.low is None or typical.high is None else (typical.high - typical.low) / 2


def _cell(verdict: Verdict) -> str:
    half = _half_width(verdict)
    point = verdict.overhead.typical.point
    return f"{point:+.1%} " + ("no interval" if half is None else f"± {half:.1%}") + f", {verdict.said}"


def _decided(verdict: Verdict) -> bool:
    within = verdict.within is not None and verdict.within <= WIDEST
    return verdict.word in {Word.SLOWER, Word.FASTER} or (verdict.word is Word.WITHIN and within)


def _summary(claims: Mapping[Key, Verdict]) -> str:
    halves: Sequence[float] = [half for each in claims.values() if (half := _half_width(each)) is not None]
    decided = sum(map(_decided, claims.values()))
    middle = f"{statistics.median(halves):.2%}" if halves else "none"
    return f"{decided} of {len(claims)} decided, median half-width {middle} of {len(halves)} intervals"


if __name__ == "__main__":
    sys.exit(main())
