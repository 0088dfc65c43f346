# SPDX-License-Identifier: Apache-2.0
"""Files by fio: IOzone's matrix of file and record sizes, the time of fsync, and operations on whole files.

In: sizes, records and operations. Out: fio's launch with a job file, and its JSON as rates over size and record.
docs/files.md explains what is timed, and what is verified.
"""

from collections.abc import Sequence
from itertools import product
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from tare.errors import WrongOutput
from tare.records import Range, Sample
from tare.units import format_byte, parse_byte
from tare.workloads import excerpt
from tare.workloads.file_place import PlaceOptions, file_name, require_place
from tare.workloads.files.jobs import MATRIX, FioJob, Operation, job_file, matrix_jobs, other_jobs
from tare.workloads.files.result import COUNT_RATE, RATE, parse_result, samples_of
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own

JOB_FILE, RESULT = "files.fio", "fio.json"
_LEAST_RECORD_BYTE = 512
_MOST_JOBS, _MOST_COPIES = 2000, 4096
_JOB_S = 0.3
"""fio looks after its jobs every tenth of a second."""
_GUESSED_BYTE_PER_S = 500e6
_GUESSED_CALL_S = {"fsync": 2e-3, "create": 5e-5, "stat": 5e-5, "unlink": 1e-4}


def _size(text: str) -> str:
    if not _LEAST_RECORD_BYTE <= parse_byte(text) < 1 << 40:
        raise ValueError(f"{text!r} must be at least 512 bytes, and less than 1 TiB")
    return text


def _record(text: str) -> str:
    if _size(text) and parse_byte(text) % _LEAST_RECORD_BYTE:
        raise ValueError(f"{text!r} must be a multiple of 512 bytes, the block of a disk")
    return text


class FilesOptions(PlaceOptions):
    """What is done, to which files, in which records."""

    operations: list[Operation] = Field(default_factory=lambda: list(MATRIX), min_length=1)
    sizes: list[Annotated[str, AfterValidator(_size)]] = Field(
        default_factory=lambda: ["64 KiB", "1 MiB", "16 MiB"], min_length=1
    )
    records: list[Annotated[str, AfterValidator(_record)]] = Field(
        default_factory=lambda: ["4 KiB", "64 KiB"], min_length=1
    )
    """Those that are larger than a file are left out there."""
    moved: Annotated[str, AfterValidator(_size)] = "1 MiB"
    """The least that an operation moves at each size: of a smaller file there are as many as it takes."""
    syncs: Annotated[int, Field(ge=100, le=1_000_000)] = 100
    """How often fsync is called, for each record."""
    files: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    """How many are created, asked for and removed."""

    @property
    def points(self) -> tuple[tuple[int, int], ...]:
        """Size and record of each point, in bytes."""
        pairs = product(map(parse_byte, self.sizes), self.records_byte)
        return tuple((size_byte, record_byte) for size_byte, record_byte in pairs if record_byte <= size_byte)

    @property
    def records_byte(self) -> tuple[int, ...]:
        return tuple(map(parse_byte, self.records))

    @property
    def jobs(self) -> tuple[FioJob, ...]:
        """All that fio does, in order."""
        matrix = matrix_jobs(self.operations, self.points, parse_byte(self.moved), self.direct)
        return (*matrix, *other_jobs(self.operations, self.records_byte, self.syncs, self.files))

    @model_validator(mode="after")
    def _check_points(self) -> Self:
        for name, values in (
            ("operations", self.operations),
            ("sizes", self.sizes),
            ("records", self.records),
        ):
            if len(set(values)) < len(values):
                raise ValueError(f"a value of {name} stands there twice; keep each once")
        if not self.points and set(self.operations) & set(MATRIX):
            raise ValueError("every record is larger than every file; give smaller records")
        for size_byte, record_byte in self.points:
            if size_byte % record_byte:
                raise ValueError(
                    f"records of {format_byte(record_byte)} do not divide a file of {format_byte(size_byte)}"
                )
        return self

    @model_validator(mode="after")
    def _check_amount(self) -> Self:
        smallest_byte = min(map(parse_byte, self.sizes))
        if parse_byte(self.moved) > _MOST_COPIES * smallest_byte:
            raise ValueError(
                f"moved = {self.moved!r} takes more than {_MOST_COPIES} files of {format_byte(smallest_byte)}"
            )
        if len(self.jobs) > _MOST_JOBS:
            raise ValueError(f"that makes {len(self.jobs)} jobs of fio, of which {_MOST_JOBS} are the most")
        return self


class FioFiles(WorkloadKind):
    """fio as Debian ships it."""

    name = "files"
    options_model: type[Options] = FilesOptions
    primary_metric = "write"

    def ranges(self, options: Options) -> tuple[Range, ...]:
        """One figure for each operation, over all its points."""
        metrics = {**RATE, **COUNT_RATE, "fsync": "fsync_p50_s"}
        return tuple(
            Range(name=each.replace("_", " "), metric=metrics[each])
            for each in own(FilesOptions, options).operations
        )

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        jobs = own(FilesOptions, options).jobs
        moved_byte = sum(job.calls * (job.record_byte or 0) for job in jobs if job.size_byte is not None)
        calls_s = sum(job.calls * _GUESSED_CALL_S.get(job.operation, 0.0) for job in jobs)
        return len(jobs) * _JOB_S + moved_byte / _GUESSED_BYTE_PER_S + calls_s

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(FilesOptions, options)
        require_place(self.name, chosen, shape, _needed_byte(chosen.jobs))
        text = job_file(chosen.jobs, chosen.folder, file_name(self.name, shape))
        return Job(
            argv=("fio", "--eta=never", "--output-format=json", f"--output={RESULT}", JOB_FILE),
            files={JOB_FILE: text},
            collect=(RESULT,),
            direct=chosen.direct,
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(FilesOptions, options)
        text = output.files.get(RESULT)
        if text is None:
            raise WrongOutput(f"fio wrote no {RESULT}", excerpt.tail(output.stderr or output.stdout))
        return samples_of(parse_result(text), chosen.jobs, chosen.operations)

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(FilesOptions, options)
        cached = "past the page cache" if chosen.direct else "through the page cache"
        facts = {"files medium": chosen.place, "files transfers": f"pread and pwrite, {cached}"}
        verified_byte = sum(job.calls * (job.record_byte or 0) for job in chosen.jobs if job.verifies)
        if verified_byte:
            facts["files verified"] = f"{verified_byte} bytes, by a checksum in each record"
        try:
            return facts | {
                "fio version": excerpt.printable(parse_result(output.files.get(RESULT, "")).version)
            }
        except WrongOutput:
            return facts


def _needed_byte(jobs: Sequence[FioJob]) -> int:
    """The most that lies in files and buffers at once, as each point's files are removed after it."""
    return max((job.held_byte for job in jobs), default=0)
