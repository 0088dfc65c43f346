# SPDX-License-Identifier: Apache-2.0
"""One trial in, one outcome out. Whatever goes wrong becomes a failed outcome with its reason."""

import math
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from tare import network
from tare.environments.provider import Node, NodeGroup, Provider
from tare.errors import ClockFault, InputError, NodeError, TrialError, UnequalArms, WrongOutput
from tare.measure.clock_quality import tested_clocks
from tare.measure.clock_watch import ClockWatch, watched_clocks
from tare.measure.context import Context
from tare.measure.counted import Counters, Watched
from tare.measure.exclusion import Excluded
from tare.measure.idle_ranks import idle_ranks_fact
from tare.measure.inspection import inspect
from tare.measure.instances import (
    Instance,
    gather_evidence,
    run_preflight,
)
from tare.measure.iterations import (
    Around,
    Gathered,
    Repetition,
    cpu_samples,
    repetitions,
    run_repetitions,
)
from tare.measure.neighbours import Neighbours, ready_neighbours
from tare.measure.node_life import NodeTimes, running_nodes
from tare.measure.observation import Counted, Observation, observed
from tare.measure.parity import require_equal, require_equal_commands, require_equal_path
from tare.measure.placement import effective_layout, places_of
from tare.measure.program import program_digest
from tare.measure.raw_output import keep
from tare.measure.seats import Placed, seated
from tare.measure.signals.watch import Found
from tare.measure.stopwatch import Stopwatch
from tare.measure.timing import Timing, inversions, judge, wall_samples
from tare.measure.verify_unprivileged import BY_RUSAGE, CPU_TIME, rusage_s
from tare.records import ClockQuality, HostLoad, InstanceRun, Outcome, Parity, Rule, Sample, Status, Trial
from tare.units import format_byte, format_duration
from tare.workloads import KINDS
from tare.workloads.kind import WorkloadKind
from tare.workloads.mpi import without_chatter

_EXCERPT_CHARACTERS = 2000
_ILLEGAL_INSTRUCTION = (
    ": an instruction that the node's processor lacks, as with another processor model than the host's; for hpcc "
    'choose an older BLAS kernel in every environment, such as blas_kernel = "Haswell"'
)
_BETWEEN = " | "
_RULES = {ClockFault: Rule.CLOCK, UnequalArms: Rule.UNEQUAL}
"""Errors that make a trial invalid, and by which rule."""
_SIGNALLED = 128
"""What a shell adds to the signal's number for an exit code, and mpirun as well."""


@dataclass(slots=True, kw_only=True)
class _Measured:
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
    facts: dict[str, str] = field(default_factory=dict)

    def learn(self, found: Mapping[str, str]) -> None:
        """Facts of one node or instance beside those of the others: what differs stands side by side."""
        for label, text in found.items():
            told = self.facts.get(label)
            if told is None:
                self.facts[label] = text
            elif text not in told.split(_BETWEEN):
                self.facts[label] = f"{told}{_BETWEEN}{text}"


def run_trial(context: Context, trial: Trial) -> Outcome:
    """Nodes up, limits verified, run, parsed, nodes down."""
    started_utc, begun, measured = (
        datetime.now(UTC).isoformat(timespec="milliseconds"),
        time.monotonic(),
        _Measured(),
    )
    status, reason, excerpt, rule = Status.OK, None, None, None
    try:
        _measure(context, trial, measured)
        rule, reason = _taken_out(measured)
        status = Status.INVALID if rule else Status.OK
    except TrialError as error:
        rule, reason, excerpt = _RULES.get(type(error)), str(error), error.excerpt
        status = Status.INVALID if rule else Status.FAILED
    except (InputError, OSError) as error:
        status, reason = Status.FAILED, str(error)
    if measured.times.problems:
        measured.facts["not stopped cleanly"] = "; ".join(measured.times.problems)
    return Outcome(
        trial=trial,
        status=status,
        reason=reason,
        excerpt=excerpt[-_EXCERPT_CHARACTERS:] if excerpt else None,
        started_utc=started_utc,
        elapsed_s=time.monotonic() - begun,
        node_start_s=measured.times.start_s,
        node_stop_s=measured.times.stop_s,
        barrier_skew_s=_skew_s(measured.gathered.runs),
        cpu_s=measured.cpu_s,
        helper_cpu_s=measured.helper_cpu_s,
        helpers=measured.helpers,
        vcpu_wait_s=measured.vcpu_wait_s,
        steal_s=measured.steal_s,
        clock_fault=measured.timing.fault,
        timer_inversions=measured.timer_inversions,
        samples=tuple(measured.samples) if status is not Status.FAILED else (),
        instances=tuple(measured.gathered.runs),
        signals=tuple(measured.signals.signals),
        missing_signals=measured.signals.missing,
        clock_quality=measured.clock_quality,
        excluded_by=rule,
        parity=measured.parity or Parity(),
        load=measured.load,
        image_digest=context.image_digest,
        facts=measured.facts,
    )


