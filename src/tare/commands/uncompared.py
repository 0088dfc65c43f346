# SPDX-License-Identifier: Apache-2.0
"""When a campaign ends without a comparison: why, and what to do next."""

from collections import Counter
from collections.abc import Iterator

from tare.drawing.words import counted
from tare.foreign import one_line
from tare.journal.result import CAMPAIGN_FILE, ResultFolder
from tare.plan.campaign import Campaign
from tare.records import NATIVE, Analysis, Status
from tare.report.losses import skip_said

_NAMED = 3
"""Number of skipped environments that are named; a bare machine skips twenty."""


def is_compared(analysis: Analysis, campaign: Campaign) -> bool:
    """Whether at least one block compares an environment with native, or with itself in other company or order.

    For native alone, one trial that counts is enough.
    """
    if not campaign.environments:
        return any(outcome.status is Status.OK for outcome in analysis.outcomes)
    itself = {loss.summary.environment for loss in analysis.sharing}
    itself |= {order.summary.environment for order in analysis.orders}
    return bool(analysis.verdicts) or bool(itself - {NATIVE})


def uncompared_said(analysis: Analysis, folder: ResultFolder) -> str:
    """Say in two sentences why nothing was compared, and how to go on."""
    reasons = [*_skips(analysis), *_losses(analysis)]
    if analysis.cut_by_budget:
        reasons.append("the time budget ended before a block was whole")
    why = "; ".join(reasons) or "no block is whole"
    return f"nothing could be compared: {why}. {_next(analysis, folder)}"


def _skips(analysis: Analysis) -> Iterator[str]:
    for skipped in analysis.skipped[:_NAMED]:
        name, reason, remedy = map(one_line, (skipped.environment, skipped.reason, skipped.remedy))
        yield f"{name} {skip_said(skipped)} ({reason}; to get it: {remedy})"
    if (more := len(analysis.skipped) - _NAMED) > 0:
        yield f"{more} more were skipped (tare doctor says how to get them)"


def _losses(analysis: Analysis) -> Iterator[str]:
    lost = Counter(
        one_line(outcome.reason or "no reason was recorded")
        for outcome in analysis.outcomes
        if outcome.status is not Status.OK
    )
    if lost:
        reason, count = lost.most_common(1)[0]
        often = "for example" if count == 1 else f"{count} of them as follows"
        all_trials = counted(len(analysis.outcomes), "trial")
        yield f"{lost.total()} of {all_trials} do not count{'' if len(lost) == 1 else f', {often}'}: {reason}"


def _next(analysis: Analysis, folder: ResultFolder) -> str:
    if analysis.cut_by_budget:
        return f"Continue with a larger budget: tare run {folder.path} --budget TIME"
    if not analysis.outcomes:
        return f"Then continue: tare run {folder.path}"
    return f"When that is mended, begin a new result: tare run {folder.path / CAMPAIGN_FILE}"
