# SPDX-License-Identifier: Apache-2.0
"""What a program sends, from recorded profiles."""

import json

import pytest
from tests.conftest import REPOSITORY

from tare.workloads.traffic import parse_traffic

RECORDED = REPOSITORY / "tests/outputs/npb-reference/mg-profiled-2/profile.json"


def test_messages_and_bytes_are_those_of_all_ranks_and_calls() -> None:
    text = RECORDED.read_text()
    calls = [call for rank in json.loads(text)["profile"] for call in rank["calls"] if call["sent"]]
    traffic = parse_traffic(text)
    assert traffic.messages == sum(call["sent"]["messages"] for call in calls) > 800
    assert traffic.message_byte == sum(call["sent"]["byte"] for call in calls)
    assert traffic.file_byte == 0


@pytest.mark.parametrize("cut", [0, 10, 3000])
def test_a_cut_profile_is_none(cut: int) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_traffic(RECORDED.read_text()[:cut])
