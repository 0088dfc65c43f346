# SPDX-License-Identifier: Apache-2.0
"""The record of a node: written before the node is made, and checked before it is believed.

A record makes the process that stops the node run commands and remove folders. So it counts only if nobody but this
user and root can have written it, and if it says nothing that Tare would not have written.
"""

import json
import os
import re
import stat
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from tare.errors import NodeError
from tare.host.own_files import open_own
from tare.host.paths import nodes_directory
from tare.host.trust import distrust, made
from tare.nodes.codec import decode, encode
from tare.nodes.devices import is_possible
from tare.nodes.provider import NodeSpec

RECORD = "node.json"
LONGEST_RECORD_BYTE = 1 << 20
_NAME = re.compile(r"tare-[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
_MOST_PROCESSORS = 1 << 16
_MOST_BYTE = 1 << 60


def write_down(spec: NodeSpec) -> None:
    """Make the node's folder with its record; raise as ``make_node_folder`` does."""
    make_node_folder(spec.directory)
    (spec.directory / RECORD).write_text(record_text(spec))


def make_node_folder(directory: Path) -> None:
    """Make the folder; ``NodeError`` if it already exists: it is not this node's."""
    try:
        made(directory.parent, 0o700)
        directory.mkdir(mode=0o700)  # its user's programs must not interfere from outside
    except FileExistsError as error:
        raise NodeError(f"{directory} is there already; `tare clean` removes what is Tare's") from error


def record_text(spec: NodeSpec) -> str:
    """The text of the record; ``parse_record`` is the inverse."""
    return json.dumps(encode(spec))


def recorded_nodes() -> list[Path]:
    """The folders of nodes that were recorded and not removed."""
    return sorted(record.parent for record in nodes_directory().glob(f"*/{RECORD}"))


def read_record(directory: Path, technologies: Container[str]) -> NodeSpec | None:
    """The node recorded in this folder, as ``parse_record``; ``NodeError`` also where another user can have written."""
    _refuse_others_folder(directory)
    return parse_record(_read(directory / RECORD), directory, technologies)


def parse_record(text: bytes, directory: Path, technologies: Container[str]) -> NodeSpec | None:
    """The node that a record of this folder describes; ``None``: a kill tore it before anything was started.

    ``NodeError`` when it cannot be trusted, as when its technology is none of ``technologies``.
    """
    try:
        said = json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None
    except (ValueError, RecursionError) as error:  # numbers of 5,000 digits, lists in 100,000 lists
        raise _not_ours(directory) from error
    return None if said is None else _checked(said, directory, technologies)


def _refuse_others_folder(directory: Path) -> None:
    try:
        status = directory.lstat()
    except OSError as error:
        raise NodeError(f"cannot look at {directory}: {error.strerror}") from error
    why = distrust(status, directory) if stat.S_ISDIR(status.st_mode) else "is a link or no folder"
    if why is not None:
        raise NodeError(f"{directory} {why}, so that its record is not believed; remove it by hand")


def _read(record: Path) -> bytes:
    try:
        with os.fdopen(open_own(record), "rb") as opened:
            text = opened.read(LONGEST_RECORD_BYTE + 1)
    except OSError as error:
        raise NodeError(
            f"cannot read {record}: {error.strerror}; see that nothing of it runs, then remove it by hand"
        ) from error
    if len(text) > LONGEST_RECORD_BYTE:
        raise _not_ours(record.parent)
    return text


def _checked(said: Any, directory: Path, technologies: Container[str]) -> NodeSpec:
    try:
        spec = decode(NodeSpec, {**said, "directory": str(directory)})
    except (ValueError, TypeError, RecursionError):
        raise _not_ours(directory) from None
    if any(_problems(spec, technologies)):
        raise _not_ours(directory)
    return spec


def _problems(spec: NodeSpec, technologies: Container[str]) -> Iterator[bool]:
    """Yield true for each thing that Tare would not have written."""
    yield spec.name != spec.directory.name or not _NAME.fullmatch(spec.name)
    yield spec.technology not in technologies
    yield not 0 < len(spec.processors) <= _MOST_PROCESSORS
    yield not all(0 <= number < _MOST_PROCESSORS for number in spec.processors)
    yield not all(
        0 <= size <= _MOST_BYTE for size in (spec.memory_byte, spec.shm_byte, spec.index, spec.weight)
    )
    nodes = spec.directory.parent
    inside = (spec.network.namespace, spec.network.switch, spec.shared_work)
    yield not all(path is None or _is_inside(path, nodes) for path in inside)
    yield not all(map(is_possible, spec.devices))
    outside = (spec.image_root, *(bound.path for bound in spec.binds))
    yield not all(path.is_absolute() and "\0" not in str(path) for path in outside)


def _is_inside(path: Path, nodes: Path) -> bool:
    """Whether the path is below a node's folder, this one's or another's of the same trial."""
    return path.is_relative_to(nodes) and ".." not in path.parts and "\0" not in str(path)


def _not_ours(directory: Path) -> NodeError:
    return NodeError(
        f"{directory / RECORD} was not written by this version of Tare; run `tare clean` of the version that wrote "
        "it, or see that nothing of the node runs and remove the folder by hand"
    )
