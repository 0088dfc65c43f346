# SPDX-License-Identifier: Apache-2.0
"""libtareprof counts messages and bytes exactly, whichever call and whichever language sends them."""

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.native.profile.conftest import PROGRAMS, Compile, Launcher
from tests.native.profile.profiles import Profile, read_profile

MESSAGES = [
    *((0, 1, size) for size in (100, 200, 300, 400)),
    *((0, 1, size + way) for way in range(7) for size in (1000, 2000)),
    *[(2, 0, 512)] * 4,
    *[(2, 0, 600)] * 3,
    *((rank, (rank + 1) % 3, 30 + rank) for rank in range(3)),
    *((rank, (rank + 2) % 3, 44) for rank in range(3)),
    (1, 2, 61),
    (1, 2, 62),
    (2, 0, 70),
    (0, 2, 80),
    *((rank, rank, 32) for rank in range(3)),
    *((rank, rank, 0) for rank in range(3)),
]
"""Of messages.c: from, to, byte."""

MPI4PY = """
from array import array
from mpi4py import MPI
world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
twin = world.Dup()
sent, received = array("d", [rank] * 1000), array("d", [0] * 1000)
for _ in range(5):
    if rank == 0:
        twin.Send([sent, 100, MPI.DOUBLE], dest=1, tag=5)
    if rank == 1:
        twin.Recv([received, 1000, MPI.DOUBLE], source=0, tag=5)
arrival = world.Irecv([received, 1000, MPI.DOUBLE], source=(rank + 1) % ranks, tag=6)
departure = world.Isend([sent, 10, MPI.DOUBLE], dest=(rank - 1) % ranks, tag=6)
MPI.Request.Waitall([arrival, departure])
world.Allreduce(MPI.IN_PLACE, [sent, 7, MPI.DOUBLE])
world.Barrier()
twin.Free()
"""


OF_FIRST_THREAD = {"MPI_Init_thread", "MPI_Finalize"}
"""Of threads.c."""


def expected_matrix() -> Counter[tuple[int, int, str]]:
    counter: Counter[tuple[int, int, str]] = Counter()
    for sender, receiver, byte in MESSAGES:
        counter[sender, receiver, "messages"] += 1
        counter[sender, receiver, "byte"] += byte
    return +counter


def totals(profile: Profile, direction: str, rank: int) -> tuple[Counter[int], int]:
    """Messages by the smallest size of their class, and their bytes, over all calls from one to another."""
    sizes: Counter[int] = Counter()
    byte = 0
    for call in profile.ranks[rank]["calls"]:
        if call.get(direction) is not None and call["name"] != "MPI_Barrier":
            sizes.update({int(size): count for size, count in call[direction]["sizes"].items()})
            byte += call[direction]["byte"]
    return sizes, byte


def size_class(byte: int) -> int:
    return 1 << (byte.bit_length() - 1) if byte else 0


def test_a_long_stream_with_many_open_receives_is_counted_exactly(
    compile_c: Compile, launcher: Launcher
) -> None:
    count = 5000
    byte = sum(message % 100 for message in range(count))
    profile = launcher.profile([compile_c("stream"), count], 2)
    assert profile.moved(0, "Isend", "sent") == (count, byte)
    assert profile.moved(1, "Irecv", "received") == (count, byte)
    assert profile.matrix("received") == {(0, 1, "messages"): count, (0, 1, "byte"): byte}
    assert (profile.call(1, "Wait")["count"], profile.call(1, "Waitany")["count"]) == (2480, 2480)
    late = profile.ranks[1]["late_senders"]
    assert (late["told"], late["receives"], late["why_not"]) == (count, count, None)


def test_every_message_between_two_is_counted_once_at_both_ends(
    compile_c: Compile, launcher: Launcher
) -> None:
    profile = launcher.profile([compile_c("messages")], 3)
    assert profile.matrix("sent") == expected_matrix()
    assert profile.matrix("received") == expected_matrix()
    for rank in range(3):
        out = [byte for sender, _, byte in MESSAGES if sender == rank]
        into = [byte for _, receiver, byte in MESSAGES if receiver == rank]
        assert totals(profile, "sent", rank) == (Counter(map(size_class, out)), sum(out))
        assert totals(profile, "received", rank) == (Counter(map(size_class, into)), sum(into))


def test_messages_count_for_the_call_that_sent_or_asked_for_them(
    compile_c: Compile, launcher: Launcher
) -> None:
    profile = launcher.profile([compile_c("messages")], 3)
    assert profile.call(0, "Ssend")["sent"] == {"messages": 1, "byte": 200, "sizes": {"128": 1}}
    assert profile.moved(0, "Isend", "sent") == (14, sum(1000 + way + 2000 + way for way in range(7)))
    assert profile.moved(1, "Irecv", "received") == (
        17,
        400 + 32 + sum(3000 + 2 * way for way in range(7)),
    )
    assert profile.call(1, "Irecv")["count"] == 19
    assert profile.moved(2, "Startall", "sent") == (6, 3 * (512 + 600))
    assert profile.moved(0, "Start", "received") == (1, 512)
    assert profile.call(2, "Send_init")["sent"] is None
    assert profile.moved(2, "Mrecv", "received") == (1, 61)
    assert profile.moved(2, "Imrecv", "received") == (1, 62)
    assert profile.call(0, "Send")["count"] == 5
    assert all(profile.call(rank, "Waitall")["sent"] is None for rank in range(3))


