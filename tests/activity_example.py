# SPDX-License-Identifier: Apache-2.0
"""Outcomes of profiled programs with planted times."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tare.records import Activity, Direction, Outcome, Sample
from tests.sharing_example import ALONE, Planted, sharing_outcomes

COMPUTING = {Activity.INIT: 0.2, Activity.COMPUTE: 1.5, Activity.COMMUNICATION: 0.3}
TALKING = {Activity.INIT: 0.25, Activity.COMPUTE: 1.5, Activity.COMMUNICATION: 0.75}


def profile_samples(times_s: Mapping[Activity, float], instance: int | None = None) -> tuple[Sample, ...]:
    """As a workload gives them: an activity that took no time has no sample."""
    return tuple(
        Sample(name=activity.metric, value=time_s, unit="s", direction=Direction.LESS, instance=instance)
        for activity, time_s in times_s.items()
        if time_s
    )


def profiled(outcome: Outcome, times_s: Mapping[Activity, float]) -> Outcome:
    """Each of its instances took as long."""
    instances = range(outcome.trial.layout.instances)
    own = tuple(sample for instance in instances for sample in profile_samples(times_s, instance))
    return replace(outcome, samples=(*outcome.samples, *own))


def profiled_outcomes(
    planted: Mapping[str, Mapping[Activity, float]], *, settings: Sequence[str] = (ALONE,), blocks: int = 10
) -> list[Outcome]:
    """Of each environment, native included, the same times in every block, but that messages take 1 % more in each."""
    outcomes = sharing_outcomes(dict.fromkeys(planted, Planted()), settings=settings, blocks=blocks)
    return [
        profiled(
            outcome,
            {
                activity: time_s * (1 + 0.01 * outcome.trial.block * (activity is Activity.COMMUNICATION))
                for activity, time_s in planted[outcome.trial.environment.name].items()
            },
        )
        for outcome in outcomes
    ]
