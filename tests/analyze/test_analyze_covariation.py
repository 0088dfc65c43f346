# SPDX-License-Identifier: Apache-2.0
"""The gate over all signals together holds its level."""

import numpy as np
import pytest
from scipy.stats import rankdata

from tare.analyze.attribution.covariation import correlations


def drawn(seed: int, n: int, effect: float, trend: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Twelve signals, of which the first moves the overhead by ``effect``; all share a trend over the blocks."""
    random = np.random.default_rng(seed)
    order = np.column_stack([np.arange(n), random.integers(-2, 3, n)]).astype(float)
    signals = random.standard_normal((12, n)) + trend * order[:, 0]
    own = random.standard_normal(n) + trend * order[:, 0] + effect * (signals[0] - trend * order[:, 0])
    return own, signals, order


@pytest.mark.parametrize("trend", [0.0, 0.5])
def test_signals_without_effect_pass_the_gate_in_at_most_1_of_20_campaigns_also_under_a_trend(
    trend: float,
) -> None:
    named = 0
    for seed in range(200):
        result = correlations(*drawn(seed, 12, 0.0, trend))
        named += any(correlation is not None and correlation.chance <= 0.05 for correlation in result)
    assert named <= 18, "one in 20 of 200 is 10; 18 or more would come in 1 % of cases"


def test_a_strong_effect_passes_the_gate_and_no_other_signal_does_more_often() -> None:
    passed = np.zeros(12)
    for seed in range(20):
        result = correlations(*drawn(seed, 30, 2.0, 0.1))
        passed += [correlation is not None and correlation.chance <= 0.05 for correlation in result]
    assert passed[0] >= 19
    assert passed[1:].sum() <= 5


def test_a_signal_that_never_changes_has_no_correlation() -> None:
    own, signals, order = drawn(1, 12, 1.0, 0.0)
    signals[3] = 7.0
    result = correlations(own, signals, order)
    assert result[3] is None
    assert result[0] is not None


def test_the_same_values_give_the_same_chances() -> None:
    assert correlations(*drawn(2, 15, 0.5, 0.0)) == correlations(*drawn(2, 15, 0.5, 0.0))


def test_what_follows_from_the_order_is_taken_off_without_a_table_of_all_pairs_of_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_much(*_: object) -> None:
        raise AssertionError("grows as n^2")

    for name in ("eye", "outer"):
        monkeypatch.setattr(np, name, too_much)
    own, signals, order = drawn(3, 40, 1.0, 0.3)
    order = np.column_stack([order, 2 * order[:, 0] - 1])  # nothing that the others do not say
    result = correlations(own, signals, order)
    assert [correlation.r for correlation in result if correlation] == pytest.approx(
        _by_projection(own, signals, order), abs=1e-12
    )


def _by_projection(own: np.ndarray, signals: np.ndarray, order: np.ndarray) -> list[float]:
    """Of the residuals of ranks, regressed on the order one by one."""
    design = np.column_stack([np.ones(len(order)), order])

    def left(values: np.ndarray) -> np.ndarray:
        ranks = rankdata(values)
        return np.asarray(ranks - design @ np.linalg.lstsq(design, ranks, rcond=None)[0])

    return [float(np.corrcoef(left(own), left(signal))[0, 1]) for signal in signals]
