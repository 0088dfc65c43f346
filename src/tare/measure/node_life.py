# SPDX-License-Identifier: Apache-2.0
"""The life of nodes: written down before anything is made, so that any later process can take them away."""

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tare.environments import PROVIDERS
from tare.environments.provider import Bind, Node, NodeSpec, Provider
from tare.errors import HostError, NodeError
from tare.host.mounts import mounts_below
from tare.host.paths import nodes_directory

_RECORD = "node.json"


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
            stack.callback(_stop_noting_problems, spec, provider, times)
            nodes.append(start_node(spec, provider))
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
    except NodeError as error:
        times.problems.append(f"{spec.name} did not stop cleanly: {error}")


def start_node(spec: NodeSpec, provider: Provider) -> Node:
    """Write the node down, then start it."""
    spec.directory.mkdir(parents=True)
    (spec.directory / _RECORD).write_text(json.dumps(asdict(spec), default=str))
    return provider.start(spec)


def stop_node(spec: NodeSpec, provider: Provider) -> None:
    """Stop it and forget it; ``NodeError`` if something of it stays."""
    provider.stop(spec)
    _forget(spec.directory)


def _forget(directory: Path) -> None:
    """Remove the node's folder, but never through a mount: a user's own directory may be bound there."""
    if mounts_below(directory):
        raise NodeError(f"something is still mounted below {directory}; unmount it and run `tare clean`")
    shutil.rmtree(directory, ignore_errors=True)


def leftover_nodes() -> list[NodeSpec]:
    """The nodes that an earlier run wrote down and did not take away."""
    folder = nodes_directory()
    if not folder.exists():
        return []
    return [_read(record) for record in sorted(folder.glob(f"*/{_RECORD}"))]


def remove_leftovers() -> list[str]:
    """Take away what a killed run left; returns the names. ``HostError`` names what would not go."""
    removed, problems = [], []
    for spec in leftover_nodes():
        try:
            stop_node(spec, PROVIDERS[spec.technology])
            removed.append(spec.name)
        except NodeError as error:
            problems.append(f"{spec.name}: {error}")
    _remove_empty_folders()
    if problems:
        raise HostError("leftovers of an earlier run cannot be removed: " + "; ".join(problems))
    return removed


def _remove_empty_folders() -> None:
    """A run killed between making a node's folder and writing it down leaves an empty folder."""
    for directory in nodes_directory().glob("*"):
        if not any(entry.name == _RECORD for entry in directory.iterdir()):
            _forget(directory)


def _read(record: Path) -> NodeSpec:
    try:
        found = json.loads(record.read_text())
        return NodeSpec(
            **{
                **found,
                "directory": record.parent,
                "image_root": Path(found["image_root"]),
                "processors": tuple(found["processors"]),
                "binds": tuple(
                    Bind(path=Path(bind["path"]), writable=bind["writable"]) for bind in found["binds"]
                ),
            }
        )
    except (ValueError, KeyError, TypeError):
        return _unreadable(record)


def _unreadable(record: Path) -> NodeSpec:
    """A record torn by a kill: nothing had been started yet, so any provider's stop finds nothing but the folder."""
    return NodeSpec(
        name=record.parent.name,
        technology="fake",
        options={},
        directory=record.parent,
        image_root=Path("/"),
        image_digest="",
        processors=(),
        memory_byte=0,
        shm_byte=0,
        cpu_quota=None,
    )
