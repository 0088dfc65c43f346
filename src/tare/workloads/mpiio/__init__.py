# SPDX-License-Identifier: Apache-2.0
"""Files through MPI-IO, written and read by all ranks of a job; the role of LANL's fs_test in B16.

In: an instance's processors and memory. Out: the launch of native/mpiio, and its line of JSON as samples.
docs/mpiio.md explains patterns, media and cold reads.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from tare.errors import InputError, WrongOutput
from tare.records import Sample
from tare.units import format_byte, parse_byte
from tare.workloads import excerpt, mpi, mpi_job, profile
from tare.workloads.file_place import PlaceOptions, lies_in_memory, require_disk
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own
from tare.workloads.mpiio.metrics import PRIMARY, samples_of
from tare.workloads.mpiio.result import MpiioResult, parse_result, require_asked, require_right

_LIBRARIES = {"ompio": "ompio", "romio": "^ompio"}
"""Open MPI's own MPI-IO, or the other one that it contains, whatever its number."""
_BUFFERED = "vulcan"
"""OMPIO's collective buffering in two phases; left alone, it buffers or not by what it thinks of the view."""
_GUESSED_BYTE_PER_S = 200e6
_LAUNCH_S = 1.0
_FILE_SYSTEMS = {
    0x01021994: "tmpfs",
    0x858458F6: "ramfs",
    0x794C7630: "overlay",
    0xEF53: "ext4",
    0x58465342: "xfs",
    0x9123683E: "btrfs",
    0x01021997: "9p",
    0x6969: "nfs",
    0x65735546: "fuse or virtiofs",
}
"""The numbers of linux/magic.h."""
_IN_MEMORY = frozenset({"tmpfs", "ramfs"})


def _size(text: str) -> str:
    if not 0 < parse_byte(text) < 1 << 48:
        raise ValueError(f"{text!r} must be more than 0 bytes, and less than 256 TiB")
    return text


def _record(text: str) -> str:
    if not 0 < parse_byte(text) < 1 << 31:
        raise ValueError(f"{text!r} must be more than 0 bytes, and less than 2 GiB, which MPI counts up to")
    return text


class MpiioOptions(PlaceOptions, mpi_job.MpiOptions):
    """What moves where, and by which calls."""

    operation: Literal["write", "read"] = "write"
    pattern: Literal["strided", "segmented", "own"] = "strided"
    """One file of all ranks, a record of each in turn or all of a rank's together; or a file of each rank's own."""
    size: Annotated[str, AfterValidator(_size)] = "16 MiB"
    """Of each rank."""
    records: list[Annotated[str, AfterValidator(_record)]] = Field(
        default_factory=lambda: ["1 MiB"], min_length=1
    )
    """Sizes of single transfers; each has a file of its own."""
    repetitions: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    cold: bool = False
    """Empty the page caches of node and host after the file was written, and before it is read."""
    collective: bool = False
    """Whether all ranks call together, and MPI gathers their records in some of them (collective buffering)."""
    interface: Literal["mpi", "posix"] = "mpi"
    library: Literal["ompio", "romio"] = "ompio"
    seed: Annotated[int, Field(ge=1, lt=1 << 32)] = 1
    """Of the bytes that are written."""

    @property
    def size_byte(self) -> int:
        return parse_byte(self.size)

    @property
    def records_byte(self) -> tuple[int, ...]:
        return tuple(map(parse_byte, self.records))

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        records = self.records_byte
        if len(set(records)) < len(records):
            raise ValueError("a record size stands there twice; keep each once")
        for text, record_byte in zip(self.records, records, strict=True):
            if self.size_byte % record_byte:
                raise ValueError(f"records of {text} do not divide a rank's {self.size}")
        return self

    @model_validator(mode="after")
    def _check_calls(self) -> Self:
        if self.interface == "posix" and self.collective:
            raise ValueError('interface = "posix" has no collective calls; leave out collective')
        if self.interface == "mpi" and self.direct:
            raise ValueError('MPI-IO has no direct transfers; write interface = "posix" beside direct')
        if self.cold and self.operation != "read":
            raise ValueError('cold = true is for operation = "read"')
        if self.cold and self.repetitions > 1:
            raise ValueError("a cold file can be read once: leave out repetitions, and take more blocks")
        return self


