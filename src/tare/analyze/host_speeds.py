# SPDX-License-Identifier: Apache-2.0
"""Which of a campaign's hosts is slower than the others, by the work that each does before native trials."""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from tare.records import HostSpeed, Outcome
from tare.statistics.estimate import LEVEL, as_fraction
from tare.statistics.student import mean_estimate

_WORTH_A_NAME = 0.05


def host_speeds(outcomes: Sequence[Outcome]) -> tuple[HostSpeed, ...]:
    """Each host against the median of the others, the slowest first; intervals are for all hosts together (Bonferroni).

    Within a block hosts are compared with each other. Where each block has one host alone, blocks are.
    """
    by_block = _log_times(outcomes)
    hosts = {host for times in by_block.values() for host in times}
    if len(hosts) < 2:  # noqa: PLR2004 - one host has nothing to be slower than
        return ()
    apart: dict[str, list[float]] = defaultdict(list)
    for host, value in apart_from_others(by_block):
        apart[host].append(value)
    level = 1 - (1 - LEVEL) / len(apart)
    speeds = [_speed(host, values, level) for host, values in sorted(apart.items())]
    return tuple(sorted(speeds, key=lambda speed: -speed.slower.point))


def _log_times(outcomes: Sequence[Outcome]) -> Mapping[int, Mapping[str, float]]:
    """Block → host → mean of ln(time)."""
    times: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for outcome in outcomes:
        for host, time_s in outcome.host_times_s.items():
            times[outcome.trial.block][host].append(math.log(time_s))
    return {
        block: {host: statistics.fmean(own) for host, own in hosts.items()} for block, hosts in times.items()
    }


def apart_from_others(by_block: Mapping[int, Mapping[str, float]]) -> Iterator[tuple[str, float]]:
    """Host and value less the other hosts' median, in its block or, where blocks have one host each, in all."""
    together = [list(times.items()) for times in by_block.values() if len(times) > 1]
    everything = [entry for times in by_block.values() for entry in times.items()]
    for entries in together or [everything]:
        for host, time in entries:
            yield host, time - statistics.median(other for name, other in entries if name != host)


def _speed(host: str, values: Sequence[float], level: float) -> HostSpeed:
    slower = as_fraction(mean_estimate(values, level))
    return HostSpeed(host=host, slower=slower, is_slow=slower.low is not None and slower.low > _WORTH_A_NAME)
