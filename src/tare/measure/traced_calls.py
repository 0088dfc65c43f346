# SPDX-License-Identifier: Apache-2.0
"""System calls of a workload's commands in each environment: one extra run each, traced and never measured.

A traced program is slow, so nothing in such a run is timed and no run lasts longer than a window. The tracer is the
host's; it attaches to the stopwatches before their GO and follows everything that they start.
"""

import select
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tare.errors import NodeError, WrongOutput
from tare.host.kernel_files import inner_numbers
from tare.image.store import find_image, in_use
from tare.measure import devices
from tare.measure.attempt import Measured
from tare.measure.campaign import Audience, Request, held_host, new_context
from tare.measure.context import Context
from tare.measure.instances import Instance, ready_instances, refuse_unexecuted
from tare.measure.prepared import nodes_up, prepared
from tare.measure.ready import made_ready
from tare.measure.session import interruptible
from tare.measure.stopwatch import Stopwatch, ending
from tare.measure.strace import MISSING, Refused, Tracer, is_installed
from tare.measure.unforeseen import as_trial_error
from tare.nodes.provider import Node
from tare.plan.campaign import Campaign
from tare.plan.trials import plan_block
from tare.records import CallCounts, Cell, TracedCalls, Trial

WINDOW_S = 3.0
"""Maximum duration of a traced run."""
_STOPWATCH = "stopwatch"
_NOT_HERE = "its nodes run on another host, where the tracer of this one sees nothing"
_OWN_KERNEL = "its nodes have a kernel of their own, into which the host's tracer does not see"
_SPREAD = "its processes are started in several nodes one after the other, where no tracer can wait for them"


@dataclass(slots=True, kw_only=True)
class _Found:
    """The results of the extra runs so far."""

    counts: dict[Cell, dict[str, CallCounts]] = field(default_factory=dict)
    untraced: dict[Cell, dict[str, str]] = field(default_factory=dict)
    closed: dict[str, str] = field(default_factory=dict)
    """Environment → why none of its nodes can be traced, so that no more are started in vain."""

    def count(self, trial: Trial, counts: CallCounts) -> None:
        self.counts.setdefault(_cell(trial), {})[trial.environment.name] = counts

    def leave(self, trial: Trial, reason: str) -> None:
        self.untraced.setdefault(_cell(trial), {})[trial.environment.name] = reason


def trace_calls(request: Request, audience: Audience, window_s: float = WINDOW_S) -> TracedCalls:
    """One traced run of each workload on native and in each environment; writes nothing into the request's folder.

    Where tracing is not possible the reason is given in words. Raises ``KeyboardInterrupt`` after taking down the run
    in progress, ``ImageError``, ``LockedError`` or ``HostError``.
    """
    trials, gathered = spare_trials(request.campaign), _Found()
    if is_installed():
        with (
            interruptible(),
            held_host(f"calls of {request.campaign.name}", audience),
            devices.fit_limits(request.campaign.devices),
        ):
            _trace_all(request, audience, trials, gathered, window_s)
    else:
        for trial in trials:
            gathered.leave(trial, MISSING)
    return TracedCalls(counts=gathered.counts, untraced=gathered.untraced)


def spare_trials(campaign: Campaign) -> list[Trial]:
    """Each workload once in each layout and environment: whole, alone, with one run of its command."""
    return [
        replace(trial, turns=None, workload=replace(trial.workload, iterations=1))
        for trial in plan_block(campaign, campaign.seed or 0, 0)
        if trial.replicate == 0 and trial.neighbour is None and trial.series is None
    ]


def _cell(trial: Trial) -> Cell:
    return Cell(workload=trial.workload.name, layout=trial.setting)


def _trace_all(
    request: Request, audience: Audience, trials: Sequence[Trial], gathered: _Found, window_s: float
) -> None:
    image = find_image(request.image_name)
    with in_use(image):
        skipped = made_ready(request.campaign, request.providers, image, audience.says).skipped
        gathered.closed = {skip.environment: f"{skip.reason}; {skip.remedy}" for skip in skipped}
        context = new_context(request, request.campaign, image, audience)
        usable = [trial for trial in trials if trial.environment.name not in gathered.closed]
        audience.says(
            f"system calls are counted in {len(usable)} spare runs, traced for {window_s:g} s at most"
        )
        for trial in trials:
            _note(context, trial, gathered, window_s)


