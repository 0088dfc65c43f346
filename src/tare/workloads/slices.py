# SPDX-License-Identifier: Apache-2.0
"""Tare's own resident programs: small pieces of work, done in slices of a fixed number of units.

In: which pieces. Out: the launch of ``slices`` or ``slices-mpi``, and its answers as times per unit of work. The same
programs take turns (``resident``): a line ``PIECE COUNT`` each, answered by ``slice WALL_NS CPU_NS WAITED_NS CHECK``.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import ClassVar, Self

from pydantic import Field, model_validator

from tare.errors import InputError, WrongOutput
from tare.records import Sample
from tare.units import MEBIBYTE
from tare.workloads import excerpt, mpi, mpi_job
from tare.workloads.kind import Job, Options, Output, Piece, Shape, WorkloadKind, own

ROUNDS = 15
"""How often a plain trial does each piece."""

_SLICE_S = 0.075
"""Approximate length of a slice with its warm-up."""
_LAUNCH_S = 1.0
_LEAST_RANKS = 2
_NUMBER = r"[0-9]{1,18}"
_ANSWER = re.compile(rf"slice ({_NUMBER}) ({_NUMBER}|-) ({_NUMBER}|-) ([0-9a-f]{{1,16}}|-)")
_LINE = re.compile(rf"([a-z-]+(?::[0-9]+)*) ({_NUMBER}) (slice .+)", re.ASCII)
_LAST_LINE = "end of slices\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A resident program's report on one turn."""

    wall_ns: int
    cpu_ns: int | None = None
    """``None``: it does not count CPU time."""
    waited_ns: int | None = None
    """Time ready to run without a processor; ``None`` if the node does not count it."""
    check: str | None = None
    """Equal for equal work, in every arm; ``None`` for programs without a check."""


def parse_slice(line: str) -> Slice:
    """Read an answer; raises ``WrongOutput`` for any other line."""
    match = _ANSWER.fullmatch(line)
    if not match or int(match[1]) == 0:
        raise WrongOutput(f"{excerpt.printable(line[:80])!r} is not an answer to a turn", excerpt.tail(line))
    return Slice(
        wall_ns=int(match[1]),
        cpu_ns=None if match[2] == "-" else int(match[2]),
        waited_ns=None if match[3] == "-" else int(match[3]),
        check=None if match[4] == "-" else match[4],
    )


class SlicesOptions(Options):
    """The pieces of the kind to do."""

    known: ClassVar[tuple[Piece, ...]] = ()

    pieces: list[str] | None = Field(default=None, min_length=1)
    """Names of the pieces; ``None``: all."""

    @model_validator(mode="after")
    def _check_pieces(self) -> Self:
        names = [piece.name for piece in self.known]
        for name in self.pieces or []:
            if name not in names:
                raise ValueError(f"there is no piece {name!r}; choose of {', '.join(names)}")
        return self

    @property
    def chosen(self) -> tuple[Piece, ...]:
        """The chosen pieces in the kind's order."""
        return tuple(piece for piece in self.known if self.pieces is None or piece.name in self.pieces)


class ComputeOptions(SlicesOptions):
    known = (Piece(name="compute", metric="compute", start_count=2000, alone=True),)


class MessagesOptions(SlicesOptions, mpi_job.MpiOptions):
    known = (
        Piece(name="latency", metric="message latency", start_count=50_000),
        Piece(name="messages", metric="message bandwidth", moved_byte=2 * MEBIBYTE, start_count=200),
    )


