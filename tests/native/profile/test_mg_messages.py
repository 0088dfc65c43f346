# SPDX-License-Identifier: Apache-2.0
"""MG sends the reference's messages if asked: as many, as large, and between the same ranks."""

from pathlib import Path
from typing import Any

import pytest

from tests.native.profile.conftest import Launcher
from tests.native.profile.profiles import Profile, read_profile
from tests.workloads.recorded import OUTPUTS

NUMBER_BYTE = 8
"""Smaller is what our program alone collects, after the clock has stopped: whether all ranks are content."""


OWN_MESSAGES = 34
"""Of class S on two ranks."""


def messages(profile: Profile) -> list[dict[str, Any]]:
    """What each rank sent and received, to whom and how large, and what it collected; no times."""
    return [
        {
            "sent": profile.call(rank, "Send")["sent"],
            "peers": profile.ranks[rank]["peers"],
            "collected": {
                size: count
                for size, count in profile.call(rank, "Allreduce")["sent"]["sizes"].items()
                if int(size) >= NUMBER_BYTE
            },
        }
        for rank in range(len(profile.ranks))
    ]


@pytest.mark.parametrize(("ranks", "most_sent"), [(2, 444), (16, 454)])
def test_mg_sends_what_a_profile_of_the_reference_shows_also_where_ranks_have_no_points(
    programs: Path, launcher: Launcher, ranks: int, most_sent: int
) -> None:
    """Of 16 ranks, four along z, half have none of the coarsest grid's two planes."""
    argv = (programs / "npb-mg", "--class", "S", "--messages", "reference")
    sent = messages(launcher.profile(argv, ranks))
    assert sent == messages(read_profile(OUTPUTS / "npb-reference" / f"mg-profiled-{ranks}" / "profile.json"))
    assert max(rank["sent"]["messages"] for rank in sent) == most_sent


def test_mg_sends_its_own_fewer_messages_unless_asked(programs: Path, launcher: Launcher) -> None:
    profile = launcher.profile((programs / "npb-mg", "--class", "S"), 2)
    assert profile.call(0, "Isend")["count"] == OWN_MESSAGES