ROOT = 1
COUNTS = (10, 20, 30)


def collective_amounts(rank: int) -> dict[str, tuple[int | None, int | None]]:
    """Name → bytes sent and received, as collectives.c asks for them."""
    at_root, own, total = rank == ROOT, COUNTS[rank], sum(COUNTS)
    return {
        "Bcast": (20, None) if at_root else (None, 20),
        "Ibcast": (24, None) if at_root else (None, 24),
        "Gather": (7, 21 if at_root else None),
        "Igather": (8, 24 if at_root else None),
        "Gatherv": (own, total if at_root else None),
        "Igatherv": (own, total if at_root else None),
        "Scatter": (27 if at_root else None, 9),
        "Iscatter": (30 if at_root else None, 10),
        "Scatterv": (total if at_root else None, own),
        "Reduce": (44, 44 if at_root else None),
        "Ireduce": (48, 48 if at_root else None),
        "Barrier": (None, None),
        "Ibarrier": (None, None),
        "Allgather": (13, 39),
        "Iallgather": (14, 42),
        "Allgatherv": (own, total),
        "Iallgatherv": (own, total),
        "Alltoall": (45, 45),
        "Ialltoall": (48, 48),
        "Alltoallv": (6, 3 * (1 + rank)),
        "Alltoallw": (6, 3 * (1 + rank)),
        "Allreduce": (68, 68),
        "Iallreduce": (72, 72),
        "Reduce_scatter": (4 * total, 4 * own),
        "Reduce_scatter_block": (3 * 76, 76),
        "Scan": (80, 80),
        "Exscan": (84, 84 if rank > 0 else None),
        "Neighbor_allgather": (22, 44),
        "Neighbor_alltoall": (46, 46),
        "Ineighbor_alltoallv": (30, 30),
        "Accumulate": (24, None),
    }


def test_collective_calls_count_what_their_arguments_describe(compile_c: Compile, launcher: Launcher) -> None:
    profile = launcher.profile([compile_c("collectives")], 3)
    for rank in range(3):
        for name, amounts in collective_amounts(rank).items():
            moved = [profile.moved(rank, name, direction) for direction in ("sent", "received")]
            expected = [None if byte is None else (1, byte) for byte in amounts]
            assert moved == expected, (rank, name)
        assert profile.call(rank, "Win_fence")["count"] == 3
        assert profile.ranks[rank]["peers"] == []
    assert profile.moved(0, "Put", "sent") == (1, 1000)
    assert profile.moved(0, "Get", "received") == (1, 500)


def test_files_count_what_was_really_read(compile_c: Compile, launcher: Launcher) -> None:
    profile = launcher.profile([compile_c("files"), launcher.file.with_name("data")], 2)
    for rank, read in ((0, 2000), (1, 1500)):
        written = {
            "write_at": 100,
            "write_at_all": 200,
            "write": 300,
            "write_at_all_begin": 500,
        }
        for name, byte in written.items():
            assert profile.moved(rank, f"File_{name}", "written") == (1, byte)
        assert profile.moved(rank, "File_iwrite_at", "written") == (3, 1200)
        came = {"read_at": read, "read_at_all": 700, "iread_at": 800, "read_at_all_end": 900}
        for name, byte in came.items():
            assert profile.moved(rank, f"File_{name}", "read") == (1, byte)
        shares = {call["name"]: call["share"] for call in profile.ranks[rank]["calls"]}
        assert {shares[name] for name in shares if name.startswith("MPI_File_")} == {"io"}
        own = sum(call["time_s"] for call in profile.ranks[rank]["calls"] if call["share"] == "io")
        waited = sum(profile.call(rank, name)["time_s"] for name in ("Wait", "Waitany"))  # for files alone
        assert profile.ranks[rank]["io_s"] == pytest.approx(own + waited, abs=1e-8)


def ring_is_right(profile: Profile) -> None:
    ring = {"messages": 1, "byte": 80, "sizes": {"64": 1}}
    assert profile.content["ranks"] == 2
    for rank in range(2):
        assert profile.call(rank, "Isend")["sent"] == ring
        assert profile.call(rank, "Irecv")["received"] == ring
        assert profile.call(rank, "Allreduce")["sent"] == {"messages": 1, "byte": 56, "sizes": {"32": 1}}
        for name in ("Comm_dup", "Waitall", "Allreduce", "Barrier", "Comm_free", "Finalize"):
            assert profile.call(rank, name)["count"] == 1
    assert profile.call(0, "Send")["sent"] == {"messages": 5, "byte": 4000, "sizes": {"512": 5}}
    assert profile.call(1, "Recv")["received"] == {"messages": 5, "byte": 4000, "sizes": {"512": 5}}
    assert "Recv" not in profile.names(0)
    assert profile.matrix("sent") == profile.matrix("received")
    assert profile.matrix("sent")[0, 1, "byte"] == 4080


