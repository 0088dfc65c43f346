# SPDX-License-Identifier: Apache-2.0
"""The conclusions: estimates with intervals, verdicts, and everything that a report draws."""

import math
from dataclasses import dataclass, field
from enum import StrEnum

from tare.records.activities import ActivitySplit
from tare.records.attribution import Attribution, InterventionVerdict, SignalTable
from tare.records.busy import Busyness, LoadEffect, Withheld
from tare.records.calibration import Calibration
from tare.records.causes import Explanation, Suspicion
from tare.records.comparisons import AcrossWorkloads, ArmSpread, HostShare, Ranking, Standing
from tare.records.diagnostics import Finding, HostEffect, HostExcess, HostSpeed, TimerAgreement
from tare.records.factors import Dependence
from tare.records.failing import FailureRate
from tare.records.host_clocks import HostClockSummary, StartSkew
from tare.records.integrity import Integrity
from tare.records.looks import Decision, Look, Stop
from tare.records.measured import Direction, Outcome, Session, Skipped
from tare.records.order import OrderVerdict
from tare.records.profiled import ProfiledArm
from tare.records.scaled import Scaled
from tare.records.treated import Curve, Exclusions, HelperSummary, SharingSummary, Summary, WaitSummary
from tare.records.variation import Steadiness, VarianceSplit
from tare.statistics.estimate import Estimate


class Word(StrEnum):
    """The verdict words; docs/method.md explains each."""

    SLOWER = "slower"
    FASTER = "faster"
    WITHIN = "within the margin"
    BOUNDED = "bounded"
    UNDECIDED = "undecided"