def _taken_out(measured: _Measured) -> tuple[Rule | None, str | None]:
    """By which rule, and why; a disturbed host goes before a clock, as its whole block is disturbed."""
    if measured.excluded is not None:
        return measured.excluded.rule, measured.excluded.reason
    return (Rule.CLOCK, measured.timing.doubt) if measured.timing.doubt else (None, None)


def _measure(context: Context, trial: Trial, measured: _Measured) -> None:
    kind = KINDS[trial.workload.kind]
    places = places_of(trial, context.available_processors)
    if places.oversubscription > 1:
        measured.facts["oversubscription"] = f"{places.oversubscription:g} processors asked for per processor"
    specs = context.node_specs(trial, places.measured)
    provider = context.providers[trial.environment.technology]
    with ExitStack() as stack:
        nodes = stack.enter_context(running_nodes(specs, context.providers, measured.times))
        up_s = time.monotonic()
        groups = _inspect(context, provider, nodes, measured)
        measured.clock_quality, untested = tested_clocks(context, trial, provider, nodes)
        measured.learn(untested)
        placed = Placed(
            nodes=tuple(nodes),
            places=places.measured,
            provider=provider,
            layout=effective_layout(trial),
            oversubscribed=places.oversubscription > 1 or context.idle_ranks.yield_in(trial.block),
            lacking_flags=context.lacking_flags,
            times=NodeTimes(problems=measured.times.problems),
        )
        seats = stack.enter_context(seated(context, trial, placed))
        wanted = repetitions(kind, trial, seats)
        for instance in wanted[0].instances:
            run_preflight(instance)
        first = wanted[0].instances[0]
        measured.facts.update({**first.job.facts, **idle_ranks_fact(first.job), **gather_evidence(first)})
        measured.facts.update(_program(context, trial, first))
        company = stack.enter_context(ready_neighbours(context, trial, places, placed.times))
        watched = Watched(provider, nodes, groups, seats)
        instances = measured.gathered.begun
        try:
            _run(_Span(context=context, wanted=wanted, company=company, up_s=up_s), watched, measured)
            _fetch(instances)
        except BaseException:
            with suppress(NodeError):
                _fetch(instances)
            raise
        finally:
            keep(context.raw_directory / trial.identity, instances)
        _explain_failure(measured.gathered.runs, instances, trial)
        for repetition in wanted:
            _parse(kind, repetition, measured)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """The measured part of a trial: what is to run in it, beside whom, and since when the nodes are up."""

    context: Context
    wanted: Sequence[Repetition]
    company: Neighbours
    up_s: float


def _program(context: Context, trial: Trial, instance: Instance) -> Mapping[str, str]:
    """Looked at in an environment's first trial of the session, and told with all of them."""
    key = (trial.environment.name, trial.workload.name, trial.setting)
    if key not in context.programs:
        context.programs[key] = program_digest(instance)
    return context.programs[key]


def _fetch(instances: Sequence[Instance]) -> None:
    for instance in instances:
        instance.fetch(".output", *instance.job.collect)


def _inspect(
    context: Context, provider: Provider, nodes: Sequence[Node], measured: _Measured
) -> list[NodeGroup]:
    """Limits verified in every node, and that the host treats it as it does native ones.

    All know each other's names afterwards, where the image can write them down.
    """
    try:
        network.name_nodes(nodes, provider)
    except NodeError as error:
        measured.facts["names of the nodes"] = f"not resolved: {error}"
    groups = []
    for node in nodes:
        group, limits, parity = inspect(provider, node)
        measured.learn({**node.facts, **network.describe(node), **limits})
        measured.parity = measured.parity or parity
        require_equal(parity, context.expected, node.spec.technology)
        if group is not None:
            groups.append(group)
    return groups


def _run(span: _Span, watched: Watched, measured: _Measured) -> None:
    """The measured part itself, from the first GO to the last DONE."""
    way_to_clocks = watched_clocks(watched.provider, watched.nodes)
    way_to_signals = observed(watched, span.company.groups)
    with way_to_clocks as clocks, way_to_signals as observation:
        counted: list[Counters] = []

        def ready(instances: Sequence[Instance], stopwatches: Sequence[Stopwatch]) -> None:
            read = require_equal_commands(instances, stopwatches, span.context.expected)
            measured.parity = read or measured.parity

        def begin() -> None:
            clocks.begin()
            span.company.begin()
            observation.begin()
            counted.append(Counters(watched))
            measured.helpers = counted[0].helpers

        def end() -> None:
            counted[0].stop()
            observation.end()
            span.company.check()
            clocks.end()

        def tick() -> None:
            span.context.tick()
            clocks.ask()
            observation.glance()

        around = Around(
            ready=ready,
            begin=begin,
            end=end,
            tick=tick,
            beside=clocks.beside,
            up_s=span.up_s,
            until_s=span.context.until_s,
        )
        try:
            run_repetitions(span.wanted, watched, around, measured.gathered)
        except NodeError:
            # When the stopwatch was the victim, the limit is the better reason.
            _refuse_memory_kills(watched)
            raise
    _note(counted[0], clocks, measured)
    _observe(span.context, observation, measured)
    _refuse_memory_kills(watched)
    for node in watched.nodes:
        require_equal_path(node, span.context.expected)


