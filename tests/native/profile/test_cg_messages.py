# SPDX-License-Identifier: Apache-2.0
"""CG sends the reference's messages if asked: as many, as large, and between the same ranks."""

from pathlib import Path
from typing import Any

import pytest

from tests.native.profile.conftest import Launcher
from tests.native.profile.profiles import Profile, read_profile
from tests.workloads.recorded import OUTPUTS

POINT_TO_POINT = ("Irecv", "Send", "Wait")


def messages(profile: Profile) -> list[dict[str, Any]]:
    """What each rank sent and received: counts, bytes, sizes, peers; no times."""
    return [
        {
            "sizes": profile.call(rank, "Send")["sent"],
            "peers": profile.ranks[rank]["peers"],
            **{name: profile.call(rank, name)["count"] for name in POINT_TO_POINT},
        }
        for rank in range(len(profile.ranks))
    ]


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_cg_sends_what_a_profile_of_the_reference_shows(
    programs: Path, launcher: Launcher, ranks: int
) -> None:
    argv = (programs / "npb-cg", "--class", "S", "--messages", "reference")
    sent = messages(launcher.profile(argv, ranks))
    assert sent == messages(read_profile(OUTPUTS / "npb-reference" / f"cg-profiled-{ranks}" / "profile.json"))
    assert sent[0]["Send"] == {2: 1680, 4: 1680, 8: 2944}[ranks]
