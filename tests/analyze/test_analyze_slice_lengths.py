# SPDX-License-Identifier: Apache-2.0
"""What slices of each length would decide, from native pieces."""

import numpy as np
import pytest

from tare.analyze.slice_lengths import slice_lengths

PIECE_S = 0.015


def pieces(bursts: int, count: int = 4096) -> list[float]:
    """Noise of 10 % that lasts for so many pieces."""
    chance = np.random.default_rng(5)
    noise = np.repeat(chance.normal(0, 0.1, count // bursts), bursts)
    return list(PIECE_S * np.exp(noise))


def test_noise_in_bursts_is_decided_best_by_the_shortest_slices() -> None:
    lengths = slice_lengths(pieces(bursts=64), arms=6, time_s=10.0)
    widths = [length.half_width for length in lengths]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1] / 4


def test_independent_noise_is_decided_alike_by_all_lengths() -> None:
    lengths = slice_lengths(pieces(bursts=1), arms=6, time_s=10.0)
    first, *others = [length.half_width for length in lengths if length.length_s < 0.3]
    assert others == pytest.approx([first] * len(others), rel=0.25)


def test_what_a_turn_costs_makes_short_slices_wider() -> None:
    free = slice_lengths(pieces(1), 6, 10.0)[0]
    costly = slice_lengths(pieces(1), 6, 10.0, lambda length_s: length_s + 0.015)[0]
    assert costly.half_width == pytest.approx(free.half_width * 2**0.5, rel=0.01)


def test_a_length_with_few_slices_is_left_out() -> None:
    assert [round(length.length_s, 3) for length in slice_lengths([PIECE_S] * 30, 6, 1.0)] == [0.015, 0.03]
