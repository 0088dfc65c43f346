# SPDX-License-Identifier: Apache-2.0
"""The Intel MPI Benchmarks, the user's own build in the image: one benchmark, over message sizes.

In: the program's path and a benchmark's name. Out: its launch with a pinned number of calls, and its table as curves.
Intel MPI Benchmarks User Guide, version 2021; docs/collective.md.
"""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from tare.errors import InputError, WrongOutput
from tare.records import Range, Sample
from tare.untrusted import whole
from tare.workloads import excerpt, mpi_job, mpi_program
from tare.workloads.imb.output import END, LEAST, MEAN, MOST, ONLY, REPETITIONS, SIZE, ImbRow, rows
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own
from tare.workloads.message_sizes import (
    SMALL_MESSAGES,
    FallingCounts,
    from_microseconds,
    ranks_at,
    size_at,
    time_samples,
    usual_ranges,
)

SIZES = "imb-sizes.txt"
_NEVER_S = 1_000_000
"""IMB reduces the calls of a size that would take longer than this."""
_PAIR = 2


class ImbOptions(FallingCounts, mpi_program.ProgramOptions):
    """What is sent, how often, and among which processes."""

    benchmark: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z_]{0,39}$")] = "Exchange"
    """IMB's own name."""
    group_ranks: Annotated[int, Field(ge=2)] | None = None
    """Processes of a group, all groups at once (IMB's Multi mode); ``None``: one group of all."""

    @property
    def asked(self) -> tuple[tuple[int, int], ...]:
        """Each size in bytes, with its number of timed calls."""
        return self.counts(self.benchmark.lower())


class Imb(WorkloadKind):
    """IMB-MPI1, or another of its programs that prints such tables."""

    name = "imb"
    options_model: type[Options] = ImbOptions
    primary_metric = SMALL_MESSAGES

    def ranges(self, options: Options) -> tuple[Range, ...]:
        chosen = own(ImbOptions, options)
        return usual_ranges(chosen, chosen.benchmark.lower())

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        return None

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(ImbOptions, options)
        partners = chosen.group_ranks or shape.processors
        if not _PAIR <= partners <= shape.processors:
            raise InputError(
                f"imb's groups have {max(partners, _PAIR)} processes, and an instance has {shape.processors} here;"
                " choose a layout with more processors in each instance, such as 1c2p1i, or a smaller group_ranks"
            )
        arguments = (
            *("-npmin", str(partners), *(("-multi", "0") if chosen.group_ranks else ())),
            *("-msglen", SIZES, "-iter", f"{chosen.repetitions},{chosen.volume_mib}"),
            *("-iter_policy", "dynamic", "-time", str(_NEVER_S), chosen.benchmark),
        )
        lengths = "".join(f"{size}\n" for size, _ in chosen.asked)
        return mpi_program.job_of(chosen, shape, arguments, {SIZES: lengths})

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(ImbOptions, options)
        profiled = mpi_job.samples(chosen, output)
        try:
            table = _table(chosen, output)
            return [sample for row in table for sample in _of_row(row)] + profiled
        except ValueError as error:
            raise WrongOutput(f"IMB's output: {error}", excerpt.tail(output.stdout)) from error

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(ImbOptions, options)
        planned = {"imb calls of a size": chosen.counts_fact(chosen.benchmark.lower())}
        if chosen.launcher == "tare":
            planned |= mpi_job.facts(chosen, output)
        try:
            return planned | _run_facts(_table(chosen, output))
        except (WrongOutput, ValueError):
            return planned


def _run_facts(table: list[ImbRow]) -> dict[str, str]:
    known = {"imb groups": f"{table[0].groups or 1} of {table[0].processes} ranks at once"}
    if zeros := [str(_size(row)) for row in table if not any(_times_s(row))]:
        known["imb printed 0 for sizes"] = ", ".join(zeros)
    return known


def _table(options: ImbOptions, output: Output) -> list[ImbRow]:
    """The rows of what was requested; ``WrongOutput`` or ``ValueError`` if any is missing or did other work.

    IMB goes on with twice as many processes and so on; these tables are passed over.
    """
    if END not in output.stdout:
        raise WrongOutput("IMB's output is cut: its last line is missing", excerpt.tail(output.stdout))
    table: list[ImbRow] = []
    for row in rows(output.stdout):
        if row.benchmark.lower().removeprefix("multi-") == options.benchmark.lower():
            if table and (row.groups, row.processes) != (table[0].groups, table[0].processes):
                break
            table.append(row)
    done = tuple((_size(row), whole(row.fields[REPETITIONS])) for row in table)
    if done != options.asked:
        raise WrongOutput(
            f"IMB did not do {options.benchmark} with the sizes and the numbers of calls that were asked",
            excerpt.tail(output.stdout),
        )
    if options.group_ranks and table[0].processes != options.group_ranks:
        raise WrongOutput(f"IMB made no groups of {options.group_ranks}", excerpt.tail(output.stdout))
    return table


def _of_row(row: ImbRow) -> Iterator[Sample]:
    """None for a time that is printed as 0: it has two decimals."""
    times_s = _times_s(row)
    if all(times_s):
        ranks = (row.groups or 1) * (row.processes or 0)
        yield from time_samples(*times_s, size_at(_size(row)), ranks_at(ranks))


def _times_s(row: ImbRow) -> tuple[float, float, float]:
    if ONLY in row.fields:
        only = _time_s(row, ONLY)
        return only, only, only
    return _time_s(row, LEAST), _time_s(row, MEAN), _time_s(row, MOST)


def _time_s(row: ImbRow, title: str) -> float:
    if title not in row.fields:
        raise ValueError(f"line {row.line} has no {title}")
    return from_microseconds(row.fields[title])


def _size(row: ImbRow) -> int:
    return whole(row.fields[SIZE]) if SIZE in row.fields else 0
