# SPDX-License-Identifier: Apache-2.0
"""From the times of all ranks to samples: bandwidth and time of each phase, its least, mean and most over the ranks."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from tare.records import Coordinate, Direction, Sample
from tare.workloads.mpiio.result import MpiioResult, PointTimes

PRIMARY = "bandwidth_byte_per_s"
_MOVING = {"write": ("write", "sync"), "read": ("read",)}
"""Operation → the phases after which its bytes are where they belong."""


def samples_of(result: MpiioResult, records_byte: Sequence[int]) -> list[Sample]:
    """The samples of a run that was found right. Several record sizes make a curve of each metric over ``record``."""
    alone = len(records_byte) == 1
    samples, bandwidths = [], []
    for record_byte in records_byte:
        files = [point for point in result.points if point.record_byte == record_byte]
        at = () if alone else (Coordinate("record", float(record_byte), "B"),)
        bandwidth = _total_bandwidth(result, files)
        bandwidths.append(bandwidth)
        samples += [] if alone else [_rate(PRIMARY, bandwidth, at)]
        for each in files[0].phases:
            samples += _phase_samples(each.phase, result, files, at)
    headline = math.exp(fmean(map(math.log, bandwidths)))
    return [_rate(PRIMARY, headline, ()), *samples]


def _total_bandwidth(result: MpiioResult, files: Sequence[PointTimes]) -> float:
    """Bytes of all ranks per time of the slowest, from the first byte to the last phase that they need."""
    phases = _MOVING[result.operation]
    times_s = [
        max(map(sum, zip(*(point.seconds(phase) for phase in phases), strict=True))) for point in files
    ]
    return result.total_byte / fmean(times_s)


def _phase_samples(
    phase: str, result: MpiioResult, files: Sequence[PointTimes], at: tuple[Coordinate, ...]
) -> Iterator[Sample]:
    """Means over the repetitions; a single rank has no spread over ranks."""
    ranks_s = [point.seconds(phase) for point in files]
    moves = phase in _MOVING
    slowest_s = fmean(map(max, ranks_s))
    yield _time(f"{phase}_s", slowest_s, at)
    if moves and _MOVING[phase] != (phase,):  # else the primary metric is the same figure
        yield _rate(f"{phase}_byte_per_s", result.total_byte / slowest_s, at)
    if result.ranks == 1:
        return
    for name, choose in (("least", min), ("mean", fmean)):
        yield _time(f"{phase}_{name}_s", fmean(map(choose, ranks_s)), at)
    if moves:
        rates = [[result.size_byte / rank_s for rank_s in seconds] for seconds in ranks_s]
        for name, choose in (("least", min), ("mean", fmean), ("most", max)):
            yield _rate(f"{phase}_rank_{name}_byte_per_s", fmean(map(choose, rates)), at)


def _time(name: str, value_s: float, at: tuple[Coordinate, ...]) -> Sample:
    return Sample(name=name, value=value_s, unit="s", direction=Direction.LESS, coordinates=at)


def _rate(name: str, value: float, at: tuple[Coordinate, ...]) -> Sample:
    return Sample(name=name, value=value, unit="B/s", direction=Direction.MORE, coordinates=at)
