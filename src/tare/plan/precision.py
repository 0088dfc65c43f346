# SPDX-License-Identifier: Apache-2.0
"""What a number of blocks can decide, known before anything runs (docs/method.md)."""

import math
from dataclasses import dataclass

from tare.statistics.blocks import LEAST_BLOCKS, fewest_blocks

ERROR = 0.05
_NOISE_LEVELS = (0.01, 0.03, 0.1)
_Z_95 = 1.96


def least_blocks(claims: int) -> int:
    """Blocks below which no difference can be shown, however large, as Holm's first step requires 5 % / ``claims``.

    6 for one claim, 7 for 25, 8 for 128.
    """
    return fewest_blocks(ERROR / max(1, claims))


def half_width(blocks: int, variation: float) -> float | None:
    """Half-width of the 95 % interval, as a fraction; ``variation`` is the runs' coefficient of variation CV.

    Solves n = (z √2 CV / h)² + 2 for h; ``None`` below 6 blocks, which give no 95 % interval.
    """
    return None if blocks < LEAST_BLOCKS else _Z_95 * math.sqrt(2) * variation / math.sqrt(blocks - 2)


def blocks_for(width: float, variation: float) -> int:
    """Blocks for a half-width of ``width``: n = (z √2 CV / h)² + 2, at least 6."""
    return max(LEAST_BLOCKS, math.ceil((_Z_95 * math.sqrt(2) * variation / width) ** 2 + 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """What a number of blocks can decide at one level of noise."""

    variation: float
    """Coefficient of variation of the runs, as a fraction."""
    half_width: float | None
    """Half-width of the 95 % interval, as a fraction; ``None`` below 6 blocks."""
    blocks_for_margin: int
    """Blocks for a half-width as small as the margin."""


def precisions(blocks: int, margin: float) -> tuple[Precision, ...]:
    """Judge quiet, usual and noisy machines."""
    return tuple(
        Precision(
            variation=level, half_width=half_width(blocks, level), blocks_for_margin=blocks_for(margin, level)
        )
        for level in _NOISE_LEVELS
    )
