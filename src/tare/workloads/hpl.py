# SPDX-License-Identifier: Apache-2.0
"""High-Performance Linpack alone, by Tare's own program: LU of a dense system as one MPI job.

In: a node's memory and processors. Out: the program's launch, and its line of JSON as samples.
Petitet, Whaley, Dongarra and Cleary, HPL 2.3 (method, count of operations, test of the solution); docs/hpl.md.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from tare.errors import InputError, WrongOutput
from tare.host.facts import cpu_flags
from tare.records import Direction, OptionValue, Sample
from tare.units import MEBIBYTE
from tare.untrusted import from_json
from tare.workloads import excerpt, mpi, mpi_job
from tare.workloads.hpcc import BlasOptions, blas_facts, blas_variables
from tare.workloads.hpcc.checks import THRESHOLD
from tare.workloads.hpcc.input import (
    BYTE_PER_WORD,
    check_fits,
    problem_size,
    process_grid,
    size_said,
    smaller,
)
from tare.workloads.kind import Job, Options, Output, Scan, Shape, WorkloadKind, own

MOST_FILLED = 0.9
"""Fraction of the memory that everything may take when Tare chooses N."""
USUAL_BLOCK_SIZE = 192
_BLOCK_SIZES = (USUAL_BLOCK_SIZE, 64, 96, 128, 256)
"""Candidates of a scan: from half a kibibyte to two of a row, the range of HPL's tuning guide."""
_COMMON_MULTIPLE = 768
"""Of these block sizes: with such an N none has a last block that is smaller."""
_FLOP_PER_S = 4e10
"""Of a processor, as fitted on two of 2024."""
_PROCESS_BYTE = 24 * MEBIBYTE
"""Memory of a process without the matrix and its buffers: twice what Open MPI 4.1.4 and OpenBLAS 0.3.21 took."""
_Count = Annotated[int, Field(gt=0)]
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class HplOptions(BlasOptions):
    """The problem; by default as large as HPL's tuning guide recommends."""

    memory_fraction: Annotated[float, Field(gt=0, le=0.8)] = 0.8
    """Fraction of the instance's memory for the matrix."""
    problem_size: _Count | None = None
    """N itself, instead of a fraction of the memory."""
    block_size: Annotated[int, Field(gt=0, le=4096)] | None = None
    """NB; ``None``: chosen by a scan, with P, if that is open too; else 192."""
    process_rows: _Count | None = None
    """P of the grid of P by Q ranks; ``None``: chosen by a scan, with NB; else as near to square as can be, P ≤ Q."""

    @property
    def block(self) -> int:
        """NB, where no scan chose it."""
        return self.block_size or USUAL_BLOCK_SIZE


