# SPDX-License-Identifier: Apache-2.0
"""Points of curves and surfaces joined to the figures that were declared for ranges of them."""

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tare.records import Cell, Coordinate, Outcome, Range, Sample, Status
from tare.treat.aggregate import usable
from tare.treat.pairing import cell_of

_Key = tuple[Cell, str]
"""A cell and the name of a range."""
_Places = frozenset[tuple[Coordinate, ...]]
_Run = tuple[int | None, int | None, int | None, int | None]
"""Instance, iteration, round and process."""


def with_ranges(outcomes: Sequence[Outcome], ranges: Mapping[str, Sequence[Range]]) -> tuple[Outcome, ...]:
    """Each outcome with a sample for every range of its workload, by ``ranges`` of workloads.

    A run counts only with all places that any trial of its cell has in the range: over fewer, a mean is another figure.
    """
    expected: dict[_Key, _Places] = {}
    for outcome in outcomes:
        for each in ranges.get(outcome.trial.workload.name, ()) if outcome.status is Status.OK else ():
            key = cell_of(outcome), each.name
            expected[key] = expected.get(key, frozenset()) | {
                sample.coordinates for sample in _within(outcome.samples, each)
            }
    return tuple(
        _with_figures(outcome, ranges.get(outcome.trial.workload.name, ()), expected) for outcome in outcomes
    )


def _with_figures(outcome: Outcome, ranges: Sequence[Range], expected: Mapping[_Key, _Places]) -> Outcome:
    figures = [
        figure
        for each in ranges
        for figure in _figures(
            each, outcome.samples, expected.get((cell_of(outcome), each.name), frozenset())
        )
    ]
    return replace(outcome, samples=(*outcome.samples, *figures)) if figures else outcome


def _figures(wanted: Range, samples: Iterable[Sample], places: _Places) -> Iterator[Sample]:
    runs: dict[_Run, list[Sample]] = {}
    for sample in _within(samples, wanted):
        run = sample.instance, sample.iteration, sample.round, sample.process
        runs.setdefault(run, []).append(sample)
    for points in runs.values():
        complete = len(points) == len(places) and {point.coordinates for point in points} == places
        if complete and all(usable(point.value) for point in points):
            value = math.exp(statistics.fmean(math.log(point.value) for point in points))
            yield replace(points[0], name=wanted.name, value=value, coordinates=())


def _within(samples: Iterable[Sample], wanted: Range) -> Iterator[Sample]:
    for sample in samples:
        if sample.name == wanted.metric and sample.coordinates:
            places = {each.name: each.value for each in sample.coordinates}
            if all(_holds(places.get(name), *bounds) for name, bounds in wanted.bounds.items()):
                yield sample


def _holds(place: float | None, least: float | None, most: float | None) -> bool:
    return place is not None and (least is None or least <= place) and (most is None or place <= most)
