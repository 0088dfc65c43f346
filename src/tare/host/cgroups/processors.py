# SPDX-License-Identifier: Apache-2.0
"""Lists of processors as the kernel writes them, cpuset(7)."""

import re

_MOST = 1 << 16
"""More than any kernel has."""


def format_processors(processors: tuple[int, ...]) -> str:
    return ",".join(map(str, processors))


def parse_processors(text: str) -> tuple[int, ...]:
    """``"0-2,5"`` → (0, 1, 2, 5): the kernel's list format, cpuset(7); ``ValueError`` names an invalid part."""
    processors: list[int] = []
    for part in filter(None, text.strip().split(",")):
        limits = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", part)
        if not limits or len(processors) > _MOST:
            raise ValueError(f"{part[:40]!r} is not a range of processors")
        processors.extend(range(int(limits[1]), int(limits[2] or limits[1]) + 1))
    return tuple(processors)
