# SPDX-License-Identifier: Apache-2.0
"""How the work and the messages of BT and SP divide among ranks: a model, held to the profiler's counts.

    python -m bench.npb_scaling [--programs FOLDER] [--problem-class W] [--ranks 4 9 16] [--kernels bt sp]

For each number of ranks and both ways of messages it prints, of the rank that has most: its points as a multiple of the
mean; the messages and bytes that it sends in a step; and the share of a step that it waits until the sweeps' first
pieces arrive and its last ones have gone (the fill of the pipeline), were all else even. Nothing is timed: points, fill
and messages come from the model, whose messages and bytes of each rank must be those that two short runs differ by.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any

from bench.npb import PROGRAMS

NUMBER_BYTE = 8
COMPONENTS = 5
LAYERS = 2
"""Of the neighbours' points that the right-hand side needs."""
ALIGNMENT = 8
"""Rows along x are stored in multiples of it, and sent with what is behind them."""
LANES = {"plain": 2, "avx2": 4, "avx512": 8}
PIECE_PLACES = 256
LIMIT_S = 120
RUNS = (1, 3)
"""Steps of the two runs."""
EDGES = {"S": 12, "A": 64, "B": 102, "C": 162}
UNVERIFIED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """What BT and SP differ by: numbers that a line hands on, and the places that are worth a message."""

    forward: int
    backward: int
    worth_places: int
    edges: Mapping[str, int]
    sends_whole_squares: bool


