# SPDX-License-Identifier: Apache-2.0
"""What a check does to the verdict."""

import pytest
from tests.analyze.verdict_example import around, verdict_of

from tare.analyze import diagnosed
from tare.records import Cell, Check, Predecessors, Word

CELL = Cell(workload="work", layout="1c1p1i")
WALK = [0.30, 0.31, 0.33, 0.34, 0.36, 0.37, 0.38, 0.10, 0.11, 0.12, 0.14, 0.15, 0.16, 0.17]


def test_blocks_that_depend_on_each_other_have_a_wide_interval_and_it_is_said_why() -> None:
    before = verdict_of(WALK)
    (after,) = diagnosed([before])
    assert (after.word, after.overhead) == (before.word, before.overhead)
    assert after.word is Word.UNDECIDED
    (finding,) = (finding for finding in after.findings if finding.check is Check.AUTOCORRELATION)
    assert finding.sentence.startswith("successive blocks depend on each other (lag-1 autocorrelation 0.72")
    assert finding.sentence.endswith("so the interval is 3.0 times as wide as of independent ones")


def test_dependence_moves_no_estimate_and_widens_whatever_is_made_of_it() -> None:
    in_order, mixed = [0.01 * block for block in range(16)], [0.01 * (7 * block % 16) for block in range(16)]
    dependent, independent = verdict_of(in_order).overhead, verdict_of(mixed).overhead
    assert dependent.typical.point == pytest.approx(independent.typical.point, abs=1e-6)
    assert dependent.mean.point == pytest.approx(independent.mean.point)
    for wide, narrow in ((dependent.typical, independent.typical), (dependent.mean, independent.mean)):
        assert wide.low is not None
        assert narrow.low is not None
        assert wide.low < narrow.low - 0.05


def test_what_only_qualifies_leaves_the_verdict_as_it_was() -> None:
    rising = [0.05 + 0.004 * (block + 2 * (-1) ** block) for block in range(12)]
    before = verdict_of(rising)
    (after,) = diagnosed([before])
    assert Check.DRIFT in {finding.check for finding in after.findings if finding.found}
    assert (after.word, after.sentence, after.overhead) == (before.word, before.sentence, before.overhead)


def test_a_clean_series_is_checked_and_nothing_is_said() -> None:
    (after,) = diagnosed([verdict_of(around(0.05, 0.02))])
    assert after.findings
    assert not any(finding.found for finding in after.findings)


def test_predecessors_are_those_of_the_same_cell_environment_and_block() -> None:
    names = ["native", "lxc"] * 8
    values = [value + 0.3 * (name == "lxc") for value, name in zip(around(0.0, 0.05, 16), names, strict=True)]
    order = Predecessors(cell=CELL, environment="docker", before=dict(enumerate(names)))
    other = Predecessors(cell=CELL, environment="lxc", before=dict.fromkeys(range(16), "native"))
    (after,) = diagnosed([verdict_of(values)], [order, other])
    assert Check.CARRY_OVER in {finding.check for finding in after.findings if finding.found}


def test_an_order_that_is_not_known_for_every_block_is_not_used() -> None:
    order = Predecessors(cell=CELL, environment="docker", before={0: "native", 1: "lxc"})
    (after,) = diagnosed([verdict_of(around(0.0, 0.1))], [order])
    assert Check.CARRY_OVER not in {finding.check for finding in after.findings}
