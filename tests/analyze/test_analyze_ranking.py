# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from tests.analyze.verdict_example import MARGIN, around, looks_of, summary_of, verdict_of

from tare.analyze import overhead, rankings, verdict
from tare.records import NATIVE, Estimate, Verdict


def shared_noise(n: int = 12) -> list[float]:
    return [float(value) for value in np.random.default_rng(8).normal(0, 0.1, n)]


def test_environments_stand_by_their_overhead_with_native_among_them() -> None:
    (ranking,) = rankings([verdict_of(around(0.2, 0.01), "slow"), verdict_of(around(-0.1, 0.01), "fast")])
    assert [place.environment for place in ranking.places] == ["fast", NATIVE, "slow"]
    assert [place.letters for place in ranking.places] == ["a", "b", "c"]
    assert ranking.places[1].overhead is None


def test_pairs_are_compared_within_blocks_so_noise_that_both_share_cancels() -> None:
    noise = shared_noise()
    first = verdict_of(noise, "first")
    second = verdict_of(
        [value + 0.03 + small for value, small in zip(noise, around(0, 0.01, 12), strict=True)], "second"
    )
    (ranking,) = rankings([first, second])
    (pair,) = [pair for pair in ranking.pairs if {pair.first, pair.second} == {"first", "second"}]
    assert pair.distinguished
    assert abs(pair.difference.point) == pytest.approx(np.expm1(0.03), abs=0.005)
    intervals = [place.overhead for place in ranking.places if place.overhead]
    assert max(each.low or 0 for each in intervals) < min(each.high or 0 for each in intervals)


def test_only_blocks_of_both_count() -> None:
    early = verdict_of(around(0.1, 0.01, 12), "early")
    late = verdict(overhead(summary_of(around(0.1, 0.01, 12), "late", first_block=5)), MARGIN)
    (ranking,) = rankings([early, late])
    counts = {frozenset((pair.first, pair.second)): pair.difference.n for pair in ranking.pairs}
    assert counts[frozenset(("early", "late"))] == 7
    assert counts[frozenset((NATIVE, "late"))] == 12


def test_environments_without_a_common_block_are_not_distinguished() -> None:
    result = verdict_of(around(0.1, 0.01), "one")
    other = verdict(overhead(summary_of(around(0.9, 0.01), "other", first_block=50)), MARGIN)
    (ranking,) = rankings([result, other])
    (pair,) = [pair for pair in ranking.pairs if NATIVE not in {pair.first, pair.second}]
    assert (pair.distinguished, pair.equal, pair.difference.n, pair.difference.low) == (False, False, 0, None)


def test_not_distinguished_is_not_equal_and_equal_needs_its_own_proof() -> None:
    noisy, quiet = verdict_of(around(0.0, 0.3), "noisy"), verdict_of(around(0.0, 0.001), "quiet")
    (ranking,) = rankings([noisy, quiet])
    by_pair = {frozenset((pair.first, pair.second)): pair for pair in ranking.pairs}
    assert not by_pair[frozenset((NATIVE, "noisy"))].distinguished
    assert not by_pair[frozenset((NATIVE, "noisy"))].equal
    assert by_pair[frozenset((NATIVE, "quiet"))].equal
    assert {place.letters for place in ranking.places} == {"a"}


def test_pairs_whose_blocks_depend_on_each_other_are_not_distinguished() -> None:
    walk = [0.30, 0.31, 0.33, 0.34, 0.36, 0.37, 0.38, 0.10, 0.11, 0.12, 0.14, 0.15, 0.16, 0.17]
    (ranking,) = rankings([verdict_of(walk)])
    (pair,) = ranking.pairs
    assert (pair.distinguished, pair.adjusted_p > 0.2) == (False, True)


def test_only_primary_metrics_are_ranked_each_cell_by_itself() -> None:
    given: list[Verdict] = [
        verdict_of(around(0.1, 0.01), layout="1c1p1i"),
        verdict_of(around(0.1, 0.01), layout="1c2p1i"),
        verdict_of(around(0.1, 0.01), metric="other", primary=False),
    ]
    assert [ranking.cell.layout for ranking in rankings(given)] == ["1c1p1i", "1c2p1i"]
    assert rankings([]) == ()


def test_an_arm_that_stopped_early_is_compared_by_the_boundary_of_its_look() -> None:
    plain = verdict_of(around(0.012, 0.02, 16), "stopped")
    stopped = replace(plain, overhead=replace(plain.overhead, looks=looks_of((10, 16), (0.1, 0.25), plain)))
    (fixed,), (looked,) = rankings([plain]), rankings([stopped])
    assert looked.pairs[0].adjusted_p > fixed.pairs[0].adjusted_p


def test_environments_alike_are_told_apart_in_at_most_one_campaign_of_twenty() -> None:
    generator = np.random.default_rng(10)
    wrong = 0
    for _ in range(200):
        native = generator.normal(0, 0.03, 12)
        arms = [list(generator.normal(0, 0.03, 12) - native) for _ in range(3)]
        (ranking,) = rankings([verdict_of(values, f"e{number}") for number, values in enumerate(arms)])
        wrong += any(pair.distinguished for pair in ranking.pairs)
    assert wrong / 200 <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5


def test_two_environments_are_not_told_apart_by_less_than_native_differs_from_itself() -> None:
    first, second = verdict_of(around(0.02, 0.001), "first"), verdict_of(around(-0.02, 0.001), "second")
    noisy = Estimate(point=0.0, low=-0.1, high=0.1, level=0.95, n=10)
    drowned = [replace(item, overhead=replace(item.overhead, noise_floor=noisy)) for item in (first, second)]
    told_apart = [
        {(pair.first, pair.second) for pair in ranking.pairs if pair.distinguished}
        for ranking in (*rankings([first, second]), *rankings(drowned))
    ]
    assert len(told_apart[0]) == 3
    assert told_apart[1] == set()
