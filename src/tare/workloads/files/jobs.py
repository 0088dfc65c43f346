# SPDX-License-Identifier: Apache-2.0
"""What fio is to do, and its job file: each operation on each size of file and of record is a job of its own.

fio(1), version 3.33: sections of the file are jobs, and with ``stonewall`` each waits for the one before.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Operation: TypeAlias = Literal[
    "write",
    "rewrite",
    "read",
    "reread",
    "random_read",
    "random_write",
    "fsync",
    "create",
    "stat",
    "unlink",
]
MATRIX: tuple[Operation, ...] = ("write", "rewrite", "read", "reread", "random_read", "random_write")
"""Those over sizes of files and records, in IOzone's order but for the last two, which end with a write."""
ENGINES: Mapping[Operation, str] = {"create": "filecreate", "stat": "filestat", "unlink": "filedelete"}
"""Those on whole files, and fio's engines for them."""
PERCENTILES = (50, 90, 99)
_MODES: Mapping[Operation, str] = {
    "write": "write",
    "rewrite": "write",
    "random_write": "randwrite",
    "read": "read",
    "reread": "read",
    "random_read": "randread",
}
_NEEDED: Mapping[Operation, tuple[Operation, ...]] = {
    "write": (),
    "rewrite": ("write",),
    "read": ("write",),
    "reread": ("write", "read"),
    "random_read": ("write",),
    "random_write": ("write",),
}
"""What must have been done with the files before."""
_WHOLE_FILE_BYTE = 4096
"""The length of the files that are asked for, or removed."""
_GLOBAL = (
    "thread=1",
    "stonewall",
    "ioengine=psync",
    "fallocate=none",  # a write is to find a file without blocks
    "invalidate=0",
    "create_serialize=0",  # or fio would lay the files out before the job that writes them anew
    "clocksource=clock_gettime",
    "disk_util=0",
    "verify_state_save=0",
    "clat_percentiles=0",
    "file_service_type=sequential",
)


@dataclass(frozen=True, slots=True)
class FioJob:
    """One section of the file, and what it must have moved."""

    operation: Operation
    size_byte: int | None
    """Of one file; ``None``: it is not of the matrix."""
    record_byte: int | None
    """``None``: it moves no data."""
    calls: int
    lines: tuple[str, ...]
    verifies: bool = False
    """Whether it also compares what the files hold."""

    @property
    def name(self) -> str:
        places = (str(place) for place in (self.size_byte, self.record_byte) if place is not None)
        return " ".join((self.operation, *places))

    @property
    def held_byte(self) -> int:
        """In its files and its buffer; files that are only created stay empty."""
        if self.record_byte is None:
            return 0 if self.operation == "create" else self.calls * _WHOLE_FILE_BYTE
        return (self.calls + 1) * self.record_byte

    @property
    def is_write(self) -> bool:
        return self.operation == "fsync" or _MODES.get(self.operation, "").endswith("write")


def matrix_jobs(
    operations: Sequence[Operation], points: Sequence[tuple[int, int]], moved_byte: int, direct: bool
) -> Iterator[FioJob]:
    """The jobs for every size and record; the last one of each removes its files."""
    wanted = set(operations) & set(MATRIX)
    wanted |= {earlier for each in wanted for earlier in _NEEDED[each]}
    chosen = [each for each in MATRIX if each in wanted]
    for size_byte, record_byte in points if chosen else ():
        copies = math.ceil(moved_byte / size_byte)
        common = (
            *(f"nrfiles={copies}", f"filesize={size_byte}", f"size={copies * size_byte}"),
            *(f"bs={record_byte}", f"direct={int(direct)}"),
        )
        for each in chosen:
            yield FioJob(
                operation=each,
                size_byte=size_byte,
                record_byte=record_byte,
                calls=copies * (size_byte // record_byte),
                lines=(*common, *_transfer(each, is_last=each == chosen[-1])),
                verifies=each == chosen[-1],
            )


def _transfer(operation: Operation, *, is_last: bool) -> tuple[str, ...]:
    """Each block holds its own checksum; the last job of a point compares them all, outside of what is timed."""
    mode = _MODES[operation]
    lines = [f"rw={mode}"]
    if mode.endswith("write"):
        lines += ["verify=crc32c", f"do_verify={int(is_last)}"]
    elif is_last:
        lines += ["verify=crc32c"]
    return (*lines, *(["verify_fatal=1", "unlink=1"] if is_last else []))


def other_jobs(
    operations: Sequence[Operation], records: Sequence[int], syncs: int, files: int
) -> Iterator[FioJob]:
    """The jobs that are no matrix: fsync after every write of a record, and operations on whole files."""
    for record_byte in records if "fsync" in operations else ():
        calls = syncs + 1  # as fio does not wait for the last write
        lines = ("rw=write", "fsync=1", f"bs={record_byte}", f"size={calls * record_byte}", "unlink=1")
        percentiles = ("clat_percentiles=1", f"percentile_list={':'.join(map(str, PERCENTILES))}")
        yield FioJob("fsync", None, record_byte, calls, (*lines, *percentiles))
    for operation, engine in ENGINES.items():
        if operation in operations:
            size = (f"nrfiles={files}", f"filesize={_WHOLE_FILE_BYTE}", f"bs={_WHOLE_FILE_BYTE}")
            opened = ("openfiles=1",) if operation == "create" else ()
            removed = () if operation == "unlink" else ("unlink=1",)
            yield FioJob(operation, None, None, files, (f"ioengine={engine}", *size, *opened, *removed))


def job_file(jobs: Sequence[FioJob], folder: str, name: str) -> str:
    """The text of fio's job file; files are called after ``name``."""
    lines = ["[global]", *_GLOBAL, f"directory={folder}"]
    for job in jobs:
        point = "-".join(str(place) for place in (job.size_byte, job.record_byte) if place is not None)
        series = "matrix" if job.operation in MATRIX else job.operation
        files = f"filename_format={'-'.join(filter(None, (name, series, point)))}.$filenum"
        lines += ["", f"[{job.name}]", files, *job.lines]
    return "\n".join(lines) + "\n"
