# SPDX-License-Identifier: Apache-2.0
"""The first native run: whether the command runs at all, and how much memory it takes."""

from collections.abc import Sequence

from tare.errors import HostError, InputError
from tare.measure.context import Context
from tare.measure.session import run_within
from tare.records import NATIVE, Outcome, Rule, Status, Trial
from tare.units import format_duration


def run_pilot(context: Context, planned: Sequence[Trial], remaining_s: float) -> None:
    """Run natively once: a command that fails here would fail everywhere, so say it at once; the budget applies.

    Raises ``InputError``, or ``HostError`` if native itself is no valid reference.
    """
    trial = next(trial for trial in planned if trial.environment.name == NATIVE)
    outcome = run_within(context, trial, remaining_s)
    if outcome is None:
        raise InputError(
            f"the first native run did not end within the {format_duration(remaining_s)} that are left of the budget: "
            "give a larger --budget, or a shorter command"
        )
    if outcome.excluded_by is Rule.UNEQUAL:
        raise HostError(f"nothing can be compared with native as it is here: {outcome.reason}")
    remember_peak(context, outcome)
    if outcome.status is Status.FAILED:
        said = f"\n{outcome.excerpt.strip()}" if outcome.excerpt else ""
        who = "" if context.user is None else f"; it ran as {context.user}, see --as in docs/security.md"
        raise InputError(f"the command does not run natively in the image: {outcome.reason}{who}{said}")


def remember_peak(context: Context, outcome: Outcome) -> None:
    """Record the memory of a native command, as if each of its processors had a process of that size."""
    trial = outcome.trial
    if trial.environment.name == NATIVE and outcome.instances:
        largest_byte = max(run.maximum_rss_byte for run in outcome.instances)
        seen_byte = trial.layout.total_processors * largest_byte
        known_byte = context.peak_byte.get(trial.workload.name, 0)
        context.peak_byte[trial.workload.name] = max(known_byte, seen_byte)
