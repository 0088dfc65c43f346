# SPDX-License-Identifier: Apache-2.0
"""Sizes as people read and write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.units import GIBIBYTE, format_byte, parse_byte


@given(st.integers(min_value=1, max_value=1 << 60))
def test_a_size_that_is_printed_can_be_written_into_a_campaign(size_byte: int) -> None:
    assert parse_byte(format_byte(size_byte)) == pytest.approx(size_byte, rel=0.005)


def test_a_thousand_gibibyte_have_no_exponent() -> None:
    assert format_byte(1023.6 * GIBIBYTE) == "1024 GiB"
