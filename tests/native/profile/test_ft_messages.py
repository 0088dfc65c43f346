# SPDX-License-Identifier: Apache-2.0
"""FT sends the reference's messages if asked: as many exchanges of all with all, as large, and no others."""

from pathlib import Path
from typing import Any

import pytest

from tests.native.profile.conftest import Launcher
from tests.native.profile.profiles import Profile, read_profile
from tests.workloads.recorded import OUTPUTS

TRANSFORMS = 8
"""The untimed forward one, the timed forward one, and one inverse in each of six iterations."""


def messages(profile: Profile) -> list[dict[str, Any]]:
    """What each rank exchanged with all and gave to the checksums, how often and how large; no times."""
    return [
        {
            name: (profile.call(rank, name)["count"], profile.call(rank, name)["sent"])
            for name in ("Alltoall", "Reduce")
        }
        | {"peers": profile.ranks[rank]["peers"]}
        for rank in range(len(profile.ranks))
    ]


@pytest.mark.parametrize("ranks", [2, 16])
def test_ft_sends_what_a_profile_of_the_reference_shows_also_where_ranks_divide_rows(
    programs: Path, launcher: Launcher, ranks: int
) -> None:
    """Class S has 8 pieces of 8 rows: with 16 ranks each has half of one."""
    argv = (programs / "npb-ft", "--class", "S", "--messages", "reference")
    sent = messages(launcher.profile(argv, ranks))
    assert sent == messages(read_profile(OUTPUTS / "npb-reference" / f"ft-profiled-{ranks}" / "profile.json"))
    assert all(rank["Alltoall"][0] == TRANSFORMS for rank in sent)
