# SPDX-License-Identifier: Apache-2.0
"""Known workloads whose overheads are sums of planted costs of what they use, as records and as a result folder."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from bench import fake_results

from tare.plan.campaign import Campaign
from tare.records import NATIVE, Cell, Environment, Outcome, Sample, Scope, Signal, Workload
from tare.records.advice import Application, Candidate, KnownWorkload, Resource

LAYOUT = "1c1p1i"
COSTS: Mapping[str, Mapping[Resource, float]] = {
    "plain": {},
    "filter": {Resource.KERNEL: 0.3, Resource.FAULTS: 2e-5},
    "sandbox": {Resource.COMPUTING: 0.1, Resource.KERNEL: 3.0, Resource.SWITCHES: 1e-3},
}
"""Environment -> extra seconds of one unit of each resource."""
ARMS = [Candidate(name=name, technology="fake") for name in COSTS]


def rates_of(seed: int) -> dict[Resource, float]:
    """Of one workload; all differ."""
    chance = Random(seed)  # noqa: S311 - data
    kernel = chance.random() ** 2
    return {
        Resource.COMPUTING: chance.random() * (1 - kernel),
        Resource.KERNEL: kernel,
        Resource.FAULTS: chance.uniform(10, 5000),
        Resource.SWITCHES: chance.uniform(1, 900),
    }


def overhead_of(rates: Mapping[Resource, float], costs: Mapping[Resource, float]) -> float:
    return sum(cost * rates[resource] for resource, cost in costs.items())


def known_workload(
    name: str, rates: Mapping[Resource, float], overheads: Mapping[str, float]
) -> KnownWorkload:
    return KnownWorkload(
        name=name, cell=Cell(workload=name, layout=LAYOUT), rates=dict(rates), overheads=dict(overheads)
    )


def planted(
    count: int, costs: Mapping[str, Mapping[Resource, float]] = COSTS, noise: float = 0.002
) -> list[KnownWorkload]:
    chance = Random(5)  # noqa: S311 - noise
    return [
        known_workload(
            f"known-{seed}",
            rates,
            {
                name: (1 + overhead_of(rates, own)) * math.exp(chance.gauss(0, noise)) - 1
                for name, own in costs.items()
            },
        )
        for seed in range(count)
        for rates in [rates_of(seed)]
    ]


def application(rates: Mapping[Resource, float]) -> Application:
    return Application(name="app", layout=LAYOUT, rates=dict(rates))


def write_planted(
    path: Path,
    names: Sequence[str],
    patch: pytest.MonkeyPatch,
    costs: Mapping[str, Mapping[Resource, float]] = COSTS,
    blocks: int = 6,
) -> None:
    """A result of these workloads; a name's number is the seed of its rates."""

    def campaign(_blocks: int, _environments: int) -> Campaign:
        return replace(
            fake_results_campaign(blocks, 1),
            environments=tuple(Environment(name=name, technology="fake") for name in costs),
            workloads=tuple(
                Workload(name=name, kind="fake", options={"seed": _number(name)}) for name in names
            ),
        )

    fake_results_campaign = fake_results.campaign
    with patch.context() as within:
        within.setattr(fake_results, "campaign", campaign)
        fake_results.write_result(path, blocks, 1, lambda made, chance: _as_planted(made, costs, chance))
    assert json.loads((path / "campaign.json").read_text())["name"] == "fakes"


def _number(name: str) -> int:
    return int(name.rpartition("-")[2])


def _as_planted(made: Outcome, costs: Mapping[str, Mapping[Resource, float]], chance: Random) -> Outcome:
    rates, environment = rates_of(_number(made.trial.workload.name)), made.trial.environment.name
    more = 0.0 if environment == NATIVE else overhead_of(rates, costs[environment])
    wall_s = (1 + more) * math.exp(chance.gauss(0, 0.002))
    (run,) = made.instances
    clocks = replace(run.clocks, wall_s=wall_s, host_wall_s=wall_s)
    user_s, system_s = rates[Resource.COMPUTING], rates[Resource.KERNEL]
    counted = {"minor_faults": Resource.FAULTS, "voluntary_switches": Resource.SWITCHES}
    return replace(
        made,
        cpu_s=user_s + system_s,
        samples=tuple(_as_long(sample, wall_s) for sample in made.samples),
        instances=(replace(run, clocks=clocks, start_offset_s=0.0, user_s=user_s, system_s=system_s),),
        signals=tuple(
            Signal(name=name, unit="1", scope=Scope.NODE, value=rates[resource])
            for name, resource in counted.items()
        ),
        load=None,
    )


def _as_long(sample: Sample, wall_s: float) -> Sample:
    return replace(sample, value=wall_s)
