# SPDX-License-Identifier: Apache-2.0
"""``mpiio`` of one rank beside fio: the same file system, sizes, records and fsync.

Transfers are compared in files of one record, as fio has one buffer for all its records and ours the whole share in
memory. Reads are of one file by both, far larger than the caches: of 256 KiB, two files written alike took 3.6 and
6.3 µs, by where their pages happened to lie.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench.beside.pairs import PROCESSOR, PROGRAMS, Figures, Pair, Side, on_processor, output
from tare.units import KIBIBYTE, MEBIBYTE
from tare.workloads.mpiio.result import PointTimes, parse_result

WITHIN = 0.10
"""fio tells the time of a whole file in milliseconds, and the disk is not the same from one file to the next."""
FILE = 64 * MEBIBYTE
INTERFACES = ("posix", "mpi")
WHOLE = "64 MiB in records of 1 MiB, and fsync"
_NAME, _BY_FIO = "beside", "by-fio"


@dataclass(frozen=True, slots=True)
class Transfer:
    """One record in a file, again and again."""

    what: str
    operation: str
    record_byte: int
    repetitions: int
    by_fio: tuple[str, ...]
    """For the state in which ours finds the file: written before, or removed after it was synced."""

    @property
    def statistic(self) -> str:
        return f"best of {self.repetitions}"


READ = Transfer("warm read of 64 MiB", "read", FILE, 12, ("--invalidate=0",))
WRITE = Transfer("write of 256 KiB", "write", 256 * KIBIBYTE, 64, ("--unlink_each_loop=1", "--end_fsync=1"))


def pairs(folder: Path) -> Iterator[Pair]:
    if not shutil.which("fio"):
        print("left out: mpiio; fio is not installed")
        return
    _mpiio(folder, "posix", "write", FILE, FILE, keep="on")
    for interface in INTERFACES:
        program = f"mpiio {interface}"
        for transfer in (READ, WRITE):
            yield Pair(
                Side(program, transfer.statistic, partial(ours, folder, interface, transfer)),
                Side("fio", transfer.statistic, partial(theirs, folder, transfer)),
                WITHIN,
            )
        yield Pair(
            Side(program, "one file", partial(whole, folder, interface)),
            Side("fio", "one file", partial(whole_of_fio, folder)),
            WITHIN,
        )


def ours(folder: Path, interface: str, transfer: Transfer) -> Figures:
    operation, size_byte = transfer.operation, transfer.record_byte
    keep = "on" if operation == "read" else "off"
    points = _mpiio(folder, interface, operation, size_byte, size_byte, transfer.repetitions, keep)
    return {transfer.what: min(point.seconds(operation)[0] for point in points)}


def theirs(folder: Path, transfer: Transfer) -> Figures:
    size_byte, loops = transfer.record_byte, transfer.repetitions
    name = f"tare-mpiio-{_NAME}-{size_byte}" if transfer.operation == "read" else _BY_FIO
    words = (f"--loops={loops}", *transfer.by_fio)
    job = _fio(folder / name, transfer.operation, size_byte, size_byte, *words)
    assert job["total_ios"] == loops, job
    return {transfer.what: job["lat_ns"]["min"] * 1e-9}


def whole(folder: Path, interface: str) -> Figures:
    (point,) = _mpiio(folder, interface, "write", FILE, MEBIBYTE)
    return {WHOLE: sum(point.seconds(phase)[0] for phase in ("write", "sync"))}


def whole_of_fio(folder: Path) -> Figures:
    path = folder / _BY_FIO
    try:
        return {WHOLE: _fio(path, "write", MEBIBYTE, FILE, "--end_fsync=1")["runtime"] * 1e-3}
    finally:
        path.unlink(missing_ok=True)


def _mpiio(
    folder: Path,
    interface: str,
    operation: str,
    size_byte: int,
    record_byte: int,
    repetitions: int = 1,
    keep: str = "off",
) -> tuple[PointTimes, ...]:
    mpirun = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "--mca", "io", "ompio", "-np", "1"]
    words = {
        "operation": operation,
        "interface": interface,
        "size": size_byte,
        "records": record_byte,
        "repetitions": repetitions,
        "keep": keep,
        "directory": folder,
        "name": _NAME,
    }
    asked = [word for name, value in words.items() for word in (f"--{name}", str(value))]
    return parse_result(output([*mpirun, *on_processor(PROGRAMS / "mpiio", *asked)], folder)).points


def _fio(path: Path, operation: str, record_byte: int, size_byte: int, *words: str) -> dict[str, Any]:
    argv = ["fio", "--name=beside", f"--filename={path}", f"--rw={operation}", f"--bs={record_byte}"]
    argv += [f"--size={size_byte}", "--ioengine=psync", "--thread", "--fallocate=none", "--iomem_align=4096"]
    argv += [f"--cpus_allowed={PROCESSOR}", "--output-format=json", *words]
    said = output(argv, path.parent)
    job: dict[str, Any] = json.loads(said[said.index("{") :])["jobs"][0][operation]
    return job