class Slices(WorkloadKind):
    """One kind: a program and the pieces that it does."""

    def __init__(self, name: str, program: str, options_model: type[SlicesOptions]) -> None:
        self.name = name
        self.options_model: type[Options] = options_model
        self.primary_metric = options_model.known[0].metric
        self._program = program

    def pieces(self, options: Options) -> tuple[Piece, ...]:
        return own(SlicesOptions, options).chosen

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        launch_s = _LAUNCH_S if isinstance(options, mpi_job.MpiOptions) else 0.0
        return launch_s + ROUNDS * _SLICE_S * len(own(SlicesOptions, options).chosen)

    def job(self, options: Options, shape: Shape) -> Job:
        """Run each piece in rounds, in one run."""
        turns = [word for piece in self.pieces(options) for word in (piece.name, str(piece.start_count))]
        return self._job(options, shape, ("--rounds", str(ROUNDS), "--once", *turns))

    def resident(self, options: Options, shape: Shape) -> Job:
        """Run the same program, waiting for turns on its standard input."""
        return self._job(options, shape, ())

    def settings(self, options: Options) -> tuple[str, ...]:
        """Arguments of the program for all its pieces."""
        return ()

    def _job(self, options: Options, shape: Shape, turns: tuple[str, ...]) -> Job:
        program = f"{shape.tools_directory}/{self._program}"
        asked = (*self.settings(options), *turns)
        if not isinstance(options, mpi_job.MpiOptions):
            if shape.span is not None:
                raise InputError(f"{self.name} is one process, and an instance spans several nodes here")
            return Job(argv=(program, *asked))
        if shape.processors < _LEAST_RANKS:
            raise InputError(
                f"{self.name} needs two processors or more in each instance; 1c2p1i is the least"
            )
        return Job(
            argv=(*mpi_job.launch(options, shape), program, *asked),
            program=program,
            collect=mpi_job.collected(options),
            preflight=mpi.preflight(shape),
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        profiled = mpi_job.samples(options, output) if isinstance(options, mpi_job.MpiOptions) else []
        chosen = own(SlicesOptions, options).chosen
        answers = _answers(output, chosen)
        return [_sample(piece, answers[piece.name]) for piece in chosen] + profiled

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        crossed = mpi_job.facts(options, output) if isinstance(options, mpi_job.MpiOptions) else {}
        try:
            answers = _answers(output, own(SlicesOptions, options).chosen)
        except WrongOutput:
            return crossed
        return crossed | {f"check of {name}": str(slices[0].check) for name, slices in answers.items()}


def _answers(output: Output, pieces: tuple[Piece, ...]) -> Mapping[str, list[Slice]]:
    """Every round of each piece; raises ``WrongOutput`` if any is missing or did other work."""
    if not output.stdout.endswith(_LAST_LINE):
        raise WrongOutput("the slices are cut", excerpt.tail(output.stdout or output.stderr))
    counts = {piece.name: str(piece.start_count) for piece in pieces}
    answers: dict[str, list[Slice]] = defaultdict(list)
    for line in output.stdout.removesuffix(_LAST_LINE).splitlines():
        match = _LINE.fullmatch(line)
        if not match or counts.get(match[1]) != match[2]:
            raise WrongOutput(
                f"{excerpt.printable(line[:80])!r} was not asked for", excerpt.tail(output.stdout)
            )
        answers[match[1]].append(parse_slice(match[3]))
    for name in counts:
        _check_rounds(name, answers[name], output)
    return answers


def _check_rounds(name: str, slices: list[Slice], output: Output) -> None:
    if len(slices) != ROUNDS:
        raise WrongOutput(f"{len(slices)} slices of {name} instead of {ROUNDS}", excerpt.tail(output.stdout))
    if len({each.check for each in slices}) != 1:
        raise WrongOutput(f"slices of {name} came to different results", excerpt.tail(output.stdout))


def _sample(piece: Piece, slices: list[Slice]) -> Sample:
    """Time of one unit of work, by the median slice, as bursts of other load hit single slices."""
    time_s = median(each.wall_ns for each in slices) * 1e-9 / piece.start_count
    return piece.wall_sample(time_s)


COMPUTE = Slices("compute", "slices", ComputeOptions)
MESSAGES = Slices("messages", "slices-mpi", MessagesOptions)
