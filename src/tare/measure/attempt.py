# SPDX-License-Identifier: Apache-2.0
"""A trial in progress: what it has gathered so far, and how it ended."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from tare.errors import ClockFault, UnequalArms, WorkOutOfTurn
from tare.measure.exclusion import Excluded
from tare.measure.iterations import Gathered
from tare.measure.running import NodeTimes
from tare.measure.timing import Timing
from tare.measure.unforeseen import as_trial_error, keep_trace
from tare.records import (
    ClockQuality,
    HostLoad,
    InstanceRun,
    Outcome,
    Parity,
    Rule,
    Sample,
    Status,
    Trial,
    TurnsTaken,
)
from tare.records.host_clocks import HostClock
from tare.records.signals import HostSignals
from tare.signals.watch import Found
from tare.untrusted import writable

Kind = TypeVar("Kind")

EXCERPT_CHARACTERS = 2000
_BETWEEN = " | "
_LONGEST_TEXT = 8192
"""Maximum length of a reason or a fact."""
_RULES = {ClockFault: Rule.CLOCK, UnequalArms: Rule.UNEQUAL, WorkOutOfTurn: Rule.OUT_OF_TURN}
"""Errors that make a trial invalid → the rule."""


@dataclass(slots=True, kw_only=True)
class Measured:
    """What a trial has gathered so far; a failure keeps what was there before it."""

    times: NodeTimes = field(default_factory=NodeTimes)
    cpu_s: float | None = None
    helper_cpu_s: float | None = None
    helpers: int | None = None
    vcpu_wait_s: float | None = None
    steal_s: float | None = None
    timing: Timing = field(default_factory=Timing)
    timer_inversions: int | None = None
    signals: Found = field(default_factory=Found)
    excluded: Excluded | None = None
    load: HostLoad | None = None
    samples: list[Sample] = field(default_factory=list)
    clock_quality: tuple[ClockQuality, ...] = ()
    gathered: Gathered = field(default_factory=Gathered)
    parity: Parity | None = None
    turns: TurnsTaken | None = None
    real_hosts: tuple[str, ...] = ()
    host_times_s: dict[str, float] = field(default_factory=dict)
    host_clocks: dict[str, HostClock] = field(default_factory=dict)
    host_signals: dict[str, HostSignals] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)

    def learn(self, facts: Mapping[str, str]) -> None:
        """Merge the facts of one node or instance; differing values are listed side by side."""
        for label, text in facts.items():
            known = self.facts.get(label)
            if known is None:
                self.facts[label] = text
            elif text not in known.split(_BETWEEN):
                self.facts[label] = f"{known}{_BETWEEN}{text}"


@dataclass(frozen=True, slots=True)
class End:
    """The end of a trial, as in ``Outcome``."""

    status: Status = Status.OK
    rule: Rule | None = None
    reason: str | None = None
    excerpt: str | None = None


class Attempt:
    """One trial: any error becomes a failed or invalid outcome with its reason."""

    def __init__(self, trial: Trial, image_digest: str, raw_directory: Path) -> None:
        self.trial, self._image_digest = trial, image_digest
        self._raw = raw_directory / trial.identity
        self.measured = Measured()
        self._started_utc = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._begun = time.monotonic()
        self.end = End()

    @property
    def lost(self) -> bool:
        """Whether it can no longer produce a result."""
        return self.end.status is not Status.OK

    def follow(self, first: "Attempt") -> None:
        """Share its nodes: their facts, and their end if they did not come up."""
        self.end = first.end
        self.measured.times, self.measured.parity = first.measured.times, first.measured.parity
        self.measured.facts = dict(first.measured.facts)
        self.measured.clock_quality = first.measured.clock_quality
        self.measured.real_hosts = first.measured.real_hosts

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Record any error inside as the trial's end; only an interrupt ends more.

        The first cause counts: later errors may be its consequences.
        """
        try:
            yield
        except Exception as error:  # noqa: BLE001 - one broken node is one failed trial
            keep_trace(self._raw, error)
            known = as_trial_error(error)
            if self.lost:
                return
            rule = _RULES.get(type(known))
            self.end = End(Status.INVALID if rule else Status.FAILED, rule, str(known), known.excerpt)

    def finish(self) -> None:
        """Exclude it if a rule says so, once everything is measured; an earlier failure remains."""
        rule, reason = _taken_out(self.measured)
        if rule is not None and reason is not None and not self.lost:
            self.end = End(Status.INVALID, rule, reason)

    def outcome(self, elapsed_s: float | None = None) -> Outcome:
        """The outcome; ``elapsed_s``: its share of the time of trials that ran together, else its own whole time."""
        measured, end = self.measured, self.end
        if measured.times.problems:
            measured.facts["not stopped cleanly"] = "; ".join(measured.times.problems)
        facts = {writable(label): _short(text) for label, text in measured.facts.items()}
        return Outcome(
            trial=self.trial,
            status=end.status,
            reason=None if end.reason is None else _short(end.reason),
            excerpt=writable(end.excerpt[-EXCERPT_CHARACTERS:]) if end.excerpt else None,
            started_utc=self._started_utc,
            elapsed_s=time.monotonic() - self._begun if elapsed_s is None else elapsed_s,
            node_start_s=measured.times.start_s,
            node_stop_s=measured.times.stop_s,
            barrier_skew_s=_skew_s(measured.gathered.runs),
            barrier_skew_bound_s=_skew_bound_s(measured.gathered.runs),
            cpu_s=measured.cpu_s,
            helper_cpu_s=measured.helper_cpu_s,
            helpers=measured.helpers,
            vcpu_wait_s=measured.vcpu_wait_s,
            steal_s=measured.steal_s,
            clock_fault=measured.timing.fault,
            timer_inversions=measured.timer_inversions,
            samples=tuple(measured.samples) if end.status is not Status.FAILED else (),
            instances=tuple(measured.gathered.runs),
            signals=tuple(measured.signals.signals),
            missing_signals=measured.signals.missing,
            clock_quality=measured.clock_quality,
            excluded_by=end.rule,
            parity=measured.parity or Parity(),
            load=measured.load,
            turns=measured.turns,
            real_hosts=measured.real_hosts,
            host_times_s=measured.host_times_s,
            host_clocks=self._by_machine(measured.host_clocks),
            host_signals=self._by_machine(measured.host_signals),
            image_digest=self._image_digest,
            facts=facts,
        )

    def _by_machine(self, of_hosts: Mapping[str, Kind]) -> dict[str, Kind]:
        """What is known of the trial's hosts, by the machines that they were."""
        machines = dict(zip(self.trial.hosts, self.measured.real_hosts, strict=True))
        return {machines[host]: value for host, value in of_hosts.items()}


def _taken_out(measured: Measured) -> tuple[Rule | None, str | None]:
    """The excluding rule and why; a disturbed host precedes a clock, as its whole block is disturbed."""
    if measured.excluded is not None:
        return measured.excluded.rule, measured.excluded.reason
    return (Rule.CLOCK, measured.timing.doubt) if measured.timing.doubt else (None, None)


def _short(text: str) -> str:
    """Shorten for the journal: a node may produce text of any length."""
    return writable(text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]} ...")


def _skew_s(runs: Sequence[InstanceRun]) -> float | None:
    if len({run.instance for run in runs}) < 2:  # noqa: PLR2004 - one instance has no skew
        return None
    return max(run.start_offset_s for run in runs)


def _skew_bound_s(runs: Sequence[InstanceRun]) -> float | None:
    bounds_s = [run.start_bound_s for run in runs if run.start_bound_s is not None]
    return None if _skew_s(runs) is None or len(bounds_s) < len(runs) else max(bounds_s)
