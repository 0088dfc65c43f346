# SPDX-License-Identifier: Apache-2.0
"""hpcc's input file, computed from an instance's resources."""

import math

from tare.errors import InputError
from tare.units import format_byte

BYTE_PER_WORD = 8


def problem_size(memory_byte: float, block_size: int) -> int:
    """Return the largest multiple of the block whose square matrix fits in ``memory_byte``; at least one block.

    HPL's tuning guide sizes the matrix from the memory, 8 N² bytes, and rounds N to its blocks NB.
    """
    return max(math.isqrt(int(memory_byte) // BYTE_PER_WORD) // block_size, 1) * block_size


def check_fits(size: int, memory_byte: int, program: str = "hpcc", buffers_byte: int = 0) -> None:
    """Raise ``InputError`` when the matrix, with what the program is known to need beside it, exceeds the memory."""
    needed_byte = BYTE_PER_WORD * size**2 + buffers_byte
    if needed_byte > memory_byte:
        raise InputError(
            f"{program} with N = {size} needs {format_byte(needed_byte)} for its matrix"
            f"{' and buffers' if buffers_byte else ''}, but an instance has"
            f" {format_byte(memory_byte)}; give a smaller problem_size or block_size, or more memory"
        )


_SMALLER, _ROUND = 0.9, 96
_LEAST_FRACTION, _LEAST_SIZE = 0.001, 100
"""Below, a problem says little."""


def smaller(size: int | None, memory_fraction: float) -> dict[str, int | float] | None:
    """The options of a problem with a tenth less rows, or half of the matrix; ``None`` if that would say little."""
    if size is not None:
        less = int(size * _SMALLER) // _ROUND * _ROUND
        return {"problem_size": less} if less >= _LEAST_SIZE else None
    fraction = round(memory_fraction / 2, 6)
    return {"memory_fraction": fraction} if fraction >= _LEAST_FRACTION else None


def size_said(size: int) -> str:
    """Such as ``N 20,544``."""
    return f"N {size:,}"


def process_grid(ranks: int) -> tuple[int, int]:
    """Return P and Q, as near to square as P · Q = ranks allows, with P ≤ Q (HPL's tuning guide)."""
    rows = next(rows for rows in range(math.isqrt(ranks), 0, -1) if ranks % rows == 0)
    return rows, ranks // rows


def input_text(size: int, block_size: int, grid: tuple[int, int]) -> str:
    """Write hpccinf.txt: 31 lines for HPL, a separator, and 4 lines for PTRANS, all read by position."""
    rows, columns = grid
    lines = (
        ("HPLinpack input file, written by Tare", ""),
        ("the next line names the output: hpcc sends all to hpccoutf.txt", ""),
        ("hpccoutf.txt", "file"),
        (8, "device: a file"),
        (1, "problem sizes"),
        (size, "N"),
        (1, "block sizes"),
        (block_size, "NB"),
        (0, "processes mapped row by row"),
        (1, "process grids"),
        (rows, "P"),
        (columns, "Q"),
        (16.0, "threshold of the scaled residual"),
        (1, "panel factorizations"),
        (2, "right-looking"),
        (1, "recursive stopping criteria"),
        (4, "columns"),
        (1, "panels in recursion"),
        (2, "panels"),
        (1, "recursive factorizations"),
        (1, "Crout"),
        (1, "broadcasts"),
        (1, "ring, modified"),
        (1, "lookahead depths"),
        (1, "depth"),
        (2, "swap: mixed"),
        (64, "swapping threshold"),
        (0, "L1 transposed"),
        (0, "U transposed"),
        (1, "equilibration"),
        (8, "alignment, double words"),
        ("---- PTRANS: no sizes beside HPL's ----", ""),
        (0, "further sizes"),
        (size, "not read"),
        (0, "further block sizes"),
        (block_size, "not read"),
    )
    return "".join(f"{value!s:<12} {meaning}".rstrip() + "\n" for value, meaning in lines)
