# SPDX-License-Identifier: Apache-2.0
"""One trial in, one outcome out. Whatever goes wrong becomes a failed outcome with its reason."""

import math
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from tare.environments.provider import Node
from tare.errors import InputError, NodeError, TrialError, WrongOutput
from tare.host.cgroups import Group, group_of
from tare.measure.clocks import disagreement
from tare.measure.context import Context
from tare.measure.instances import (
    Instance,
    gather_evidence,
    make_instances,
    ready_instances,
    run_on_barrier,
)
from tare.measure.node_life import NodeTimes, running_nodes
from tare.measure.placement import effective_layout, place
from tare.measure.raw_output import keep
from tare.measure.verify_limits import verify
from tare.records import Direction, InstanceRun, Outcome, Sample, Status, Trial
from tare.units import format_byte, format_duration
from tare.workloads import KINDS
from tare.workloads.kind import Options, WorkloadKind

_EXCERPT_CHARACTERS = 2000


@dataclass(slots=True, kw_only=True)
class _Measured:
    """What a trial has gathered so far; a failure keeps what was there before it."""

    times: NodeTimes = field(default_factory=NodeTimes)
    cpu_s: float | None = None
    samples: list[Sample] = field(default_factory=list)
    runs: list[InstanceRun] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)


def run_trial(context: Context, trial: Trial) -> Outcome:
    """Nodes up, limits verified, run, parsed, nodes down."""
    started_utc, begun, measured = (
        datetime.now(UTC).isoformat(timespec="milliseconds"),
        time.monotonic(),
        _Measured(),
    )
    status, reason, excerpt = Status.OK, None, None
    try:
        _measure(context, trial, measured)
        reason = _doubt(measured.runs)
        status = Status.INVALID if reason else Status.OK
    except TrialError as error:
        status, reason, excerpt = Status.FAILED, str(error), error.excerpt
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
        barrier_skew_s=_skew_s(measured.runs),
        cpu_s=measured.cpu_s,
        samples=tuple(measured.samples) if status is not Status.FAILED else (),
        instances=tuple(measured.runs),
        image_digest=context.image_digest,
        facts=measured.facts,
    )


def _measure(context: Context, trial: Trial, measured: _Measured) -> None:
    kind = KINDS[trial.workload.kind]
    options = kind.options_model.model_validate(dict(trial.workload.options))
    places = place(effective_layout(trial), trial.limits.memory_byte, context.available_processors)
    specs = context.node_specs(trial, places)
    provider = context.providers[trial.environment.technology]
    with running_nodes(specs, context.providers, measured.times) as nodes:
        for node in nodes:
            measured.facts.update(node.facts)
        placed = list(zip(nodes, places, strict=True))
        instances = make_instances(kind, options, placed, trial.limits, provider)
        measured.facts.update(gather_evidence(instances[0]))
        try:
            _run(context, trial, instances, measured)
        finally:
            keep(context.raw_directory / trial.identity, instances)
        _explain_failure(measured.runs, instances, trial)
        _parse(kind, options, instances, measured)


def _run(context: Context, trial: Trial, instances: Sequence[Instance], measured: _Measured) -> None:
    """The measured part itself, between the limits' verification and the last DONE."""
    with ready_instances(instances) as stopwatches:
        groups = _groups(instances)
        for instance, stopwatch in zip(instances, stopwatches, strict=True):
            if instance.node.spec.name in groups:
                group = groups[instance.node.spec.name]
                measured.facts.update(verify(instance.node, group, stopwatch.seen))
        usage = _CpuUsage(list(groups.values()))
        try:
            measured.runs = run_on_barrier(stopwatches, trial.limits.time_s, context.tick, usage.stop)
        except NodeError:
            # When the stopwatch was the victim, the limit is the better reason.
            _refuse_memory_kills(groups.values(), instances)
            raise
    measured.cpu_s = usage.used_s
    measured.samples += _common_samples(measured.runs, usage.used_s)
    _refuse_memory_kills(groups.values(), instances)


def _refuse_memory_kills(groups: Iterable[Group], instances: Sequence[Instance]) -> None:
    if any(group.memory_kills() for group in groups):
        limit = format_byte(instances[0].node.spec.memory_byte)
        raise NodeError(
            f"the node's memory limit of {limit} killed a process; give it more memory or less work"
        )


def _groups(instances: Sequence[Instance]) -> dict[str, Group]:
    """Each node's control group; none for a fake node."""
    nodes: dict[str, Node] = {instance.node.spec.name: instance.node for instance in instances}
    return {name: group_of(node.init_pid) for name, node in nodes.items() if node.init_pid is not None}


class _CpuUsage:
    """CPU time of the nodes' groups from now to ``stop``; ``None`` when a group does not tell."""

    def __init__(self, groups: list[Group]) -> None:
        self._groups = groups
        self._before = self._now()
        self.used_s: float | None = None

    def stop(self) -> None:
        after = self._now()
        if self._before is not None and after is not None:
            self.used_s = after - self._before

    def _now(self) -> float | None:
        readings = [group.cpu_s() for group in self._groups]
        known = [reading for reading in readings if reading is not None]
        return sum(known) if known and len(known) == len(readings) else None


def _common_samples(runs: Sequence[InstanceRun], cpu_s: float | None) -> list[Sample]:
    """What every workload has: wall time of each instance, CPU time of the trial."""
    samples = [
        Sample(
            name="wall_s", value=run.clocks.wall_s, unit="s", direction=Direction.LESS, instance=run.instance
        )
        for run in runs
    ]
    if cpu_s is not None:
        samples.append(Sample(name="cpu_s", value=cpu_s, unit="s", direction=Direction.LESS))
    return samples


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
    return (output.stderr.strip() or output.stdout.strip())[-_EXCERPT_CHARACTERS:] or None


def _failure(run: InstanceRun, instance: Instance, trial: Trial) -> str | None:
    program = instance.job.argv[0]
    if run.timed_out:
        return f"{program} ran into its time limit of {format_duration(trial.limits.time_s)} and was ended"
    if run.signal is not None:
        return f"{program} was ended by signal {run.signal} ({_signal_name(run.signal)})"
    if run.exit_code != 0:
        return f"{program} ended with exit code {run.exit_code}"
    return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have no name
        return signal.strsignal(number) or "unknown"


def _parse(kind: WorkloadKind, options: Options, instances: Sequence[Instance], measured: _Measured) -> None:
    for instance in instances:
        output = instance.output()
        found = kind.samples(options, output)
        if wrong := [sample.name for sample in found if not math.isfinite(sample.value)]:
            raise WrongOutput(
                f"{', '.join(wrong)} is not a finite number", output.stdout[-_EXCERPT_CHARACTERS:]
            )
        measured.samples += [replace(sample, instance=instance.number) for sample in found]
        measured.facts.update(kind.facts(options, output))


def _doubt(runs: Sequence[InstanceRun]) -> str | None:
    """The declared rule that makes an outcome invalid: a clock that disagrees with the host's."""
    return next((words for run in runs if (words := disagreement(run.clocks))), None)


def _skew_s(runs: Sequence[InstanceRun]) -> float | None:
    if len(runs) < 2:  # noqa: PLR2004 - one instance has no skew
        return None
    return max(run.start_offset_s for run in runs)
