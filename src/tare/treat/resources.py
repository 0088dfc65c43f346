# SPDX-License-Identifier: Apache-2.0
"""What a program uses while it runs natively: rates per second and busy processor, from what every trial counts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median

from tare.records import NATIVE, Cell, Outcome, RunFacts, Scope, Status, TracedCalls, is_without_load
from tare.records.advice import Resource
from tare.treat.pairing import cell_of
from tare.treat.signals import run_facts

Counted = Mapping[Resource, float]
"""Amounts of one trial that its own records do not hold, such as the messages of its profile."""

_SIGNALS = {"minor_faults": Resource.FAULTS, "voluntary_switches": Resource.SWITCHES}
_MEMORY_BOUND: Mapping[str, float] = {"memory": 1.0, "compute": 0.0, "os": 0.0, "messages": 0.0, "hpl": 0.0}
"""Kinds of workloads of which it is known by what they are made for; of all others it is missing."""
_CALLS_PER_UNIT: Mapping[str, float] = {
    "compute": 0.0,
    "memory bandwidth": 0.0,
    "random access": 0.0,
    "page fault": 0.0,
    "system calls": 1.0,
    "open and close": 2.0,
    "mmap and munmap": 2.0,
    "pipe round trip": 4.0,
    "futex round trip": 4.0,
}
"""System calls of one unit of Tare's own pieces, as their programs are written (native/slices): a tracer cannot count
those of one slice."""
_WITHOUT_MPI = frozenset({"compute", "memory", "os", "files", "iozone", "iperf3", "sockperf", "connections"})
"""Kinds of workloads that never send a message by MPI."""


def resource_rates(
    outcomes: Sequence[Outcome], counted: Mapping[str, Counted], traced: TracedCalls
) -> dict[Cell, dict[Resource, float]]:
    """For each cell the medians over its native trials; what no trial has is missing.

    ``counted``: identity of a trial \N{RIGHTWARDS ARROW} further amounts.
    """
    rates: dict[Cell, dict[Resource, list[float]]] = defaultdict(lambda: defaultdict(list))
    for outcome in outcomes:
        facts = run_facts(outcome) if outcome.status is Status.OK else None
        if facts is None or outcome.trial.environment.name != NATIVE:
            continue
        cell = cell_of(outcome)
        for resource, rate in _rates(outcome, facts, counted.get(outcome.trial.identity, {})):
            rates[cell][resource].append(rate)
        rates[cell][Resource.CALLS].extend(_calls_of_pieces(outcome) or _calls(cell, facts, traced))
    return {
        cell: {resource: median(own) for resource, own in each.items() if own} for cell, each in rates.items()
    }


def _rates(outcome: Outcome, facts: RunFacts, counted: Counted) -> Iterator[tuple[Resource, float]]:
    busy_s = facts.wall_s * facts.runnable_threads
    yield from _processor(outcome, busy_s)
    for signal in outcome.signals:
        if signal.name in _SIGNALS and signal.scope is Scope.NODE:
            yield _SIGNALS[signal.name], max(signal.value, 0.0) / busy_s
    kind = outcome.trial.workload.kind
    known = {**_by_kind(kind), **counted}
    for resource, amount in known.items():
        yield resource, amount if resource is Resource.MEMORY else amount / busy_s


def _by_kind(kind: str) -> Counted:
    silent = (Resource.MESSAGES, Resource.MESSAGE_BYTES) if kind in _WITHOUT_MPI else ()
    bound = {Resource.MEMORY: _MEMORY_BOUND[kind]} if kind in _MEMORY_BOUND else {}
    return {**dict.fromkeys(silent, 0.0), **bound}


def _processor(outcome: Outcome, busy_s: float) -> Iterator[tuple[Resource, float]]:
    """CPU time by its two parts, as the commands' own accounts divide it; not known of what spans nodes."""
    user_s = sum(run.user_s for run in outcome.instances)
    system_s = sum(run.system_s for run in outcome.instances)
    whole_s = user_s + system_s
    if outcome.cpu_s is None or whole_s <= 0 or outcome.trial.layout.cooperative:
        return
    yield Resource.COMPUTING, min(outcome.cpu_s * user_s / whole_s / busy_s, 1.0)
    yield Resource.KERNEL, min(outcome.cpu_s * system_s / whole_s / busy_s, 1.0)


def _calls_of_pieces(outcome: Outcome) -> list[float]:
    """The mean over the pieces, which take equal parts of the time; empty unless all are known."""
    times_s: dict[str, list[float]] = defaultdict(list)
    for sample in outcome.samples:
        if sample.round is not None and not is_without_load(sample.name):
            times_s[sample.name].append(sample.value)
    if not times_s or not times_s.keys() <= _CALLS_PER_UNIT.keys():
        return []
    return [fmean(_CALLS_PER_UNIT[name] / median(own) for name, own in times_s.items())]


def _calls(cell: Cell, facts: RunFacts, traced: TracedCalls) -> Iterator[float]:
    """Of a spare run that was traced to its end, over the time of a run that was not."""
    counts = traced.counts.get(cell, {}).get(NATIVE)
    if counts is not None and counts.whole:
        yield sum(counts.made.values()) / (facts.wall_s * facts.runnable_threads)
