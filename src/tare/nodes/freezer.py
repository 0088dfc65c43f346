# SPDX-License-Identifier: Apache-2.0
"""The freezer of a node, recorded in its folder before it is used, so that any process that stops the node can thaw it.

In version 1 nothing frozen can die, so a kill -9 of the runner between two turns would leave a node forever.
"""

import json
from pathlib import Path
from typing import TypedDict

from tare.errors import NodeError
from tare.host.cgroups.freezer import Freezer, freezer_of
from tare.nodes.group import LocalGroup
from tare.nodes.provider import Node, NodeGroup
from tare.untrusted import from_json, of_kind

_FILE = "freezer"


def node_freezer(node: Node, group: NodeGroup | None) -> Freezer | None:
    """The freezer for a whole node (``group`` comes from its provider); ``None``: the node cannot take turns.

    A node with its own kernel cannot: its clock would go on, and gVisor's watchdog would end it. ``NodeError`` when the
    freezer cannot be recorded.
    """
    if node.own_kernel or node.elsewhere is not None or not isinstance(group, LocalGroup):
        return None
    freezer = freezer_of(group.group, node.spec.name)
    if freezer is not None:
        _write_down(freezer, node.spec.directory)
    return freezer


def _write_down(freezer: Freezer, folder: Path) -> None:
    try:
        (folder / _FILE).write_text(
            json.dumps({"version": freezer.version, "directory": str(freezer.directory)})
        )
    except OSError as error:
        raise NodeError(f"cannot write to {folder}: {error.strerror}") from error


class _WrittenNode(TypedDict):
    version: int
    directory: str


def thaw_node(folder: Path) -> None:
    """Thaw the node of this folder if it was ever to be frozen; raise ``NodeError`` as ``Freezer.thaw`` does."""
    try:
        written = of_kind(_WrittenNode, from_json((folder / _FILE).read_text()))
    except (OSError, ValueError):
        return  # never written, or torn by a kill: nothing was frozen yet
    Freezer(written["version"], Path(written["directory"])).thaw()
