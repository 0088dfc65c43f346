# SPDX-License-Identifier: Apache-2.0
"""The HPC Challenge suite: seven tests, with their single, star and mpi figures.

In: a node's memory and processors. Out: hpcc's input file and launch, and its summary as samples in SI units.
Luszczek et al., "Introduction to the HPC Challenge benchmark suite" (2005); hpcc 1.5.0.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Annotated

from pydantic import Field

from tare.errors import WrongOutput
from tare.host.facts import cpu_flags
from tare.records import OptionValue, Sample
from tare.workloads import excerpt, mpi, mpi_job
from tare.workloads.code_path import NATURAL, PINNED, Lacking, Variants, common_flags
from tare.workloads.hpcc.checks import check_input_was_read, check_residuals, check_success
from tare.workloads.hpcc.input import (
    check_fits,
    input_text,
    problem_size,
    process_grid,
    size_said,
    smaller,
)
from tare.workloads.hpcc.metrics import METRICS, MISSING, run_facts
from tare.workloads.hpcc.summary import last_run, number, parse_summary
from tare.workloads.hpcc.times import times
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own

KERNELS = Variants(
    (
        ("SkylakeX", frozenset({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"})),
        ("Haswell", frozenset({"avx2", "fma"})),
        ("Sandybridge", frozenset({"avx"})),
        ("Nehalem", frozenset({"sse4_2", "ssse3"})),
        ("Prescott", frozenset({"pni"})),
        ("ARMV8", frozenset({"asimd"})),
    )
)
"""OpenBLAS's names for its kernel sets."""
INPUT = "hpccinf.txt"
OUTPUT = "hpccoutf.txt"


def blas_variables(choice: str, cpu_flags: AbstractSet[str], lacking: Lacking) -> Mapping[str, str]:
    """Return the variables for one BLAS thread per rank and the kernel ``choice``.

    ``pinned``: the best that all nodes can run; ``natural``: OpenBLAS chooses in the node; else OpenBLAS's own name.
    """
    variables = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    kernel = KERNELS.best(common_flags(cpu_flags, lacking)) if choice == PINNED else choice
    if kernel is not None and kernel != NATURAL:
        variables["OPENBLAS_CORETYPE"] = kernel
    return variables


def blas_facts(choice: str, cpu_flags: AbstractSet[str], lacking: Lacking) -> Mapping[str, str]:
    """Which kernel is pinned and why; empty if the campaign or OpenBLAS chose it."""
    return {"blas kernel pinned": KERNELS.told(cpu_flags, lacking)} if choice == PINNED else {}


class BlasOptions(mpi_job.MpiOptions):
    """The two code paths that are pinned equally in every arm."""

    blas_kernel: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")] = PINNED
    """``pinned`` (best for all environments), ``natural`` (OpenBLAS chooses in the node), or OpenBLAS's name."""


class HpccOptions(BlasOptions):
    """The problem."""

    memory_fraction: Annotated[float, Field(gt=0, le=0.8)] = 0.1
    """Fraction of the instance's memory for HPL's matrix, which determines the size of the other tests."""
    problem_size: Annotated[int, Field(gt=0)] | None = None
    """N itself, instead of a fraction of the memory."""
    block_size: Annotated[int, Field(gt=0, le=4096)] = 192


class Hpcc(WorkloadKind):
    """hpcc as Debian ships it, with OpenBLAS."""

    name = "hpcc"
    options_model: type[Options] = HpccOptions
    primary_metric = "hpl_flop_per_s"

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        """Guess from N: memory traffic grows as N², HPL as N³; fitted on two processors of 2024."""
        size = _size(own(HpccOptions, options), shape)
        flop = 2 / 3 * size**3
        return 0.5 + 6e-7 * size**2 / shape.processors + flop / (4e10 * shape.processors)

    def size_said(self, options: Options, shape: Shape) -> str:
        return size_said(_size(own(HpccOptions, options), shape))

    def smaller(self, options: Options) -> Mapping[str, OptionValue] | None:
        chosen = own(HpccOptions, options)
        return smaller(chosen.problem_size, chosen.memory_fraction)

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(HpccOptions, options)
        size = _size(chosen, shape)
        check_fits(size, shape.memory_byte)
        grid = process_grid(shape.processors)
        variables = blas_variables(chosen.blas_kernel, cpu_flags(), shape.lacking_flags)
        launch = mpi_job.launch(chosen, shape, variables)
        return Job(
            argv=(*launch, "hpcc"),
            program="hpcc",
            files={INPUT: input_text(size, chosen.block_size, grid)},
            variables=variables,
            collect=(OUTPUT, INPUT, *mpi_job.collected(chosen)),
            evidence={"blas": (f"{shape.tools_directory}/blas",)},
            facts=blas_facts(chosen.blas_kernel, cpu_flags(), shape.lacking_flags),
            preflight=mpi.preflight(shape, variables),
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        profiled = mpi_job.samples(own(HpccOptions, options), output)
        run, summary = _checked(output)
        samples: list[Sample] = []
        for metric in METRICS:
            value = number(summary, metric.key)
            if value == MISSING and metric.name != self.primary_metric:
                continue
            if value <= 0:
                raise WrongOutput(
                    f"hpcc's summary says {metric.key}={summary[metric.key]}", excerpt.tail(run)
                )
            samples.append(
                Sample(
                    name=metric.name,
                    value=value * metric.factor,
                    unit=metric.unit,
                    direction=metric.direction,
                )
            )
        return [*samples, *times(run, summary), *profiled]

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(HpccOptions, options)
        pinned = mpi_job.facts(chosen, output) | {"blas kernel asked": chosen.blas_kernel}
        if said := mpi.without_chatter(output.stderr).strip():
            pinned["mpi messages"] = excerpt.head(said, 200)
        try:
            summary = parse_summary(last_run(output.files.get(OUTPUT, "")))
        except WrongOutput:
            return pinned
        return pinned | run_facts(summary)


def _size(options: HpccOptions, shape: Shape) -> int:
    if options.problem_size is not None:
        return options.problem_size
    return problem_size(options.memory_fraction * shape.memory_byte, options.block_size)


def _checked(output: Output) -> tuple[str, dict[str, str]]:
    text = output.files.get(OUTPUT)
    if text is None:
        raise WrongOutput(f"hpcc wrote no {OUTPUT}", excerpt.tail(output.stderr or output.stdout))
    run = last_run(text)
    summary = parse_summary(run)
    check_success(run, summary)
    check_input_was_read(summary, output.files.get(INPUT))
    check_residuals(summary)
    return run, summary
