# SPDX-License-Identifier: Apache-2.0
"""What is foretold of looks agrees with what Tare's own functions find in campaigns with that truth."""

import math

import pytest
from tests.analyze.looks_example import noisy_summary
from tests.analyze.test_analyze_looks import DESIGN, LOOKS, seen

from tare.analyze import expected_blocks, look_foresights, verdict
from tare.records import Design

CAMPAIGNS = 300
THREE_ERRORS = 3 * math.sqrt(0.8 * 0.2 / CAMPAIGNS)
SPREAD = 0.012


@pytest.mark.parametrize("place", range(len(LOOKS)))
def test_the_smallest_slowdown_is_found_at_its_look_in_four_of_five_campaigns(place: int) -> None:
    look_foresight = look_foresights(SPREAD, LOOKS, 0.01)[place]
    assert look_foresight.smallest_slowdown is not None
    never = Design(looks=LOOKS, margin=0.01, precise_absolute=0.0, precise_relative=0.0)
    value = 0
    for seed in range(CAMPAIGNS):
        looks = seen(
            noisy_summary(seed, SPREAD, look_foresight.smallest_slowdown), look_foresight.blocks, never
        ).looks
        low = looks[-1].estimate.low
        value += low is not None and low > 0
    # twice the error of the campaigns here: those behind the foresight are about as many
    assert value / CAMPAIGNS == pytest.approx(0.8, abs=1.5 * THREE_ERRORS)


def test_the_chance_to_show_within_the_margin_is_what_campaigns_have() -> None:
    foresights = look_foresights(SPREAD, LOOKS, 0.01)
    never = Design(looks=LOOKS, margin=0.01, precise_absolute=0.0, precise_relative=0.0)
    margins = [
        verdict(seen(noisy_summary(seed, SPREAD), 16, never), 0.01).within for seed in range(CAMPAIGNS)
    ]
    assert margins.count(0.01) / CAMPAIGNS == pytest.approx(foresights[1].within, abs=2 * THREE_ERRORS)


@pytest.mark.parametrize("effect", [0.0, 0.2])
def test_the_expected_blocks_are_those_of_campaigns_that_stop(effect: float) -> None:
    (blocks,) = expected_blocks(SPREAD, DESIGN, LOOKS, (effect,))
    ran = [seen(noisy_summary(seed, SPREAD, effect), 32).looks[-1].blocks for seed in range(CAMPAIGNS)]
    assert sum(ran) / CAMPAIGNS == pytest.approx(blocks.blocks, abs=1.5)


def test_a_look_that_is_too_early_finds_nothing() -> None:
    first, last = look_foresights(SPREAD, (6, 100), 0.01)
    assert (first.smallest_slowdown, first.within) == (None, 0.0)
    assert last.smallest_slowdown is not None


def test_noise_that_is_twice_as_large_needs_an_overhead_that_is_twice_as_large_as_logarithm() -> None:
    quiet, loud = (look_foresights(spread, LOOKS, 0.01)[0].smallest_slowdown for spread in (0.01, 0.02))
    assert quiet is not None
    assert loud is not None
    assert math.log1p(loud) == pytest.approx(2 * math.log1p(quiet))


def test_the_table_of_the_documentation_is_what_is_simulated() -> None:
    rows = {
        variation: [
            round(expected_block.blocks)
            for expected_block in expected_blocks(
                variation * math.sqrt(1.5), DESIGN, LOOKS, (0.0, 0.02, 0.05, 0.2)
            )
        ]
        for variation in (0.01, 0.03, 0.1)
    }
    assert rows == {0.01: [20, 20, 20, 10], 0.03: [32, 32, 32, 18], 0.1: [32, 32, 32, 32]}
