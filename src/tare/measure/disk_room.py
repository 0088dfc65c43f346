# SPDX-License-Identifier: Apache-2.0
"""Disk space that a trial's nodes take below their layers, so that no command fills its host.

A plain folder has no quota, and a separate file system for each node would not be the one that is measured. So the
whole file system is checked about once a second: whoever took the space, the trial ends.
Source: statvfs(3).
"""

import os
from collections.abc import Sequence
from pathlib import Path

from tare.errors import NodeError
from tare.nodes.provider import Node
from tare.records import Bounds, Storage
from tare.units import GIBIBYTE, format_byte

_RESERVE = 0.05
_MOST_RESERVED_BYTE = 2 * GIBIBYTE


class DiskRoom:
    """Space on the file systems below the layers of these nodes, from now on; other hosts' are not visible."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        specs = [node.spec for node in nodes if node.elsewhere is None and node.spec.storage is Storage.DISK]
        bounded = [spec for spec in specs if spec.bounds != Bounds()]  # else a result begun without bounds
        self._most_byte = bounded[0].bounds.disk_byte if bounded else None
        folders = {spec.directory.stat().st_dev: spec.directory for spec in bounded}
        self._before = {folder: _free_byte(folder) for folder in folders.values()}

    def check(self) -> None:
        """``NodeError`` if more is gone than permitted, or hardly anything is left."""
        for folder, before_byte in self._before.items():
            free_byte = _free_byte(folder)
            gone_byte = before_byte - free_byte
            if self._most_byte is not None and gone_byte > self._most_byte:
                raise NodeError(
                    f"the disk below the nodes' layers ({folder}) lost {format_byte(gone_byte)} in this trial, more "
                    f"than the limit of {format_byte(self._most_byte)}; write less, or raise disk under [limits]"
                )
            if free_byte < min(_reserve_byte(folder), gone_byte):
                raise NodeError(
                    f"the disk below the nodes' layers ({folder}) has only {format_byte(free_byte)} left, after "
                    f"{format_byte(gone_byte)} in this trial; write less, or make room"
                )


def _free_byte(folder: Path) -> int:
    file_system = os.statvfs(folder)
    return file_system.f_bavail * file_system.f_frsize


def _reserve_byte(folder: Path) -> int:
    file_system = os.statvfs(folder)
    return min(_MOST_RESERVED_BYTE, int(_RESERVE * file_system.f_blocks * file_system.f_frsize))
