# SPDX-License-Identifier: Apache-2.0
"""Runs of the resident program ``slices`` by itself: each piece so many units a slice, in so many rounds."""

import re
from collections.abc import Mapping
from pathlib import Path

from bench.beside.pairs import PROGRAMS, on_processor, output

_SLICE = re.compile(r"^(\S+) [0-9]+ slice ([0-9]+) ", re.MULTILINE)


def slices_s(
    folder: Path, pieces: Mapping[str, int], rounds: int, *, huge_pages: bool = False
) -> dict[str, list[float]]:
    """Piece → its slices' times per unit, without the first, which warms up."""
    asked = [word for piece, count in pieces.items() for word in (piece, str(count))]
    pages = ("--huge-pages", "on") if huge_pages else ()
    counts = ("--rounds", str(rounds + 1), "--once")
    said = output(on_processor(PROGRAMS / "slices", *pages, *counts, *asked), folder)
    times: dict[str, list[float]] = {piece: [] for piece in pieces}
    for piece, taken_ns in _SLICE.findall(said):
        times[piece].append(int(taken_ns) * 1e-9 / pieces[piece])
    assert all(len(each) == rounds + 1 for each in times.values()), said
    return {piece: each[1:] for piece, each in times.items()}
