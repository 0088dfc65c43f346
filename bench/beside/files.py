# SPDX-License-Identifier: Apache-2.0
"""``mpiio`` of one rank beside fio: the same file system, sizes, records and fsync.

Single transfers are compared in files of one record that fits a second cache: fio has one buffer for all its records,
ours the whole share in memory, cleared before each read. Where the disk takes the time, that makes no difference.
"""

import json
import shutil
import statistics
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench.beside.pairs import PROCESSOR, PROGRAMS, Figures, Pair, Side, on_processor, output
from tare.units import KIBIBYTE, MEBIBYTE
from tare.workloads.mpiio.result import MpiioResult, parse_result

WITHIN = 0.10
"""fio tells times of single transfers within 1.6 %, and of a whole file in milliseconds."""
RECORD, FILE = 256 * KIBIBYTE, 64 * MEBIBYTE
REPETITIONS = 64
INTERFACES = ("posix", "mpi")
READ = "warm read of 256 KiB"
WRITE = "write of 256 KiB"
WHOLE = "64 MiB in records of 1 MiB, and fsync"


def pairs(folder: Path) -> Iterator[Pair]:
    if not shutil.which("fio"):
        print("left out: mpiio; fio is not installed")
        return
    for interface in INTERFACES:
        program, median = f"mpiio {interface}", f"median of {REPETITIONS}"
        for operation, name in (("read", READ), ("write", WRITE)):
            yield Pair(
                Side(program, median, partial(transfers, folder, interface, operation, name)),
                Side("fio", median, partial(transfers_of_fio, folder, operation, name)),
                WITHIN,
            )
        yield Pair(
            Side(program, "one file", partial(whole, folder, interface)),
            Side("fio", "one file", partial(whole_of_fio, folder)),
            WITHIN,
        )


def transfers(folder: Path, interface: str, operation: str, name: str) -> Figures:
    if operation == "read":
        _mpiio(folder, interface, "write", RECORD, RECORD, keep="on")
    result = _mpiio(folder, interface, operation, RECORD, RECORD, repetitions=REPETITIONS)
    return {name: statistics.median(point.seconds(operation)[0] for point in result.points)}


def whole(folder: Path, interface: str) -> Figures:
    (point,) = _mpiio(folder, interface, "write", FILE, MEBIBYTE).points
    return {WHOLE: sum(point.seconds(phase)[0] for phase in ("write", "sync"))}


def _mpiio(
    folder: Path,
    interface: str,
    operation: str,
    size_byte: int,
    record_byte: int,
    repetitions: int = 1,
    keep: str = "off",
) -> MpiioResult:
    mpirun = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "--mca", "io", "ompio", "-np", "1"]
    words = {
        "operation": operation,
        "interface": interface,
        "size": size_byte,
        "records": record_byte,
        "repetitions": repetitions,
        "keep": keep,
        "directory": folder,
        "name": "beside",
    }
    asked = [word for name, value in words.items() for word in (f"--{name}", str(value))]
    return parse_result(output([*mpirun, *on_processor(PROGRAMS / "mpiio", *asked)], folder))


def transfers_of_fio(folder: Path, operation: str, name: str) -> Figures:
    own = ["--invalidate=0"] if operation == "read" else ["--unlink_each_loop=1", "--end_fsync=1"]
    job = _fio(folder, operation, RECORD, RECORD, f"--loops={REPETITIONS}", *own)
    assert job["total_ios"] == REPETITIONS, job
    return {name: job["clat_ns"]["percentile"]["50.000000"] * 1e-9}


def whole_of_fio(folder: Path) -> Figures:
    return {WHOLE: _fio(folder, "write", MEBIBYTE, FILE, "--end_fsync=1")["runtime"] * 1e-3}


def _fio(folder: Path, operation: str, record_byte: int, size_byte: int, *words: str) -> dict[str, Any]:
    path = folder / "by-fio"
    argv = ["fio", "--name=beside", f"--filename={path}", f"--rw={operation}", f"--bs={record_byte}"]
    argv += [
        f"--size={size_byte}",
        "--ioengine=psync",
        "--thread",
        "--fallocate=none",
        f"--cpus_allowed={PROCESSOR}",
    ]
    said = output([*argv, "--output-format=json", *words], folder)
    path.unlink(missing_ok=True)
    found: dict[str, Any] = json.loads(said[said.index("{") :])["jobs"][0][operation]
    return found
