# SPDX-License-Identifier: Apache-2.0
"""Messages within groups of MPI processes, Tare's own program: the time of one call, over the message's size.

In: an instance's processors, in one node or several. Out: the launch of ``collective``, and its line of JSON as curves.
The benchmarks are defined as in the Intel MPI Benchmarks' user guide; docs/collective.md.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from tare.errors import InputError, WrongOutput
from tare.records import Range, Sample
from tare.units import format_byte
from tare.workloads import mpi, mpi_job
from tare.workloads.collective.result import CollectiveResult, parse_result
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own
from tare.workloads.message_sizes import (
    BARRIER,
    SMALL_MESSAGES,
    FallingCounts,
    ranks_at,
    size_at,
    time_samples,
    usual_ranges,
)

Benchmark = Literal["pingpong", "sendrecv", "exchange", "bcast", "allreduce", "alltoall", "barrier"]
PROGRAM = "collective"
PAIR = 2
_BUFFERS: Mapping[str, int] = {"exchange": 3, BARRIER: 0}
"""Messages that a rank keeps, where not two."""
_LAUNCH_S = 1.0
_CALL_S, _BYTE_S = 3e-6, 1e-9
"""A step of a call, and a byte of it, within a node on a processor of 2024."""


class CollectiveOptions(FallingCounts, mpi_job.MpiOptions):
    """What is sent, how often, and among which processes."""

    benchmark: Benchmark = "exchange"
    group_ranks: Annotated[int, Field(ge=2)] | None = None
    """Processes of a group, all groups at once; ``None``: one group of all, and pairs for pingpong."""
    mapping: Literal["near", "far"] = "near"
    """``near``: the partners of a group are neighbours, and stay in a node where they can; ``far``: they are as far
    apart as there are groups."""

    @property
    def asked(self) -> tuple[tuple[int, int], ...]:
        """Each size in bytes, with its number of timed calls."""
        return self.counts(self.benchmark)


class Collective(WorkloadKind):
    """The program ``collective`` of ``native/``."""

    name = "collective"
    options_model: type[Options] = CollectiveOptions
    primary_metric = SMALL_MESSAGES

    def ranges(self, options: Options) -> tuple[Range, ...]:
        chosen = own(CollectiveOptions, options)
        return usual_ranges(chosen, chosen.benchmark)

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        """Guess from the calls within one node; between nodes they take longer."""
        chosen = own(CollectiveOptions, options)
        partners = _group_ranks(chosen, shape)
        return _LAUNCH_S + sum(
            count * (_CALL_S + _BYTE_S * size) * partners.bit_length() for size, count in chosen.asked
        )

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(CollectiveOptions, options)
        _check_fits(chosen, shape)
        program = f"{shape.tools_directory}/{PROGRAM}"
        asked = (
            *(chosen.benchmark, "--group-ranks", str(_group_ranks(chosen, shape))),
            *("--mapping", chosen.mapping),
            *(f"{size}:{count}" for size, count in chosen.asked),
        )
        return Job(
            argv=(*mpi_job.launch(chosen, shape), program, *asked),
            program=program,
            collect=mpi_job.collected(chosen),
            preflight=mpi.preflight(shape),
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(CollectiveOptions, options)
        profiled = mpi_job.samples(chosen, output)
        result = parse_result(output.stdout, chosen.benchmark, chosen.asked)
        ranks = ranks_at(result.active_ranks)
        times = [
            sample
            for point in result.points
            for sample in time_samples(
                *(point.min_s, point.mean_s, point.max_s), size_at(point.size_byte), ranks
            )
        ]
        return times + profiled

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(CollectiveOptions, options)
        planned = mpi_job.facts(chosen, output) | {
            "collective calls of a size": chosen.counts_fact(chosen.benchmark)
        }
        try:
            return planned | _run_facts(parse_result(output.stdout, chosen.benchmark, chosen.asked))
        except WrongOutput:
            return planned


def _group_ranks(options: CollectiveOptions, shape: Shape) -> int:
    return options.group_ranks or (PAIR if options.benchmark == "pingpong" else shape.processors)


def _check_fits(options: CollectiveOptions, shape: Shape) -> None:
    partners = _group_ranks(options, shape)
    if options.benchmark == "pingpong" and partners != PAIR:
        raise InputError(f"pingpong is between 2 processes, and group_ranks = {partners} here; leave it out")
    if not PAIR <= partners <= shape.processors:
        raise InputError(
            f"collective's groups have {max(partners, PAIR)} processes, and an instance has {shape.processors} here;"
            " choose a layout with more processors in each instance, such as 1c2p1i or 2c1p1i, or a smaller group_ranks"
        )
    kept = 2 * partners if options.benchmark == "alltoall" else _BUFFERS.get(options.benchmark, 2)
    needed_byte = shape.processors * kept * options.asked[-1][0]
    if needed_byte > shape.memory_byte:
        raise InputError(
            f"collective's buffers need {format_byte(needed_byte)}, but an instance has"
            f" {format_byte(shape.memory_byte)}; give a smaller largest, or more memory"
        )


def _run_facts(result: CollectiveResult) -> dict[str, str]:
    idle = result.ranks - result.active_ranks
    left_over = f"; {idle} of {result.ranks} ranks idle, as no group is left for them" if idle else ""
    nodes = "1 node" if result.nodes == 1 else f"{result.nodes} nodes"
    return {
        "collective groups": f"{result.groups} of {result.group_ranks} ranks at once{left_over}",
        "collective partners": f"within one node in {result.groups_in_node} of {result.groups} groups, "
        f"{result.mapping} by number, over {nodes}",
        "collective contents": "compared before and after the timed calls of every size",
    }
