# SPDX-License-Identifier: Apache-2.0
"""Whether a claim about the typical run holds for the mean too, and what a sentence adds where it may not."""

from dataclasses import dataclass

from tare.analyze.slow_runs import SLOW, covers_mean
from tare.records import Overhead, SlowRuns, Verdict, Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Qualification:
    """Why a claim is one about the typical run alone."""

    slow: SlowRuns
    """Runs that may shift the mean beyond the claim."""


def qualification(verdict: Verdict) -> Qualification | None:
    """What limits a verdict to the typical run; ``None``: nothing, or there is no claim to limit."""
    if verdict.word not in (Word.WITHIN, Word.BOUNDED):
        return None
    slow, bound = verdict.overhead.slow, verdict.within or verdict.at_most or 0.0
    if slow is None or covers_mean(slow, bound) or _mean_within(verdict.overhead, bound):
        return None
    return Qualification(slow=slow)


def qualified(claim: str, verdict: Verdict) -> str:
    """The claim, limited to the typical run where it may not hold for the mean."""
    limit = qualification(verdict)
    return f"typically {claim}{_slow_said(limit.slow)}" if limit else claim


def _mean_within(overhead: Overhead, bound: float) -> bool:
    """Whether the mean over the many slices of each block is known to lie within the bound."""
    mean = overhead.mean
    by_slices = all(block.rounds is not None for block in overhead.summary.blocks)
    return (
        by_slices
        and mean.low is not None
        and mean.high is not None
        and -bound < mean.low
        and mean.high < bound
    )


def _slow_said(slow: SlowRuns) -> str:
    if slow.by is None:
        return f"; none of {slow.runs} runs was {100 * SLOW:g} % slower"
    own, native = f"{slow.slow} of {slow.runs} runs", f"{slow.native_slow} of {slow.native_runs}"
    if slow.slow * slow.native_runs <= slow.native_slow * slow.runs:
        return f"; slow runs are no more frequent than native's: {own}, natively {native}"
    natively = f" (natively {native})" if slow.native_slow else ""
    were = "runs were" if slow.slow > 1 else "runs was"
    return f", but {slow.slow} of {slow.runs} {were} slower by {100 * slow.by:.0f} %{natively}"
