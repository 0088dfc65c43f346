# SPDX-License-Identifier: Apache-2.0
"""NAS Parallel Benchmarks built by the user: any program that prints NPB's own block of results.

In: the program's path in the image. Out: its launch, and the block as samples. docs/npb.md.
"""

import re
from typing import Annotated

from pydantic import Field

from tare.errors import WrongOutput
from tare.records import Direction, Sample
from tare.workloads import excerpt, mpi, mpi_job
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own

_NAME = re.compile(r"[A-Z][A-Za-z/ ]*", re.ASCII)
_NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
_LAST = re.compile(r"npb@nas\.nasa\.gov\s*\Z")
"""The last line of every version's output: an output without it is cut."""


class NpbReferenceOptions(mpi_job.HybridOptions):
    """Which program."""

    program: Annotated[str, Field(pattern=r"^/[^\x00]+$")]
    """Its path in the image, such as ``/opt/npb/bin/lu.A.x``."""


class NpbReference(WorkloadKind):
    """One program of the reference or of another implementation."""

    name = "npb-reference"
    options_model: type[Options] = NpbReferenceOptions
    primary_metric = "operation_per_s"

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        return None

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(NpbReferenceOptions, options)
        ranks = mpi.hybrid(shape, chosen.threads)
        return Job(
            argv=(*mpi_job.launch(chosen, ranks), chosen.program),
            program=chosen.program,
            collect=mpi_job.collected(chosen),
            preflight=mpi.preflight(ranks),
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        profiled = mpi_job.samples(own(NpbReferenceOptions, options), output)
        block = result_block(output.stdout)
        if block.get("Verification", "").upper() != "SUCCESSFUL":
            raise WrongOutput(
                f"verification is {block.get('Verification', 'missing')!r}", excerpt.tail(output.stdout)
            )
        rate = Sample(
            name=self.primary_metric,
            value=_number(block, "Mop/s total", output.stdout) * 1e6,
            unit="1/s",
            direction=Direction.MORE,
        )
        return [rate, *_time(block), *profiled]

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        block = result_block(output.stdout)
        facts = {
            f"npb {name.lower()}": excerpt.printable(block[name][:80])
            for name in ("Class", "Size", "Iterations", "Operation type", "Version", "Compile date")
            if name in block
        }
        return facts | mpi_job.facts(own(NpbReferenceOptions, options), output)


def result_block(stdout: str) -> dict[str, str]:
    """The lines ``name = value`` after the words "Benchmark Completed"; empty if the output is incomplete."""
    _, heading, rest = stdout.rpartition("Benchmark Completed")
    if not heading or not _LAST.search(rest):
        return {}
    parts = [line.partition("=") for line in rest.split("\n")]
    pairs = {name.strip(" "): value.strip(" ") for name, _, value in parts}
    return {name: value for name, value in pairs.items() if value and _NAME.fullmatch(name)}


def _number(block: dict[str, str], name: str, stdout: str) -> float:
    text = block.get(name, "")
    if not _NUMBER.fullmatch(text) or float(text) <= 0:
        raise WrongOutput(f"{name} is {text!r}, no positive number", excerpt.tail(stdout))
    return float(text)


def _time(block: dict[str, str]) -> list[Sample]:
    """The time; none for 0.00 s, as the reference prints hundredths of a second."""
    text = block.get("Time in seconds", "")
    if not _NUMBER.fullmatch(text) or not float(text) > 0:
        return []
    return [Sample(name="timed_region_s", value=float(text), unit="s", direction=Direction.LESS)]
