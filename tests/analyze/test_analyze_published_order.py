# SPDX-License-Identifier: Apache-2.0
"""Claims of L12 on the order of problems, and on clocks."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.view_example import analysis_of

from tare.analyze.order import order_verdicts
from tare.analyze.published import agreements
from tare.papers import view
from tare.records import (
    Cell,
    OrderedBlock,
    OrderedRun,
    OrderedStart,
    Ordering,
    OrderSummary,
    OrderVerdict,
    Withheld,
)
from tare.records.published import AgreementWord
from tare.records.scaled import Scaled, Short

CONTRADICTED, REPRODUCED, UNDECIDED, NOT_MEASURED = (
    AgreementWord.CONTRADICTED,
    AgreementWord.REPRODUCED,
    AgreementWord.UNDECIDED,
    AgreementWord.NOT_MEASURED,
)


SIZES = (1000.0, 2000.0, 3000.0, 4000.0, 5000.0, 6000.0, 7000.0, 8000.0, 10000.0, 12000.0, 14000.0, 16000.0)


def ordered(environment: str, value: float, descending: float, randomly: float = 0.0) -> OrderVerdict:
    """The value takes so much more time in descending order, and in random order, where it comes last."""
    others = tuple(size for size in SIZES if size != value)
    blocks = tuple(
        OrderedBlock(
            block=block,
            starts=(
                _start(Ordering.ASCENDING, SIZES, value, 0.0),
                _start(Ordering.DESCENDING, SIZES[::-1], value, math.log1p(descending) + noise),
                _start(Ordering.RANDOM, (*others, value), value, math.log1p(randomly)),
            ),
        )
        for block, noise in enumerate(0.001 * (place - 4.5) for place in range(10))
    )
    summary = OrderSummary(
        cell=Cell(workload="hpcc", layout="1c4p1i"),
        environment=environment,
        option="problem_size",
        metric="hpl_flop_per_s",
        unit="flop/s",
        blocks=blocks,
        dropped_blocks=0,
    )
    (verdict,) = order_verdicts([summary])
    return verdict


def _start(ordering: Ordering, sizes: Sequence[float], value: float, more: float) -> OrderedStart:
    runs = [
        OrderedRun(value=size, uptime_s=float(place), log_time=more if size == value else 0.0)
        for place, size in enumerate(sizes)
    ]
    return OrderedStart(ordering=ordering, runs=tuple(runs))


@pytest.mark.parametrize(
    ("ratio", "word"),
    [(0.5, UNDECIDED), (0.7, REPRODUCED), (-0.6, REPRODUCED), (0.1, CONTRADICTED)],
)
def test_an_effect_of_order_counts_in_either_direction(ratio: float, word: AgreementWord) -> None:
    chosen = view("l12:fig2")
    known = analysis_of(chosen, roles=["virtualbox", "vmware-player"])
    orders = tuple(ordered(name, 1000.0, ratio) for name in ("virtualbox", "vmware-player"))
    box, player = (each.parts[0] for each in agreements(chosen, replace(known, orders=orders))[3:5])
    assert box.word is word
    assert (player.word, player.here) == (NOT_MEASURED, word)
    assert "instead of VMware Player" in player.reason


def test_how_often_cpu_time_exceeds_wall_time_is_not_judged_as_nothing_counts_it() -> None:
    chosen = view("l12:fig1")
    assert not any("exceed" in claim.text for claim in chosen.claims)
    assert "no claim of it" in chosen.note


def test_the_order_of_large_problems_is_the_papers_ratio_too() -> None:
    chosen = view("l12:fig2")
    known = analysis_of(chosen, roles=["kvm"])
    claims = {claim.text: place for place, claim in enumerate(chosen.claims)}
    place = claims["in KVM the order makes over 20 % for large problems"]
    for ratio, word in ((-0.18, CONTRADICTED), (-0.25, REPRODUCED)):
        orders = (ordered("kvm", 8000.0, ratio),)
        assert agreements(chosen, replace(known, orders=orders))[place].word is word


@pytest.mark.parametrize("value", [4000.0, 8000.0])
def test_a_start_in_random_order_has_no_part_in_the_papers_ratio(value: float) -> None:
    chosen = view("l12:fig2")
    orders = (ordered("native", value, 0.0, randomly=0.3),)
    agreed = agreements(chosen, replace(analysis_of(chosen, roles=[]), orders=orders))
    (native,) = (each for each in agreed if each.claim.value == value and "natively" in each.claim.text)
    assert native.word is REPRODUCED
    assert "descending over ascending" in native.parts[0].what


def test_an_order_on_shared_processors_or_a_busy_machine_does_not_count() -> None:
    chosen = view("l12:fig2")
    known = analysis_of(chosen, roles=["virtualbox"])
    order = ordered("virtualbox", 1000.0, 0.7)
    crowd = Scaled(what="1c4p1i", asked="", here="4 processors as 2", why="this host has 2",
                   short_of=Short.PROCESSORS, layouts=("1c4p1i",))  # fmt: skip
    claims = [claim.text for claim in chosen.claims]
    place = claims.index("in VirtualBox the order makes well over 50 % at N = 1000")
    part = agreements(chosen, replace(known, orders=(order,), scaled=(crowd,)))[place].parts[0]
    assert (part.word, part.here) == (NOT_MEASURED, REPRODUCED)
    busy = replace(order, withheld=Withheld.BUSY)
    assert agreements(chosen, replace(known, orders=(busy,)))[place].parts[0].word is UNDECIDED
