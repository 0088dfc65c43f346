# SPDX-License-Identifier: Apache-2.0
"""Warnings about clocks that went backward, for every verdict that rests on them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tare.records import NATIVE, ClockQuality, Outcome, Verdict


def with_clock_warnings(verdicts: Sequence[Verdict], outcomes: Sequence[Outcome]) -> tuple[Verdict, ...]:
    """Put the warning on all verdicts of an environment; native's concerns every verdict."""
    warnings: dict[str, str] = {}
    for outcome in outcomes:
        for quality in outcome.clock_quality:
            for words in _backward(quality):
                name = outcome.trial.environment.name
                warnings.setdefault(name, f"a clock of {name} went backward: {words}")
    return tuple(
        replace(verdict, warnings=(*verdict.warnings, *_own(verdict, warnings))) for verdict in verdicts
    )


def _own(verdict: Verdict, warnings: dict[str, str]) -> list[str]:
    names = dict.fromkeys((NATIVE, verdict.overhead.summary.environment))
    return [warnings[name] for name in names if name in warnings]


def _backward(quality: ClockQuality) -> Iterator[str]:
    if quality.backward_exchanges:
        yield (
            f"{quality.backward_exchanges} of {quality.exchanges} readings passed between processors, "
            f"by up to {quality.worst_backward_ns} ns"
        )
    for name, clock in quality.clocks.items():
        if clock.backward_steps:
            yield f"{clock.backward_steps} of {clock.readings} readings of {name} in one thread"
