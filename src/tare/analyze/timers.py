# SPDX-License-Identifier: Apache-2.0
"""Whether the ratio of CPU time to wall time is the same as natively."""

from collections.abc import Sequence

from tare.analyze.contrasts import against_natives, between_two
from tare.records import Estimate, TimerAgreement, TimerSummary
from tare.statistics.contrasts import estimate
from tare.statistics.estimate import as_fraction


def timer_agreements(summaries: Sequence[TimerSummary]) -> tuple[TimerAgreement, ...]:
    """One per summary; it disagrees when the whole interval lies outside the interval of native against native."""
    agreements = []
    for summary in summaries:
        difference = as_fraction(estimate(against_natives(summary.log_ratios, summary.control_log_ratios)))
        band = as_fraction(estimate(between_two(summary.control_log_ratios)))
        agreements.append(
            TimerAgreement(
                summary=summary, difference=difference, band=band, disagrees=_is_outside(difference, band)
            )
        )
    return tuple(agreements)


def _is_outside(inner: Estimate, band: Estimate) -> bool:
    if inner.low is None or inner.high is None or band.low is None or band.high is None:
        return False
    extent = max(abs(band.low), abs(band.high))
    return inner.low > extent or inner.high < -extent
