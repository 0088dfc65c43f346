# SPDX-License-Identifier: Apache-2.0
"""The life of nodes: written down before anything is made, so that any later process can take them away."""

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from tare import network
from tare.environments import PROVIDERS
from tare.environments.provider import Node, NodeSpec, Provider
from tare.errors import HostError, NodeError
from tare.host.mounts import mounts_below
from tare.host.paths import nodes_directory
from tare.measure.node_freezer import thaw_node

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
    except NodeError as error:
        times.problems.append(f"{spec.name} did not stop cleanly: {error}")
    except KeyboardInterrupt:
        _stop_noting_problems(spec, provider, times)  # begun again: what was interrupted may be half done
        raise


def write_down(spec: NodeSpec) -> None:
    """Make the node's folder with its record; ``NodeError`` if there is such a folder: it is not this node's."""
    try:
        spec.directory.mkdir(parents=True)
        (spec.directory / _RECORD).write_text(json.dumps(asdict(spec), default=str))
    except FileExistsError as error:
        raise NodeError(f"{spec.directory} is there already; `tare clean` removes what is Tare's") from error


def start_node(spec: NodeSpec, provider: Provider) -> Node:
    """Write one node down and start it; whoever calls this stops it."""
    write_down(spec)
    return _connected(spec, provider)


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
    """Stop it and forget it; ``NodeError`` if something of it stays."""
    try:
        thaw_node(spec.directory)
        provider.stop(spec)
        network.remove(spec)
        _forget(spec.directory)
    except OSError as error:
        raise NodeError(f"cannot remove {error.filename or spec.directory}: {error.strerror}") from error


def _forget(directory: Path) -> None:
    """Remove the node's folder, but never through a mount: a user's own directory may be bound there."""
    if mounts_below(directory):
        raise NodeError(f"something is still mounted below {directory}; unmount it and run `tare clean`")
    if not directory.exists():
        return
    for entry in directory.iterdir():
        if entry.name != _RECORD:  # the last to go: a folder without it is not known as ours
            _delete(entry)
    (directory / _RECORD).unlink(missing_ok=True)
    directory.rmdir()


def _delete(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink()


def remove_leftovers() -> list[str]:
    """Take away what a killed run left; returns the names. ``HostError`` names what would not go.

    A folder without a record is not ours unless it is empty: a run was killed before it could write the record.
    """
    removed, problems = [], []
    for folder in leftover_nodes():
        try:
            _remove(folder / _RECORD)
            removed.append(folder.name)
        except NodeError as error:
            problems.append(f"{folder.name}: {error}")
    for directory in nodes_directory().glob("*"):
        with suppress(OSError):
            directory.rmdir()
    if problems:
        raise HostError("leftovers of an earlier run cannot be removed: " + "; ".join(problems))
    return removed


def leftover_nodes() -> list[Path]:
    """The folders of the nodes that an earlier run wrote down and did not take away."""
    return sorted(record.parent for record in nodes_directory().glob(f"*/{_RECORD}"))


def _remove(record: Path) -> None:
    """Stop the node of a record. One that a kill tore was being written before anything was started."""
    try:
        found = json.loads(record.read_text())
    except ValueError:
        found = None
    except OSError as error:
        raise NodeError(f"cannot read {record}: {error.strerror}") from error
    if found is None:
        _forget_torn(record.parent)
    else:
        spec = _spec(found, record)
        stop_node(spec, PROVIDERS[spec.technology])


def _forget_torn(directory: Path) -> None:
    try:
        _forget(directory)
    except OSError as error:
        raise NodeError(f"cannot remove {directory}: {error.strerror}") from error


def _spec(found: Any, record: Path) -> NodeSpec:
    try:
        spec = TypeAdapter(NodeSpec).validate_python({**found, "directory": record.parent}, strict=False)
    except (ValueError, TypeError):
        spec = None
    else:
        spec = spec if set(found) <= {one.name for one in fields(NodeSpec)} else None
    if spec is None or spec.name != record.parent.name or spec.technology not in PROVIDERS:
        raise NodeError(
            f"{record} was not written by this version of Tare; run `tare clean` of the version that wrote it"
        )
    return spec
