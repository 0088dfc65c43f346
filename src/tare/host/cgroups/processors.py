# SPDX-License-Identifier: Apache-2.0
"""Lists of processors as the kernel writes them, cpuset(7)."""


def format_processors(processors: tuple[int, ...]) -> str:
    return ",".join(map(str, processors))


def parse_processors(text: str) -> tuple[int, ...]:
    """``"0-2,5"`` → (0, 1, 2, 5): the kernel's list format, cpuset(7)."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)
