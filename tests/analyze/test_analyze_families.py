# SPDX-License-Identifier: Apache-2.0
import math
import time
from dataclasses import replace

import numpy as np
import pytest
from tests.analyze.verdict_example import around, looks_of, summary_of, verdict_of

from tare.analyze import in_families
from tare.analyze.contrasts import contrast_of
from tare.analyze.differences import range_said
from tare.records import Direction, Family, Verdict, Word
from tare.statistics.contrasts import Blocks
from tare.statistics.evidence import Reach, difference_p
from tare.statistics.multiplicity import holm

SLOWER = around(math.log(1.05), 0.02)
NOTHING = around(0.0, 0.05)


def weakly_slower() -> list[float]:
    """Decided by itself, and not among two."""
    values = [0.01, 0.02, -0.03, 0.03, 0.04, 0.05, -0.015, 0.06, 0.07, 0.045, -0.035, 0.08, 0.025, 0.055]
    assert 0.025 < difference_p(contrast_of(summary_of(values)), Reach.at_once(len(values))) <= 0.05
    return values


def families(*log_ratios: list[float], primary: bool = True) -> tuple[Verdict, ...]:
    return in_families(
        [verdict_of(values, f"e{number}", primary=primary) for number, values in enumerate(log_ratios)]
    )


def test_one_primary_claim_alone_stays_as_it_was_judged() -> None:
    before = verdict_of(SLOWER)
    (verdict,) = in_families([before])
    assert (verdict.word, verdict.sentence) == (before.word, before.sentence)
    assert verdict.standing is not None
    assert (verdict.standing.size, verdict.standing.family) == (1, Family.PRIMARY)


def test_a_clear_difference_stands_among_many_and_says_among_how_many() -> None:
    verdict = families(SLOWER, NOTHING, NOTHING)[0]
    assert (verdict.word, verdict.alone) == (Word.SLOWER, Word.SLOWER)
    assert verdict.sentence.endswith("(n = 10; 1 of 3 primary claims)")


def test_a_weak_difference_does_not_stand_among_many_and_the_sentence_says_both() -> None:
    weakly, nothing = [3 * value for value in weakly_slower()], around(0.0, 0.5)
    verdict = families(weakly, nothing, nothing)[0]
    assert (verdict.word, verdict.alone) == (Word.UNDECIDED, Word.SLOWER)
    own = range_said(verdict.overhead.typical, Direction.LESS)
    together = range_said(verdict.shown, Direction.LESS)
    assert verdict.sentence.startswith(
        f"e0: undecided among 3 primary claims: {together} (n = 14; by itself {own}; "
    )
    assert verdict.more_blocks is not None
    assert f"about {verdict.more_blocks} more block" in verdict.sentence


def test_a_weak_difference_among_many_is_said_to_lie_within_a_margin_that_holds_for_all() -> None:
    verdict = families(weakly_slower(), NOTHING, NOTHING)[0]
    assert (verdict.word, verdict.alone, verdict.within) == (Word.WITHIN, Word.SLOWER, 0.1)
    assert verdict.sentence == "e0: within ±10 % of native (n = 14; 1 of 3 primary claims)"


def test_six_blocks_cannot_decide_twenty_claims_and_seven_could() -> None:
    verdicts = families(*[around(0.7, 0.01, 6)] * 20)
    assert {verdict.word for verdict in verdicts} == {Word.UNDECIDED}
    assert {verdict.more_blocks for verdict in verdicts} == {1}
    assert {verdict.word for verdict in families(*[around(0.7, 0.01, 7)] * 20)} == {Word.SLOWER}


def test_a_loss_of_one_half_is_decided_among_128_claims_of_ten_blocks() -> None:
    values = np.random.default_rng(1).normal(0, 0.08, (127, 10))
    verdicts = families(around(math.log(2), 0.1), *values.tolist())
    assert (verdicts[0].word, verdicts[0].standing and verdicts[0].standing.size) == (Word.SLOWER, 128)
    assert [verdict.word for verdict in verdicts[1:]].count(Word.SLOWER) == 0


def test_an_analysis_of_a_hundred_claims_takes_two_seconds_of_processor_time_at_most() -> None:
    generator = np.random.default_rng(2)
    values = generator.normal(0, 0.05, (100, 10)) + 0.5 * generator.integers(0, 2, (100, 1))
    begun = time.process_time()
    families(*values.tolist())
    assert time.process_time() - begun < 2  # what others do does not count


