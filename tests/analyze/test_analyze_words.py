# SPDX-License-Identifier: Apache-2.0
"""No printed word contradicts the interval beside it, in many campaigns; bench.words counts more of them."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from bench.words import agreement
from bench.words.agreement import Kind, contradictions
from bench.words.product import judged
from tests.analyze.verdict_example import around, verdict_of

from tare.records import Verdict, Word

CAMPAIGNS, ENVIRONMENTS, METRICS = 200, 3, 2
BLOCKS = (8, 10, 14)


def test_no_word_contradicts_the_interval_beside_it() -> None:
    kinds = Counter(kind for verdict in _many() for kind in contradictions(verdict))
    assert not kinds


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
