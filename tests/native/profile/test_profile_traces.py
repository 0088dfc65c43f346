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
"""Collective call → SimGrid's word."""


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


@pytest.mark.parametrize("family", ["open_mpi", "mpich"])
def test_a_trace_has_the_messages_and_bytes_of_the_profile(
    compile_c: Compile, request: pytest.FixtureRequest, family: str
) -> None:
    mpich = family == "mpich"
    launcher: Launcher = request.getfixturevalue("mpich_launcher" if mpich else "launcher")
    traced = Traced(launcher, [compile_c("messages", MPICC if mpich else "mpicc")], 3)
    assert traced.done.stderr == ""
    assert traced.matrix("sent") == traced.profile.matrix("sent") == expected_matrix()
    received = traced.profile.matrix("received")
    received.update({(rank, rank, "byte"): 1 for rank in range(3)})  # of nothing: SimGrid's word for it says 1
    assert traced.matrix("received") == received
    for rank in range(3):
        begun = [line for line in traced.lines(rank) if line[0] in ("isend", "irecv")]
        waits = [line for line in traced.lines(rank) if line[0] == "wait"]
        buffered = traced.profile.call(0, "Bsend")["count"] if rank == 0 else 0
        assert len(waits) >= len(begun) - buffered - 1  # one is freed unseen


@pytest.mark.parametrize(("kernel", "ranks"), [("is", 2), ("lu", 4), ("mg", 4)])
def test_a_kernels_trace_has_its_messages_calls_and_time(
    programs: Path, launcher: Launcher, kernel: str, ranks: int
) -> None:
    traced = Traced(launcher, [programs / f"npb-{kernel}", "--class", "S"], ranks)
    for direction in ("sent", "received"):
        assert traced.matrix(direction) == traced.profile.matrix(direction)
    for rank in range(ranks):
        said = Counter(line[0] for line in traced.lines(rank) if line[0] in WORDS.values())
        counted: Counter[str] = Counter()
        for call in traced.profile.ranks[rank]["calls"]:
            name = call["name"].removeprefix("MPI_")
            waiting = name if name in WORDS else name.removeprefix("I").capitalize()
            if waiting in WORDS:
                counted[WORDS[waiting]] += call["count"]
        assert said == counted
        compute_s = sum(int(line[1]) for line in traced.lines(rank) if line[0] == "compute") / 1e9
        assert compute_s == pytest.approx(traced.profile.ranks[rank]["compute_s"], rel=0.05, abs=0.002)


def test_a_collective_call_of_all_ranks_says_its_bytes_and_root(compile_c: Compile, launcher: Launcher) -> None:
    traced = Traced(launcher, [compile_c("collectives")], 3)
    lines = [line for line in traced.lines(1) if line[0] in WORDS.values()]
    assert ["bcast", "20", "1"] in lines
    assert ["gatherv", "20", "10", "20", "30", "1"] in lines
    assert ["alltoallv", "6", "1", "2", "3", "6", "2", "2", "2"] in lines
    assert ["reducescatter", "40", "80", "120", "0"] in lines


def test_a_trace_of_python_says_what_its_calls_did(launcher: Launcher) -> None:
    traced = Traced(launcher, [python_with_mpi(), "-c", MPI4PY], 2)
    assert traced.matrix("sent") == traced.profile.matrix("sent")
    assert [line for line in traced.lines(1) if line[0] == "allreduce"] == [["allreduce", "56", "0"]]


def test_a_trace_that_is_full_says_so_and_ends_there(
    compile_c: Compile, launcher: Launcher, capsys: pytest.CaptureFixture[str]
) -> None:
    traced = Traced(launcher, [compile_c("stream"), 25_000], 2, mib="1")
    for rank in range(2):
        said = f"tareprof: the trace of rank {rank} is cut at 1 MiB; TARE_TRACE_MIB gives it more"
        assert said in traced.done.stderr
        path = traced.trace.with_name(f"run.trace.rank-{rank}")
        assert path.stat().st_size <= (1 << 20) + (1 << 16)  # the head
    assert all(trace.cut for trace in read_trace(traced.trace))
    assert "is cut: what the rank did after" in capsys.readouterr().out
    assert traced.profile.moved(1, "Recv", "received") == (25_000, 25_000 * 8)
    sent = Counter(line[0] for line in traced.lines(0))["send"]
    assert 0 < sent < 25_000
    assert Counter(line[0] for line in traced.lines(1))["recv"] == sent


