# SPDX-License-Identifier: Apache-2.0
"""The life of a node on the host that runs it: recorded, started with its network, stopped and forgotten.

For runs on this host and for runs that another host requests over ssh. Uses only the standard library.
"""

import os

from tare import network
from tare.errors import NodeError
from tare.host import process
from tare.host.removal import remove_folder, said
from tare.nodes.freezer import thaw_node
from tare.nodes.provider import Node, NodeSpec, Provider
from tare.nodes.record import RECORD, write_down


def start_node(spec: NodeSpec, provider: Provider) -> Node:
    """Record one node and start it; the caller stops it."""
    write_down(spec)
    return start_recorded(spec, provider)


def start_recorded(spec: NodeSpec, provider: Provider) -> Node:
    """Start a node that is already recorded; raise as ``Provider.start`` does."""
    before = os.umask(process.USUAL_UMASK)  # its root and its first process have it too
    try:
        return _connected(spec, provider)
    finally:
        os.umask(before)


def _connected(spec: NodeSpec, provider: Provider) -> Node:
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
    """Stop it and forget it; ``NodeError`` if anything of it remains."""
    halt_node(spec, provider)
    try:
        remove_folder(spec.directory, RECORD)
    except OSError as error:
        raise NodeError(said(error)) from error


def halt_node(spec: NodeSpec, provider: Provider) -> None:
    """End everything that runs in it; ``NodeError`` if something does, or may, still run. Its folder stays."""
    try:
        thaw_node(spec.directory)
        try:
            network.give_back(spec)
        finally:
            provider.stop(spec)
        network.remove(spec)
    except OSError as error:
        raise NodeError(f"cannot stop it: {error.filename or spec.directory}: {error.strerror}") from error
