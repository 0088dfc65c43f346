# SPDX-License-Identifier: Apache-2.0
"""The four shares of a rank's time agree with its own clock, and late senders are told from other waiting."""

import pytest

from tests.native.profile.conftest import Compile, Launcher, MpichLauncher
from tests.native.profile.profiles import Profile, read_profile

SHARES = ("init_s", "compute_s", "communication_s", "io_s")


def test_the_shares_agree_with_the_programs_own_clock_and_add_up_to_the_wall_time(
    compile_c: Compile, launcher: Launcher
) -> None:
    done = launcher.run([compile_c("shares"), launcher.file.with_name("data")], 2)
    assert done.returncode == 0, done.stderr
    profile = read_profile(launcher.file)
    for line in done.stdout.splitlines():
        number, wall_s, *parts = map(float, line.split())
        rank = profile.ranks[int(number)]
        # On a busy machine the program may lose its processor between its own look at the clock and the call.
        within = 0.05 * wall_s
        assert rank["wall_s"] == pytest.approx(sum(rank[share] for share in SHARES), abs=1e-7)
        assert rank["wall_s"] == pytest.approx(wall_s, abs=within)
        for share, part_s in zip(SHARES, parts, strict=True):
            assert rank[share] == pytest.approx(part_s, abs=within), share
    by_call = {
        share: sum(call["time_s"] for call in profile.ranks[0]["calls"] if call["share"] == share)
        for share in ("init", "communication", "io")
    }
    for share, time_s in by_call.items():
        assert profile.ranks[0][f"{share}_s"] == pytest.approx(time_s, abs=1e-7)


def waited_s(begin_s: float, end_s: float, *sent_s: float) -> float:
    """In one call, for the latest of its senders."""
    return max(min(max(sent_ - begin_s, 0), end_s - begin_s) for sent_ in sent_s)


def test_waiting_for_late_senders_is_told_from_all_other_waiting(
    compile_c: Compile, launcher: Launcher
) -> None:
    done = launcher.run([compile_c("late")], 2)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    sent = [float(words[1]) for words in lines if words[0] == "send"]
    calls = [(float(words[1]), float(words[2])) for words in lines if words[0] == "receive"]
    expected = [waited_s(*calls[0], sent[0]), waited_s(*calls[1], *sent[1:4]), waited_s(*calls[2], sent[4])]
    assert expected[0] > 0.1
    assert expected[1] > 0.1
    profile = read_profile(launcher.file)
    late = profile.ranks[1]["late_senders"]
    assert (late["told"], late["receives"], late["why_not"]) == (5, 5, None)
    # On a busy machine the program may lose its processor between its own look at the clock and the call.
    assert late["wait_s"] == pytest.approx(sum(expected), abs=0.05)
    assert profile.ranks[1]["communication_s"] > late["wait_s"]
    assert late["within_s"] == 0
    assert profile.ranks[0]["late_senders"] == {
        "wait_s": 0,
        "within_s": 0,
        "told": 0,
        "receives": 0,
        "why_not": None,
    }


def come_and_gone(text: str) -> dict[str, dict[int, tuple[float, float]]]:
    """Call → rank → when it began and ended there, as meetings.c prints it."""
    calls: dict[str, dict[int, tuple[float, float]]] = {}
    for line in text.splitlines():
        name, rank, begin_s, end_s = line.split()
        calls.setdefault(name, {})[int(rank)] = float(begin_s), float(end_s)
    return calls


def test_waiting_for_others_in_collective_calls_is_told_from_transfer(
    compile_c: Compile, launcher: Launcher
) -> None:
    done = launcher.run([compile_c("meetings")], 3)
    assert done.returncode == 0, done.stderr
    calls = come_and_gone(done.stdout)
    profile = read_profile(launcher.file)
    for rank in range(3):
        # All wait for all; in a broadcast the others for the root, rank 1, and in a reduction the root for them.
        names = ["barrier", "allreduce", "reduce" if rank == 1 else "broadcast"]
        awaited = {name: [1] if name == "broadcast" else [0, 1, 2] for name in names}
        expected_s = sum(
            waited_s(*calls[name][rank], *(calls[name][other][0] for other in awaited[name]))
            for name in names
        )
        assert expected_s > 0.05
        waits = profile.ranks[rank]["collective_waits"]
        assert (waits["told"], waits["calls"], waits["why_not"]) == (3, 3, None)
        # On a busy machine the program may lose its processor between its own look at the clock and the call.
        assert waits["wait_s"] == pytest.approx(expected_s, abs=0.05)
        assert profile.ranks[rank]["communication_s"] > waits["wait_s"]


def test_what_lies_in_the_region_that_the_program_marks_is_told_apart(
    compile_c: Compile, launcher: Launcher
) -> None:
    profile = launcher.profile([compile_c("region")], 2)
    for rank in profile.ranks:
        region = rank["region"]
        counts = {call["name"]: call["count"] for call in region["calls"]}
        assert region["passages"] == 2
        assert counts == {"MPI_Send": 2, "MPI_Wait": 2, "MPI_Irecv": 0}  # the receives were posted before
        moved = {call["name"]: call["sent"] or call["received"] for call in region["calls"]}
        assert (moved["MPI_Send"]["byte"], moved["MPI_Irecv"]["byte"]) == (21, 21)
        assert region["wall_s"] == pytest.approx(sum(region[share] for share in SHARES), abs=1e-7)
        assert 0.1 <= region["compute_s"] < rank["compute_s"] - 0.1
        assert region["init_s"] == region["io_s"] == 0


def test_a_program_that_marks_no_region_has_none(compile_c: Compile, launcher: Launcher) -> None:
    rank = launcher.profile([compile_c("layered")], 2).ranks[0]
    assert (rank["region"], rank["regions"], rank["passages_left_out"]) == (None, [], 0)


def named_regions_are_told_apart(profile: Profile) -> None:
    for rank in profile.ranks:
        regions = {region["name"]: region for region in rank["regions"]}
        counts = {
            name: {call["name"]: call["count"] for call in region["calls"]}
            for name, region in regions.items()
        }
        exchanged = {"MPI_Sendrecv_replace": 2}
        assert counts == {
            "solve": {"MPI_Barrier": 4, **exchanged},
            "exchange": exchanged,
            "write": {"MPI_Reduce": 1},
        }
        assert [region["passages"] for region in regions.values()] == [2, 2, 1]
        for region in regions.values():
            assert region["wall_s"] == pytest.approx(sum(region[share] for share in SHARES), abs=1e-7)
        assert regions["exchange"]["wall_s"] < regions["solve"]["wall_s"] < rank["wall_s"]
        assert rank["region"] is None


def test_regions_with_names_are_told_apart_and_may_lie_in_each_other(
    compile_c: Compile, launcher: Launcher
) -> None:
    named_regions_are_told_apart(launcher.profile([compile_c("regions")], 2))


def test_regions_with_names_are_the_same_under_mpich(
    compile_c: Compile, mpich_launcher: MpichLauncher
) -> None:
    named_regions_are_told_apart(mpich_launcher.profile([compile_c("regions", "mpicc.mpich")], 2))


def test_marks_of_regions_do_nothing_without_the_profiler(compile_c: Compile, launcher: Launcher) -> None:
    done = launcher.run(["env", "-u", "LD_PRELOAD", compile_c("regions")], 2)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
