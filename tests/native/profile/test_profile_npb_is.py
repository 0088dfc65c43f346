# SPDX-License-Identifier: Apache-2.0
"""IS asked for the reference's messages sends them, by the profiler's counts: NPB 3.4, class S on two ranks."""

from pathlib import Path

from tests.native.profile.conftest import Launcher

RANKINGS = 11
"""Ten timed ones, and one before them."""
TEST_MESSAGE = (0, 1)
"""The full test's only message: its sender and its receiver."""
REFERENCE = {
    ("Allreduce", "sent"): (22748, 22748),
    ("Alltoall", "sent"): (88, 88),
    ("Alltoallv", "sent"): (1441792, 1441792),
    ("Alltoallv", "received"): (1446636, 1436948),
}
"""Bytes of each rank in all rankings, counted in the reference's program on 2026-11-26."""
OWN_REDUCTIONS = (2, 12)
"""Calls and bytes of ``MPI_Allreduce`` after the run, which the reference does not make."""


def test_is_sends_the_references_messages(programs: Path, launcher: Launcher) -> None:
    profile = launcher.profile([programs / "npb-is", "--class", "S", "--messages", "reference"], ranks=2)
    for (name, direction), of_ranks in REFERENCE.items():
        calls, byte = OWN_REDUCTIONS if name == "Allreduce" else (0, 0)
        for rank, reference_byte in enumerate(of_ranks):
            assert profile.moved(rank, name, direction) == (RANKINGS + calls, reference_byte + byte)
    assert profile.matrix("sent") == {(*TEST_MESSAGE, "messages"): 1, (*TEST_MESSAGE, "byte"): 4}
    assert profile.names(0).isdisjoint({"Ialltoallv", "Exscan"})