TOO_BUSY = "too busy to tell"
"""Replaces the word where a claim is withheld."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRuns:
    """Runs that took more than a fifth more time than the middle one; docs/method.md says of which."""

    runs: int
    slow: int
    """Slow runs of the environment."""
    native_runs: int
    native_slow: int
    by: float | None
    """Mean excess of the environment's slow runs, as a fraction; ``None``: there were none."""
    native_by: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """The overhead of one environment against native for one metric (docs/method.md, "The typical overhead")."""

    summary: Summary
    typical: Estimate
    """Where the aligned ranks change sign, with their interval; for native against native the exact signed-rank one."""
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
    """Looks reached so far; the last one gives ``typical``. Empty: the number of blocks was fixed."""
    slow: SlowRuns | None = None
    """Over the blocks that the last look included, in turns each slice; ``None``: not examined."""
    slow_starts: SlowRuns | None = None
    """The same of the nodes' starts, which one block replicates once; ``None``: every run was a start of its own."""
    stopped: Stop | None = None
    """Why no further blocks are run; ``None``: more may come, or the number of blocks was fixed."""
    native_p: float | None = None
    """For native against itself: p-value of "both are alike" among all such rows; ``None`` for an environment, whose
    verdict has its own p-values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The conclusion about one overhead."""

    overhead: Overhead
    word: Word
    margin: float
    """Declared by the campaign."""
    claim: str
    """Such as "slower by 5-8 % (n = 10)", without the environment."""
    more_blocks: int | None
    """Approximate number of further blocks that would decide; ``None`` when decided or not estimable."""
    below_noise_floor: bool
    """The whole interval lies within what native against native showed."""
    within: float | None = None
    """Narrowest of the nested margins, as a fraction, that is shown to hold; also set for a difference inside it."""
    at_most: float | None = None
    """Upper bound of the cost, as a fraction, where the word is ``BOUNDED``."""
    alone: Word | None = None
    """The word of this claim if it were the campaign's only one; ``None``: not examined."""
    standing: Standing | None = None
    """What remains of the claim within its family; ``None``: not examined."""
    findings: tuple[Finding, ...] = ()
    """Results of the checks on the values behind the interval."""
    warnings: tuple[str, ...] = ()
    """What a reader must know about the trials behind it: many excluded, another program, another BLAS kernel."""
    withheld: Withheld | None = None
    """Why nothing is claimed although there may be an interval; the word is then ``UNDECIDED``."""
    released: bool = False
    """Whether it rests on busy blocks, and holds even if all of their load cost this arm alone, or native alone where
    it is faster. Its intervals then begin at what is left of the difference in that case."""
    load: LoadEffect | None = None
    """What the load of others alone could make of the difference: where it is released, or would not be claimed of
    times without that load."""

    @property
    def set_aside(self) -> Withheld | None:
        """Why its figures are not compared with those of others: a released claim is known on one side only."""
        return Withheld.BUSY if self.released else self.withheld

    @property
    def shown(self) -> Estimate:
        """The overhead with the interval from which the word is read, which is printed beside it.

        It holds together with those of all other claims of the family; ``overhead.typical`` holds by itself.
        """
        return self.overhead.typical if self.standing is None else self.standing.together

    @property
    def sentence(self) -> str:
        """The claim with its environment, such as "docker: slower by 5-8 % (n = 10)"."""
        return f"{self.overhead.summary.environment}: {self.claim}"

    @property
    def bound_percent(self) -> str:
        """Upper bound of the cost in per cent, rounded up; of a rate what the rate may lose."""
        most = self.at_most or 0.0
        lost = most / (1 + most) if self.overhead.summary.direction is Direction.MORE else most
        return f"{math.ceil(1000 * lost) / 10:g}"

    @property
    def said(self) -> str:
        """The word with its figure, or why there is none."""
        if self.withheld:
            return TOO_BUSY
        if self.word is Word.WITHIN and self.within is not None:
            return f"within \N{PLUS-MINUS SIGN}{100 * self.within:g} %"
        if self.word is Word.BOUNDED and self.at_most is not None:
            return f"at most {self.bound_percent} %"
        return str(self.word)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPart:
    """A statement that holds for several of an environment's primary metrics."""

    word: Word | None
    """``None`` where there is no result."""
    metrics: tuple[str, ...]
    """Their names in the text."""
    text: str
    """Such as "compute and system calls within ±2 % of native"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The summary of one environment in one layout, over all its primary metrics."""

    environment: str
    layout: str
    subject: str
    """The environment, with its layout where the campaign has several."""
    parts: tuple[AnswerPart, ...]
    """Losses first, largest first; then what is like native, narrowest margin first; then the rest."""

    @property
    def sentence(self) -> str:
        return f"{self.subject}: {'; '.join(part.text for part in self.parts)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingLoss:
    """What company costs an instance in one environment."""

    summary: SharingSummary
    typical: Estimate
    """How much more time the same work takes than alone, over all instances (mean of their logarithms)."""
    word: Word
    """Holds together with all other losses of its family, as it is read from ``shown``."""
    alone: Word
    """The word if it were the campaign's only loss."""
    standing: Standing
    each: tuple[Estimate, ...]
    """The same for each instance."""
    variations: tuple[Estimate, ...]
    """The coefficient of variation of each instance's times per work with company, from block to block; empty with one
    block."""
    beyond_native: Estimate | None
    """How much more is lost than on native; ``None`` for native, or without a common block."""
    spread: Estimate | None
    """Median of the blocks' spreads; ``None`` with one instance."""
    jain_index: Estimate | None
    """Median of the blocks' indices; ``None`` with one instance."""
    skew_s: float | None
    """Median over trials of how much later than the first an instance started; ``None`` with one instance."""
    longest_skew_s: float | None
    skew_bound_s: float | None
    """Largest error of any trial's; 0 on one host, ``None`` in results of earlier versions."""
    withheld: Withheld | None = None
    """As in ``Verdict``."""

    @property
    def shown(self) -> Estimate:
        """The loss with the interval from which the word is read, which is printed beside it."""
        return self.standing.together

    @property
    def said(self) -> str:
        """The word, or why there is none."""
        return TOO_BUSY if self.withheld else str(self.word)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeEstimate:
    """A time that trials have besides their wall time: medians over blocks."""

    time_s: Estimate
    """Per trial, in seconds."""
    share: Estimate | None
    """Fraction of the whole; ``None`` where the whole is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitCost:
    """How long the processors of an environment's virtual machines waited for one of the host's."""

    summary: WaitSummary
    vcpu_wait: TimeEstimate | None
    """As the host counted it, with its share of the processors' time; ``None``: not known."""
    steal: TimeEstimate | None
    """As the guests counted it; ``None``: they never counted any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperCost:
    """CPU time of an environment's helpers, which no node's limit holds."""

    summary: HelperSummary
    cpu_s: Estimate | None
    """Median over blocks, in seconds per trial; ``None``: no helpers, or not known."""
    share: Estimate | None
    """Median over blocks, as a fraction of the trial's own CPU time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointEstimate:
    """One point of a curve; ``value`` and ``overhead`` are taken by themselves, and do not hold jointly with others."""

    at: tuple[float, ...]
    value: Estimate
    """In the curve's unit: Hodges-Lehmann of the values' logarithms."""
    overhead: Estimate | None
    """Against native, as a fraction, by the same estimator as ``Overhead.typical``; ``None`` for native itself."""
    together: Estimate | None = None
    """The robust mean of the overhead as a fraction, with its part of the band that holds for all points of the curve
    together; ``None`` for native itself, and with too few blocks that all points have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveEstimate:
    """A curve with its intervals."""

    curve: Curve
    points: tuple[PointEstimate, ...]
    """One for each point of the curve."""
    withheld: Withheld | None = None
    """Why nothing is claimed of all points together; ``None``: nothing hinders it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Everything that a report draws."""

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
    """Trials with an outcome that is left out because the journal holds an earlier one of the same trial."""
    integrity: Integrity = field(default_factory=Integrity)
    """Whether the journal is as it was written."""
    busy: Busyness | None = None
    """``None``: the host was quiet, or nobody looked."""
    spared_trials: int = 0
    """Trials that the campaign allowed for and ``planned_trials`` leaves out, as their arms had stopped early."""
    decisions: tuple[Decision, ...] = ()
    """The answers to ``--fail-if``; empty when nothing was asked."""
    sharing: tuple[SharingLoss, ...] = ()
    helper_costs: tuple[HelperCost, ...] = ()
    wait_costs: tuple[WaitCost, ...] = ()
    curves: tuple[CurveEstimate, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    host_shares: tuple[HostShare, ...] = ()
    """Empty if the host's own files take no part."""
    host_speeds: tuple[HostSpeed, ...] = ()
    """The hosts of the campaign's list, the slowest first; empty where it names fewer than two."""
    host_excesses: tuple[HostExcess, ...] = ()
    """What one of them has more of than the others."""
    host_clocks: tuple[HostClockSummary, ...] = ()
    """The clocks of these hosts against this one's, by name."""
    start_skew: StartSkew | None = None
    """``None`` where no trial had instances on several hosts."""
    host_effects: tuple[HostEffect, ...] = ()
    """The same by the workloads' own metrics, as far as hosts took turns."""
    across_workloads: tuple[AcrossWorkloads, ...] = ()
    spreads: tuple[ArmSpread, ...] = ()
    variances: tuple[VarianceSplit, ...] = ()
    calibration: Calibration | None = None
    """The newest that fitted this host and version when it was measured."""
    exclusions: tuple[Exclusions, ...] = ()
    """For every environment in every cell, native included."""
    signals: tuple[SignalTable, ...] = ()
    attributions: tuple[Attribution, ...] = ()
    interventions: tuple[InterventionVerdict, ...] = ()
    """From this result, or from the results below it that explain it (``tare explain``)."""
    suspicions: tuple[Suspicion, ...] = ()
    """Claim by claim, the strongest first."""
    explanations: tuple[Explanation, ...] = ()
    """For every claim, in the order of the verdicts."""
    result: str = "RESULT"
    """The result's folder, as the user named it: for the commands that a report suggests."""
    orders: tuple[OrderVerdict, ...] = ()
    """For the order experiments, native included."""
    dependences: tuple[Dependence, ...] = ()
    """On the factors; empty without one."""
    steadiness: tuple[Steadiness, ...] = ()
    """For the workloads with iterations, native included."""
    timers: tuple[TimerAgreement, ...] = ()
    activities: tuple[ActivitySplit, ...] = ()
    """For the profiled workloads, native included."""
    call_sites: tuple[ProfiledArm, ...] = ()
    """For those whose profiles are still there, native included."""
    failures: tuple[FailureRate, ...] = ()
    """For all arms of a cell in which a run failed, native included."""
    scaled: tuple[Scaled, ...] = ()
    """What the host measured otherwise than the campaign asked, or not at all: ``fit = true``."""
