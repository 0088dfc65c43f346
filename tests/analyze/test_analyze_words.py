# SPDX-License-Identifier: Apache-2.0
"""No printed word contradicts the interval beside it, in many campaigns; bench.words counts more of them."""

import math
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from bench.words import agreement
from bench.words.agreement import Kind, contradictions
from bench.words.product import judged
from tests.analyze.verdict_example import around, verdict_of

from tare.records import Verdict, Word
from tare.units import DASH, percent_ends

RANGES = {
    Word.SLOWER: rf"by ([\d.]+){DASH}([\d.]+) %",
    Word.FASTER: rf"by ([\d.]+){DASH}([\d.]+) %",
    Word.WITHIN: r"±([\d.]+) %",
}
CAMPAIGNS, ENVIRONMENTS, METRICS = 200, 3, 2
BLOCKS = (8, 10, 14)


def test_no_word_contradicts_the_interval_beside_it() -> None:
    kinds = Counter(kind for verdict in _many() for kind in contradictions(verdict))
    assert not kinds


def test_the_range_and_the_margin_in_a_sentence_are_those_of_the_interval_as_it_is_printed() -> None:
    said = [verdict for verdict in (*_many(), _barely_faster()) if verdict.word in RANGES]
    assert {verdict.word for verdict in said} == set(RANGES)
    for verdict in said:
        low, high = percent_ends(verdict.shown.low or 0.0, verdict.shown.high or 0.0)
        figures = re.search(RANGES[verdict.word], verdict.claim)
        assert figures
        if verdict.word is Word.WITHIN:
            assert -float(figures[1]) <= float(low) <= float(high) <= float(figures[1])
        else:
            assert float(low) * float(high) > 0
            assert set(figures.groups()) == {low.lstrip("-"), high.lstrip("-")}


def _barely_faster() -> Verdict:
    """0 is left out by the p-value, by less than the search for the interval's end is exact."""
    summaries = agreement.campaign_of(np.random.default_rng([1, 689]), 32).summaries
    (verdict,) = [each for each in judged(summaries) if -1e-7 < (each.shown.high or 1.0) < 0]
    return verdict


@pytest.mark.parametrize("word", [Word.SLOWER, Word.FASTER, Word.WITHIN, Word.BOUNDED, Word.UNDECIDED])
def test_a_false_word_beside_any_interval_is_counted(word: Word) -> None:
    slower, nothing = (
        judged([verdict_of(around(math.log1p(x), 0.005)).overhead.summary])[0] for x in (0.3, 0.0)
    )
    for verdict in (slower, nothing):
        if word is not verdict.word:
            assert list(contradictions(replace(verdict, word=word, within=None, at_most=None)))


def test_a_wider_margin_than_the_interval_shows_is_counted() -> None:
    nothing = judged([verdict_of(around(0.0, 0.005)).overhead.summary])[0]
    assert nothing.word is Word.WITHIN
    assert not list(contradictions(nothing))
    assert Kind.WIDER in contradictions(replace(nothing, within=0.05))


def _many() -> list[Verdict]:
    return [
        verdict
        for number in range(CAMPAIGNS)
        for verdict in judged(
            agreement.campaign_of(
                np.random.default_rng([1, number]), BLOCKS[number % len(BLOCKS)], ENVIRONMENTS, METRICS
            ).summaries
        )
    ]
