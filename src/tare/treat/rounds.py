# SPDX-License-Identifier: Apache-2.0
"""Slices of one block, compared round by round and summed up (docs/turns.md).

The slices of a round lie within a second, so what slows the machine down for longer slows all of them. Of the rounds'
log-ratios of two arms the Hodges-Lehmann centre is taken: a burst that hits one slice moves it little. A block is still
one value.
"""

import math
import statistics
from collections.abc import Mapping, Sequence

from tare.records import BlockRounds, Sample
from tare.treat.aggregate import log_time_per_work, one_run

_SLOW = math.log(1.2)
"""Of a slice that took so much longer than its round's median."""


def round_times(samples: Sequence[Sample], instances: int) -> dict[int, float]:
    """Round → ln(time per unit of work) of one arm and metric; a round that is not whole is left out."""
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
    """Compare the rounds that all three arms have; ``None`` without any.

    The environment is set against each native slot by itself: where a load delays single slices, two arms that are
    alike still differ symmetrically, but less their mean a third seems faster, as the middle of a mean is later.
    """
    first, second = native
    common = sorted(first.keys() & second.keys() & environment.keys())
    if not common:
        return None
    slow = _slow([environment[at] for at in common])
    return BlockRounds(
        rounds=len(common),
        log_ratio=(_apart(environment, first, common) + _apart(environment, second, common)) / 2,
        control_log_ratio=_apart(second, first, common),
        slow=len(slow),
        native_slow=sum(len(_slow([arm[at] for at in common])) for arm in native),
        slow_by=statistics.median(slow) if slow else None,
    )


def _apart(arm: Mapping[int, float], other: Mapping[int, float], rounds: Sequence[int]) -> float:
    return centre([arm[at] - other[at] for at in rounds])


def centre(values: Sequence[float]) -> float:
    """The median of all averages of two of the values, each with itself too (Hodges and Lehmann, 1963)."""
    return statistics.median(
        (value + other) / 2 for place, value in enumerate(values) for other in values[place:]
    )


def _slow(log_times: Sequence[float]) -> list[float]:
    """By which fraction each of the slow ones took more than the middle one."""
    middle = statistics.median(log_times)
    return [math.expm1(value - middle) for value in log_times if value - middle > _SLOW]
