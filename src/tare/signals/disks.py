# SPDX-License-Identifier: Apache-2.0
"""The host's disks: /proc/diskstats (the kernel's admin-guide/iostats.rst), which does not attribute requests.

Only whole disks with hardware, as /sys/block names them: partitions, loop devices and mapped ones would count the same
bytes again.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.records import Scope
from tare.signals.family import File, Kind, SignalFamily, TextSource
from tare.signals.place import Place

_SECTOR_BYTE = 512
_MILLISECOND_S = 0.001
_READ_SECTORS, _READ_MS, _WRITTEN_SECTORS, _WRITE_MS = 5, 6, 9, 10
_FIELDS = 14


def hardware_disks(folder: Path = Path("/sys/block")) -> frozenset[str]:
    """Names of the block devices with a device behind them."""
    return frozenset(path.name for path in folder.glob("*") if (path / "device").exists())


class Disks(SignalFamily):
    kinds = (
        Kind(name="block_read_byte", unit="byte", scope=Scope.HOST),
        Kind(name="block_written_byte", unit="byte", scope=Scope.HOST),
        Kind(name="block_io_wait_s", unit="s", scope=Scope.HOST),
    )
    """The last is the total time of all requests."""

    def __init__(self, disks: frozenset[str] | None = None) -> None:
        """``disks``: the disks to count; ``None``: this host's."""
        self._disks = disks

    def sources(self, place: Place) -> Sequence[TextSource]:  # noqa: ARG002 - the same for every place
        if self._disks is None:
            self._disks = hardware_disks()
        return [File("/proc/diskstats")]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        rows = [line.split() for line in text.decode(errors="replace").splitlines()]
        if not rows or any(len(row) < _FIELDS for row in rows):
            raise ValueError("it is no table of disks")
        own = [row for row in rows if row[2] in (self._disks or ())]
        if not own:
            return {}

        def total(*columns: int) -> int:
            return sum(int(row[column]) for row in own for column in columns)

        return {
            "block_read_byte": total(_READ_SECTORS) * _SECTOR_BYTE,
            "block_written_byte": total(_WRITTEN_SECTORS) * _SECTOR_BYTE,
            "block_io_wait_s": total(_READ_MS, _WRITE_MS) * _MILLISECOND_S,
        }
