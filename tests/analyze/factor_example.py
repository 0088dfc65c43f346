# SPDX-License-Identifier: Apache-2.0
"""A workload at levels of memory, with planted overheads."""

import math
import random
from collections.abc import Mapping, Sequence

from tests.analyze.verdict_example import verdict_of

from tare.records import Cell, FactorCells, Level, Verdict

MEBIBYTE = 1 << 20
MEMORY = tuple(
    Level(key="memory", text=text, number=float(size * MEBIBYTE), unit="B")
    for text, size in (("1 GiB", 1024), ("512 MiB", 512), ("256 MiB", 256))
)
STORAGE = tuple(Level(key="storage", text=text) for text in ("tmpfs", "disk"))


def cells_of(levels: Sequence[Level], environments: tuple[str, ...] = ()) -> FactorCells:
    return FactorCells(
        workload="work",
        setting="1c1p1i",
        key=levels[0].key,
        levels=tuple(levels),
        cells=tuple((Cell(workload="work", layout=f"1c1p1i[{level}]"),) for level in levels),
        environments=environments,
    )


def at_levels(
    overheads: Mapping[str, Sequence[float]],
    levels: Sequence[Level] = MEMORY,
    *,
    blocks: int = 10,
    noise: float = 0.005,
    metric: str = "wall_s",
    primary: bool = True,
    seed: int = 1,
) -> list[Verdict]:
    """A verdict for each environment and level, as by ``overheads`` (fractions) with normal noise."""
    chance = random.Random(seed)  # noqa: S311 - noise, not a secret
    return [
        verdict_of(
            [math.log1p(overhead) + chance.gauss(0, noise) for _ in range(blocks)],
            environment,
            layout=f"1c1p1i[{level}]",
            metric=metric,
            primary=primary,
        )
        for environment, own in overheads.items()
        for level, overhead in zip(levels, own, strict=True)
    ]
