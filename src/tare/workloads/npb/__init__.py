# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks, Tare's own kernels: one benchmark and class as one MPI job.

In: an instance's processors and memory. Out: the kernel's launch, and its line of JSON as samples.
Bailey et al., "The NAS Parallel Benchmarks 2.0", NAS-95-020; NPB 3.4 for classes and counts; docs/npb.md.
"""

from collections.abc import Mapping
from typing import Literal

from tare.errors import WrongOutput
from tare.host.facts import cpu_flags
from tare.records import Direction, OptionValue, Sample
from tare.workloads import excerpt, mpi, mpi_job
from tare.workloads.code_path import NATURAL, PINNED, Variants, common_flags
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own
from tare.workloads.npb.problems import (
    Benchmark,
    ProblemClass,
    check_fits,
    check_ranks,
    expected_s,
    smaller_class,
)
from tare.workloads.npb.result import Result, parse_result

_V3 = frozenset({"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"})
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}

VARIANTS = Variants((("avx512", _V4), ("avx2", _V3), ("plain", frozenset())))
"""x86-64-v4, x86-64-v3 (System V ABI, processor supplement), and the architecture's baseline."""


class NpbOptions(mpi_job.HybridOptions):
    """The problem, and the two code paths that are pinned equally in every arm."""

    benchmark: Benchmark = "cg"
    problem_class: ProblemClass = "A"
    simd: Literal["pinned", "natural", "plain", "avx2", "avx512"] = "pinned"
    """``pinned`` to the widest vectors that all environments have, ``natural`` (the widest in the node), or named."""
    messages: Literal["own", "reference"] = "own"
    """``own``: the fewest that the algorithm needs; ``reference``: as the published MPI program sends them."""


class Npb(WorkloadKind):
    """npb-bt to npb-sp, as Tare compiles them for the image."""

    name = "npb"
    options_model: type[Options] = NpbOptions
    primary_metric = "operation_per_s"

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        chosen = own(NpbOptions, options)
        return expected_s(
            chosen.benchmark, chosen.problem_class, shape.processors, chosen.threads, chosen.messages
        )

    def size_said(self, options: Options, shape: Shape) -> str:
        return f"class {own(NpbOptions, options).problem_class}"

    def smaller(self, options: Options) -> Mapping[str, OptionValue] | None:
        less = smaller_class(own(NpbOptions, options).problem_class)
        return {"problem_class": less} if less else None

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(NpbOptions, options)
        check_fits(chosen.benchmark, chosen.problem_class, shape.memory_byte)
        program = f"{shape.tools_directory}/npb-{chosen.benchmark}"
        asked = (
            "--class",
            chosen.problem_class,
            "--simd",
            _simd(chosen, shape),
            "--threads",
            str(chosen.threads),
            *(() if chosen.messages == "own" else ("--messages", chosen.messages)),
        )
        ranks = mpi.hybrid(shape, chosen.threads)
        if chosen.messages == "reference":
            check_ranks(chosen.benchmark, shape.processors // chosen.threads)
        return Job(
            argv=(*mpi_job.launch(chosen, ranks), program, *asked, "--json"),
            program=program,
            collect=mpi_job.collected(chosen),
            facts=_pinned(chosen, shape),
            preflight=mpi.preflight(ranks),
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(NpbOptions, options)
        profiled = mpi_job.samples(chosen, output)
        result = parse_result(output.stdout, chosen.benchmark, chosen.problem_class)
        if chosen.simd not in {PINNED, NATURAL, result.simd}:
            raise WrongOutput(
                f"{chosen.simd} vector code was asked, {result.simd} ran", excerpt.tail(output.stdout)
            )
        if chosen.threads != result.threads:
            raise WrongOutput(
                f"{chosen.threads} threads were asked, {result.threads} ran", excerpt.tail(output.stdout)
            )
        if chosen.messages != result.messages:
            raise WrongOutput(
                f"{chosen.messages} messages were asked, {result.messages} were sent",
                excerpt.tail(output.stdout),
            )
        return [
            Sample(
                name=self.primary_metric,
                value=result.million_operations_per_s * 1e6,
                unit="1/s",
                direction=Direction.MORE,
            ),
            Sample(name="timed_region_s", value=result.wall_s, unit="s", direction=Direction.LESS),
            Sample(
                name="fastest_rank_s",
                value=min(result.working_s),
                unit="s",
                direction=Direction.LESS,
            ),
            *profiled,
        ]

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(NpbOptions, options)
        pinned = mpi_job.facts(chosen, output) | {"npb vector code asked": chosen.simd}
        try:
            result = parse_result(output.stdout, chosen.benchmark, chosen.problem_class)
        except WrongOutput:
            return pinned
        return pinned | _run_facts(result)


def _simd(options: NpbOptions, shape: Shape) -> str:
    if options.simd == PINNED:
        return VARIANTS.best(common_flags(cpu_flags(), shape.lacking_flags)) or "plain"
    return "widest" if options.simd == NATURAL else options.simd


def _pinned(options: NpbOptions, shape: Shape) -> dict[str, str]:
    """Why these vectors; empty if the campaign or the program chose them."""
    if options.simd != PINNED:
        return {}
    return {"npb vector code pinned": VARIANTS.told(cpu_flags(), shape.lacking_flags)}


def _run_facts(result: Result) -> dict[str, str]:
    rule = {} if result.simd_rule is None else {"npb vector code rule": excerpt.printable(result.simd_rule)}
    return rule | {
        "npb vector code": excerpt.printable(result.simd),
        "npb ranks": f"{result.active_ranks} of {result.ranks} take part",
        "npb threads of each rank": str(result.threads),
        "npb messages": excerpt.printable(result.messages),
        "npb operation": excerpt.printable(result.operation),
        "npb follows": excerpt.printable(result.follows),
    }
