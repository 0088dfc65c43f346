# SPDX-License-Identifier: Apache-2.0
"""A trace says what the profile counts: the same messages, bytes, calls and time of the program's own work."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tare.commands.export import run_export
from tare.traces.rank_trace import read_trace
from tests.native.profile.conftest import Compile, Launcher, MpichLauncher
from tests.native.profile.profiles import Profile, read_profile
from tests.native.profile.test_profile_counts import MPI4PY, expected_matrix, python_with_mpi

MPICC = "mpicc.mpich"
WORDS = {
    **{name: name.lower() for name in ("Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv")},
    **{name: name.lower() for name in ("Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Allreduce")},
    **{name: name.lower() for name in ("Reduce", "Scan", "Exscan")},
    "Alltoallw": "alltoallv",
    "Reduce_scatter": "reducescatter",
    "Reduce_scatter_block": "reducescatter",
}
"""CollectivePart call → SimGrid's word."""


class Traced:
    """A run with its trace, exported for SimGrid."""

    def __init__(self, launcher: Launcher, argv: list[object], ranks: int, mib: str = "") -> None:
        trace = launcher.file.with_name("run.trace")
        limit = [f"TARE_TRACE_MIB={mib}"] if mib else []
        self.done = launcher.run(["env", f"TARE_TRACE={trace}", *limit, *argv], ranks)
        self.trace = trace
        self.folder = trace.with_name("simgrid")
        self.profile: Profile = read_profile(launcher.file)
        run_export([trace], self.folder, "verdicts", "simgrid")

    def lines(self, rank: int) -> list[list[str]]:
        lines = [line.split() for line in (self.folder / f"rank-{rank}.txt").read_text().splitlines()]
        assert {line[0] for line in lines} == {str(rank)}
        return [line[1:] for line in lines]

    def matrix(self, direction: str) -> Counter[tuple[int, int, str]]:
        """As ``Profile.matrix``, by the words of the trace."""
        words = ("send", "isend") if direction == "sent" else ("recv", "irecv")
        counter: Counter[tuple[int, int, str]] = Counter()
        for rank in range(len(self.profile.ranks)):
            for word, peer, _, byte in (line for line in self.lines(rank) if line[0] in words):
                ends = (rank, int(peer)) if word in ("send", "isend") else (int(peer), rank)
                counter[(*ends, "messages")] += 1
                counter[(*ends, "byte")] += int(byte)
        return +counter

    def replayed(self) -> subprocess.CompletedProcess[str]:
        smpirun = shutil.which("smpirun")
        if smpirun is None:
            pytest.skip("there is no SimGrid here: apt-get install libsimgrid-dev")
        files = ["-platform", "platform.xml", "-hostfile", "hosts.txt", "-replay", "trace.txt"]
        return subprocess.run(
            [smpirun, "-np", str(len(self.profile.ranks)), *files],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


Trace = Callable[..., Traced]


@pytest.fixture(scope="module")
def traced(
    library: Path, programs: Path, compile_c: Compile, tmp_path_factory: pytest.TempPathFactory
) -> Trace:
    """The traced run of a program: one for all tests."""
    runs: dict[str, Traced] = {}

    def run(name: str, ranks: int) -> Traced:
        if name not in runs:
            of_tare = name.startswith("npb-")
            argv: list[object] = [programs / name, "--class", "S"] if of_tare else [compile_c(name)]
            runs[name] = Traced(Launcher(library, tmp_path_factory.mktemp(name)), argv, ranks)
        return runs[name]

    return run


def has_the_messages_of_the_program(traced: Traced) -> None:
    assert traced.done.stderr == ""
    assert traced.matrix("sent") == traced.profile.matrix("sent") == expected_matrix()
    received = traced.profile.matrix("received")
    received.update(
        {(rank, rank, "byte"): 1 for rank in range(3)}
    )  # of nothing: SimGrid's word for it says 1
    assert traced.matrix("received") == received
    for rank in range(3):
        begun = Counter(line[0] for line in traced.lines(rank))
        without_wait = {0: 1, 1: 0, 2: 0}[rank]  # a buffered send
        assert begun["wait"] == begun["isend"] + begun["irecv"] - without_wait


def test_a_trace_has_the_messages_and_bytes_of_the_profile(traced: Trace) -> None:
    has_the_messages_of_the_program(traced("messages", 3))


def test_a_trace_has_the_messages_and_bytes_of_the_profile_under_mpich(
    compile_c: Compile, mpich_launcher: MpichLauncher
) -> None:
    has_the_messages_of_the_program(Traced(mpich_launcher, [compile_c("messages", MPICC)], 3))


@pytest.mark.parametrize(("kernel", "ranks"), [("npb-mg", 4), ("npb-cg", 4)])
def test_a_kernels_trace_has_its_messages_calls_and_time(traced: Trace, kernel: str, ranks: int) -> None:
    run = traced(kernel, ranks)
    if kernel == "npb-mg":  # the others' ranks meet in rows, which becomes messages
        for direction in ("sent", "received"):
            assert run.matrix(direction) == run.profile.matrix(direction)
            assert sum(run.matrix(direction).values()) > 0
    for rank in range(ranks):
        assert said(run, rank) == counted(run, rank, in_rows=kernel == "npb-cg")
        compute_s = sum(int(line[1]) for line in run.lines(rank) if line[0] == "compute") / 1e9
        assert compute_s == pytest.approx(run.profile.ranks[rank]["compute_s"], rel=0.05, abs=0.002)


def said(run: Traced, rank: int) -> Counter[str]:
    return Counter(line[0] for line in run.lines(rank) if line[0] in WORDS.values())


def counted(run: Traced, rank: int, *, in_rows: bool) -> Counter[str]:
    calls: Counter[str] = Counter()
    for call in run.profile.ranks[rank]["calls"]:
        name = call["name"].removeprefix("MPI_")
        if in_rows and name in ("Iallgatherv", "Reduce_scatter"):
            continue
        waiting = name if name in WORDS else name.removeprefix("I").capitalize()
        if waiting in WORDS:
            calls[WORDS[waiting]] += call["count"]
    return calls


def test_a_collective_call_of_all_ranks_says_its_bytes_and_root(traced: Trace) -> None:
    lines = traced("collectives", 3).lines(1)
    assert ["bcast", "20", "1"] in lines
    assert ["gatherv", "20", "10", "20", "30", "1"] in lines
    assert ["alltoallv", "6", "1", "2", "3", "6", "2", "2", "2"] in lines
    assert ["reducescatter", "40", "80", "120", "0"] in lines


@pytest.mark.parametrize(("program", "ranks"), [("messages", 3), ("collectives", 3), ("npb-cg", 4)], ids=str)
def test_simgrid_replays_a_trace_to_its_end(traced: Trace, program: str, ranks: int) -> None:
    done = traced(program, ranks).replayed()
    assert "Simulation time" in done.stdout + done.stderr
    assert done.returncode == 0


def test_a_trace_of_python_says_what_its_calls_did(launcher: Launcher) -> None:
    run = Traced(launcher, [python_with_mpi(), "-c", MPI4PY], 2)
    assert run.matrix("sent") == run.profile.matrix("sent")
    assert [line for line in run.lines(1) if line[0] == "allreduce"] == [["allreduce", "56", "0"]]


def test_a_trace_that_is_full_says_so_and_ends_there(
    compile_c: Compile, launcher: Launcher, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Traced(launcher, [compile_c("stream"), 25_000], 2, mib="1")
    for rank in range(2):
        said = f"tareprof: the trace of rank {rank} is cut at 1 MiB; TARE_TRACE_MIB gives it more"
        assert said in run.done.stderr
        path = run.trace.with_name(f"run.trace.rank-{rank}")
        assert path.stat().st_size <= (1 << 20) + (1 << 16)  # the head
    assert all(trace.cut for trace in read_trace(run.trace))
    assert "is cut: what the rank did after" in capsys.readouterr().out
    sent, received = run.matrix("sent"), run.matrix("received")
    assert run.profile.matrix("sent")[0, 1, "messages"] == 25_000
    assert 0 < sent[0, 1, "messages"] < 25_000
    assert received[0, 1, "messages"] == sent[0, 1, "messages"]
    empty = sum(line[0] == "isend" and line[-1] == "0" for line in run.lines(0))
    assert received[0, 1, "byte"] == sent[0, 1, "byte"] + empty


def test_what_was_traced_of_a_killed_rank_counts_as_cut(compile_c: Compile, launcher: Launcher) -> None:
    trace = launcher.file.with_name("run.trace")
    assert launcher.run(["env", f"TARE_TRACE={trace}", compile_c("endings"), "kill"], 2).returncode != 0
    assert [rank.cut for rank in read_trace(trace)] == [True, True]


def test_a_trace_without_a_profile_is_refused_once(compile_c: Compile, launcher: Launcher) -> None:
    words = ["env", "-u", "TARE_PROFILE", "TARE_TRACE=run.trace", compile_c("layered")]
    done = launcher.run(words, 2)
    assert done.stderr == "tareprof: no trace: set TARE_PROFILE, which asks for the profile, as well\n"


def test_an_otf2_archive_has_every_message_and_call(traced: Trace) -> None:
    otf2 = pytest.importorskip("otf2", reason="there are no bindings of OTF2 here: pip install otf2")
    run = traced("messages", 3)
    folder = run.folder.with_name("otf2")
    run_export([run.trace], folder, "verdicts", "otf2")
    sent: Counter[tuple[int, int, str]] = Counter()
    received: Counter[tuple[int, int, str]] = Counter()
    calls: Counter[tuple[int, str]] = Counter()
    with otf2.reader.open(str(folder / "traces.otf2")) as archive:
        for location, event in archive.events:
            rank = int(location.name.removeprefix("rank "))
            if isinstance(event, otf2.events.MpiSend | otf2.events.MpiIsend):
                sent.update(
                    {(rank, event.receiver, "messages"): 1, (rank, event.receiver, "byte"): event.msg_length}
                )
            elif isinstance(event, otf2.events.MpiRecv | otf2.events.MpiIrecv):
                received.update(
                    {(event.sender, rank, "messages"): 1, (event.sender, rank, "byte"): event.msg_length}
                )
            elif isinstance(event, otf2.events.Enter) and event.region.name.startswith("MPI_"):
                calls[rank, event.region.name] += 1
    assert +sent == run.profile.matrix("sent")
    assert +received == run.profile.matrix("received")
    assert calls == {
        (rank["rank"], call["name"]): call["count"] for rank in run.profile.ranks for call in rank["calls"]
    }