def test_within_the_margin_is_a_claim_that_must_hold_together_too() -> None:
    close = [0.0098 * (-1) ** block if block in {0, 1, 2} else 0.001 * (block - 5) for block in range(6)]
    alone = verdict_of(close)
    assert alone.word is Word.WITHIN
    verdicts = families(*[close] * 4)
    assert {(verdict.word, verdict.within) for verdict in verdicts} == {(Word.WITHIN, 0.02)}
    assert {verdict.alone for verdict in verdicts} == {Word.WITHIN}


def test_each_familys_claims_are_counted_by_themselves() -> None:
    primary = verdict_of(SLOWER)
    others = [verdict_of(NOTHING, metric=f"metric{number}", primary=False) for number in range(5)]
    verdicts = in_families([others[0], primary, *others[1:]])
    assert [verdict.standing.size for verdict in verdicts if verdict.standing] == [5, 1, 5, 5, 5, 5]
    assert [verdict.overhead.summary.metric for verdict in verdicts][:2] == ["metric0", "wall_s"]


def test_a_single_exploratory_comparison_is_called_one() -> None:
    (verdict,) = families(SLOWER, primary=False)
    assert verdict.sentence.endswith("; 1 of 1 exploratory comparisons)")


def test_intervals_that_hold_together_are_wider_than_those_that_hold_alone() -> None:
    verdict = families(SLOWER, NOTHING, NOTHING)[0]
    assert verdict.standing is not None
    own, together = verdict.overhead.typical, verdict.standing.together
    assert together.low is not None
    assert together.high is not None
    assert own.low is not None
    assert own.high is not None
    assert together.low < own.low < own.high < together.high
    assert together.level >= 1 - 0.05 / 3


def test_exploratory_intervals_are_as_wide_as_the_number_of_claims_made_requires() -> None:
    first, *others = families(SLOWER, *[around(0.0, 0.5)] * 4, primary=False)
    assert first.word is Word.SLOWER
    assert {verdict.word for verdict in others} == {Word.UNDECIDED}
    assert {verdict.shown.level for verdict in (first, *others)} == {1 - 0.05 / 5}
    both = families(SLOWER, SLOWER, *[around(0.0, 0.5)] * 3, primary=False)
    assert {verdict.shown.level for verdict in both} == {1 - 0.05 * 2 / 5}


def test_an_interval_that_was_withdrawn_is_no_evidence() -> None:
    blocked = verdict_of(SLOWER)
    without = replace(blocked.overhead.typical, low=None, high=None)
    blocked = replace(
        blocked,
        overhead=replace(blocked.overhead, typical=without),
        word=Word.UNDECIDED,
        claim="no (n = 10)",
    )
    verdict = in_families([blocked, verdict_of(SLOWER, "lxc")])[0]
    assert verdict.standing is not None
    assert verdict.standing.difference_p == verdict.standing.equivalence_p == 1.0
    assert verdict.standing.together.low is None


def test_a_claim_after_several_looks_is_judged_by_their_boundary() -> None:
    values = around(0.02, 0.02, 16)
    plain = verdict_of(values)
    looked = replace(plain, overhead=replace(plain.overhead, looks=looks_of((10, 16), (0.1, 0.25), plain)))
    (once,), (twice,) = in_families([plain]), in_families([looked])
    assert once.standing is not None
    assert twice.standing is not None
    assert twice.standing.difference_p > once.standing.difference_p


def test_no_verdicts_make_no_families() -> None:
    assert in_families([]) == ()


@pytest.mark.parametrize("n", [10, 16])
def test_five_environments_without_any_difference_show_one_in_at_most_one_campaign_of_twenty(n: int) -> None:
    """Environments share their native runs, so their claims depend on each other."""
    generator = np.random.default_rng(n)
    reach, campaigns = Reach.at_once(n), 1500
    false = 0
    for _ in range(campaigns):
        first, second = generator.normal(0, 0.03, (2, n))
        ratios = [generator.normal(0, 0.03, n) - (first + second) / 2 for _ in range(5)]
        controls = tuple((second - first).tolist())
        p_values = [difference_p(Blocks(tuple(ratio.tolist()), controls), reach) for ratio in ratios]
        false += bool(np.any(holm(p_values) <= 0.05))
    assert false / campaigns <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / campaigns)
