# SPDX-License-Identifier: Apache-2.0
"""Whether this host has the memory for all nodes that are to be up at the same time."""

from pathlib import Path

from tare.errors import HostError
from tare.host import readings
from tare.units import format_byte


def lacking_memory(arms: int, limit_byte: int, meminfo: Path = Path("/proc/meminfo")) -> str | None:
    """Why ``arms`` times ``limit_byte`` do not fit what is available now (proc(5), MemAvailable); ``None``: they do.

    ``HostError`` when the host does not tell.
    """
    try:
        available_byte = readings.memory_size_byte(meminfo.read_text(), "MemAvailable")
    except (OSError, ValueError) as error:
        raise HostError(f"{meminfo} does not tell the available memory ({error}); mount /proc") from error
    if arms * limit_byte <= available_byte:
        return None
    return (
        f"{arms} nodes of {format_byte(limit_byte)} at the same time need {format_byte(arms * limit_byte)}, and this "
        f"host has {format_byte(available_byte)} available; give them less memory, or run them one after the other"
    )
