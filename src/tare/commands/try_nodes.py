# SPDX-License-Identifier: Apache-2.0
"""Real trials for ``tare doctor``: one in an environment, and two nodes on a kind of network."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from tare import network
from tare.errors import ImageError, NodeError
from tare.host.cgroups import remove_parent_if_empty
from tare.host.facts import online_processors
from tare.host.paths import nodes_directory
from tare.host.scratch import scratch_folder
from tare.image import Image, find_image, in_use
from tare.image.store import HOST_NAME
from tare.measure.clean import clean_up
from tare.measure.context import Context
from tare.measure.guardian import guarded
from tare.measure.lock import host_lock, tools_lock
from tare.measure.machine_lock import machine_lock
from tare.measure.placement import place
from tare.measure.running import NodeTimes, running_nodes
from tare.measure.session import interruptible
from tare.measure.trial import run_trial
from tare.network.reach import NetworkFinding, TryNetwork, try_reach
from tare.nodes.provider import Node, NodeSpec, Probe, Provider
from tare.records import Environment, Layout, Limits, NetworkKind, Outcome, Status, Trial, Workload
from tare.units import MEBIBYTE, format_duration

_LIMITS = Limits(memory_byte=256 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=10.0)
_WORKLOAD = Workload(name="burn", kind="command", options={"argv": ["{tools}/burn", "1000"]})
_LAYOUT = Layout(nodes=2, processors=1, instances=2)
_NETWORK_LIMITS = Limits(memory_byte=512 * MEBIBYTE, shm_byte=16 * MEBIBYTE)
_REMEDY = "correct what it says, or choose another network"
_REMEDIES = {
    NetworkKind.DEFAULT: "set up the technology's own network as its manual says, or choose network = veth"
}


@contextmanager
def held_for_trying() -> Iterator[Callable[[Provider], Probe]]:
    """Hold the host like a run, and yield a function that tries a node; may raise ``LockedError`` or ``ImageError``."""
    with ExitStack() as stack:
        stack.enter_context(interruptible())
        lock = stack.enter_context(host_lock("doctor"))
        stack.callback(remove_parent_if_empty)
        stack.enter_context(guarded(lock))
        for kept in clean_up().kept:
            print(f"warning: {kept.sentence}", file=sys.stderr)
        if remark := stack.enter_context(machine_lock()):
            print(remark, file=sys.stderr)
        stack.enter_context(tools_lock())
        image = _image()
        stack.enter_context(in_use(image))
        folder = stack.enter_context(scratch_folder("doctor"))
        yield lambda provider: _try(provider, image, folder)


def _try(provider: Provider, image: Image, folder: Path) -> Probe:
    provider.prepare(image.root, image.digest)
    name = provider.technology
    context = Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=folder,
        available_processors=online_processors(),
        providers={name: provider},
    )
    outcome = run_trial(context, _trial(name))
    if outcome.status is Status.OK:
        return Probe(usable=True, version=_times(outcome))
    said = ": ".join(filter(None, (outcome.reason, outcome.excerpt)))
    return Probe(usable=False, reason=said, remedy="correct what it says, then try again")


def _trial(technology: str) -> Trial:
    return Trial(
        identity=f"doctor-{technology}",
        block=0,
        slot=0,
        environment=Environment(name=technology, technology=technology),
        replicate=0,
        layout=Layout(nodes=1, processors=1, instances=1),
        workload=_WORKLOAD,
        limits=_LIMITS,
    )


def _times(outcome: Outcome) -> str:
    times = {"up in": outcome.node_start_s, "down in": outcome.node_stop_s}
    return ", ".join(
        f"{words} {format_duration(time_s)}" for words, time_s in times.items() if time_s is not None
    )


@contextmanager
def held_for_networks() -> Iterator[TryNetwork]:
    """Hold the host like a run, and yield a function that tries a network; raises like ``held_for_trying``."""
    with held_for_trying():
        yield partial(_try_network, _image())


def _image() -> Image:
    """The image of Debian's packages, else of this host's files; ``ImageError`` where there is neither."""
    try:
        return find_image()
    except ImageError as error:
        with suppress(ImageError):
            return find_image(HOST_NAME)
        raise error from None


def _try_network(image: Image, provider: Provider, kind: NetworkKind) -> NetworkFinding:
    provider.prepare(image.root, image.digest)
    times = NodeTimes()
    specs = _specs(image, provider, kind)
    try:
        with running_nodes(specs, {provider.technology: provider}, times) as nodes:
            network_finding = _reached(nodes, provider, kind)
    except NodeError as error:
        return _failed(kind, [str(error), *times.problems])
    return _failed(kind, times.problems) if times.problems else network_finding


def _failed(kind: NetworkKind, reasons: Sequence[str]) -> NetworkFinding:
    return NetworkFinding(
        kind=kind, usable=False, reason="; ".join(reasons), remedy=_REMEDIES.get(kind, _REMEDY)
    )


def _reached(nodes: Sequence[Node], provider: Provider, kind: NetworkKind) -> NetworkFinding:
    """Reach the first node from the last; without a network that is one node, which must reach itself."""
    network.name_nodes(nodes, provider)
    reach = try_reach(nodes[-1], nodes[0], provider)
    return NetworkFinding(
        kind=kind,
        usable=True,
        network=network.describe(nodes[-1])["network"],
        round_trip_s=reach.round_trip_s,
        transferred_byte=reach.transferred_byte,
        transfer_s=reach.transfer_s,
        remarks=reach.remarks,
    )


def _specs(image: Image, provider: Provider, kind: NetworkKind) -> list[NodeSpec]:
    context = Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=nodes_directory(),  # nothing is kept
        available_processors=online_processors(),
    )
    places = place(_LAYOUT, _NETWORK_LIMITS.memory_byte, context.available_processors)
    return context.node_specs(
        _network_trial(provider.technology, kind), places[:1] if kind is NetworkKind.NONE else places
    )


def _network_trial(technology: str, kind: NetworkKind) -> Trial:
    return Trial(
        identity=f"doctor-{technology}-{kind}",
        block=0,
        slot=0,
        environment=Environment(name=technology, technology=technology, network=kind),
        replicate=0,
        layout=_LAYOUT,
        workload=Workload(name="reach", kind="command"),
        limits=_NETWORK_LIMITS,
    )
