# SPDX-License-Identifier: Apache-2.0
"""BT and SP send the reference's messages if asked: as many, as large, and between the same ranks."""

from pathlib import Path
from typing import Any

import pytest

from tests.native.profile.conftest import Launcher
from tests.native.profile.profiles import Profile, read_profile
from tests.workloads.recorded import OUTPUTS

NORMS_BYTE = 32
"""The profiler's class of sizes in which five numbers are; what is smaller only our program collects."""


def messages(profile: Profile) -> list[dict[str, Any]]:
    """What each rank sent and received, to whom and how large, and what it collected; no times."""
    return [
        {
            "sent": profile.call(rank, "Isend")["sent"],
            "received": profile.call(rank, "Irecv")["received"],
            "peers": sorted(profile.ranks[rank]["peers"], key=lambda peer: int(peer["rank"])),
            "norms": profile.call(rank, "Allreduce")["sent"]["sizes"][str(NORMS_BYTE)],
        }
        for rank in range(len(profile.ranks))
    ]


@pytest.mark.parametrize(("kernel", "ranks", "sent"), [("bt", 4, 738), ("bt", 9, 1104), ("sp", 9, 1824)])
def test_bt_and_sp_send_what_a_profile_of_the_reference_shows(
    programs: Path, launcher: Launcher, kernel: str, ranks: int, sent: int
) -> None:
    argv = (programs / f"npb-{kernel}", "--class", "S", "--messages", "reference")
    of_ranks = messages(launcher.profile(argv, ranks))
    recorded = OUTPUTS / "npb-reference" / f"{kernel}-profiled-{ranks}" / "profile.json"
    assert of_ranks == messages(read_profile(recorded))
    assert {rank["sent"]["messages"] for rank in of_ranks} == {sent}