class Mpiio(WorkloadKind):
    """native/mpiio, as Tare compiles it for the image."""

    name = "mpiio"
    options_model: type[Options] = MpiioOptions
    primary_metric = PRIMARY

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        chosen = own(MpiioOptions, options)
        passes = 2 * len(chosen.records) * chosen.repetitions
        return 2 * _LAUNCH_S + passes * shape.processors * chosen.size_byte / _GUESSED_BYTE_PER_S

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(MpiioOptions, options)
        _check_fits(chosen, shape)
        program = f"{shape.tools_directory}/mpiio"
        launch = mpi.launch(
            shape,
            single_copy=chosen.single_copy,
            exported={
                **(profile.preload(shape.tools_directory) if chosen.profile else {}),
                **_pinned(chosen),
            },
        )
        writer = mpi.launch(shape, single_copy=chosen.single_copy, exported=_pinned(chosen))
        drop = "on" if chosen.cold else "off"
        first = (*writer, program, *_asked(chosen, shape, "write"), "--keep", "on", "--drop", drop)
        return Job(
            argv=(*launch, program, *_asked(chosen, shape, chosen.operation)),
            program=program,
            collect=mpi_job.collected(chosen),
            preflight=mpi.preflight(shape),
            prepare=first if chosen.operation == "read" else (),
            cold=chosen.cold,
            direct=chosen.direct,
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(MpiioOptions, options)
        profiled = mpi_job.samples(chosen, output)
        result = parse_result(output.stdout)
        names = ("operation", "pattern", "interface", "collective", "direct", "size_byte", "repetitions")
        require_asked(result, {name: getattr(chosen, name) for name in names}, output.stdout)
        require_right(result, chosen.records_byte, output.stdout)
        _require_medium(chosen, result, output.stdout)
        return samples_of(result, chosen.records_byte) + profiled

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(MpiioOptions, options)
        facts = mpi_job.facts(chosen, output) | _calls(chosen)
        try:
            result = parse_result(output.stdout)
        except WrongOutput:
            return facts
        return facts | _run_facts(chosen, result)


def _check_fits(options: MpiioOptions, shape: Shape) -> None:
    """Raise ``InputError`` where the files would not be shared, would lie in memory, or would not fit there."""
    if shape.span is not None and options.pattern != "own" and options.directory is None:
        raise InputError(
            f'pattern = "{options.pattern}" is one file of all ranks, and nodes share no {options.medium}; bind a'
            ' folder of the host (binds = ["/scratch:rw"]) and write directory = "/scratch", or pattern = "own"'
        )
    require_disk("cold", options.cold, options, shape)
    require_disk("direct", options.direct, options, shape)
    at_once = 1 if options.operation == "write" else len(options.records)
    files = at_once if lies_in_memory(options, shape) else 0
    needed_byte = shape.processors * options.size_byte * (1 + files)
    if needed_byte > shape.memory_byte:
        what = "buffers and files" if files else "buffers"
        raise InputError(
            f"mpiio's {what} need {format_byte(needed_byte)}, but an instance has {format_byte(shape.memory_byte)};"
            " give a smaller size, or more memory"
        )


def _pinned(options: MpiioOptions) -> Mapping[str, str]:
    """Open MPI's parameters, which would otherwise be chosen by what it sees of the file system."""
    component = {"OMPI_MCA_io": _LIBRARIES[options.library]}
    return component | ({"OMPI_MCA_fcoll": _BUFFERED} if options.collective else {})


def _asked(options: MpiioOptions, shape: Shape, operation: str) -> tuple[str, ...]:
    # Instances and neighbours have working directories of their own, but may share a bound folder.
    name = () if options.directory is None else ("--name", f"instance-{shape.instance}")
    return (
        *("--operation", operation, "--pattern", options.pattern, "--interface", options.interface),
        *("--collective", _switch(options.collective), "--direct", _switch(options.direct)),
        *("--size", str(options.size_byte), "--records", ",".join(map(str, options.records_byte))),
        *("--repetitions", str(options.repetitions if operation == options.operation else 1)),
        *("--seed", str(options.seed), "--directory", options.folder, *name),
    )


def _switch(value: bool) -> str:
    return "on" if value else "off"


def _require_medium(options: MpiioOptions, result: MpiioResult, stdout: str) -> None:
    """``WrongOutput`` where a file in memory, or a cached one, would pass for a cold or a direct one."""
    kind = _file_system(result)
    if (options.cold or options.direct) and kind in _IN_MEMORY:
        raise WrongOutput(f"{options.folder} is a {kind}, which lies in memory", excerpt.tail(stdout))
    for point in result.points if options.cold else ():
        if point.cached_byte != 0:
            state = "is not known" if point.cached_byte is None else f"was {point.cached_byte} bytes"
            raise WrongOutput(
                f"the file was to be read cold, and what of it was still cached {state}", excerpt.tail(stdout)
            )


def _file_system(result: MpiioResult) -> str:
    number = result.file_system
    return "not known" if number is None else _FILE_SYSTEMS.get(number, f"number {number:#x}")


def _calls(options: MpiioOptions) -> dict[str, str]:
    if options.interface == "posix":
        calls = "pread and pwrite" + (", past the page cache" if options.direct else "")
    else:
        together = "all ranks together, buffered" if options.collective else "each rank for itself"
        calls = f"MPI-IO by {options.library}, {together}"
    return {"mpiio calls": calls, "mpiio medium": options.place}


def _run_facts(options: MpiioOptions, result: MpiioResult) -> dict[str, str]:
    files = "a file of each rank" if options.pattern == "own" else f"one file of all ranks, {options.pattern}"
    verified_byte = sum(point.verified_byte for point in result.points)
    facts = {
        "mpiio files": f"{files}; {result.ranks} ranks, {format_byte(result.size_byte)} of each",
        "mpiio file system": _file_system(result),
        "mpiio verified": f"{verified_byte} bytes, each of them",
    }
    if options.operation == "read":
        cached = [point.cached_byte for point in result.points]
        known = [byte for byte in cached if byte is not None]
        state = f"at most {max(known)} bytes" if len(known) == len(cached) and known else "not known"
        facts["mpiio cached before the read"] = f"{'cold' if options.cold else 'warm'}: {state}"
    return facts
