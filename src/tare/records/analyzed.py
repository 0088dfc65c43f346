# SPDX-License-Identifier: Apache-2.0
"""What may be said of it: estimates with intervals, verdicts, and all that a report draws."""

import math
from dataclasses import dataclass, field
from enum import StrEnum

from tare.records.across import AcrossWorkloads, ArmSpread
from tare.records.activities import ActivitySplit
from tare.records.attribution import Attribution, InterventionVerdict
from tare.records.busy import Busyness, Withheld
from tare.records.calibration import Calibration
from tare.records.causes import Explanation, Suspicion
from tare.records.diagnostics import Finding
from tare.records.exclusion import Exclusions
from tare.records.families import Standing
from tare.records.integrity import Integrity
from tare.records.levels import VarianceSplit
from tare.records.looks import Decision, Look, Stop
from tare.records.measured import Outcome, Session, Skipped
from tare.records.order import OrderVerdict
from tare.records.rankings import Ranking
from tare.records.signal_differences import SignalTable
from tare.records.steadiness import Steadiness
from tare.records.timers import TimerAgreement
from tare.records.treated import Curve, HelperSummary, SharingSummary, Summary, WaitSummary
from tare.statistics.estimate import Estimate


class Word(StrEnum):
    """The verdict words; each is explained in docs/method.md."""

    SLOWER = "slower"
    FASTER = "faster"
    WITHIN = "within the margin"
    BOUNDED = "bounded"
    UNDECIDED = "undecided"