class HplResult(BaseModel):
    """The line that native/hpl prints. ``wall_s`` is the slowest rank's time for factors and solution."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    size: _Count
    block: _Count
    process_rows: _Count
    process_columns: _Count
    wall_s: _Positive
    flop_per_s: _Positive
    residual: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    passed: bool


class Hpl(WorkloadKind):
    """Tare's hpl with the BLAS of the image."""

    name = "hpl"
    options_model: type[Options] = HplOptions
    primary_metric = "hpl_flop_per_s"

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        """Guess from N: the matrix is made twice, and factored."""
        size = _size(own(HplOptions, options), shape)
        return 0.5 + (6e-9 * size**2 + 2 / 3 * size**3 / _FLOP_PER_S) / shape.processors

    def scan(self, options: Options, shape: Shape) -> Scan | None:
        """NB and the grid, where both are open, by systems that take about a second."""
        chosen, ranks = own(HplOptions, options), shape.processors
        if chosen.block_size is not None or chosen.process_rows is not None:
            return None
        usual, _ = process_grid(ranks)
        grids = [rows for rows in range(usual, 0, -1) if ranks % rows == 0]
        largest = min(_size(chosen, shape), int((1.5 * _FLOP_PER_S * ranks) ** (1 / 3)))
        return Scan(
            candidates=tuple(
                {"block_size": block, "process_rows": rows} for rows in grids for block in _BLOCK_SIZES
            ),
            problem={"problem_size": largest // _COMMON_MULTIPLE * _COMMON_MULTIPLE or largest},
        )

    def size_said(self, options: Options, shape: Shape) -> str:
        return size_said(_size(own(HplOptions, options), shape))

    def smaller(self, options: Options) -> Mapping[str, OptionValue] | None:
        chosen = own(HplOptions, options)
        return smaller(chosen.problem_size, chosen.memory_fraction)

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(HplOptions, options)
        size = _size(chosen, shape)
        rows, columns = _grid(chosen, shape.processors)
        check_fits(size, shape.memory_byte, "hpl", _buffers_byte(size, chosen.block, (rows, columns)))
        variables = blas_variables(chosen.blas_kernel, cpu_flags(), shape.lacking_flags)
        program = f"{shape.tools_directory}/hpl"
        asked = {
            "--size": size,
            "--block": chosen.block,
            "--process-rows": rows,
            "--process-columns": columns,
        }
        return Job(
            argv=(
                *mpi_job.launch(chosen, shape, variables),
                program,
                *(str(word) for pair in asked.items() for word in pair),
            ),
            program=program,
            variables=variables,
            collect=mpi_job.collected(chosen),
            evidence={"blas": (f"{shape.tools_directory}/blas",)},
            facts=blas_facts(chosen.blas_kernel, cpu_flags(), shape.lacking_flags),
            preflight=mpi.preflight(shape, variables),
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(HplOptions, options)
        profiled = mpi_job.samples(chosen, output)
        result = parse_result(output.stdout)
        for name, asked, ran in (
            ("N", chosen.problem_size, result.size),
            ("NB", chosen.block_size, result.block),
            ("P", chosen.process_rows, result.process_rows),
        ):
            if asked not in {None, ran}:
                raise WrongOutput(f"{name} = {asked} was asked, {ran} ran", excerpt.tail(output.stdout))
        return [
            Sample(
                name=self.primary_metric, value=result.flop_per_s, unit="flop/s", direction=Direction.MORE
            ),
            Sample(name="timed_region_s", value=result.wall_s, unit="s", direction=Direction.LESS),
            *profiled,
        ]

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(HplOptions, options)
        pinned = mpi_job.facts(chosen, output) | {"blas kernel asked": chosen.blas_kernel}
        try:
            result = parse_result(output.stdout)
        except WrongOutput:
            return pinned
        return pinned | {
            "hpl problem size": str(result.size),
            "hpl block size": str(result.block),
            "hpl grid": f"{result.process_rows} x {result.process_columns}",
        }


def parse_result(stdout: str) -> HplResult:
    """Read the program's line; ``WrongOutput`` unless it is complete and its solution is right."""
    lines = stdout.strip().splitlines()
    try:
        result = HplResult.model_validate(from_json(lines[-1] if lines else ""))
    except ValueError as error:
        raise WrongOutput("hpl's line of JSON is missing or cut", excerpt.tail(stdout)) from error
    if not (result.passed and result.residual < THRESHOLD):
        raise WrongOutput(
            f"HPL's scaled residual is {result.residual:g}, not below {THRESHOLD:g}", excerpt.tail(stdout)
        )
    return result


def _size(options: HplOptions, shape: Shape) -> int:
    """N, if nobody chose it, such that the matrix with its buffers and processes leaves a tenth of the memory."""
    if options.problem_size is not None:
        return options.problem_size
    block, grid = options.block, _grid(options, shape.processors)
    left_byte = MOST_FILLED * shape.memory_byte - shape.processors * _PROCESS_BYTE
    size = problem_size(options.memory_fraction * shape.memory_byte, block)
    while size > block and BYTE_PER_WORD * size**2 + _buffers_byte(size, block, grid) > left_byte:
        size -= block
    return size


def _grid(options: HplOptions, ranks: int) -> tuple[int, int]:
    rows = options.process_rows
    if rows is None:
        return process_grid(ranks)
    if ranks % rows:
        raise InputError(
            f"process_rows = {rows} does not divide an instance's {ranks} processes; leave it out, or give one of "
            f"{', '.join(str(count) for count in range(1, ranks + 1) if ranks % count == 0)}"
        )
    return rows, ranks // rows


def _buffers_byte(size: int, block_size: int, grid: tuple[int, int]) -> int:
    """Two panels, and the rows in exchange, of all ranks together."""
    rows, columns = grid
    words = block_size * (2 * columns * size + 3 * rows * size + 2 * rows * columns * block_size)
    return BYTE_PER_WORD * words