def _note(context: Context, trial: Trial, gathered: _Found, window_s: float) -> None:
    """Record the counts or the reason for their absence, whatever fails."""
    name = trial.environment.name
    try:
        if name not in gathered.closed:
            gathered.count(trial, _traced(context, trial, window_s))
            return
    except Refused as error:
        gathered.closed[name] = str(error)
    except Exception as error:  # noqa: BLE001 - one broken run must not end the others
        gathered.leave(trial, str(as_trial_error(error)))
        return
    gathered.leave(trial, gathered.closed[name])


def _traced(context: Context, trial: Trial, window_s: float) -> CallCounts:
    """Nodes up, one traced run, nodes down; ``Refused`` if no such node can be traced, else ``TrialError``."""
    measured = Measured()
    with nodes_up(context, trial, measured) as up:
        for node in up.nodes:
            _refuse_unseen(node)
        with prepared(context, trial, up, measured) as ready:
            instances = ready.wanted[0].instances
            if any(len(instance.seat.members) > 1 for instance in instances):
                raise NodeError(_SPREAD)
            return _run(instances, window_s)


def _refuse_unseen(node: Node) -> None:
    if node.elsewhere is not None:
        raise Refused(_NOT_HERE)
    if node.own_kernel:
        raise Refused(_OWN_KERNEL)


def _run(instances: Sequence[Instance], window_s: float) -> CallCounts:
    """Trace from GO to the last DONE or the window's end; the stopwatches then end what still runs."""
    with ready_instances(instances) as stopwatches, _attached(instances, stopwatches) as tracer:
        begun = time.monotonic()
        for stopwatch in stopwatches:
            stopwatch.go()
        done = _ended_within(stopwatches, window_s)
        traced_s = time.monotonic() - begun
        made, failed = tracer.counts()
    refuse_unexecuted(done)
    for words in done:
        if words["timed_out"] or words["signal"] is not None or words["exit_code"]:
            raise WrongOutput(f"the command did not end well while it was traced: {ending(words)}")
    return CallCounts(made=made, failed=failed, traced_s=traced_s, whole=len(done) == len(stopwatches))


@contextmanager
def _attached(instances: Sequence[Instance], stopwatches: Sequence[Stopwatch]) -> Iterator[Tracer]:
    pairs = zip(instances, stopwatches, strict=True)
    processes = [_on_host(instance.seat.node, int(stopwatch.seen["pid"])) for instance, stopwatch in pairs]
    with Tracer(processes, instances[0].seat.node.spec.directory) as tracer:
        tracer.wait_attached()
        yield tracer


def _ended_within(stopwatches: Sequence[Stopwatch], window_s: float) -> list[Mapping[str, object]]:
    """Reports of the stopwatches that ended in time."""
    deadline, waiting, done = time.monotonic() + window_s, list(stopwatches), []
    while waiting and (left_s := deadline - time.monotonic()) > 0:
        readable, _, _ = select.select(waiting, [], [], left_s)
        said = {stopwatch: stopwatch.done() for stopwatch in readable}
        done += [words for words in said.values() if words is not None]
        waiting = [stopwatch for stopwatch in waiting if said.get(stopwatch) is None]
    return done


def _on_host(node: Node, inner: int) -> int:
    """The host's PID of the node's stopwatch, which knows only its own: both share the first process's namespace."""
    space = _namespace("self" if node.init_pid is None else node.init_pid)
    for entry in Path("/proc").iterdir():
        if (
            entry.name.isdigit()
            and inner_numbers(int(entry.name))[-1:] == [inner]
            and _is_stopwatch(entry, space)
        ):
            return int(entry.name)
    raise NodeError("the stopwatch in the node is not among the processes that this host shows")


def _is_stopwatch(entry: Path, space: str | None) -> bool:
    try:
        return (entry / "comm").read_text(errors="replace").strip() == _STOPWATCH and _namespace(
            entry.name
        ) == space
    except OSError:
        return False


def _namespace(pid: int | str) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return None
