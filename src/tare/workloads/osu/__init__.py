# SPDX-License-Identifier: Apache-2.0
"""The OSU Micro-Benchmarks, the user's own build in the image: the latency test of one program, over message sizes.

In: the program's path, such as that of ``osu_allreduce``. Out: its launch with a pinned number of calls, and its table
as curves. OSU Micro-Benchmarks, README; docs/collective.md.
"""

import itertools
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from tare.errors import InputError, WrongOutput
from tare.records import Coordinate, Direction, Range, Sample
from tare.untrusted import whole
from tare.workloads import excerpt, mpi_job, mpi_program
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own
from tare.workloads.message_sizes import (
    BARRIER,
    FLOAT_BYTE,
    MEAN_TIME,
    SMALL_MESSAGES,
    MessageSizes,
    from_microseconds,
    size_at,
    time_samples,
    usual_ranges,
)
from tare.workloads.osu.output import (
    ITERATIONS,
    LEAST_LATENCY,
    MEAN_LATENCY,
    MOST_LATENCY,
    SIZE,
    TITLE,
    OsuRow,
    rows,
)

_LEAST_RANKS = 2


class OsuOptions(MessageSizes, mpi_program.ProgramOptions):
    """What is sent, and how often: as often at every size."""

    warm_up: Annotated[int, Field(ge=0, le=1_000_000)] = 100
    """Calls of each size before the timed ones."""
    full: bool = False
    """Also the fastest and the slowest rank (``-f``), which only the collective tests know."""

    @property
    def benchmark(self) -> str:
        """The program's name without ``osu_``."""
        return self.program.rpartition("/")[2].removeprefix("osu_")


class Osu(WorkloadKind):
    """A program that prints a table of latencies: osu_latency, osu_allreduce and their kin."""

    name = "osu"
    options_model: type[Options] = OsuOptions
    primary_metric = SMALL_MESSAGES

    def ranges(self, options: Options) -> tuple[Range, ...]:
        chosen = own(OsuOptions, options)
        return usual_ranges(chosen, chosen.benchmark)

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        return None

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(OsuOptions, options)
        if shape.processors < _LEAST_RANKS:
            raise InputError(
                "osu needs two processors or more in each instance; 1c2p1i is the least, and osu_latency needs just two"
            )
        sizes = () if chosen.benchmark == BARRIER else ("-m", f"{chosen.smallest}:{chosen.largest}")
        calls = ("-i", str(chosen.repetitions), "-x", str(chosen.warm_up))
        full = ("-f",) if chosen.full else ()
        return mpi_program.job_of(chosen, shape, (*sizes, *calls, *full))

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(OsuOptions, options)
        profiled = mpi_job.samples(chosen, output)
        try:
            return [sample for row in _table(chosen, output) for sample in _of_row(row)] + profiled
        except ValueError as error:
            raise WrongOutput(f"OSU's output: {error}", excerpt.tail(output.stdout)) from error

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(OsuOptions, options)
        known = {"osu calls of a size": f"{chosen.repetitions}, after {chosen.warm_up} that do not count"}
        if chosen.launcher == "tare":
            known |= mpi_job.facts(chosen, output)
        if title := TITLE.search(output.stdout):
            known["osu test"] = f"{title[1]}, version {title[2]}"
        return known


def _table(options: OsuOptions, output: Output) -> list[OsuRow]:
    """Its rows; ``WrongOutput`` or ``ValueError`` unless the sizes double up to the largest that was asked.

    Where they begin depends on the version and on the type of the data.
    """
    table = list(rows(output.stdout))
    if not (table and output.stdout.endswith("\n")):
        raise WrongOutput("OSU's table is missing or cut", excerpt.tail(output.stdout))
    if options.benchmark == BARRIER:
        return table[:1]
    sizes = [_size(row) for row in table]
    doubles = all(later == max(2 * size, 1) for size, later in itertools.pairwise(sizes))
    if not doubles or sizes[-1] != options.largest or sizes[0] > max(options.smallest, FLOAT_BYTE):
        raise WrongOutput(
            f"OSU did not measure the sizes from {options.smallest} to {options.largest} bytes",
            excerpt.tail(output.stdout),
        )
    for row in table:
        did = dict(row.fields).get(ITERATIONS)
        if did is not None and whole(did) != options.repetitions:
            raise WrongOutput(
                f"OSU did {did} calls instead of {options.repetitions}", excerpt.tail(output.stdout)
            )
    return table


def _of_row(row: OsuRow) -> Iterator[Sample]:
    fields = dict(row.fields)
    place = (size_at(_size(row)),) if SIZE in fields else (size_at(0),)
    title = next((each for each in MEAN_LATENCY if each in fields), None)
    if title is None:
        raise ValueError(f"line {row.line} has no {' or '.join(MEAN_LATENCY)}: it is no test of latency")
    mean_s = from_microseconds(fields[title])
    if LEAST_LATENCY in fields and MOST_LATENCY in fields:
        most_s = from_microseconds(fields[MOST_LATENCY])
        times_s = from_microseconds(fields[LEAST_LATENCY]), mean_s, most_s
        yield from time_samples(*times_s, *place) if all(times_s) else ()
    elif mean_s:
        yield _mean(mean_s, place)


def _mean(mean_s: float, place: tuple[Coordinate, ...]) -> Sample:
    return Sample(name=MEAN_TIME, value=mean_s, unit="s", direction=Direction.LESS, coordinates=place)


def _size(row: OsuRow) -> int:
    size = dict(row.fields).get(SIZE)
    if size is None:
        raise ValueError(f"line {row.line} has no size")
    return whole(size)
