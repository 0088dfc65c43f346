# SPDX-License-Identifier: Apache-2.0
"""MPI by verbs: what the launch says to Open MPI and UCX, and what UCX 1.13 says of what it used.

The recording is of processes without an adapter; lines with one have its transports' names in their place.
"""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.workloads.recorded import OUTPUTS
from tests.workloads.test_workload_mpi import ACROSS

from tare.measure.mpi_facts import path_facts
from tare.records import MpiLauncher
from tare.workloads import mpi, mpi_verbs
from tare.workloads.kind import Site, Span
from tare.workloads.mpi_paths import MpiPlace

ONE_NODE = (OUTPUTS / "mpi" / "ucx-one-node.stderr").read_text()
VERBS = "[1795737953.7] [{}:27334:0]      ucp_worker.c:1763 UCX  INFO    ep_cfg[2]: tag({})\n"
FAST, SLOW = "rc_mlx5/mlx5_0:1 rc_mlx5/mlx5_1:1", "ud_verbs/rxe0:1"
BOTH = ONE_NODE + VERBS.format("node17", FAST) + VERBS.format("node18", FAST)
UNREACHED = """\
[1795738611.968429] [vm:23724:0]          select.c:549  UCX  ERROR   no active messages transport to <no debug data>: \
Unsupported operation
[vm:27388] Set MCA parameter "orte_base_help_aggregate" to 0 to see all help / error messages
"""
UNREACHED_ALONE = """\
[1795737954.733373] [vm:27397:0]          select.c:549  UCX  ERROR   no active messages transport to <no debug data>: \
self/memory0 - Destination is unreachable
[vm:27388] Set MCA parameter "orte_base_help_aggregate" to 0 to see all help / error messages
"""
NODES = (MpiPlace("tare-1", "node17"), MpiPlace("tare-2", "node18"))


def test_a_job_with_verbs_is_told_to_use_nothing_else_between_nodes() -> None:
    argv = mpi.launch(replace(ACROSS, verbs=True))
    settings = {argv[place + 1]: argv[place + 2] for place, word in enumerate(argv) if word == "--mca"}
    assert settings["pml"] == "ucx"
    assert "btl_base_verbose" not in settings
    assert "UCX_TLS=self,sm,ib" in argv
    assert not any(word.startswith("UCX_") for word in mpi.launch(ACROSS))
    assert "ob1" in mpi.launch(ACROSS)


@pytest.mark.parametrize(("single_copy", "words"), [("none", "posix,sysv"), ("cma", "posix,sysv,cma")])
def test_the_choice_of_copies_within_a_node_is_kept_with_verbs(single_copy: Any, words: str) -> None:
    assert f"UCX_TLS=self,{words},ib" in mpi.launch(replace(ACROSS, verbs=True), single_copy=single_copy)


def test_programs_of_one_job_and_a_sites_own_launcher_hear_the_same() -> None:
    shape = replace(ACROSS, verbs=True)
    assert mpi.launch_each([("a",), ("b",)], shape).count("UCX_TLS=self,sm,ib") == 2
    assert isinstance(shape.span, Span)
    site = Site(launcher=MpiLauncher.MPIRUN, hosts=("h", "h"), enter=("way",), folder="/f", agent="/f/agent")
    argv = mpi.launch(replace(shape, span=replace(shape.span, site=site)))
    assert {"UCX_TLS=self,sm,ib", "OMPI_MCA_pml=ucx"} <= set(argv)


def test_what_carried_the_messages_is_told_without_a_processs_messages_to_itself() -> None:
    assert mpi.transports(BOTH) == "shared memory; verbs (rc_mlx5 on mlx5_0:1, rc_mlx5 on mlx5_1:1)"
    itself = "".join(line for line in ONE_NODE.splitlines(keepends=True) if "ep_cfg[1]" not in line)
    assert mpi.transports(itself) is None
    assert mpi.transports(ONE_NODE) == "shared memory"


def test_paths_over_hosts_name_a_host_that_sends_by_another_adapter() -> None:
    seat: Any = SimpleNamespace(where=NODES, networks=())
    assert path_facts(seat, BOTH) == {
        "mpi paths": "within a node: shared memory; between nodes: verbs (rc_mlx5 on mlx5_0:1, rc_mlx5 on mlx5_1:1)"
    }
    facts = path_facts(seat, BOTH + VERBS.format("node19", SLOW))
    assert facts["mpi paths"].endswith("; node19: verbs (ud_verbs on rxe0:1)")
    assert [text for label, text in facts.items() if label != "mpi paths"] == [
        "node19: verbs (ud_verbs on rxe0:1), where most use verbs (rc_mlx5 on mlx5_0:1, rc_mlx5 on mlx5_1:1)"
    ]
    assert path_facts(seat, ONE_NODE) == {"mpi paths": "within a node: shared memory"}


def test_ucxs_report_is_no_complaint_and_what_it_cannot_reach_is() -> None:
    assert mpi.without_chatter(f"{BOTH}a program's own\n") == "a program's own\n"
    for said in (UNREACHED, UNREACHED_ALONE):
        assert "by no verbs: see that a port is active" in mpi.last_words(ONE_NODE + said)
    assert mpi_verbs.obstacle(BOTH) is None


def test_an_adapter_that_helps_within_a_node_is_not_taken_for_a_way_between_nodes() -> None:
    helped = VERBS.format("node17", f"sysv/memory cma/memory {FAST}")
    assert mpi_verbs.paths(helped) == (
        ["within a node: shared memory and verbs (rc_mlx5 on mlx5_0:1, rc_mlx5 on mlx5_1:1)"],
        "",
    )


@pytest.mark.parametrize("text", ["", "tag(", "[1.0] [vm:1:0] x UCX  INFO  tag()\n", BOTH[:700]])
def test_a_broken_report_says_nothing_that_was_not_there(text: str) -> None:
    assert set(mpi_verbs.carriers(text)) <= {"shared memory"}