def _note(counters: Counters, clocks: ClockWatch, measured: _Measured) -> None:
    """What was counted and how far the clocks can be trusted; the samples that every workload has."""
    by_rusage = measured.facts.get(CPU_TIME) == BY_RUSAGE
    instances, runs = measured.gathered.begun, measured.gathered.runs
    measured.cpu_s = rusage_s(runs) if by_rusage else counters.cpu_s
    measured.helper_cpu_s, measured.vcpu_wait_s = counters.helper_cpu_s, counters.vcpu_wait_s
    measured.steal_s = clocks.steal_s
    findings = clocks.findings()
    for facts in findings.facts:
        measured.learn(facts)
    inverted = inversions(runs, instances)
    measured.timer_inversions = len(inverted)
    if inverted:
        measured.facts["CPU time over wall time"] = "; ".join(inverted)
    measured.timing = judge(runs, instances, findings.fault)
    measured.samples += wall_samples(runs, instances, measured.timing)
    measured.samples += cpu_samples(measured.gathered, measured.cpu_s, by_rusage=by_rusage)


def _observe(context: Context, observation: Observation, measured: _Measured) -> None:
    counted = Counted(
        cpu_s=measured.cpu_s,
        helper_cpu_s=measured.helper_cpu_s,
        vcpu_wait_s=measured.vcpu_wait_s,
        steal_s=measured.steal_s,
        runs=measured.gathered.runs,
    )
    measured.signals, measured.excluded = observation.told(counted, context.exclude)
    measured.load = observation.load(measured.signals)


def _refuse_memory_kills(watched: Watched) -> None:
    if any(group.memory_kills() for group in watched.groups):
        limit = format_byte(watched.memory_byte)
        raise NodeError(
            f"the node's memory limit of {limit} killed a process; give it more memory or less work"
        )
    if any(group.memory_kills() for group in watched.launchers):
        raise NodeError("mpirun ran out of the memory that it has beside the nodes; have the job print less")


def _explain_failure(runs: Sequence[InstanceRun], instances: Sequence[Instance], trial: Trial) -> None:
    """``WrongOutput`` in words for the first instance that did not end well."""
    for run, instance in zip(runs, instances, strict=True):
        if words := _failure(run, instance, trial):
            raise WrongOutput(words, _last_output(instance))


def _last_output(instance: Instance) -> str | None:
    try:
        output = instance.output()
    except WrongOutput as error:  # too long to be read: its beginning is there all the same
        return error.excerpt
    return (without_chatter(output.stderr).strip() or output.stdout.strip())[-_EXCERPT_CHARACTERS:] or None


def _failure(run: InstanceRun, instance: Instance, trial: Trial) -> str | None:
    program = instance.job.argv[0]
    if run.timed_out:
        return f"{program} ran into its time limit of {format_duration(trial.limits.time_s)} and was ended"
    if run.signal is not None:
        words = f"{program} was ended by signal {run.signal} ({_signal_name(run.signal)})"
        return words + _reason_behind(run.signal, instance)
    if run.exit_code != 0:
        words = f"{program} ended with exit code {run.exit_code}"
        return words + _reason_behind((run.exit_code or 0) - _SIGNALLED, instance)
    return None


def _reason_behind(number: int, instance: Instance) -> str:
    """What to know about the signal that ended the command, or, told by an exit code, a process of it."""
    if number == signal.SIGXFSZ:
        return f": a file, or what it prints, may have {format_byte(instance.seat.file_limit_byte)} at most"
    if number == signal.SIGILL:
        return _ILLEGAL_INSTRUCTION
    return ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have no name
        return signal.strsignal(number) or "unknown"


def _parse(kind: WorkloadKind, repetition: Repetition, measured: _Measured) -> None:
    for instance in repetition.instances:
        output = instance.output()
        found = kind.samples(repetition.options, output)
        measured.learn(kind.facts(repetition.options, output))
        if measured.timing.fault is not None:
            continue  # the output is whole, but its figures are by a clock that is wrong
        if wrong := [sample.name for sample in found if not math.isfinite(sample.value)]:
            raise WrongOutput(
                f"{', '.join(wrong)} is not a finite number", output.stdout[-_EXCERPT_CHARACTERS:]
            )
        measured.samples += [
            replace(sample, instance=instance.number, iteration=repetition.number) for sample in found
        ]


def _skew_s(runs: Sequence[InstanceRun]) -> float | None:
    if len({run.instance for run in runs}) < 2:  # noqa: PLR2004 - one instance has no skew
        return None
    return max(run.start_offset_s for run in runs)
