# SPDX-License-Identifier: Apache-2.0
"""High-Performance Conjugate Gradients, built by the user: the rating in the file that HPCG writes.

In: the program's path in the image. Out: its launch, and the file as samples. Dongarra, Heroux and Luszczek,
"High-performance conjugate-gradient benchmark" (2016); the file of HPCG 3.1; docs/hpl.md.
"""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tare.errors import WrongOutput
from tare.records import Direction, Sample
from tare.untrusted import figure
from tare.workloads import excerpt, mpi, mpi_job, mpi_program
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own

RESULT = "hpcg-result.txt"
_GATHER = ("/bin/sh", "-c", f"cat HPCG-Benchmark* >{RESULT}")
"""HPCG puts the time of day into its file's name; this fails where there is no such file."""
_VALID = "HPCG result is VALID with a GFLOP/s rating of"
_PHASES = {"DDOT": "dot_product", "WAXPBY": "vector_update", "SpMV": "matrix_product", "MG": "multigrid"}
"""HPCG's name of a kernel → ours."""
_FACTS = {
    "hpcg ranks": "Machine Summary::Distributed Processes",
    "hpcg threads of each rank": "Machine Summary::Threads per processes",
    "hpcg equations": "Linear System Information::Number of Equations",
    "hpcg iterations": "Iteration Count Information::Total number of optimized iterations",
}

_Edge = Annotated[int, Field(ge=16, le=1024, multiple_of=8)]


class HpcgOptions(mpi_program.ProgramOptions):
    """The part of the domain that each rank has."""

    threads: Annotated[int, Field(ge=1)] = 1
    """Threads per rank, of a program that was built with OpenMP."""
    nx: _Edge = 104
    ny: _Edge = 104
    nz: _Edge = 104


class Hpcg(WorkloadKind):
    """One set of iterations of the reference or of another implementation: HPCG's quick path."""

    name = "hpcg"
    options_model: type[Options] = HpcgOptions
    primary_metric = "hpcg_flop_per_s"

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        return None

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(HpcgOptions, options)
        # Any other run time makes HPCG repeat as often as fits into it, so that slower nodes would do less work.
        asked = (f"--nx={chosen.nx}", f"--ny={chosen.ny}", f"--nz={chosen.nz}", "--rt=0")
        job = mpi_program.job_of(chosen, mpi.hybrid(shape, chosen.threads), asked)
        return replace(job, check=_GATHER, collect=(RESULT, *job.collect))

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(HpcgOptions, options)
        profiled = mpi_job.samples(chosen, output)
        text = output.files.get(RESULT, "")
        entries = parse_result(text)
        edges = tuple(entries.get(f"Local Domain Dimensions::n{axis}") for axis in "xyz")
        if edges != (str(chosen.nx), str(chosen.ny), str(chosen.nz)):
            raise WrongOutput("HPCG ran another problem than was asked", excerpt.head(text))
        return [
            _rate(self.primary_metric, entries, f"Final Summary::{_VALID}"),
            *(
                _rate(f"hpcg_{name}_flop_per_s", entries, f"GFLOP/s Summary::Raw {key}")
                for key, name in _PHASES.items()
            ),
            *profiled,
        ]

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        entries = _entries(output.files.get(RESULT, ""))
        facts = {label: excerpt.printable(entries[key]) for label, key in _FACTS.items() if key in entries}
        return facts | mpi_job.facts(own(HpcgOptions, options), output)


def parse_result(text: str) -> dict[str, str]:
    """``Section::key`` → value; ``WrongOutput`` unless the file is HPCG's, whole and valid by HPCG's own tests."""
    entries = _entries(text)
    summary = {key: value for key, value in entries.items() if key.startswith("Final Summary::")}
    if not text.startswith("HPCG-Benchmark") or not text.endswith("\n") or not summary:
        raise WrongOutput("HPCG's result file is missing or cut", excerpt.tail(text or ""))
    failed = [key.partition("::")[0] for key, value in entries.items() if value == "FAILED"]
    if f"Final Summary::{_VALID}" not in summary or failed:
        raise WrongOutput(
            f"HPCG's own check failed: {', '.join(failed) or 'result invalid'}", excerpt.tail(text)
        )
    return entries


def _entries(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.split("\n"))
    return {key: value for key, separator, value in pairs if separator and "::" in key}


def _rate(name: str, entries: dict[str, str], key: str) -> Sample:
    try:
        value = figure(entries.get(key, ""))
    except ValueError:
        value = 0.0
    if value <= 0:
        raise WrongOutput(f"HPCG's {key} is {entries.get(key, 'missing')!r}, no positive number")
    return Sample(name=name, value=value * 1e9, unit="flop/s", direction=Direction.MORE)
