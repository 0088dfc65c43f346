# SPDX-License-Identifier: Apache-2.0
"""``tare export --format simgrid`` and ``otf2``: a folder with a trace of the profiler, for SimGrid or as OTF2."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from tare.errors import InputError, OutputError

if TYPE_CHECKING:
    from tare.traces.rank_trace import RankTrace
    from tare.traces.simgrid import Said

TRACES = ("simgrid", "otf2")
"""Formats of traces."""
_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- {ranks} hosts on one switch, for the trace beside this file. They compute as fast as the traced run did (1Gf is
     that speed by definition). Latency and bandwidth are assumptions, not measured: write your network's. -->
<platform version="4.1">
  <cluster id="hosts" prefix="host-" suffix="" radical="0-{last}" speed="1Gf" bw="1.25GBps" lat="1us"/>
</platform>
"""
_WHY = {
    "unmatched": "messages and calls of which the other end is not in the trace",
    "stepped": "of some ranks alone, which SimGrid has not: written as messages",
    "blocking": "returned before they were done: written as if they had waited where they began",
    "left_out": "SimGrid has nothing for them, or their ranks are not known: left out",
}


_OTHER_THREADS = {
    "simgrid": "are written in one sequence with the others', by their ends",
    "otf2": "are left out",
}


def is_asked(kind: str | None, results: Sequence[Path]) -> bool:
    """Whether what is to be written is a trace."""
    from tare.traces.rank_trace import is_trace

    return kind in TRACES or is_trace(results[0])


def write_trace(results: Sequence[Path], folder: Path, kind: str | None) -> None:
    """Make the folder and write the trace into it; print what was written, and what could not be said.

    Raises ``InputError`` for a trace that is not whole, another format, or a folder that is there already.
    """
    from tare.traces.rank_trace import read_trace

    if kind not in TRACES:
        raise InputError(f"{results[0]} is a trace of the profiler: --format {' or '.join(TRACES)}")
    if len(results) > 1:
        raise InputError("export one trace at a time; its name stands for the files of all ranks")
    ranks = read_trace(results[0])
    _print_limits(ranks, _OTHER_THREADS[kind])
    try:
        folder.mkdir()
        _write(ranks, folder, kind)
    except InputError:
        folder.rmdir()  # nothing is written before all is known to be there
        raise
    except FileExistsError:
        raise InputError(f"{folder} is there already; choose another name, or remove it") from None
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from error


def _print_limits(ranks: Sequence["RankTrace"], other_threads: str) -> None:
    from tare.traces.rank_trace import calls_of_other_threads

    for trace in ranks:
        if trace.cut:
            print(f"{trace.path} is cut: what the rank did after its last record is not known")
    of_others = sum(calls_of_other_threads(trace) for trace in ranks)
    if of_others:
        print(f"{of_others} calls of threads that did not call MPI_Init {other_threads}")


def _write(ranks: Sequence["RankTrace"], folder: Path, kind: str) -> None:
    if kind == "simgrid":
        _write_simgrid(ranks, folder)
        return
    from tare.traces.otf2_archive import write_archive

    print(
        f"{write_archive(ranks, folder)} events of {len(ranks)} ranks; {folder / 'traces.otf2'} names them all"
    )


def _write_simgrid(ranks: Sequence["RankTrace"], folder: Path) -> None:
    from tare.traces.simgrid import Said, lines, plan

    planned = plan(ranks)
    said: list[Said] = []
    for rank in range(len(ranks)):
        own = Said()
        with (folder / f"rank-{rank}.txt").open("x") as opened:
            opened.writelines(f"{line}\n" for line in lines(planned, rank, own))
        said.append(own)
    (folder / "trace.txt").write_text("".join(f"rank-{rank}.txt\n" for rank in range(len(ranks))))
    (folder / "hosts.txt").write_text("".join(f"host-{rank}\n" for rank in range(len(ranks))))
    (folder / "platform.xml").write_text(_PLATFORM.format(ranks=len(ranks), last=len(ranks) - 1))
    _print_simgrid(said, folder)


def _print_simgrid(said: Sequence["Said"], folder: Path) -> None:
    from tare.drawing.words import counted

    messages = sum(own.messages for own in said)
    print(
        f"{counted(sum(own.lines for own in said), 'line')} of {counted(len(said), 'rank')}: "
        f"{counted(messages, 'message')} with {sum(own.message_byte for own in said)} byte, "
        f"{counted(sum(own.collectives for own in said), 'part')} in collective calls, "
        f"{sum(own.compute_s for own in said):.3f} s of the program's own work at 1e9 flop each second"
    )
    unmatched = sum(own.unmatched for own in said)
    if unmatched:
        print(f"left out: {unmatched} {_WHY['unmatched']}")
    for what in ("stepped", "blocking", "left_out"):
        calls: Counter[str] = sum((getattr(own, what) for own in said), Counter())
        if calls:
            print(f"{_listed(calls.items())}: {_WHY[what]}")
    print(
        f"replay: cd {quote(str(folder))} && smpirun -np {len(said)} "
        "-platform platform.xml -hostfile hosts.txt -replay trace.txt"
    )


def _listed(calls: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(calls))