@pytest.mark.parametrize("interface", [1, 2, 3], ids=["mpif.h", "mpi", "mpi_f08"])
def test_fortran_counts_once_by_each_interface(
    compile_fortran: Compile, launcher: Launcher, interface: int
) -> None:
    profile = launcher.profile([compile_fortran("ring", interface)], 2)
    ring_is_right(profile)
    assert profile.names(0) == {
        *("Init", "Comm_dup", "Send", "Irecv", "Isend", "Waitall", "Allreduce", "Barrier", "Comm_free"),
        "Finalize",
    }


def python_with_mpi() -> str:
    for python in (sys.executable, "/usr/bin/python3"):
        done = subprocess.run([python, "-c", "import mpi4py"], capture_output=True, check=False, timeout=30)
        if done.returncode == 0:
            return python
    pytest.skip("no Python here has mpi4py: apt-get install python3-mpi4py")


def test_python_counts_the_same_although_it_hides_its_mpi(launcher: Launcher) -> None:
    ring_is_right(launcher.profile([python_with_mpi(), "-c", MPI4PY], 2))


def test_threads_at_once_lose_no_message(compile_c: Compile, launcher: Launcher) -> None:
    profile = launcher.profile([compile_c("threads")], 2)
    messages, byte = 4 * 2000, 2000 * (1 + 2 + 3 + 4)
    for rank in range(2):
        assert profile.ranks[rank]["threads"] == "multiple"
        assert profile.moved(rank, "Send", "sent") == (messages, byte)
        assert profile.moved(rank, "Irecv", "received") == (messages, byte)
        assert profile.call(rank, "Wait")["count"] == messages
        # The other threads' calls are in no share: the first thread's one call is MPI_Finalize.
        end_s = profile.call(rank, "Finalize")["time_s"]
        assert profile.ranks[rank]["communication_s"] == pytest.approx(end_s, abs=1e-8)
        others = profile.ranks[rank]["other_threads"]
        calls = [call for call in profile.ranks[rank]["calls"] if call["name"] not in OF_FIRST_THREAD]
        assert len({other["thread"] for other in others}) == 4
        assert sum(other["count"] for other in others) == sum(call["count"] for call in calls)
        assert sum(other["communication_s"] for other in others) == pytest.approx(
            sum(call["time_s"] for call in calls), abs=1e-8
        )
        late = profile.ranks[rank]["late_senders"]
        assert late["wait_s"] is None
        assert "other threads" in late["why_not"]


def test_a_programs_own_layer_works_and_its_calls_count_once(compile_c: Compile, launcher: Launcher) -> None:
    done = launcher.run([compile_c("layered")], 2)
    assert (done.returncode, done.stdout) == (0, "3\n")
    profile = read_profile(launcher.file)
    assert profile.call(0, "Send")["count"] == 3
    assert profile.matrix("sent")[0, 1, "byte"] == 30


@pytest.mark.parametrize("name", ["foreign", "mpi_abi"])
def test_a_program_of_another_mpi_runs_and_is_told_that_it_has_no_profile(
    launcher: Launcher, tmp_path: Path, name: str
) -> None:
    options = ["-shared", "-fPIC", *(["-DOF_STANDARD_INTERFACE"] if name == "mpi_abi" else [])]
    made = ["gcc", *options, str(PROGRAMS / "foreign_mpi.c"), "-o", f"lib{name}.so"]
    subprocess.run(made, cwd=tmp_path, check=True, timeout=60)
    linked = ["gcc", str(PROGRAMS / "foreign.c"), "-o", "program", "-L.", f"-l{name}", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(linked, cwd=tmp_path, check=True, timeout=60)
    variables = {"LD_PRELOAD": str(launcher.library), "TARE_PROFILE": str(launcher.file)}
    done = subprocess.run(
        [tmp_path / "program"], env=variables, capture_output=True, text=True, check=False, timeout=20
    )
    assert (done.returncode, done.stdout) == (0, "90000107 7\n")
    assert done.stderr == (
        "tareprof: no profile: the program's MPI is not Open MPI, and of no kind that is known\n"
    )
    assert not launcher.file.exists()


def test_without_a_name_for_the_profile_nothing_is_measured(compile_c: Compile, launcher: Launcher) -> None:
    words = ["env", "-u", "TARE_PROFILE", compile_c("layered")]
    done = launcher.run(words, 2)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")
    assert list(launcher.file.parent.glob("profile.json*")) == []


def test_what_is_no_mpi_program_runs_as_if_the_library_were_not_there(launcher: Launcher) -> None:
    shell = shutil.which("sh")
    assert shell is not None
    variables = {"LD_PRELOAD": str(launcher.library), "LD_BIND_NOW": "1", "TARE_PROFILE": str(launcher.file)}
    done = subprocess.run(
        [shell, "-c", "echo here"], env=variables, capture_output=True, text=True, check=False, timeout=20
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "here\n", "")
    assert not launcher.file.exists()
