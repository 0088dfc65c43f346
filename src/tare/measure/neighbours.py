# SPDX-License-Identifier: Apache-2.0
"""Load beside the measured instances: separate nodes, busy from before their start until after their end."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from tare.errors import NodeError
from tare.measure.context import Context
from tare.measure.inspection import inspect
from tare.measure.instances import OUTPUT, Instance, make_instances, ready_instances
from tare.measure.parity import require_equal, require_one_parent
from tare.measure.placement import Places, neighbours_layout
from tare.measure.running import NodeTimes, running_nodes
from tare.measure.seats import Placed, Seat, seated
from tare.measure.stopwatch import Stopwatch
from tare.measure.ways import Ways
from tare.nodes.provider import Node, NodeGroup
from tare.records import Trial
from tare.workloads import KINDS
from tare.workloads.mpi import last_words

_AGAIN_AND_AGAIN = ("sh", "-c", 'while :; do "$@" >/dev/null || exit; done', "sh")
"""Repeats until it fails or is ended: a neighbour must not end before the measured command.

Its output is discarded: nobody reads it, and it would grow with every repetition.
"""
_SLACK_S = 120.0


class Neighbours:
    """The trial's neighbours; empty if it has none."""

    def __init__(
        self,
        instances: Sequence[Instance],
        stopwatches: Sequence[Stopwatch],
        groups: Sequence[NodeGroup] | None = (),
    ) -> None:
        self._instances = instances
        self._stopwatches = stopwatches
        self.groups = groups
        """Groups of their nodes; ``None`` if some nodes have none."""

    def begin(self) -> None:
        for stopwatch in self._stopwatches:
            stopwatch.go()

    def check(self) -> None:
        """``NodeError`` if one is idle by now: the measured command then had less company than requested."""
        for instance, stopwatch in zip(self._instances, self._stopwatches, strict=True):
            if stopwatch.has_said() and (words := stopwatch.done()) is not None:
                said = instance.complaint(OUTPUT)
                name, code = instance.seat.node.spec.name, words["exit_code"]
                ended = "was ended by a signal" if code is None else f"ended with exit code {code}"
                raise NodeError(f"the neighbour in {name} {ended}: {last_words(said)}", said)


@contextmanager
def ready_neighbours(
    context: Context, trial: Trial, measured: Sequence[Node], places: Places, times: NodeTimes
) -> Iterator[Neighbours]:
    """The trial's neighbours, up and ready to begin beside the ``measured`` nodes."""
    if trial.neighbour is None:
        yield Neighbours([], [])
        return
    alone = _as_trial(trial)
    provider = context.provider_of(alone)
    specs = context.node_specs(alone, places.neighbours)
    with ExitStack() as stack:
        nodes = stack.enter_context(running_nodes(specs, context.providers, times))
        ways = stack.enter_context(Ways())
        seen = [inspect(provider, node, ways) for node in nodes]
        for entry in seen:
            require_equal(entry.parity, context.expected, alone.environment.technology)
        require_one_parent([*measured, *nodes], context.expected)
        held = [item.group for item in seen]
        groups = [group for group in held if group is not None]
        placed = Placed(
            nodes=tuple(nodes),
            places=places.neighbours,
            provider=provider,
            layout=alone.layout,
            oversubscribed=places.oversubscribed or context.idle_ranks.yield_in(trial.block),
            lacking_flags=context.lacking_flags,
            ways=ways,
            times=times,
        )
        seats = stack.enter_context(seated(context, alone, placed))
        instances = [_endless(instance) for instance in _instances(alone, _numbered_on(trial, seats))]
        stopwatches = stack.enter_context(ready_instances(instances))
        yield Neighbours(instances, stopwatches, groups if len(groups) == len(nodes) else None)


def _as_trial(trial: Trial) -> Trial:
    """The neighbours as a trial: one node each, with one instance."""
    layout = neighbours_layout(trial)
    assert trial.neighbour is not None  # noqa: S101 - whoever has none does not come here
    assert layout is not None  # noqa: S101 - as above
    return replace(
        trial,
        environment=trial.neighbour.environment,
        workload=trial.neighbour.workload,
        layout=layout,
        neighbour=None,
    )


def _numbered_on(trial: Trial, seats: Sequence[Seat]) -> list[Seat]:
    """Number them after the measured ones: workloads may choose ports by number, and may share a network."""
    count = trial.layout.instances
    return [replace(seat, shape=replace(seat.shape, instance=count + seat.number)) for seat in seats]


def _instances(trial: Trial, seats: Sequence[Seat]) -> list[Instance]:
    kind = KINDS[trial.workload.kind]
    options = kind.options_model.model_validate(dict(trial.workload.options))
    return make_instances(kind, options, seats, trial.limits.time_s + _SLACK_S)


def _endless(instance: Instance) -> Instance:
    return replace(instance, job=replace(instance.job, argv=(*_AGAIN_AND_AGAIN, *instance.job.argv)))
