# SPDX-License-Identifier: Apache-2.0
"""Waits between ranks that read different clocks are known, with a bound on their error."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.native.profile.conftest import PROGRAMS, Compile, Launcher, MpichLauncher
from tests.native.profile.profiles import Profile, read_profile
from tests.native.profile.test_profile_times import come_and_gone, waited_s

AHEAD_S = 6
"""Rank 1's clock against the others'."""
BUSY_S = 0.05
"""On a busy machine the program may lose its processor between its own look at the clock and the call."""


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Sequence[object]:
    """Begins the command of a rank: rank 1 seems to run on another kernel."""
    if os.geteuid() != 0 or not Path("/proc/self/ns/time").exists():
        pytest.skip("only root may give a process another clock, by a kernel that has time namespaces")
    folder = tmp_path_factory.mktemp("kernel")
    files = {"boot_id": "7f1c4c58-6a5e-4b0e-9a55-1f0d8f3a7c11\n", "clocksource": "hpet\n"}
    for name, text in files.items():
        (folder / name).write_text(text)
    return (PROGRAMS / "apart.sh", AHEAD_S, *(folder / name for name in files))


def ran(launcher: Launcher, words: Sequence[object], ranks: int) -> tuple[str, Profile]:
    """What the program said, and its profile."""
    done: subprocess.CompletedProcess[str] = launcher.run(words, ranks)
    assert done.returncode == 0, done.stderr
    return done.stdout, read_profile(launcher.file)


def sent_and_received(text: str) -> tuple[list[float], list[tuple[float, float]]]:
    """As late.c prints it, by rank 0's clock."""
    lines = [line.split() for line in text.splitlines()]
    sent_s = [float(words[1]) for words in lines if words[0] == "send"]
    calls_s = [
        (float(words[1]) - AHEAD_S, float(words[2]) - AHEAD_S) for words in lines if words[0] == "receive"
    ]
    return sent_s, calls_s


def is_within(waits: dict[str, Any], expected_s: float) -> None:
    assert waits["why_not"] is None
    assert 0 < waits["within_s"] < BUSY_S
    assert waits["wait_s"] == pytest.approx(expected_s, abs=waits["within_s"] + BUSY_S)


@pytest.mark.parametrize("mpi", ["open_mpi", "mpich"])
def test_late_senders_with_another_clock_are_told_within_the_bound(
    compile_c: Compile, apart: Sequence[object], mpi: str, request: pytest.FixtureRequest
) -> None:
    launcher: Launcher = request.getfixturevalue("launcher" if mpi == "open_mpi" else "mpich_launcher")
    compiler = "mpicc.mpich" if isinstance(launcher, MpichLauncher) else "mpicc"
    text, profile = ran(launcher, [*apart, compile_c("late", compiler)], 2)
    sent_s, calls_s = sent_and_received(text)
    awaited_s = (sent_s[:1], sent_s[1:4], sent_s[4:])
    expected_s = sum(waited_s(*call, *sent) for call, sent in zip(calls_s, awaited_s, strict=True))
    late = profile.ranks[1]["late_senders"]
    assert (late["told"], late["receives"]) == (5, 5)
    is_within(late, expected_s)


def test_waits_in_collective_calls_are_told_between_clocks_too(
    compile_c: Compile, launcher: Launcher, apart: Sequence[object]
) -> None:
    text, profile = ran(launcher, [*apart, compile_c("meetings")], 3)
    ahead_s = (0, AHEAD_S, 0)
    calls = {
        name: {
            rank: (begin_s - ahead_s[rank], end_s - ahead_s[rank]) for rank, (begin_s, end_s) in of.items()
        }
        for name, of in come_and_gone(text).items()
    }
    for rank, names in enumerate((["broadcast"], ["reduce"], ["broadcast"])):
        own = ["barrier", "allreduce", *names]
        awaited = {name: [1] if name == "broadcast" else [0, 1, 2] for name in own}
        expected_s = sum(
            waited_s(*calls[name][rank], *(calls[name][other][0] for other in awaited[name])) for name in own
        )
        waits = profile.ranks[rank]["collective_waits"]
        assert (waits["told"], waits["calls"]) == (3, 3)
        is_within(waits, expected_s)


def test_clocks_of_one_node_are_not_compared_and_the_reason_is_told(
    compile_c: Compile, launcher: Launcher, apart: Sequence[object], tmp_path: Path
) -> None:
    """Where the launcher says that there is one node, MPI_Init costs nothing more."""
    wrapper = tmp_path / "together.sh"
    wrapper.write_text(
        Path(str(apart[0])).read_text().replace("LOCAL_SIZE=1", 'LOCAL_SIZE="$OMPI_COMM_WORLD_SIZE"')
    )
    wrapper.chmod(0o755)
    _, profile = ran(launcher, [wrapper, *apart[1:], compile_c("late")], 2)
    late = profile.ranks[1]["late_senders"]
    assert (late["wait_s"], late["within_s"], late["told"]) == (None, None, 0)
    assert "clock could not be compared" in late["why_not"]
