# SPDX-License-Identifier: Apache-2.0
"""The life of nodes: written down before anything is made, stopped and forgotten whatever happens."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from tare import network
from tare.errors import NodeError
from tare.host import process
from tare.host.removal import remove_folder, said
from tare.measure.unforeseen import in_words
from tare.nodes.freezer import thaw_node
from tare.nodes.provider import Node, NodeSpec, Provider
from tare.nodes.record import RECORD, write_down


@dataclass(slots=True, kw_only=True)
class NodeTimes:
    """How long the nodes of a trial took to come and go; ``None`` until they have."""

    start_s: float | None = None
    stop_s: float | None = None
    problems: list[str] = field(default_factory=list)
    """What went wrong while stopping: the measurement stands, the leftovers are named."""


@contextmanager
def running_nodes(
    specs: list[NodeSpec], providers: Mapping[str, Provider], times: NodeTimes
) -> Iterator[list[Node]]:
    """Start all nodes, and stop them whatever happens in between, the last first."""
    with ExitStack() as stack:
        stack.callback(_note_stop, times)
        begun = time.monotonic()
        nodes = []
        for spec in specs:
            provider = providers[spec.technology]
            write_down(spec)
            stack.callback(_stop_noting_problems, spec, provider, times)
            nodes.append(_connected(spec, provider))
        times.start_s = time.monotonic() - begun
        stack.callback(_note_stop_begin, times)
        yield nodes


def _note_stop_begin(times: NodeTimes) -> None:
    times.stop_s = -time.monotonic()


def _note_stop(times: NodeTimes) -> None:
    if times.stop_s is not None:
        times.stop_s += time.monotonic()


def _stop_noting_problems(spec: NodeSpec, provider: Provider, times: NodeTimes) -> None:
    try:
        stop_node(spec, provider)
    except KeyboardInterrupt:
        _stop_noting_problems(spec, provider, times)  # begun again: what was interrupted may be half done
        raise
    except Exception as error:  # noqa: BLE001 - the others must be stopped, and the measurement stands
        times.problems.append(f"{spec.name} did not stop cleanly: {in_words(error)}")


def start_node(spec: NodeSpec, provider: Provider) -> Node:
    """Write one node down and start it; whoever calls this stops it."""
    write_down(spec)
    return _connected(spec, provider)


def _connected(spec: NodeSpec, provider: Provider) -> Node:
    before = os.umask(process.USUAL_UMASK)  # its root and its first process have it too
    try:
        return _started(spec, provider)
    finally:
        os.umask(before)


def _started(spec: NodeSpec, provider: Provider) -> Node:
    """The node with its network: joined at its start, or given to the namespace that the technology made."""
    if provider.makes_namespace:
        node = provider.start(spec)
        network.adopt(node)
        return provider.complete(node)
    namespace = spec.network.namespace
    if namespace is not None and namespace.parent == spec.directory:  # else another node's, joined as it is
        network.create(spec, provider.takes_tap)
    return provider.start(spec)


def stop_node(spec: NodeSpec, provider: Provider) -> None:
    """Stop it and forget it; ``NodeError`` if something of it stays."""
    halt_node(spec, provider)
    try:
        remove_folder(spec.directory, RECORD)
    except OSError as error:
        raise NodeError(said(error)) from error


def halt_node(spec: NodeSpec, provider: Provider) -> None:
    """Have nothing of it run any more; ``NodeError`` if something does, or may. Its folder stays."""
    try:
        thaw_node(spec.directory)
        provider.stop(spec)
        network.remove(spec)
    except OSError as error:
        raise NodeError(f"cannot stop it: {error.filename or spec.directory}: {error.strerror}") from error
