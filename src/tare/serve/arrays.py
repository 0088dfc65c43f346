# SPDX-License-Identifier: Apache-2.0
"""All samples of a result as columns, so that a million of them are filtered in milliseconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tare.records import NATIVE, Outcome, Sample, Status, Summary
from tare.treat.pairing import FIRST, cell_of


class MetricKey(NamedTuple):
    """Samples of one name in another unit or direction are another metric."""

    name: str
    unit: str
    direction: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSamples:
    """The samples of one arm, described."""

    arm: str
    trials: int
    samples: int
    minimum: float | None
    """``None``: it has no sample."""
    median: float | None
    maximum: float | None


class SampleArrays:
    """One row for each sample of a single figure; those of curves are left out."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        """Take all samples of the outcomes, in their order."""
        self._arms: dict[tuple[str, str, str, int], int] = {}
        self._arm = np.array([self._number(outcome) for outcome in outcomes], dtype=np.int64)
        self._block = np.array([outcome.trial.block for outcome in outcomes], dtype=np.int64)
        every = [[sample for sample in outcome.samples if not sample.coordinates] for outcome in outcomes]
        self._outcome = np.repeat(np.arange(len(every)), [len(own) for own in every])
        numbers: dict[MetricKey, int] = {}
        flat = list(chain.from_iterable(every))
        self._metric = np.fromiter(
            (numbers.setdefault(metric_key(sample), len(numbers)) for sample in flat), np.int32, len(flat)
        )
        self._value = np.fromiter((sample.value for sample in flat), np.float64, len(flat))
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._value)

    def of_point(self, summary: Summary, block: int | None) -> tuple[ArmSamples, ...]:
        """The samples behind a point of the chart: of its environment and of both natives, of ``OK`` trials."""
        number = self._numbers.get(MetricKey(summary.metric, summary.unit, summary.direction.name), -1)
        arms = (
            ("native", NATIVE, 0),
            ("native again", NATIVE, 1),
            (summary.environment, summary.environment, 0),
        )
        return tuple(
            self._described(shown, self._chosen(summary, name, replicate, block), number)
            for shown, name, replicate in arms
        )

    def _chosen(
        self, summary: Summary, environment: str, replicate: int, block: int | None
    ) -> NDArray[np.bool_]:
        arm = (summary.cell.workload, summary.cell.layout, environment, replicate)
        fits: NDArray[np.bool_] = self._arm == self._arms.get(arm, len(self._arms))
        return fits if block is None else fits & (self._block == block)

    def _number(self, outcome: Outcome) -> int:
        """Of its arm; -1 for a trial that does not count."""
        if outcome.status is not Status.OK:
            return -1
        cell, trial = cell_of(outcome), outcome.trial
        arm = (cell.workload, cell.layout, trial.environment.name, trial.replicate)
        return self._arms.setdefault(arm, len(self._arms))

    def _described(self, arm: str, trials: NDArray[np.bool_], number: int) -> ArmSamples:
        values = self._value[trials[self._outcome] & (self._metric == number)]
        return ArmSamples(
            arm=arm,
            trials=int(trials.sum()),
            samples=len(values),
            minimum=float(values.min()) if len(values) else None,
            median=float(np.median(values)) if len(values) else None,
            maximum=float(values.max()) if len(values) else None,
        )


def metric_key(sample: Sample) -> MetricKey:
    """As the analysis names it: the first of several iterations is a metric of its own."""
    name = f"{sample.name}{FIRST}" if sample.iteration == 0 else sample.name
    return MetricKey(name, sample.unit, sample.direction.name)
