# SPDX-License-Identifier: Apache-2.0
"""The cost of company to an instance, the fairness among instances, and an environment's share in both."""

from collections.abc import Iterator, Sequence
from statistics import fmean, median

from tare.analyze.contrasts import between_two
from tare.analyze.differences import signed_range
from tare.analyze.judgement import word_of
from tare.records import (
    Decision,
    FailIf,
    Family,
    Ruling,
    SharingLoss,
    SharingSummary,
    Standing,
)
from tare.statistics.contrasts import Contrast, estimate
from tare.statistics.estimate import as_fraction
from tare.statistics.evidence import Reach, difference_p, equivalence_p
from tare.statistics.median import median_estimate
from tare.statistics.multiplicity import ERROR, among, joint_error
from tare.statistics.variance import variation


def sharing_losses(
    summaries: Sequence[SharingSummary], margin: float, additions: int = 0
) -> tuple[SharingLoss, ...]:
    """One loss per summary with a block, by the estimator of the overheads (docs/sharing.md).

    The losses by primary metrics are one family, whose intervals hold jointly, all others another, as for verdicts.
    After each of the ``additions`` of blocks to a finished result, half of the previous error is left, as for verdicts.
    """
    whole = [summary for summary in summaries if summary.blocks]
    contrasts = [between_two([fmean(losses) for losses in summary.log_losses]) for summary in whole]
    looks = 2**additions
    standings = _standings(whole, contrasts, margin, looks)
    return tuple(
        _loss(summary, contrast, standing, margin, ERROR / looks)
        for summary, contrast, standing in zip(whole, contrasts, standings, strict=True)
    )


def _standings(
    summaries: Sequence[SharingSummary], contrasts: Sequence[Contrast], margin: float, looks: int
) -> list[Standing]:
    """Each loss within its family."""
    by_place: dict[int, Standing] = {}
    for family in Family:
        exploratory = family is Family.EXPLORATORY
        places = [place for place, each in enumerate(summaries) if each.primary is not exploratory]
        own = [(contrasts[place], Reach.at_once(len(summaries[place].blocks))) for place in places]
        differences = [min(1.0, looks * difference_p(*each)) for each in own]
        equivalences = [min(1.0, looks * equivalence_p(each, margin, reach)) for each, reach in own]
        any_word = [min(pair[0], 2 * pair[1]) for pair in zip(differences, equivalences, strict=True)]
        error = joint_error(any_word, exploratory=exploratory)
        for place, difference, equivalence in zip(places, differences, equivalences, strict=True):
            by_place[place] = Standing(
                family=family,
                size=len(places),
                difference_p=difference,
                adjusted_difference_p=among(difference, error),
                equivalence_p=equivalence,
                adjusted_equivalence_p=among(2 * equivalence, error),
                together=as_fraction(estimate(contrasts[place], error / looks)),
            )
    return [by_place[place] for place in range(len(summaries))]


def loss_decisions(
    losses: Sequence[SharingLoss], conditions: Sequence[FailIf], environments: Sequence[str]
) -> tuple[Decision, ...]:
    """Answer the conditions on losses, for each environment and setting with company, by the loss's own interval.

    Their blocks are not looked at in between, so one interval decides. An environment without a loss is undecided.
    """
    asked = [condition for condition in conditions if condition.loss]
    return tuple(
        decision
        for condition in asked
        for name in environments
        if condition.environment in (None, name)
        for decision in _decided(condition, name, losses)
    )


def _decided(condition: FailIf, name: str, losses: Sequence[SharingLoss]) -> Iterator[Decision]:
    own = [
        loss
        for loss in losses
        if loss.summary.environment == name
        and (loss.summary.primary if condition.metric is None else loss.summary.metric == condition.metric)
    ]
    limit = f"{100 * condition.threshold:g} %"
    if not own:
        sentence = (
            f"{name}: undecided whether the loss exceeds {limit}: no complete block has one with company"
        )
        yield Decision(
            condition=condition,
            cell=None,
            environment=name,
            metric=None,
            ruling=Ruling.UNDECIDED,
            interval=None,
            sentence=sentence,
        )
    for loss in own:
        cell, ruling = loss.summary.cells.shared, _ruling(loss, condition.threshold)
        said = f"{name} ({loss.summary.metric} of {cell.workload} on {cell.layout}): {_WORDS[ruling]} {limit}"
        yield Decision(
            condition=condition,
            cell=cell,
            environment=name,
            metric=loss.summary.metric,
            ruling=ruling,
            interval=loss.typical,
            sentence=f"{said}: {_extent(loss)}",
        )


_WORDS = {
    Ruling.EXCEEDED: "the loss exceeds",
    Ruling.KEPT: "the loss does not exceed",
    Ruling.UNDECIDED: "undecided whether the loss exceeds",
}


def _ruling(loss: SharingLoss, threshold: float) -> Ruling:
    low, high = loss.typical.low, loss.typical.high
    if loss.withheld or low is None or high is None:
        return Ruling.UNDECIDED
    return Ruling.EXCEEDED if low > threshold else Ruling.KEPT if high <= threshold else Ruling.UNDECIDED


def _extent(loss: SharingLoss) -> str:
    low, high, n = loss.typical.low, loss.typical.high, loss.typical.n
    if loss.withheld:
        return f"the machine was too busy (n = {n})"
    if low is None or high is None:
        return f"too few blocks for an interval (n = {n})"
    return f"{signed_range(low, high)} (n = {n})"


def _loss(
    summary: SharingSummary, contrast: Contrast, standing: Standing, margin: float, error: float
) -> SharingLoss:
    typical = as_fraction(estimate(contrast, error))
    beyond = summary.beyond_native
    each = zip(*summary.log_losses, strict=True)
    return SharingLoss(
        summary=summary,
        typical=typical,
        word=word_of(standing.together, margin),
        alone=word_of(typical, margin),
        standing=standing,
        each=tuple(as_fraction(estimate(between_two(own), error)) for own in each),
        variations=tuple(map(variation, zip(*summary.log_times, strict=True)))
        if len(summary.blocks) > 1
        else (),
        beyond_native=as_fraction(estimate(between_two(beyond), error)) if beyond else None,
        spread=median_estimate(summary.spreads) if summary.spreads else None,
        jain_index=median_estimate(summary.jain_indices) if summary.jain_indices else None,
        skew_s=median(summary.skews_s) if summary.skews_s else None,
        longest_skew_s=max(summary.skews_s, default=None),
        skew_bound_s=summary.skew_bound_s,
    )
