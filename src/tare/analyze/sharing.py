# SPDX-License-Identifier: Apache-2.0
"""The cost of company to an instance, the fairness among instances, and an environment's share in both."""

from collections.abc import Sequence
from statistics import fmean, median

from tare.analyze.contrasts import between_two
from tare.analyze.judgement import word_of
from tare.records import SharingLoss, SharingSummary
from tare.statistics.contrasts import estimate
from tare.statistics.estimate import as_fraction
from tare.statistics.median import median_estimate
from tare.statistics.variance import variation


def sharing_losses(summaries: Sequence[SharingSummary], margin: float) -> tuple[SharingLoss, ...]:
    """One loss per summary with a block, by the estimator of the overheads (docs/sharing.md)."""
    return tuple(_loss(summary, margin) for summary in summaries if summary.blocks)


def _loss(summary: SharingSummary, margin: float) -> SharingLoss:
    joined = between_two([fmean(losses) for losses in summary.log_losses])
    typical = as_fraction(estimate(joined))
    beyond = summary.beyond_native
    return SharingLoss(
        summary=summary,
        typical=typical,
        word=word_of(typical, joined, margin),
        each=tuple(as_fraction(estimate(between_two(own))) for own in zip(*summary.log_losses, strict=True)),
        variations=tuple(map(variation, zip(*summary.log_times, strict=True)))
        if len(summary.blocks) > 1
        else (),
        beyond_native=as_fraction(estimate(between_two(beyond))) if beyond else None,
        spread=median_estimate(summary.spreads) if summary.spreads else None,
        jain_index=median_estimate(summary.jain_indices) if summary.jain_indices else None,
        skew_s=median(summary.skews_s) if summary.skews_s else None,
        longest_skew_s=max(summary.skews_s, default=None),
    )
