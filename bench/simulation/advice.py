# SPDX-License-Identifier: Apache-2.0
"""How often `tare advise` keeps its promise, with planted costs of resources and with overheads that have none.

    python -m bench.simulation.advice

Prints a line for each number of known workloads and each noise: docs/advise.md has them. Takes half a minute.
"""

import math
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from tare.analyze.advice import advise
from tare.records import Cell
from tare.records.advice import Application, Candidate, KnownWorkload, Resource

APPLICATIONS = 300
COSTS: Mapping[str, Mapping[Resource, float]] = {
    "filter": {Resource.KERNEL: 0.3, Resource.FAULTS: 1e-5},
    "best": {},
    "sandbox": {Resource.COMPUTING: 0.15, Resource.SWITCHES: 2e-5, Resource.KERNEL: 1.5},
}
LAYOUT = "1c2p1i"
EQUALS = 8
COMMON: Mapping[Resource, float] = {
    Resource.COMPUTING: 0.05,
    Resource.KERNEL: 0.6,
    Resource.SWITCHES: 1e-5,
}


def workload(number: int, noise: float, chance: random.Random, *, planted: bool) -> KnownWorkload:
    """One with rates as far apart as micro-benchmarks and applications are."""
    kernel, computing = chance.random() ** 2, chance.random()
    rates = {
        Resource.COMPUTING: computing * (1 - kernel),
        Resource.KERNEL: kernel,
        Resource.FAULTS: chance.lognormvariate(7, 1.5),
        Resource.SWITCHES: chance.lognormvariate(5, 2),
    }
    overheads = {}
    for name, costs in COSTS.items():
        own = sum(cost * rates[resource] for resource, cost in costs.items())
        truth = own if planted else chance.lognormvariate(-4, 1.2)
        overheads[name] = math.expm1(math.log1p(truth) + chance.gauss(0, noise))
    cell = Cell(workload=f"w{number}", layout=LAYOUT)
    return KnownWorkload(name=f"w{number}", cell=cell, rates=rates, overheads=overheads)


def simulate(known: int, noise: float, *, planted: bool) -> str:
    """New applications beside known workloads, all drawn alike."""
    chance = random.Random(1)  # noqa: S311 - a simulation
    counts: Counter[str] = Counter()
    arms = [Candidate(name=name, technology="fake") for name in COSTS]
    for _ in range(APPLICATIONS):
        own, *others = (workload(number, noise, chance, planted=planted) for number in range(known + 1))
        advice = advise(Application(name="x", layout=LAYOUT, rates=own.rates), arms, others)
        for each in advice.predicted:
            counts[each.basis] += 1
            overhead = each.overhead
            if each.stands and overhead and overhead.low is not None and overhead.high is not None:
                counts["predicted"] += 1
                counts["held"] += overhead.low <= own.overheads[each.arm.name] <= overhead.high
        counts["taken"] += bool(advice.take)
        counts["best taken"] += "best" in advice.take
    return f"{known} known, noise {noise:g}, {'planted' if planted else 'unrelated'}: {dict(sorted(counts.items()))}"


def workload_of_equals(number: int, noise: float, chance: random.Random, step: float) -> KnownWorkload:
    """One in ``EQUALS`` environments, each of which costs ``step`` more than the one before, relative to the first."""
    made = workload(number, noise, chance, planted=True)
    truth = sum(cost * made.rates[resource] for resource, cost in COMMON.items())
    overheads = {
        f"e{place}": math.expm1(math.log1p(truth * (1 + step * place)) + chance.gauss(0, noise))
        for place in range(EQUALS)
    }
    return replace(made, overheads=overheads)


def simulate_many(known: int, noise: float, step: float) -> str:
    """How often many environments at once are told apart, which is a mistake where ``step`` is 0."""
    chance = random.Random(1)  # noqa: S311 - a simulation
    counts: Counter[str] = Counter()
    arms = [Candidate(name=f"e{place}", technology="fake") for place in range(EQUALS)]
    for _ in range(APPLICATIONS // 3):
        own, *others = (workload_of_equals(number, noise, chance, step) for number in range(known + 1))
        advice = advise(Application(name="x", layout=LAYOUT, rates=own.rates), arms, others)
        lettered = [set(each.letters) for each in advice.predicted if each.stands]
        counts["ranked"] += len(lettered) > 1
        counts["apart"] += len(lettered) > 1 and not set.intersection(*lettered)
        counts["taken"] += bool(advice.take)
        counts["alone"] += len(advice.take) == 1
        counts["e0 taken"] += "e0" in advice.take
    return f"{known} known, noise {noise:g}, {EQUALS} with steps of {step:g}: {dict(sorted(counts.items()))}"


def main() -> None:
    """Print all lines."""
    for known in (9, 14, 20):
        for noise in (0.005, 0.02):
            print(simulate(known, noise, planted=True), flush=True)
        print(simulate(known, 0.005, planted=False), flush=True)
    for known in (9, 14, 22):
        for noise in (0.005, 0.02):
            for step in (0.0, 0.15):
                print(simulate_many(known, noise, step), flush=True)


if __name__ == "__main__":
    main()
