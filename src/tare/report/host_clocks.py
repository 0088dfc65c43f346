# SPDX-License-Identifier: Apache-2.0
"""The clocks of a campaign's hosts against this host's, in words and as JSON."""

from collections.abc import Iterator
from typing import Any

from tare.foreign import one_line
from tare.records import Analysis
from tare.records.host_clocks import HostClockSummary, StartSkew
from tare.report.shape import JsonShape, Number, key

CLOCKS_EXPLANATION = (
    "Each host's clock (CLOCK_MONOTONIC_RAW) against that of the host on which Tare runs, by exchanges before, during "
    "and after each trial's commands. The bounds hold for any delays on the way, if the clock's rate is constant and "
    "within 100 ppm of this host's."
)


class HostClockShape(JsonShape):
    """One object per trial and host of the campaign's list."""

    trial: str = key("the trial's identity")
    host: str = key("the host's name in the campaign")
    offset_s: Number = key(
        "its clock minus this host's, in the middle of the exchanges; `null`: its readings fit no honest clock"
    )
    bound_s: Number = key("largest error of the offset, whatever the delays on the way; `null` as above")
    drift_low_ppm: Number = key(
        "bounds of its rate against this host's, in millionths; `null`: no constant rate explains the exchanges"
    )
    drift_high_ppm: Number = key("as above")
    exchanges: int = key("how many questions and answers")
    least_round_trip_s: Number = key("the quickest of them, in seconds")
    span_s: Number = key("from the first question to the last answer, in seconds")
    at_s: Number = key("the moment of the offset, by the clock of the host on which Tare runs")


class HostClocksJson(JsonShape):
    host_clocks: list[HostClockShape] = key(
        "the clocks of the campaign's hosts, trial by trial; empty where it lists none",
        lambda analysis: list(_clocks(analysis)),
    )


def _clocks(analysis: Analysis) -> Iterator[dict[str, Any]]:
    for outcome in analysis.outcomes:
        for host, clock in outcome.host_clocks.items():
            yield HostClockShape.taken(clock, trial=outcome.trial.identity, host=host)


def clock_said(clock: HostClockSummary) -> str:
    """Such as "node3: +3.000012 s, within 0.067 ms in each of 12 trials; it gains -2.1 to +1.3 ppm"."""
    parts = []
    if clock.offset_s is not None and clock.bound_s is not None:
        each = "in its trial" if clock.trials == 1 else f"in each of {clock.trials} trials"
        parts.append(f"{clock.offset_s:+.6f} s, within {1000 * clock.bound_s:.3f} ms {each}")
    if clock.drift_low_ppm is not None and clock.drift_high_ppm is not None:
        parts.append(
            f"it gains {_ppm(clock.drift_low_ppm - 0.05)} to {_ppm(clock.drift_high_ppm + 0.05)} ppm"
        )
    if clock.refuted:
        parts.append(f"NOT KNOWN in {clock.refuted}: it stepped, or runs at another rate")
    return f"{one_line(clock.host)}: {'; '.join(parts)}"


def skew_said(skew: StartSkew) -> str:
    """Such as "instances on several hosts began within 0.2 ms of each other (...)"."""
    trials = "trial" if skew.trials == 1 else "trials"
    return (
        f"instances on several hosts began {1000 * skew.median_s:.3f} ms apart (median; at most "
        f"{1000 * skew.longest_s:.3f} ms), each known within {1000 * skew.bound_s:.3f} ms (n = {skew.trials} {trials})"
    )


def _ppm(rate_ppm: float) -> str:
    return f"{rate_ppm:+.1f}".replace("-", "\N{MINUS SIGN}")
