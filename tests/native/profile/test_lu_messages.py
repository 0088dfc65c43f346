# SPDX-License-Identifier: Apache-2.0
"""LU sends the reference's messages if asked: as many, as large, and between the same ranks."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.native.profile.conftest import Launcher
from tests.native.profile.profiles import Profile, read_profile
from tests.workloads.recorded import OUTPUTS

SENDS = ("Send", "Isend", "Sendrecv")
RECEIVES = ("Recv", "Irecv", "Startall", "Sendrecv")
"""The reference sends by the first and receives by the first two, ours by the others: on the wire all are the same."""
REDUCED = {32: 5, 8: 3}
"""Norms of five numbers, and the surface integral's three parts; the reference reduces two times besides."""
TIMES = Counter({8: 2})


def sizes(profile: Profile, rank: int, names: tuple[str, ...], direction: str) -> Counter[int]:
    """Count the messages by their size in bytes, rounded down to a power of two."""
    counter: Counter[int] = Counter()
    for name in profile.names(rank).intersection(names):
        moved = profile.call(rank, name)[direction]
        counter.update({int(size): count for size, count in (moved or {"sizes": {}})["sizes"].items()})
    return counter


def messages(profile: Profile) -> list[dict[str, Any]]:
    """What each rank sent and received, to and from whom; no times."""
    return [
        {
            "sent": sizes(profile, rank, SENDS, "sent"),
            "received": sizes(profile, rank, RECEIVES, "received"),
            "peers": profile.ranks[rank]["peers"],
        }
        for rank in range(len(profile.ranks))
    ]


@pytest.mark.parametrize(("problem_class", "ranks"), [("S", 8), ("W", 4)])
def test_lu_sends_what_a_profile_of_the_reference_shows_also_where_blocks_are_uneven(
    programs: Path, launcher: Launcher, problem_class: str, ranks: int
) -> None:
    """Class W's 33 points are 17 and 16 along each edge of the grid of ranks."""
    argv = (programs / "npb-lu", "--class", problem_class, "--messages", "reference")
    profile = launcher.profile(argv, ranks)
    folder = OUTPUTS / "npb-reference" / f"lu-profiled-{problem_class.lower()}-{ranks}"
    reference = read_profile(folder / "profile.json")
    assert messages(profile) == messages(reference)
    reduced = sizes(profile, 0, ("Allreduce",), "sent")
    assert {size: reduced[size] for size in REDUCED} == REDUCED
    assert sizes(reference, 0, ("Allreduce",), "sent") == Counter(REDUCED) + TIMES
