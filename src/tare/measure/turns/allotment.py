# SPDX-License-Identifier: Apache-2.0
"""The distribution of a block's rounds among the pieces: the noisier a piece is on native, the more it gets.

Neyman, Journal of the Royal Statistical Society 97 (1934) 558-625: for a fixed number of slices, shares in proportion
to the standard deviations minimize the sum of all variances. Only native counts, so that an environment's behaviour
cannot change how it is measured.
"""

import statistics
from collections.abc import Mapping, Sequence

from tare.records import NATIVE, Outcome, Sample
from tare.workloads import pieces_of

FEWEST_ROUNDS = 3
_MOST_TIMES = 4.0
_OF_NORMAL = 1.4826
"""Standard deviation of normal noise over its median absolute deviation, which bursts affect little."""

_Differences = dict[str, list[float]]


class Allotment:
    """Learns from the finished blocks; the first block has equally many rounds of each piece."""

    def __init__(self) -> None:
        self._natives: dict[str, dict[int, Outcome]] = {}
        self._differences: _Differences = {}

    def learn(self, outcomes: Sequence[Outcome]) -> None:
        """Learn from the native outcomes of one block and workload; others are ignored."""
        for outcome in outcomes:
            trial = outcome.trial
            if trial.environment.name == NATIVE and outcome.turns is not None and outcome.turns.counts:
                pair = self._natives.setdefault(outcome.turns.together, {})
                pair[trial.replicate] = outcome
                if len(pair) > 1:
                    self._compare(*pair.values())

    def _compare(self, first: Outcome, second: Outcome) -> None:
        wanted = {piece.metric for piece in pieces_of(first.trial.workload)}
        for name, times in _times(first.samples).items():
            if name not in wanted:
                continue
            others = _times(second.samples).get(name, {})
            relative = [times[at] / others[at] - 1 for at in times.keys() & others.keys() if others[at] > 0]
            self._differences.setdefault(name, []).extend(relative)

    def rounds(self, metric: str, usual: int) -> int:
        """Rounds in one start of the program, for the piece of this metric."""
        spreads = {name: _spread(values) for name, values in self._differences.items()}
        known = [spread for spread in spreads.values() if spread > 0]
        if metric not in spreads or not known:
            return usual
        share = min(_MOST_TIMES, spreads[metric] / statistics.fmean(known))
        return max(FEWEST_ROUNDS, round(usual * share))


def _times(samples: Sequence[Sample]) -> Mapping[str, Mapping[int, float]]:
    """Metric → round → value, a time or a rate, of the first instance."""
    times: dict[str, dict[int, float]] = {}
    for sample in samples:
        if sample.round is not None and not sample.instance:
            times.setdefault(sample.name, {})[sample.round] = sample.value
    return times


def _spread(values: Sequence[float]) -> float:
    middle = statistics.median(values) if values else 0.0
    return _OF_NORMAL * statistics.median(abs(value - middle) for value in values) if values else 0.0
