# SPDX-License-Identifier: Apache-2.0
"""Claims of L12 on the order of problems, and on clocks."""

from dataclasses import replace

import pytest
from tests.view_example import analysis_of

from tare.analyze.published import agreements
from tare.papers import view
from tare.records import Cell, Estimate, OrderContrast, OrderSummary, OrderVerdict, OrderWord
from tare.records.published import AgreementWord
from tare.records.scaled import Scaled, Short

CONTRADICTED, REPRODUCED, UNDECIDED, NOT_MEASURED = (
    AgreementWord.CONTRADICTED,
    AgreementWord.REPRODUCED,
    AgreementWord.UNDECIDED,
    AgreementWord.NOT_MEASURED,
)


def interval(low: float, high: float) -> Estimate:
    return Estimate(point=(low + high) / 2, low=low, high=high, level=0.95, n=10)


def ordered(environment: str, value: float, late_over_early: Estimate) -> OrderVerdict:
    summary = OrderSummary(
        cell=Cell(workload="hpcc", layout="1c4p1i"),
        environment=environment,
        option="problem_size",
        metric="hpl_flop_per_s",
        unit="flop/s",
        blocks=(),
        dropped_blocks=0,
    )
    return OrderVerdict(
        summary=summary,
        growth=late_over_early,
        span_s=1.0,
        permutation_p=None,
        contrasts=(OrderContrast(value=value, late_over_early=late_over_early),),
        margin=0.01,
        word=OrderWord.UNDECIDED,
        claim="",
    )


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [(0.5, 0.9, UNDECIDED), (0.55, 0.9, REPRODUCED), (-0.7, -0.55, REPRODUCED), (-0.1, 0.3, CONTRADICTED)],
)
def test_an_effect_of_order_counts_in_either_direction(low: float, high: float, word: AgreementWord) -> None:
    chosen = view("l12:fig2")
    known = analysis_of(chosen, roles=["virtualbox", "vmware-player"])
    orders = tuple(ordered(name, 1000.0, interval(low, high)) for name in ("virtualbox", "vmware-player"))
    agreed = agreements(chosen, replace(known, orders=orders))[3]
    assert agreed.parts[0].word is word
    player = agreed.parts[1]
    assert (player.word, player.here) == (NOT_MEASURED, word)
    assert "instead of VMware Player" in player.reason


def test_how_often_cpu_time_exceeds_wall_time_is_not_judged_as_nothing_counts_it() -> None:
    chosen = view("l12:fig1")
    assert not any("exceed" in claim.text for claim in chosen.claims)
    assert "no claim of it" in chosen.note


def test_the_order_of_large_problems_is_the_papers_ratio_early_over_late() -> None:
    chosen = view("l12:fig2")
    known = analysis_of(chosen, roles=["kvm"])
    claims = {claim.text: place for place, claim in enumerate(chosen.claims)}
    place = claims["in KVM the order makes over 20 % for large problems"]
    for late, word in ((interval(0.21, 0.24), CONTRADICTED), (interval(0.3, 0.4), REPRODUCED)):
        orders = (ordered("kvm", 8000.0, late),)
        assert agreements(chosen, replace(known, orders=orders))[place].word is word


def test_an_order_on_shared_processors_or_a_busy_machine_does_not_count() -> None:
    chosen = view("l12:fig2")
    known = analysis_of(chosen, roles=["virtualbox"])
    order = ordered("virtualbox", 1000.0, interval(0.6, 0.9))
    crowd = Scaled(what="1c4p1i", asked="", here="4 processors as 2", why="this host has 2",
                   short_of=Short.PROCESSORS, layouts=("1c4p1i",))  # fmt: skip
    (place,) = (each for each, claim in enumerate(chosen.claims) if "well over 50 %" in claim.text)
    part = agreements(chosen, replace(known, orders=(order,), scaled=(crowd,)))[place].parts[0]
    assert (part.word, part.here) == (NOT_MEASURED, REPRODUCED)
    busy = replace(order, claim="undecided: the machine was too busy (stress used 1 of 2 processors)")
    assert agreements(chosen, replace(known, orders=(busy,)))[place].parts[0].word is UNDECIDED
