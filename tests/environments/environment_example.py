# SPDX-License-Identifier: Apache-2.0
"""A node to describe, without starting it."""

import time
from collections.abc import Callable
from pathlib import Path

from tare.measure.inspection import Inspected, inspect
from tare.measure.stopwatch import Command
from tare.measure.ways import Ways, stopwatch_words
from tare.nodes.provider import Node, NodeSpec, Provider

MEBIBYTE = 1 << 20


def described(folder: Path = Path("/state/nodes/tare-1"), **changes: object) -> NodeSpec:
    values: dict[str, object] = {
        "name": "tare-1",
        "technology": "any",
        "options": {},
        "directory": folder,
        "image_root": Path("/image"),
        "image_digest": "sha256:" + "ab" * 32,
        "processors": (0, 2, 3),
        "memory_byte": 512 * MEBIBYTE,
        "shm_byte": 16 * MEBIBYTE,
        "cpu_quota": None,
    }
    return NodeSpec(**{**values, **changes})  # type: ignore[arg-type]


def inspected(provider: Provider, node: Node, sleep: Callable[[float], None] = time.sleep) -> Inspected:
    """A look by a way of its own."""
    with Ways() as ways:
        return inspect(provider, node, ways, sleep)


def way_to_stopwatch(provider: Provider, node: Node, command: Command, output_folder: str) -> list[str]:
    """The argv of a stopwatch in a node, as this host sees it."""
    return [*provider.prefix(node), *stopwatch_words(node, command, output_folder)]