FLOWS = {
    "bt": Flow(forward=30, backward=5, worth_places=256, edges={**EDGES, "W": 24}, sends_whole_squares=True),
    "sp": Flow(
        forward=22, backward=10, worth_places=512, edges={**EDGES, "W": 36}, sends_whole_squares=False
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """By a rank in a step."""

    messages: int
    byte: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Of the table: in the order of its columns."""

    kernel: str
    ranks: int
    way: str
    points: float | None
    messages: int
    byte: int
    fill: float | None

    def __str__(self) -> str:
        points = "" if self.points is None else f"{self.points:.2f}"
        fill = "" if self.fill is None else f"{self.fill:.0%}"
        cells = (self.kernel, self.ranks, self.way, points, self.messages, f"{self.byte / 1e3:.1f}", fill)
        return f"| {' | '.join(map(str, cells))} |"


HEAD = (
    "| kernel | ranks | messages | most points / mean | messages of a step | kB | fill |",
    "|---|---|---|---|---|---|---|",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=Path, default=PROGRAMS)
    parser.add_argument("--problem-class", default="W", choices=sorted(FLOWS["bt"].edges))
    parser.add_argument("--ranks", type=int, nargs="*", default=[4, 9, 16])
    parser.add_argument("--kernels", nargs="*", default=[*FLOWS], choices=[*FLOWS])
    chosen = parser.parse_args()
    print(*HEAD, sep="\n")
    differing = 0
    for kernel in chosen.kernels:
        for ranks in chosen.ranks:
            for way in ("own", "reference"):
                lanes, counted = counts(chosen.programs, kernel, chosen.problem_class, ranks, way)
                model = Model(FLOWS[kernel], FLOWS[kernel].edges[chosen.problem_class], isqrt(ranks), lanes)
                expected = [
                    *(model.own(rank) if way == "own" else model.cells(rank) for rank in range(ranks))
                ]
                differing += sum(seen != said for seen, said in zip(counted, expected, strict=True))
                print(model.row(kernel, way, expected), flush=True)
    print(
        f"\n{'DOES NOT HOLD' if differing else 'holds'}: {differing} ranks send other than modelled, claimed 0"
    )
    return 1 if differing else 0


def counts(programs: Path, kernel: str, problem_class: str, ranks: int, way: str) -> tuple[int, list[Sent]]:
    """Give the lanes of the kernel's vectors, and what each rank sends in a step."""
    shorter, longer = (Run.of(programs, kernel, problem_class, ranks, way, steps) for steps in RUNS)
    steps = RUNS[1] - RUNS[0]
    pairs = zip(shorter.sent, longer.sent, strict=True)
    return shorter.lanes, [
        Sent(messages=(more.messages - less.messages) // steps, byte=(more.byte - less.byte) // steps)
        for less, more in pairs
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Under the profiler."""

    lanes: int
    sent: Sequence[Sent]

    @staticmethod
    def of(programs: Path, kernel: str, problem_class: str, ranks: int, way: str, steps: int) -> "Run":
        """Run a kernel for some steps.

        Raises:
            SystemExit: it failed.

        """
        with tempfile.TemporaryDirectory(prefix="npb-scaling-") as folder:
            profile = Path(folder) / "profile.json"
            argv = [
                "mpirun",
                "--allow-run-as-root",
                "--oversubscribe",
                "--bind-to",
                "none",
                "-np",
                str(ranks),
            ]
            argv += ["--mca", "mpi_yield_when_idle", "1", "-x", f"LD_PRELOAD={programs / 'libtareprof.so'}"]
            argv += ["-x", f"TARE_PROFILE={profile}", str(programs / f"npb-{kernel}"), "--json"]
            argv += ["--class", problem_class, "--messages", way, "--set", f"steps={steps}"]
            done = subprocess.run(
                argv, capture_output=True, text=True, check=False, timeout=LIMIT_S, env={**os.environ}
            )
            if done.returncode not in {0, UNVERIFIED} or not profile.exists():
                sys.exit(f"{' '.join(argv)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
            said = next(json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
            ranks_sent = [sent_by(rank) for rank in json.loads(profile.read_text())["profile"]]
        return Run(lanes=LANES[said["simd"]], sent=ranks_sent)


def sent_by(rank: Mapping[str, Any]) -> Sent:
    """Sum its messages to single ranks."""
    return Sent(
        messages=sum(peer["sent"] for peer in rank["peers"]),
        byte=sum(peer["sent_byte"] for peer in rank["peers"]),
    )


@dataclass(frozen=True, slots=True)
class Part:
    """Of an axis: how many places, and whether the boundary is among them."""

    count: int
    is_first: bool
    is_last: bool

    @property
    def inside(self) -> int:
        return self.count - self.is_first - self.is_last


@dataclass(frozen=True, slots=True)
class Model:
    """What BT or SP divides among side x side ranks, as docs/npb/bt.md and docs/npb/sp.md describe it."""

    flow: Flow
    edge: int
    side: int
    lanes: int

    def row(self, kernel: str, way: str, sent: Sequence[Sent]) -> Row:
        is_own = way == "own"
        points = (self.points_of_pencil if is_own else self.points_of_cells)()
        return Row(
            kernel=kernel,
            ranks=self.side**2,
            way=way,
            points=max(points) / (self.edge**3 / self.side**2),
            messages=max(rank.messages for rank in sent),
            byte=max(rank.byte for rank in sent),
            fill=self.fill() if is_own else 0.0,
        )

    # Pencils: x is whole, y and z are divided among the rows and columns of ranks.

    def pencils(self) -> Iterator[tuple[Part, Part]]:
        for rank in range(self.side**2):
            yield self.even_part(rank % self.side), self.even_part(rank // self.side)

    def even_part(self, index: int) -> Part:
        first, end = (self.edge * place // self.side for place in (index, index + 1))
        return Part(end - first, index == 0, index == self.side - 1)

    def points_of_pencil(self) -> list[int]:
        return [self.edge * y.count * z.count for y, z in self.pencils()]

    def own(self, rank: int) -> Sent:
        y, z = [*self.pencils()][rank]
        row = COMPONENTS * whole(self.edge + 2 * LAYERS)
        face_numbers = [(y, LAYERS * row * z.count), (z, LAYERS * row * y.count)]
        sent = [self.to_neighbours(part, 1, (numbers, numbers)) for part, numbers in face_numbers]
        for along, across in ((y, z), (z, y)):
            lines = self.lines_of_piece(across) * self.lanes
            ways = (self.flow.forward * lines, self.flow.backward * lines)
            sent.append(self.to_neighbours(along, self.pieces(across), ways))
        return Sent(messages=sum(part.messages for part in sent), byte=sum(part.byte for part in sent))

    def to_neighbours(self, part: Part, messages: int, numbers: tuple[int, int]) -> Sent:
        """So many messages to the next rank and to the previous one, of so many numbers."""
        ends = (part.is_last, part.is_first)
        return Sent(
            messages=messages * sum(not is_end for is_end in ends),
            byte=messages
            * NUMBER_BYTE
            * sum(size for size, is_end in zip(numbers, ends, strict=True) if not is_end),
        )

    @property
    def _vectors(self) -> int:
        return whole(self.edge) // self.lanes

    @property
    def _longest(self) -> int:
        return -(-self.edge // self.side)

    def _vectors_of_piece(self) -> int:
        return min(max(PIECE_PLACES // self._longest, 1), self._vectors)

    def _rows_of_piece(self, across: Part) -> int:
        worth = self.flow.worth_places // (self._longest * self._vectors)
        return min(max(min(worth, across.inside // (2 * self.side)), 1), across.inside)

    def lines_of_piece(self, across: Part) -> int:
        """In vectors."""
        return self._rows_of_piece(across) * self._vectors_of_piece()

    def pieces(self, across: Part) -> int:
        """The first of several rows has half of them."""
        rows = self._rows_of_piece(across)
        return (across.inside + rows // 2 + rows - 1) // rows * -(-self._vectors // self._vectors_of_piece())

    def fill(self) -> float:
        """Of the sweeps along y and z, each as long as its pieces and one more for each rank before the last."""
        pieces = self.pieces(self.even_part(self.side // 2))
        return (self.side - 1) / (pieces + self.side - 1)

    # Cells: one of each slab of each axis.

    def slab(self, index: int) -> Part:
        thicker = index < self.edge % self.side
        return Part(self.edge // self.side + thicker, index == 0, index == self.side - 1)

    def cells_of(self, rank: int) -> list[tuple[Part, Part, Part]]:
        row, column = divmod(rank, self.side)
        return [
            (self.slab((column + cell) % self.side), self.slab((row - cell) % self.side), self.slab(cell))
            for cell in range(self.side)
        ]

    def points_of_cells(self) -> list[int]:
        return [
            sum(x.count * y.count * z.count for x, y, z in self.cells_of(rank))
            for rank in range(self.side**2)
        ]

    def cells(self, rank: int) -> Sent:
        """Two layers of each cell's six faces, in six messages; and each cell's lines in messages of its own."""
        messages, numbers = 2 * 3, 0
        for cell in self.cells_of(rank):
            for axis, along in enumerate(cell):
                first, second = (part for other, part in enumerate(cell) if other != axis)
                onward, back = not along.is_last, not along.is_first
                lines = self.lines_of_message(first, second)
                messages += onward + back
                numbers += (onward + back) * LAYERS * COMPONENTS * first.count * second.count
                numbers += lines * (onward * self.flow.forward + back * self.flow.backward)
        return Sent(messages=messages, byte=numbers * NUMBER_BYTE)

    def lines_of_message(self, first: Part, second: Part) -> int:
        if self.flow.sends_whole_squares:
            return (self.edge // self.side + 1) ** 2
        return first.inside * second.inside


def whole(places: int) -> int:
    return -(-places // ALIGNMENT) * ALIGNMENT


if __name__ == "__main__":
    sys.exit(main())
