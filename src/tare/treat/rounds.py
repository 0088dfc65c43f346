# SPDX-License-Identifier: Apache-2.0
"""Slices of one block, compared round by round and summarized (docs/turns.md).

The slices of a round lie within a second, so anything that slows the machine down for longer slows all of them. Two
arms are compared by the Hodges-Lehmann centre of the rounds' log-ratios: a burst that hits one slice moves it little. A
block is still one value.
"""

import math
import statistics
from collections.abc import Mapping, Sequence

from tare.records import BlockRounds, Sample
from tare.treat.aggregate import log_time_per_work, one_run

_SLOW = math.log(1.2)
"""Log-ratio beyond which a slice counts as slow: its time against the median of its arm in the block."""


def round_times(samples: Sequence[Sample], instances: int) -> dict[int, float]:
    """Round → ln(time per unit of work) of one arm and metric; incomplete rounds are left out."""
    rounds: dict[int, list[Sample]] = {}
    for sample in samples:
        if sample.round is not None:
            rounds.setdefault(sample.round, []).append(sample)
    values = {number: one_run(group, instances) for number, group in rounds.items()}
    direction = samples[0].direction if samples else None
    return {
        number: log_time_per_work(value, direction)
        for number, value in values.items()
        if value is not None and direction is not None
    }


def block_rounds(
    native: tuple[Mapping[int, float], Mapping[int, float]], environment: Mapping[int, float]
) -> BlockRounds | None:
    """Compare the rounds that all three arms have; ``None`` if there are none.

    The environment is compared with each native slot separately: where a load delays single slices, two equal arms
    still differ symmetrically, but against their mean a third arm seems faster, because the median of a mean is later.
    """
    first, second = native
    common = sorted(first.keys() & second.keys() & environment.keys())
    if not common:
        return None
    slow = _slow([environment[at] for at in common])
    native_slow = [by for arm in native for by in _slow([arm[at] for at in common])]
    return BlockRounds(
        rounds=len(common),
        log_ratio=(_apart(environment, first, common) + _apart(environment, second, common)) / 2,
        control_log_ratio=_apart(second, first, common),
        slow=len(slow),
        native_slow=len(native_slow),
        slow_by=statistics.fmean(slow) if slow else None,
        native_slow_by=statistics.fmean(native_slow) if native_slow else None,
    )


def _apart(arm: Mapping[int, float], other: Mapping[int, float], rounds: Sequence[int]) -> float:
    return centre([arm[at] - other[at] for at in rounds])


def centre(values: Sequence[float]) -> float:
    """The median of the averages of all pairs of values, each with itself too (Hodges and Lehmann, 1963)."""
    return statistics.median(
        (value + other) / 2 for place, value in enumerate(values) for other in values[place:]
    )


def _slow(log_times: Sequence[float]) -> list[float]:
    """The fraction by which each slow slice of one arm exceeded its median one: a slow start has none by itself."""
    middle = statistics.median(log_times)
    return [math.expm1(value - middle) for value in log_times if value - middle > _SLOW]
