# SPDX-License-Identifier: Apache-2.0
"""Reads fio's JSON, and accepts only a run in which every job moved what was asked."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tare.errors import WrongOutput
from tare.records import Coordinate, Direction, Sample
from tare.untrusted import from_json
from tare.workloads import excerpt
from tare.workloads.files.jobs import ENGINES, MATRIX, PERCENTILES, FioJob

RATE = {operation: f"{operation}_byte_per_s" for operation in MATRIX}
COUNT_RATE = {operation: f"{operation}_per_s" for operation in ENGINES}
NANOSECOND = 1e-9
_JSON = re.compile(r"^\{$", re.MULTILINE)
_Count = Annotated[int, Field(ge=0)]
_Places: TypeAlias = tuple[Coordinate, ...]


class _FioRead(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class CallTimes(_FioRead):
    """Of calls: nanoseconds."""

    mean: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    count: Annotated[_Count, Field(alias="N")]
    percentile: dict[str, _Count] = Field(default_factory=dict)


class Transfers(_FioRead):
    io_bytes: _Count
    total_ios: _Count
    clat_ns: CallTimes


class Syncs(_FioRead):
    total_ios: _Count
    lat_ns: CallTimes


class JobResult(_FioRead):
    jobname: str
    error: int
    read: Transfers
    write: Transfers
    sync: Syncs


class FioResult(_FioRead):
    version: Annotated[str, Field(alias="fio version")]
    jobs: list[JobResult]


def parse_result(text: str) -> FioResult:
    """Parse fio's output file; ``WrongOutput`` if it is no JSON of fio's. Notes of fio's may stand before it."""
    begin = _JSON.search(text)
    if not begin:
        raise WrongOutput("fio wrote no JSON", excerpt.tail(text))
    try:
        return FioResult.model_validate(from_json(text[begin.start() :]))
    except (ValueError, ValidationError) as error:
        said = str(error).splitlines()[0]
        raise WrongOutput(f"fio's JSON is cut or not as fio writes it: {said}", excerpt.tail(text)) from None


def samples_of(result: FioResult, jobs: Sequence[FioJob], reported: Sequence[str]) -> list[Sample]:
    """The figures of the ``reported`` operations; ``WrongOutput`` unless each of ``jobs`` did all of its work."""
    names = [job.jobname for job in result.jobs]
    if names != [job.name for job in jobs]:
        raise WrongOutput(
            f"fio reports {len(names)} jobs that are not the {len(jobs)} asked for", str(names)[:300]
        )
    return [
        sample
        for job, done in zip(jobs, result.jobs, strict=True)
        for sample in (_checked(job, done) if job.operation in reported else _nothing(job, done))
    ]


def _checked(job: FioJob, done: JobResult) -> Iterator[Sample]:
    transfers = _require_whole(job, done)
    if job.operation == "fsync":
        yield from _sync_samples(job, done.sync)
        return
    time_s = transfers.clat_ns.mean * transfers.clat_ns.count * NANOSECOND
    if time_s <= 0:
        raise WrongOutput(f"fio reports no time for {job.name}", excerpt.printable(str(transfers)))
    if job.operation in RATE:
        yield _rate(RATE[job.operation], transfers.io_bytes / time_s, "B/s", _place(job))
    else:
        at = (Coordinate("files", float(job.calls), None),)
        yield _rate(COUNT_RATE[job.operation], job.calls / time_s, "1/s", at)


def _nothing(job: FioJob, done: JobResult) -> Iterator[Sample]:
    """A job that others need, and nobody asked for, must have done its work as well."""
    _require_whole(job, done)
    yield from ()


def _require_whole(job: FioJob, done: JobResult) -> Transfers:
    transfers = done.write if job.is_write else done.read
    wanted_byte = None if job.record_byte is None else job.calls * job.record_byte
    problem = None
    if done.error:
        problem = f"ended with error {done.error}"
    elif not job.calls == transfers.total_ios == transfers.clat_ns.count:
        problem = f"made {transfers.total_ios} calls instead of {job.calls}"
    elif wanted_byte is not None and transfers.io_bytes != wanted_byte:
        problem = f"moved {transfers.io_bytes} bytes instead of {wanted_byte}"
    elif job.verifies and job.is_write and done.read.io_bytes != wanted_byte:
        problem = f"compared {done.read.io_bytes} bytes instead of {wanted_byte}"
    elif job.operation == "fsync" and not job.calls - 1 == done.sync.total_ios == done.sync.lat_ns.count:
        problem = f"waited for {done.sync.total_ios} writes instead of {job.calls - 1}"
    if problem:
        raise WrongOutput(f"fio's job {job.name} {problem}", excerpt.printable(str(done))[: excerpt.LIMIT])
    return transfers


def _sync_samples(job: FioJob, syncs: Syncs) -> Iterator[Sample]:
    """Figures of the calls to fsync; a percentile is the upper end of a class of times, each 1.6 % wide."""
    percentiles = {f"fsync_p{each}_s": syncs.lat_ns.percentile.get(f"{each:.6f}", 0) for each in PERCENTILES}
    for name, time_ns in {"fsync_s": syncs.lat_ns.mean, **percentiles}.items():
        if time_ns <= 0:
            raise WrongOutput(f"fio reports no {name} for {job.name}", str(syncs)[:300])
        value = time_ns * NANOSECOND
        yield Sample(name=name, value=value, unit="s", direction=Direction.LESS, coordinates=_place(job))


def _place(job: FioJob) -> _Places:
    places = (("size", job.size_byte), ("record", job.record_byte))
    return tuple(Coordinate(name, float(place), "B") for name, place in places if place is not None)


def _rate(name: str, value: float, unit: str, at: _Places) -> Sample:
    return Sample(name=name, value=value, unit=unit, direction=Direction.MORE, coordinates=at)