TOO_BUSY = "too busy to tell"
"""In the place of the word where a claim is withheld."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRuns:
    """Runs that took a fifth more time than the middle one of their block, or longer."""

    runs: int
    slow: int
    """Of the environment's."""
    native_runs: int
    native_slow: int
    by: float | None
    """Median of what the environment's slow ones took more, as a fraction; ``None``: there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """The overhead of one environment against native for one metric (docs/method.md, "The typical overhead")."""

    summary: Summary
    typical: Estimate
    """Where the aligned ranks change sides, and their interval; of native against native the exact signed-rank one."""
    mean: Estimate
    """exp(mean of log-ratios) - 1 with the t interval."""
    tail_cost: bool
    """Mean and typical differ by more than the interval's half-width."""
    spike_rate: float
    """Share of this arm's runs above 1.2 times its own median."""
    native_spike_rate: float
    native_median: float
    """Absolute native value, in the summary's unit."""
    noise_floor: Estimate
    """The A/A control by the same estimator."""
    looks: tuple[Look, ...] = ()
    """Those that were reached, the last of which gives ``typical``; empty: the number of blocks was fixed."""
    slow: SlowRuns | None = None
    """Of the blocks that the last look took in; ``None``: not looked at."""
    stopped: Stop | None = None
    """Why no further blocks are run; ``None``: more may come, or the number of blocks was fixed."""
    native_p: float | None = None
    """Of native against itself: p-value of "both are alike" among all such rows; ``None``: an environment's, whose
    verdict has its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What may be said of an overhead."""

    overhead: Overhead
    word: Word
    margin: float
    """Declared by the campaign."""
    sentence: str
    """Such as "docker: slower by 5-8 % (n = 10)"."""
    more_blocks: int | None
    """About how many further blocks would decide; ``None`` when decided or not estimable."""
    below_noise_floor: bool
    """The whole interval lies within what native against native showed."""
    within: float | None = None
    """The narrowest of the nested margins, as a fraction, that is shown to hold; also of a difference inside it."""
    at_most: float | None = None
    """Upper bound of the cost, as a fraction, of what is ``BOUNDED``."""
    alone: Word | None = None
    """The word of this claim if it were the campaign's only one; ``None``: not looked at."""
    standing: Standing | None = None
    """What is left of the claim among all of its family; ``None``: not looked at."""
    findings: tuple[Finding, ...] = ()
    """What was checked of the values behind the interval."""
    warnings: tuple[str, ...] = ()
    """What a reader must know of the trials behind it: many taken out, another program, another BLAS kernel."""
    withheld: Withheld | None = None
    """Why nothing is claimed although there may be an interval; the word is then ``UNDECIDED``."""

    @property
    def said(self) -> str:
        """The word with its figure, or why there is none."""
        if self.withheld:
            return TOO_BUSY
        if self.word is Word.WITHIN and self.within is not None:
            return f"within \N{PLUS-MINUS SIGN}{100 * self.within:g} %"
        if self.word is Word.BOUNDED and self.at_most is not None:
            return f"at most {math.ceil(1000 * self.at_most) / 10:g} %"
        return str(self.word)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPart:
    """What is said alike of some of an environment's primary metrics."""

    word: Word | None
    """``None`` where there is no result."""
    metrics: tuple[str, ...]
    """As the text calls them."""
    text: str
    """Such as "compute and system calls within ±2 % of native"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is said of one environment in one layout, over all primary metrics there."""

    environment: str
    layout: str
    subject: str
    """The environment, with its layout where the campaign has several."""
    parts: tuple[AnswerPart, ...]
    """Losses first, the largest in front; then what is like native, the narrowest margin in front; then the rest."""

    @property
    def sentence(self) -> str:
        return f"{self.subject}: {'; '.join(part.text for part in self.parts)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingLoss:
    """What company costs an instance in one environment."""

    summary: SharingSummary
    typical: Estimate
    """Of all instances joined (mean of their logarithms): how much more time the same work takes than alone."""
    word: Word
    each: tuple[Estimate, ...]
    """The same for each instance by itself."""
    beyond_native: Estimate | None
    """How much more is lost than natively; ``None`` for native, or without a common block."""
    spread: Estimate | None
    """Median of the blocks' spreads; ``None`` with one instance."""
    jain_index: Estimate | None
    """Median of the blocks' indices; ``None`` with one instance."""
    skew_s: float | None
    """Median over trials of how much later than the first an instance started; ``None`` with one instance."""
    longest_skew_s: float | None
    withheld: Withheld | None = None
    """As in ``Verdict``."""

    @property
    def said(self) -> str:
        """The word, or why there is none."""
        return TOO_BUSY if self.withheld else str(self.word)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeEstimate:
    """A time that trials have beside their own: medians over blocks."""

    time_s: Estimate
    """Per trial, in seconds."""
    share: Estimate | None
    """As a fraction; ``None`` where nobody knows of what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitCost:
    """How long the processors of an environment's virtual machines waited for one of the host's."""

    summary: WaitSummary
    vcpu_wait: TimeEstimate | None
    """As the host counted it, and the share of the time that the processors had; ``None``: it is not known."""
    steal: TimeEstimate | None
    """As the guests counted it; ``None``: they never counted any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperCost:
    """CPU time of an environment's helpers, which no node's limit holds."""

    summary: HelperSummary
    cpu_s: Estimate | None
    """Median over blocks, in seconds per trial; ``None``: there are no helpers, or it is not known."""
    share: Estimate | None
    """Median over blocks, as a fraction of the trial's own CPU time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointEstimate:
    """What can be said of one place on a curve, by itself: intervals of several places do not hold together."""

    x: float
    value: Estimate
    """In the curve's unit: Hodges-Lehmann of the values' logarithms."""
    overhead: Estimate | None
    """Against native, as a fraction, by the same estimator as ``Overhead.typical``; ``None`` for native itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveEstimate:
    """A curve with its intervals."""

    curve: Curve
    points: tuple[PointEstimate, ...]
    """One for each of the curve's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """All that a report draws."""

    campaign: str
    sessions: tuple[Session, ...]
    verdicts: tuple[Verdict, ...]
    controls: tuple[Overhead, ...]
    """The A/A rows: the second native slot judged against the first, one per cell and metric."""
    outcomes: tuple[Outcome, ...]
    skipped: tuple[Skipped, ...]
    margin: float
    planned_trials: int
    answers: tuple[Answer, ...] = ()
    """One per environment and layout that has a verdict on a primary metric."""
    cut_by_budget: bool = False
    repeated_trials: tuple[str, ...] = ()
    """The trial of each outcome that is left out, as the journal holds an earlier one of that trial."""
    integrity: Integrity = field(default_factory=Integrity)
    """Whether the journal is as it was written."""
    busy: Busyness | None = None
    """``None``: the host was quiet, or nobody looked."""
    spared_trials: int = 0
    """Those that the campaign allowed for and that ``planned_trials`` leaves out: their arms had stopped early."""
    decisions: tuple[Decision, ...] = ()
    """The answers to ``--fail-if``; empty when nothing was asked."""
    sharing: tuple[SharingLoss, ...] = ()
    helper_costs: tuple[HelperCost, ...] = ()
    wait_costs: tuple[WaitCost, ...] = ()
    curves: tuple[CurveEstimate, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    across_workloads: tuple[AcrossWorkloads, ...] = ()
    spreads: tuple[ArmSpread, ...] = ()
    variances: tuple[VarianceSplit, ...] = ()
    calibration: Calibration | None = None
    """The newest that fitted this host and version when it was measured."""
    exclusions: tuple[Exclusions, ...] = ()
    """Of every environment in every cell, native among them."""
    signals: tuple[SignalTable, ...] = ()
    attributions: tuple[Attribution, ...] = ()
    interventions: tuple[InterventionVerdict, ...] = ()
    """Of this result, or of the results below that explain it (``tare explain``)."""
    suspicions: tuple[Suspicion, ...] = ()
    """Claim by claim, the strongest first."""
    explanations: tuple[Explanation, ...] = ()
    """Of every claim, in the order of the verdicts."""
    result: str = "RESULT"
    """The result's folder, as the user named it: for the commands that a report gives."""
    orders: tuple[OrderVerdict, ...] = ()
    """Of the order experiments, native among the environments."""
    steadiness: tuple[Steadiness, ...] = ()
    """Of the workloads with iterations, native among the environments."""
    timers: tuple[TimerAgreement, ...] = ()
    activities: tuple[ActivitySplit, ...] = ()
    """Of the workloads that were profiled, native among the environments."""
