# SPDX-License-Identifier: Apache-2.0
"""From a trial to commands that wait for GO: nodes up and inspected, instances seated, neighbours ready."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tare import network
from tare.errors import NodeError
from tare.measure.at_once import for_each
from tare.measure.attempt import Measured
from tare.measure.context import Arm, Context
from tare.measure.counted import Watched, victims
from tare.measure.devices import refuse_closed, require_given
from tare.measure.hosts import work_times_s
from tare.measure.idle_ranks import idle_ranks_fact
from tare.measure.inspection import inspect, tested_clocks
from tare.measure.instances import UNKNOWN, Instance, gather_evidence, run_aside, run_preflight
from tare.measure.iterations import Repetition, repetitions, starts_by_turns
from tare.measure.mpi_facts import launcher_facts
from tare.measure.neighbours import Neighbours, ready_neighbours
from tare.measure.parity import require_equal, require_one_parent, require_user
from tare.measure.placement import Places, effective_layout, sharing_said
from tare.measure.running import NodeTimes, running_nodes
from tare.measure.seats import Placed, seated
from tare.measure.ways import Ways
from tare.nodes.provider import Node, NodeGroup, Provider
from tare.records import PROGRAM, Trial, Turns
from tare.workloads import KINDS

_OUTPUT = ".program"
_DIGEST = 'found=$(command -v -- "$1") && exec sha256sum -- "$found"'
_HEXADECIMAL = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Up:
    """The running nodes of an arm."""

    provider: Provider
    nodes: tuple[Node, ...]
    groups: tuple[NodeGroup, ...]
    places: Places
    ways: Ways
    up_s: float
    """When they were up, by ``time.monotonic``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A trial whose commands can be started."""

    trial: Trial
    up: Up
    wanted: Sequence[Repetition]
    company: Neighbours
    watched: Watched


@contextmanager
def nodes_up(context: Context, trial: Trial, measured: Measured) -> Iterator[Up]:
    """Start the nodes of a trial, verify them, and stop them in the end; raises ``TrialError``."""
    measured.real_hosts = context.real_hosts(trial)
    places = context.places_of(trial)
    specs = context.node_specs(trial, places.measured)
    provider = context.provider_of(trial)
    problem = network.neighbours_problem(specs[0].network.kind, effective_layout(trial))
    if problem and not provider.own_kernel:
        raise NodeError(problem)
    with running_nodes(specs, context.providers, measured.times) as nodes, Ways() as ways:
        up_s = time.monotonic()
        groups = _inspect(context, provider, nodes, ways, measured)
        measured.clock_quality, untested = tested_clocks(context, trial, provider, nodes, ways)
        measured.learn(untested)
        measured.host_times_s = work_times_s(trial, measured.real_hosts, nodes, len(context.hosts))
        yield Up(
            provider=provider, nodes=tuple(nodes), groups=tuple(groups), places=places, ways=ways, up_s=up_s
        )


@contextmanager
def prepared(
    context: Context, trial: Trial, up: Up, measured: Measured, *, by_turns: bool = False
) -> Iterator[Prepared]:
    """Seat the instances of a trial in running nodes, test their launch, and gather evidence."""
    places = up.places
    if places.oversubscribed:
        measured.facts["oversubscription"] = sharing_said(places.requested, places.available)
    # Trials that take turns share the start of their nodes; other trials have fresh nodes.
    before = victims(up.groups) if by_turns else None
    with ExitStack() as stack:
        placed = Placed(
            nodes=up.nodes,
            places=places.measured,
            provider=up.provider,
            layout=effective_layout(trial),
            oversubscribed=places.oversubscribed or context.idle_ranks.yield_in(trial.block),
            lacking_flags=context.lacking_flags,
            ways=up.ways,
            times=NodeTimes(problems=measured.times.problems),
        )
        seats = stack.enter_context(seated(context, trial, placed))
        kind = KINDS[trial.workload.kind]
        if by_turns:
            wanted = starts_by_turns(kind, trial, seats, trial.turns or Turns())
        else:
            wanted = repetitions(kind, trial, seats)
        job = wanted[0].instances[0].job
        evidence = facts_beforehand(context, trial, up.nodes, wanted[0].instances)
        measured.facts.update({**job.facts, **launcher_facts(seats[0]), **idle_ranks_fact(job), **evidence})
        company = stack.enter_context(ready_neighbours(context, trial, up.nodes, places, placed.times))
        watched = Watched(up.provider, up.nodes, up.groups, seats, before)
        yield Prepared(trial=trial, up=up, wanted=wanted, company=company, watched=watched)


def _inspect(
    context: Context, provider: Provider, nodes: Sequence[Node], ways: Ways, measured: Measured
) -> list[NodeGroup]:
    """Verify the limits in every node, and that the host treats it like native ones.

    Afterwards all know each other's names, if the image can store them.
    """
    try:
        network.name_nodes(nodes, provider)
    except NodeError as error:
        measured.facts["names of the nodes"] = f"not resolved: {error}"
    groups = []
    inspected = for_each(provider, lambda node: inspect(provider, node, ways), nodes)
    for node, (group, limits, parity) in zip(nodes, inspected, strict=True):
        measured.learn({**node.facts, **network.describe(node), **limits})
        measured.parity = measured.parity or parity
        require_equal(parity, context.expected, node.spec.technology)
        require_given(node)
        require_user(parity, node)
        if group is not None:
            groups.append(group)
    require_one_parent(nodes, context.expected)
    return groups


def facts_beforehand(
    context: Context, trial: Trial, nodes: Sequence[Node], instances: Sequence[Instance]
) -> Mapping[str, str]:
    """The job's evidence and its program's digest, once for each arm of a session: neither can change.

    They are repeated after a trial of the arm that did not count, and for missing evidence. A node with its own kernel
    starts its clock anew, with nothing read from files, at each start: there the launch and the evidence precede every
    command. ``NodeError`` if the launch cannot work, ``ClockFault`` if MPI's clock is wrong here.
    """
    arm = arm_of(trial)
    if arm not in context.evidence or any(node.own_kernel for node in nodes):
        for instance in instances:
            refuse_closed(instance)
            run_preflight(instance)
        context.evidence[arm] = {}
    evidence = context.evidence[arm] or gather_evidence(instances[0])
    if not any(text.startswith(UNKNOWN) for text in evidence.values()):
        context.evidence[arm] = evidence
    if arm not in context.programs:
        context.programs[arm] = program_digest(instances[0])
    return {**evidence, **context.programs[arm]}


def forget(context: Context, trial: Trial) -> None:
    """Repeat the checks in the next trial of this arm, as this one did not count."""
    context.evidence.pop(arm_of(trial), None)
    context.programs.pop(arm_of(trial), None)


def arm_of(trial: Trial) -> Arm:
    """Its environment, workload and setting: trials of one arm launch alike."""
    return trial.environment.name, trial.workload.name, trial.setting


def program_digest(instance: Instance) -> dict[str, str]:
    """The fact ``PROGRAM``: SHA-256 of the file, by the node's own sha256sum(1), or why it is not known."""
    program = instance.job.program or instance.job.argv[0]
    said = run_aside(instance, ("sh", "-c", _DIGEST, "sh", program), _OUTPUT)
    digest = (instance.printed(_OUTPUT, "stdout") or "").partition(" ")[0].lstrip("\\")
    if said["exit_code"] == 0 and len(digest) == _HEXADECIMAL:
        return {PROGRAM: f"sha256:{digest}"}
    return {PROGRAM: f"not known: {program} cannot be read in the node by sha256sum"}
