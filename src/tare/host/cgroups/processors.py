# SPDX-License-Identifier: Apache-2.0
"""Lists of processors as the kernel writes them, cpuset(7)."""

import re


def format_processors(processors: tuple[int, ...]) -> str:
    return ",".join(map(str, processors))


def parse_processors(text: str) -> tuple[int, ...]:
    """``"0-2,5"`` → (0, 1, 2, 5): the kernel's list format, cpuset(7); ``ValueError`` names what is none."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        limits = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if not limits:
            raise ValueError(f"{part!r} is not a range of processors")
        found.extend(range(int(limits[1]), int(limits[2] or limits[1]) + 1))
    return tuple(found)
