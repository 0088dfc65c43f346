# SPDX-License-Identifier: Apache-2.0
"""collective: every benchmark runs in groups of any ranks, and a message that arrives changed is noticed."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

FORGER = """
#include <mpi.h>
int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm group, MPI_Status *status) {
    int code = PMPI_Recv(buffer, count, type, source, tag, group, status);
    if (count >= 64) ((char *)buffer)[count - 1] ^= 1;
    return code;
}
"""
"""An MPI that changes one bit of larger messages."""


def run(
    programs: Path, ranks: int, *arguments: str, preload: Path | None = None
) -> subprocess.CompletedProcess[str]:
    if not (programs / "collective").exists() or shutil.which("mpirun") is None:
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
    exported = [] if preload is None else ["-x", f"LD_PRELOAD={preload}"]
    launch = ["mpirun", "--allow-run-as-root", "--bind-to", "none", *settings, *exported, "-np", str(ranks)]
    return subprocess.run(
        [*launch, str(programs / "collective"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": os.environ["PATH"]},
    )


def result_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("benchmark", ["sendrecv", "exchange", "bcast", "allreduce", "alltoall"])
def test_each_benchmark_runs_in_a_group_of_three(programs: Path, benchmark: str) -> None:
    result = result_of(run(programs, 3, benchmark, "0:20", "4:20", "65536:3"))
    assert (result["benchmark"], result["groups"], result["group_ranks"]) == (benchmark, 1, 3)
    assert [(point["size_byte"], point["count"]) for point in result["points"]] == [
        *((0, 20), (4, 20), (65536, 3))
    ]
    for point in result["points"]:
        assert 0 < point["min_s"] <= point["mean_s"] * (1 + 1e-9)
        assert point["mean_s"] <= point["max_s"] * (1 + 1e-9)
        assert point["wrong_ranks"] == 0


@pytest.mark.parametrize("benchmark", ["pingpong", "barrier"])
def test_pairs_run_at_once_and_a_rank_without_a_partner_is_idle(programs: Path, benchmark: str) -> None:
    result = result_of(run(programs, 5, benchmark, "--group-ranks", "2", "--mapping", "far", "0:5"))
    assert (result["ranks"], result["active_ranks"], result["groups"], result["mapping"]) == (5, 4, 2, "far")
    assert (result["nodes"], result["groups_in_node"]) == (1, 2)


def test_a_message_that_arrives_changed_ends_the_run(programs: Path, tmp_path: Path) -> None:
    if shutil.which("mpicc") is None:
        pytest.skip("no MPI compiler on this machine")
    source, library = tmp_path / "forger.c", tmp_path / "forger.so"
    source.write_text(FORGER)
    subprocess.run(["mpicc", "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
    assert result_of(run(programs, 2, "exchange", "32:5", preload=library))
    done = run(programs, 2, "exchange", "32:5", "64:5", preload=library)
    assert (done.returncode, done.stdout) == (1, "")
    assert "2 of 2 ranks received something else than was sent, in messages of 64 bytes" in done.stderr


def test_groups_that_cannot_be_made_are_refused(programs: Path) -> None:
    done = run(programs, 3, "bcast", "--group-ranks", "4", "0:5")
    assert (done.returncode, done.stdout) == (2, "")
    assert "a group needs 4 ranks, and there are 3" in done.stderr
