# SPDX-License-Identifier: Apache-2.0
"""slices, slices-mpi and tare_turn.h: each turn is answered, equal turns say the same, and who waits takes no CPU."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tare.measure.stopwatch import Command, Stopwatch, wait_all
from tests.native.conversation import effort

ANSWER = re.compile(r"slice (\d+) (\d+) (\d+|-) ([0-9a-f]+|-)\n")
MEMORY = {"bandwidth": 3, "random": 5, "triad:16384": 3, "updates:65536": 5, "chase:65536:64": 1000}
COUNTS = MEMORY | {"compute": 20, "system-calls": 1000, "process-start": 2}
MPI_COUNTS = {"latency": 20, "messages": 2, "allreduce": 20}
REPOSITORY = Path(__file__).resolve().parents[2]


class Resident:
    """A program that waits for turns."""

    def __init__(self, argv: Sequence[object]) -> None:
        self.process = subprocess.Popen(
            [str(part) for part in argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PATH": os.environ["PATH"]},
        )

    def turn(self, text: str) -> re.Match[str]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        match = ANSWER.fullmatch(line)
        assert match, f"{line!r} is no answer"
        return match

    def end(self) -> tuple[int, str, str]:
        """Exit code, and what it printed last on both outputs."""
        stdout, stderr = self.process.communicate(timeout=30)
        return self.process.returncode, stdout, stderr


@contextmanager
def resident(*argv: object) -> Iterator[Resident]:
    program = Resident(argv)
    try:
        yield program
    finally:
        program.process.kill()
        program.process.communicate()


def mpi(programs: Path, *options: str, ranks: int = 2) -> list[object]:
    if not (programs / "slices-mpi").exists() or shutil.which("mpirun") is None:
        pytest.skip("no MPI on this machine")
    settings = [
        "--host",
        f"localhost:{ranks}",
        "--mca",
        "plm",
        "isolated",
        "--mca",
        "oob_tcp_if_include",
        "lo",
    ]
    settings += ["--mca", "btl", "vader,self", "--mca", "pml", "ob1", "--mca", "mpi_yield_when_idle", "1"]
    launch = ["mpirun", "--allow-run-as-root", "--bind-to", "none", *settings, "-np", str(ranks)]
    return [*launch, programs / "slices-mpi", *options]


@pytest.mark.parametrize("piece", COUNTS)
def test_each_piece_says_the_same_of_the_same_work(programs: Path, piece: str) -> None:
    with resident(programs / "slices", "--memory-mib", "4") as program:
        answers = [program.turn(f"{piece} {COUNTS[piece]}") for _ in range(3)]
        other = program.turn(f"{piece} {COUNTS[piece] + 1}")
        code, stdout, stderr = program.end()
    assert (code, stdout) == (0, "")
    assert stderr.startswith("slices: memory ") if piece in MEMORY else stderr == ""
    assert len({answer[4] for answer in answers}) == 1
    assert other[4] != answers[0][4]
    assert all(int(answer[1]) > 0 for answer in answers)


def test_more_units_take_more_time(programs: Path) -> None:
    with resident(programs / "slices") as program:
        little, much = (int(program.turn(f"compute {count}")[2]) for count in (100, 2000))
    assert much > 5 * little


def test_the_time_of_children_counts_as_the_programs(programs: Path) -> None:
    with resident(programs / "slices") as program:
        match = program.turn("process-start 50")
    assert int(match[2]) > 50 * 50_000, "no process starts in less than 50 us"


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ("sort 5", "there is no piece 'sort'"),
        ("compute", "is not PIECE COUNT"),
        ("compute 0", "from 1 to"),
        ("triad:x 5", "whole numbers must follow"),
        ("triad 5", "has 0 numbers behind its name, and needs 1"),
        ("compute:5 5", "has 1 numbers behind its name, and needs 0"),
    ],
)
def test_what_is_no_turn_ends_it_with_a_sentence(programs: Path, turn: str, said: str) -> None:
    done = subprocess.run(
        [programs / "slices"], input=f"{turn}\n", capture_output=True, text=True, check=False, timeout=20
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_it_costs_nothing_while_it_waits(programs: Path) -> None:
    with resident(programs / "slices") as program:
        program.turn("compute 5")
        ticks, _ = effort(program.process.pid)
        time.sleep(0.5)
        assert effort(program.process.pid)[0] == ticks


def test_once_does_every_round_and_says_that_it_is_whole(programs: Path) -> None:
    argv = [str(programs / "slices"), "--rounds", "2", "--once", "compute", "5", "random", "3"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=20)
    lines = done.stdout.splitlines()
    assert [line.split(" slice ")[0] for line in lines] == ["compute 5", "random 3"] * 2 + ["end of slices"]
    assert all(ANSWER.fullmatch(f"slice {line.split(' slice ')[1]}\n") for line in lines[:-1])


def test_memory_says_how_much_of_it_is_in_huge_pages(programs: Path) -> None:
    argv = [str(programs / "slices"), "--huge-pages", "off", "--rounds", "1", "--once", "triad:4194304", "1"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=20)
    assert re.fullmatch(r"slices: memory 419\d{4} huge 0 nodes (\d+:\d+(,\d+:\d+)*|-)\n", done.stderr)


def test_a_numa_node_that_is_not_here_ends_it_with_a_sentence(programs: Path) -> None:
    argv = [str(programs / "slices"), "--numa-node", "1000", "--once", "triad:4096", "1"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stdout) == (2, "")
    assert "NUMA node" in done.stderr


@pytest.mark.parametrize("options", [(), ("--node-ranks", "1"), ("--node-ranks", "2")])
@pytest.mark.parametrize("ranks", [2, 3])
def test_mpi_ranks_take_turns_and_end_well(programs: Path, options: tuple[str, ...], ranks: int) -> None:
    with resident(*mpi(programs, "--message-kib", "64", *options, ranks=ranks)) as program:
        for piece, count in MPI_COUNTS.items():
            first, second = (program.turn(f"{piece} {count}") for _ in range(2))
            assert first[4] == second[4]
        assert program.end() == (0, "", "")


def test_every_transfer_shows_in_the_checksum(programs: Path) -> None:
    with resident(*mpi(programs)) as program:
        for count in (1, 10):
            # Both ranks add 1 at each receipt; the odd rank has sent its last word before the even one adds.
            assert int(program.turn(f"latency {count}")[4], 16) == 4 * count - 1
        assert program.end()[0] == 0


def ranks_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if "slices-mpi" in Path(f"/proc/{child}/cmdline").read_text()]


@pytest.mark.parametrize("options", [(), ("--node-ranks", "1")])
def test_ranks_that_wait_take_no_cpu(programs: Path, options: tuple[str, ...]) -> None:
    with resident(*mpi(programs, *options)) as program:
        program.turn("latency 20")
        ranks = ranks_of(program.process.pid)
        assert len(ranks) == 2
        time.sleep(0.1)
        before = [used_ns(rank) for rank in ranks]
        time.sleep(2)
        used = [used_ns(rank) - start for rank, start in zip(ranks, before, strict=True)]
        assert program.end()[0] == 0
    assert used[0] < 5_000_000, "rank 0 waits for its input"
    assert max(used) < 20_000_000


def used_ns(pid: int) -> int:
    return sum(int(file.read_text().split()[0]) for file in Path(f"/proc/{pid}/task").glob("*/schedstat"))


def test_an_unknown_piece_ends_all_ranks(programs: Path) -> None:
    done = subprocess.run(
        [str(part) for part in mpi(programs)],
        input="sort 5\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 2
    assert "slices-mpi: there is no piece 'sort'" in done.stderr


@pytest.mark.parametrize(("compiler", "name"), [("cc", "own.c"), ("c++", "own.cpp")])
def test_a_users_program_takes_turns_with_a_single_header(tmp_path: Path, compiler: str, name: str) -> None:
    source = tmp_path / name
    source.write_text(
        '#include "tare_turn.h"\n'
        'int main(void) { int n = 0; puts("hello"); TARE_TURNS { printf("iteration %d\\n", ++n); } return n; }\n'
    )
    headers = REPOSITORY / "native" / "slices"
    subprocess.run(
        [compiler, "-Wall", "-Wextra", "-Werror", "-I", headers, "-o", tmp_path / "own", source], check=True
    )
    with resident(tmp_path / "own") as program:
        assert program.process.stdin is not None
        program.process.stdin.write("first\n")
        program.process.stdin.flush()
        assert program.process.stdout is not None
        assert program.process.stdout.readline() == "hello\n"
        assert ANSWER.fullmatch(program.process.stdout.readline())
        assert program.turn("second")[4] == "-"
        assert program.end() == (2, "", "iteration 1\niteration 2\n")


def test_slices_take_turns_under_the_stopwatch(programs: Path, tmp_path: Path) -> None:

    argv = (str(programs / "slices"),)
    command = Command(argv=argv, directory=str(tmp_path), variables={}, limit_s=20.0, turns=True)
    with Stopwatch([str(programs / "stopwatch"), *command.options(str(tmp_path))]) as stopwatch:
        stopwatch.wait_ready(5.0)
        stopwatch.go()
        stopwatch.turn("compute 100")
        took = stopwatch.await_took(10.0)
        stopwatch.end_turns()
        (done,) = wait_all([stopwatch], 10.0)
    match = ANSWER.fullmatch(f"{took['line']}\n")
    assert match
    assert int(match[1]) <= took["wall_ns"]
    assert done["exit_code"] == 0
