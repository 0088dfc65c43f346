# SPDX-License-Identifier: Apache-2.0
"""A result that was read: its analysis, and what every page of it needs, made once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from tare.drawing.marks import MarkStyle, looks
from tare.records import Analysis, Outcome, Status, Verdict
from tare.report import arrange, losses
from tare.report.arrange import AnswerSection, MetricSection
from tare.report.integrity import integrity_said
from tare.report.reasons import Reason, reasons
from tare.report.stops import decisions_said, stops_said
from tare.serve.arrays import SampleArrays
from tare.serve.choice import point_name
from tare.serve.follow import LiveProgress
from tare.serve.parts import ResultParts
from tare.serve.version import Version


@dataclass(kw_only=True, eq=False)
class Book:
    """One result as it was at a moment."""

    analysis: Analysis
    version: Version
    read_at_s: float = 0.0
    """By the monotonic clock."""
    took_s: float = 0.0
    kept: LiveProgress | None = None
    """How far the result is, if an earlier reading kept this (``tare.serve.first_view``): then all that the first page
    shows is as after a reading, but of the trials there is one of each arm, without its measurements. ``None``: whole.
    """

    def prepare(self) -> None:
        """Make everything now, while somebody waits for the result anyway."""
        for name, member in vars(type(self)).items():
            if isinstance(member, cached_property):
                getattr(self, name)

    @cached_property
    def metrics(self) -> tuple[MetricSection, ...]:
        return arrange.metrics(self.analysis)

    @cached_property
    def looks(self) -> Mapping[str, MarkStyle]:
        return looks(arrange.environments(self.analysis))

    @cached_property
    def arrays(self) -> SampleArrays:
        return SampleArrays(self.analysis.outcomes)

    @cached_property
    def points(self) -> Mapping[str, Verdict]:
        """The verdicts by their points' names."""
        return {point_name(verdict.overhead.summary): verdict for verdict in self.analysis.verdicts}

    @cached_property
    def trials(self) -> Mapping[str, Outcome]:
        """The outcomes by their trials' identities."""
        return {outcome.trial.identity: outcome for outcome in self.analysis.outcomes}

    @cached_property
    def beside(self) -> Mapping[tuple[str, str, int, str, int], str]:
        """Workload, layout, block, environment and replicate → the trial's identity."""
        trials = (outcome.trial for outcome in self.analysis.outcomes)
        return {
            (
                each.workload.name,
                each.setting,
                each.block,
                each.environment.name,
                each.replicate,
            ): each.identity
            for each in trials
        }

    @cached_property
    def joined(self) -> bool:
        """Whether only joined samples are in memory, as the journal is large."""
        return any(type(outcome) is not Outcome for outcome in self.analysis.outcomes[:1])

    @cached_property
    def samples(self) -> int:
        """How many there are of single figures."""
        return sum(not sample.coordinates for outcome in self.analysis.outcomes for sample in outcome.samples)

    @property
    def trials_read(self) -> int:
        """How many trials there were."""
        return sum(self.counts.values())

    @cached_property
    def counts(self) -> Mapping[Status, int]:
        return Counter(outcome.status for outcome in self.analysis.outcomes)

    @cached_property
    def answers(self) -> Sequence[AnswerSection]:
        return arrange.answers(self.analysis)

    @cached_property
    def reasons(self) -> Sequence[Reason]:
        return reasons(self.analysis)

    @cached_property
    def warnings(self) -> Sequence[str]:
        """What a reader must know before the figures."""
        unlike = [
            f"native differs from itself in {each}: distrust the machine before you believe the rest"
            for each in arrange.unlike_natives(self.analysis)
        ]
        said = [*integrity_said(self.analysis.integrity), *unlike]
        return [*said, *stops_said(self.analysis), *decisions_said(self.analysis)]

    @cached_property
    def parts(self) -> ResultParts:
        """Nothing of them is drawn yet."""
        return ResultParts(self.analysis)

    @cached_property
    def lost(self) -> Markup:
        """The report's section on what did not run; empty as long as that is only what is left to run."""
        known = self.analysis
        any_lost = known.skipped or losses.losses(known) or losses.dropped(known) or known.repeated_trials
        whole = len(known.outcomes) >= known.planned_trials
        return losses.html(known, None).text if any_lost or whole else Markup()
