# SPDX-License-Identifier: Apache-2.0
"""Commands that the node's own first process starts, for technologies without their own way to enter a node.

A command entered by nsenter(1) has the node's namespaces, but the runner's capabilities and no system-call filter. A
child of the first process has everything that the technology gave its payload, and nothing else.
"""

from tare.errors import NodeError
from tare.nodes.provider import TOOLS_DIRECTORY, WORK_DIRECTORY, NodeSpec


def first_process(spec: NodeSpec) -> list[str]:
    """The argv of the idle init that starts commands: it creates its socket where the host can see it."""
    return [f"{TOOLS_DIRECTORY}/init", "attend", f"{WORK_DIRECTORY}/{_socket(spec)}"]


def withdraw(spec: NodeSpec) -> None:
    """Move the socket out of the node's sight, so that no command in the node can replace it."""
    try:
        (spec.work / _socket(spec)).rename(spec.work / ".." / _socket(spec))
    except OSError as error:
        raise NodeError(f"the node's first process made no socket to enter by: {error.strerror}") from error


def enter(spec: NodeSpec) -> list[str]:
    """The argv prefix whose command the node's first process starts."""
    return [f"{spec.image_root}{TOOLS_DIRECTORY}/enter", f"{spec.work}/../{_socket(spec)}", "--"]


def _socket(spec: NodeSpec) -> str:
    return f".{spec.name}"
