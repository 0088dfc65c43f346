# SPDX-License-Identifier: Apache-2.0
"""Two real nodes on a kind of network: a ping and a TCP transfer from one to the other."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from tare import network
from tare.commands.try_nodes import held_for_trying
from tare.errors import NodeError
from tare.host.facts import online_processors
from tare.host.paths import nodes_directory
from tare.image import Image, find_image
from tare.measure.context import Context
from tare.measure.placement import place
from tare.measure.running import NodeTimes, running_nodes
from tare.network.reach import NetworkFinding, TryNetwork, try_reach
from tare.nodes.provider import Node, NodeSpec, Provider
from tare.records import Environment, Layout, Limits, NetworkKind, Trial, Workload
from tare.units import MEBIBYTE

_LAYOUT = Layout(nodes=2, processors=1, instances=2)
_LIMITS = Limits(memory_byte=512 * MEBIBYTE, shm_byte=16 * MEBIBYTE)
_REMEDY = "correct what it says, or choose another network"
_REMEDIES = {
    NetworkKind.DEFAULT: "set up the technology's own network as its manual says, or choose network = veth"
}


@contextmanager
def held_for_networks() -> Iterator[TryNetwork]:
    """Hold the host like a run, and yield a function that tries a network; raises like ``held_for_trying``."""
    with held_for_trying():
        yield partial(_try, find_image())


def _try(image: Image, provider: Provider, kind: NetworkKind) -> NetworkFinding:
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
    places = place(_LAYOUT, _LIMITS.memory_byte, context.available_processors)
    return context.node_specs(
        _trial(provider.technology, kind), places[:1] if kind is NetworkKind.NONE else places
    )


def _trial(technology: str, kind: NetworkKind) -> Trial:
    return Trial(
        identity=f"doctor-{technology}-{kind}",
        block=0,
        slot=0,
        environment=Environment(name=technology, technology=technology, network=kind),
        replicate=0,
        layout=_LAYOUT,
        workload=Workload(name="reach", kind="command"),
        limits=_LIMITS,
    )