def test_what_was_traced_of_a_killed_rank_counts_as_cut(compile_c: Compile, launcher: Launcher) -> None:
    trace = launcher.file.with_name("run.trace")
    assert launcher.run(["env", f"TARE_TRACE={trace}", compile_c("endings"), "kill"], 2).returncode != 0
    assert [rank.cut for rank in read_trace(trace)] == [True, True]


def test_a_trace_without_a_profile_is_refused_once(compile_c: Compile, launcher: Launcher) -> None:
    words = ["env", "-u", "TARE_PROFILE", "TARE_TRACE=run.trace", compile_c("layered")]
    done = launcher.run(words, 2)
    assert done.stderr == "tareprof: no trace: set TARE_PROFILE, which asks for the profile, as well\n"


@pytest.mark.parametrize(
    ("argv", "ranks"),
    [(["messages"], 3), (["collectives"], 3), (["npb-cg", "--class", "S"], 4)],
    ids=["messages", "collectives", "ranks that meet in rows"],
)
def test_simgrid_replays_a_trace_to_its_end(
    programs: Path, compile_c: Compile, launcher: Launcher, argv: list[str], ranks: int
) -> None:
    smpirun = shutil.which("smpirun")
    if smpirun is None:
        pytest.skip("there is no SimGrid here: apt-get install libsimgrid-dev")
    program = programs / argv[0] if argv[0].startswith("npb-") else compile_c(argv[0])
    traced = Traced(launcher, [program, *argv[1:]], ranks)
    files = ["-platform", "platform.xml", "-hostfile", "hosts.txt", "-replay", "trace.txt"]
    words = [smpirun, "-np", str(ranks), *files]
    done = subprocess.run(words, cwd=traced.folder, capture_output=True, text=True, timeout=60, check=False)
    assert "Simulation time" in done.stdout + done.stderr
    assert done.returncode == 0


def exported(traced: Traced) -> Callable[[], Path]:
    def export() -> Path:
        folder = traced.folder.with_name("otf2")
        run_export([traced.trace], folder, "verdicts", "otf2")
        return folder / "traces.otf2"

    return export


def test_an_otf2_archive_has_every_message_and_call(compile_c: Compile, launcher: Launcher) -> None:
    otf2 = pytest.importorskip("otf2", reason="there are no bindings of OTF2 here: pip install otf2")
    traced = Traced(launcher, [compile_c("messages")], 3)
    sent: Counter[tuple[int, int, str]] = Counter()
    received: Counter[tuple[int, int, str]] = Counter()
    calls: Counter[tuple[int, str]] = Counter()
    with otf2.reader.open(str(exported(traced)())) as archive:
        for location, event in archive.events:
            rank = int(location.name.removeprefix("rank "))
            if isinstance(event, otf2.events.MpiSend | otf2.events.MpiIsend):
                sent.update({(rank, event.receiver, "messages"): 1, (rank, event.receiver, "byte"): event.msg_length})
            elif isinstance(event, otf2.events.MpiRecv | otf2.events.MpiIrecv):
                received.update({(event.sender, rank, "messages"): 1, (event.sender, rank, "byte"): event.msg_length})
            elif isinstance(event, otf2.events.Enter) and event.region.name.startswith("MPI_"):
                calls[rank, event.region.name] += 1
    assert +sent == traced.profile.matrix("sent")
    assert +received == traced.profile.matrix("received")
    assert calls == {
        (rank["rank"], call["name"]): call["count"] for rank in traced.profile.ranks for call in rank["calls"]
    }
