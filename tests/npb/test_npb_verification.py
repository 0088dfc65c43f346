# SPDX-License-Identifier: Apache-2.0
"""Every kernel reproduces the published values, on any number of ranks, with threads, and with every vector code."""

from pathlib import Path

import pytest

from tare.host.facts import cpu_flags
from tare.workloads.npb import VARIANTS
from tare.workloads.npb.problems import active_ranks
from tare.workloads.npb.result import parse_result
from tests.npb.kernels import KERNELS, run_alone, run_kernel

CASES = [(kernel, name, ranks) for kernel in KERNELS for name in "SW" for ranks in (1, 2)]
CASES += [(kernel, "S", 4) for kernel in KERNELS] + [("bt", "S", 9), ("sp", "S", 9)]


@pytest.mark.parametrize(("kernel", "problem_class", "ranks"), CASES)
def test_the_published_values_are_reproduced(
    programs: Path, kernel: str, problem_class: str, ranks: int
) -> None:
    run = run_kernel(programs, kernel, "--class", problem_class, "--json", ranks=ranks)
    assert run.code == 0, run.stderr
    assert run.said["verification"] == "SUCCESSFUL"
    assert run.said["checks"]
    assert all(check["relative_error"] <= check["tolerance"] for check in run.said["checks"])
    assert run.said["ranks"] == len(run.said["per_rank"]) == ranks
    assert run.said["active_ranks"] == active_ranks(kernel, ranks)


@pytest.mark.parametrize(("kernel", "ranks"), [("bt", 2), ("bt", 5), ("sp", 3), ("mg", 20)])
def test_a_run_with_ranks_that_take_no_part_is_believed(programs: Path, kernel: str, ranks: int) -> None:
    run = run_kernel(programs, kernel, "--class", "S", "--json", ranks=ranks)
    result = parse_result(run.stdout, kernel, "S")
    assert len(result.working_s) == result.active_ranks < ranks == result.ranks


@pytest.mark.parametrize(("ranks", "threads", "problem_class"), [(1, 2, "W"), (4, 3, "S")])
@pytest.mark.parametrize("kernel", KERNELS)
def test_threads_reproduce_the_published_values_too(
    programs: Path, kernel: str, ranks: int, threads: int, problem_class: str
) -> None:
    """The larger problem with a thread for each processor: more threads wait for each other most of the time."""
    asked = ("--class", problem_class, "--threads", str(threads), "--json")
    run = run_kernel(programs, kernel, *asked, ranks=ranks)
    assert run.code == 0, run.stderr
    assert run.said["verification"] == "SUCCESSFUL"
    assert (run.said["ranks"], run.said["threads"]) == (ranks, threads)


@pytest.mark.parametrize(("kernel", "ranks", "threads"), [("bt", 4, 2), ("sp", 9, 1)])
def test_the_references_messages_reproduce_the_published_values(
    programs: Path, kernel: str, ranks: int, threads: int
) -> None:
    asked = ("--class", "S", "--messages", "reference", "--threads", str(threads), "--json")
    run = run_kernel(programs, kernel, *asked, ranks=ranks)
    assert run.code == 0, run.stderr
    assert run.said["messages"] == "reference"
    assert run.said["verification"] == "SUCCESSFUL"


@pytest.mark.parametrize(("kernel", "edge", "ranks"), [("bt", 13, 9), ("sp", 19, 4)])
def test_cells_of_unlike_sizes_give_the_answer_of_one_rank(
    programs: Path, kernel: str, edge: int, ranks: int
) -> None:
    own = ("--set", f"edge={edge}", "--set", "steps=2", "--messages", "reference", "--json")
    alone, together = (run_kernel(programs, kernel, *own, ranks=count).said["checks"] for count in (1, ranks))
    for value, several in zip(alone, together, strict=True):
        assert several["computed"] == pytest.approx(value["computed"], rel=value["tolerance"], abs=0)


@pytest.mark.parametrize(
    ("kernel", "edge", "ranks"), [("bt", 103, 4), ("lu", 65, 3), ("sp", 64, 9), ("sp", 103, 4)]
)
def test_ranks_with_blocks_of_unlike_sizes_give_the_answer_of_one_rank(
    programs: Path, kernel: str, edge: int, ranks: int
) -> None:
    own = ("--set", f"edge={edge}", "--set", "steps=2", "--json")
    alone, together = (run_kernel(programs, kernel, *own, ranks=count).said["checks"] for count in (1, ranks))
    for value, several in zip(alone, together, strict=True):
        assert several["computed"] == pytest.approx(value["computed"], rel=value["tolerance"], abs=0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_each_vector_code_gives_the_same_answer(programs: Path, kernel: str) -> None:
    runnable = [name for name, needed in VARIANTS.needs if needed <= cpu_flags()]
    runs = {name: run_alone(programs, kernel, "--simd", name, "--json") for name in runnable}
    assert {name: run.code for name, run in runs.items()} == dict.fromkeys(runnable, 0)
    assert {name: run.said["simd"] for name, run in runs.items()} == {name: name for name in runnable}
    assert all(set(run.said["simd_runnable"]) == set(runnable) for run in runs.values())
    for values in zip(*(run.said["checks"] for run in runs.values()), strict=True):
        for value in values:
            assert value["computed"] == pytest.approx(values[0]["computed"], rel=value["tolerance"], abs=0)


@pytest.mark.parametrize("problem_class", "SW")
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("kernel", ["ft", "is"])
def test_each_vector_code_gives_the_published_values_where_its_own_way_is_taken(
    programs: Path, kernel: str, ranks: int, problem_class: str
) -> None:
    """FT writes past the caches from W on, and IS goes without buckets on two ranks."""
    for name in (name for name, needed in VARIANTS.needs if needed <= cpu_flags()):
        run = run_kernel(programs, kernel, "--class", problem_class, "--simd", name, "--json", ranks=ranks)
        assert run.code == 0, run.stderr
        assert run.said["simd_rule"] == f"asked for, of {', '.join(run.said['simd_runnable'])} here"


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_block_of_names_and_values_is_the_one_that_parsers_know(programs: Path, kernel: str) -> None:
    run = run_alone(programs, kernel, "--class", "S")
    names = [line.split("=")[0].strip() for line in run.stdout.splitlines() if "=" in line]
    assert f"{kernel.upper()} Benchmark Completed" in run.stdout
    assert names[:11] == [
        *("Class", "Size", "Iterations", "Time in seconds", "Total processes", "Active procs", "Mop/s total"),
        *("Mop/s/process", "Operation type", "Verification", "Version"),
    ]


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_block_does_not_pass_for_the_reference_s(programs: Path, kernel: str) -> None:
    run = run_alone(programs, kernel, "--class", "S")
    (version,) = [line for line in run.stdout.splitlines() if line.startswith(" Version ")]
    assert version == f" Version         = {'Tare rewrite, 3.4 rules':>24}"
