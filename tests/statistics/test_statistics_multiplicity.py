# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.statistics.multiplicity import ERROR, adjusted, among, benjamini_hochberg, holds, holm, joint_error

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_holms_example_by_hand() -> None:
    """Multiplied by 4, 3, 2 and 1 in order, and never falling."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_multiplies_the_smallest_by_their_number_and_never_falls() -> None:
    assert holm([0.01, 0.5, 0.02]) == pytest.approx([0.03, 0.5, 0.04])
    assert holm([0.6, 0.5]) == pytest.approx([1.0, 1.0])
    assert holm([]).tolist() == []


def test_benjamini_and_hochbergs_example_by_hand() -> None:
    """Multiplied by 4/1, 4/2, 4/3 and 4/4 in order, and never rising from behind."""
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])


@given(P_VALUES)
def test_adjusting_never_helps_a_claim_and_keeps_the_order(p_values: list[float]) -> None:
    for procedure in (holm, benjamini_hochberg):
        values = procedure(p_values)
        assert np.all(values >= np.asarray(p_values) - 1e-12)
        assert np.all(values <= 1)
        order = np.argsort(p_values, kind="stable")
        assert np.all(np.diff(values[order]) >= 0)


@given(P_VALUES)
def test_what_holm_claims_benjamini_and_hochberg_claim_too(p_values: list[float]) -> None:
    assert np.all(benjamini_hochberg(p_values) <= holm(p_values) + 1e-12)


@given(P_VALUES)
def test_holm_is_the_sequence_of_rejections_that_defines_it(p_values: list[float]) -> None:
    left = sorted(p_values)
    rejected = 0
    while left and left[0] * len(left) <= ERROR * (1 + 1e-9):
        left, rejected = left[1:], rejected + 1
    assert sum(map(holds, adjusted(p_values, exploratory=False))) == rejected


def test_no_claims_need_no_adjusting() -> None:
    assert adjusted([], exploratory=False) == []


def test_of_many_true_nulls_holm_claims_one_in_at_most_one_campaign_of_twenty() -> None:
    generator = np.random.default_rng(5)
    p_values = generator.random((20_000, 40))
    any_false = float(np.mean(np.any(holm(p_values) <= ERROR, axis=1)))
    assert any_false == pytest.approx(0.0488, abs=0.005)
    assert float(np.mean(np.any(p_values <= ERROR, axis=1))) > 0.8


def test_of_what_benjamini_and_hochberg_claim_one_in_twenty_is_false_at_most() -> None:
    generator = np.random.default_rng(6)
    p_values = generator.random((20_000, 40))
    p_values[:, :8] *= 0.002
    claimed = benjamini_hochberg(p_values) <= ERROR
    false_share = claimed[:, 8:].sum(axis=1) / np.maximum(1, claimed.sum(axis=1))
    assert float(false_share.mean()) <= 0.05 * 32 / 40 + 0.003
    assert float(claimed[:, :8].mean()) > 0.9


@given(st.lists(st.floats(0.0, 1.0), max_size=40))
def test_the_intervals_of_selected_claims_have_the_largest_error_that_decides_as_many(
    p_values: list[float],
) -> None:
    m = max(1, len(p_values))
    assert joint_error(p_values, exploratory=False) == ERROR / m
    error = joint_error(p_values, exploratory=True)
    made = round(error * m / ERROR)
    decided = [sum(p <= ERROR * k / m * (1 + 1e-9) for p in p_values) for k in range(1, m + 1)]
    assert made == max((k for k, count in enumerate(decided, 1) if count >= k), default=1)
    assert all(holds(among(p, error)) == (p <= error * (1 + 1e-9)) for p in p_values if p != error)
