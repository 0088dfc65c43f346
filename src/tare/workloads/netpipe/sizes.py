# SPDX-License-Identifier: Apache-2.0
"""The message sizes that NetPIPE measures: two per doubling, and perturbed sizes around them (NetPIPE 3.7.2)."""

from collections.abc import Iterator


def message_sizes(smallest: int, largest: int, perturbation: int) -> tuple[int, ...]:
    """Give all sizes in bytes, in NetPIPE's order: 1, 2, 3, 4, 6, 8, 12, 16, 24, ...

    Where the step is wide enough, ``perturbation`` bytes below and above each size are measured too, which may exceed
    ``largest``.
    """
    sizes: list[int] = []
    for size, step in _steps(smallest, largest):
        around = perturbation if step > perturbation + 1 else 0
        sizes += [size - around, size, size + around] if around else [size]
    return tuple(sizes)


def _steps(smallest: int, largest: int) -> Iterator[tuple[int, int]]:
    """Each size with the step to the next; the step doubles after every second size, except at the beginning."""
    size, step, count = smallest, max(smallest // 2, 1), int(smallest > 1)
    while size <= largest:
        if count > 2 and count % 2:  # noqa: PLR2004 - NetPIPE's own beginning
            step *= 2
        yield size, step
        size, count = size + step, count + 1
