# SPDX-License-Identifier: Apache-2.0
"""Whether an overhead depends on a factor: what is planted is found, and what is not is not claimed."""

from dataclasses import replace

import pytest
from tests.analyze.factor_example import MEMORY, STORAGE, at_levels, cells_of
from tests.analyze.verdict_example import verdict_of

from tare.analyze import dependences, in_families
from tare.records import Dependence, DependenceWord, Family, Withheld

GROWS, SAME = (0.02, 0.04, 0.07), (0.05, 0.05, 0.05)


def by_environment(*args: object, **of: object) -> dict[str, Dependence]:
    levels = of.get("levels", MEMORY)
    every = dependences(at_levels(*args, **of), [cells_of(levels)])  # type: ignore[arg-type]
    return {each.environment: each for each in every}


def test_a_growth_is_claimed_with_its_direction_and_a_constant_overhead_is_not() -> None:
    each = by_environment({"docker": GROWS, "lxc": SAME})
    assert each["docker"].word is DependenceWord.DEPENDS
    assert each["docker"].sentence.startswith("docker: costs more with less memory: 4")
    assert each["docker"].claim.endswith("% more at 256 MiB than at 1 GiB (all levels together, n = 10)")
    assert each["lxc"].word is DependenceWord.NOT_SHOWN
    assert each["lxc"].claim.startswith("does not show a dependence on memory; differences within ±")


def test_the_intervals_hold_what_was_planted() -> None:
    first, _, last = by_environment({"docker": GROWS})["docker"].levels
    assert first.beyond_first is None
    assert first.overhead.low is not None
    assert first.overhead.high is not None
    assert first.overhead.low < 0.02 < first.overhead.high
    assert last.beyond_first is not None
    assert last.beyond_first.low is not None
    assert last.beyond_first.high is not None
    assert last.beyond_first.low < 1.07 / 1.02 - 1 < last.beyond_first.high


def test_a_direction_is_only_said_of_an_overhead_that_rises_from_level_to_level() -> None:
    assert by_environment({"docker": (0.02, 0.2, 0.1)})["docker"].claim.startswith("depends on memory: ")
    names = by_environment({"docker": (0.02, 0.2)}, levels=STORAGE)["docker"]
    assert names.claim.startswith("depends on storage: ")
    assert "% more at disk than at tmpfs" in names.claim


def test_a_fall_is_said_of_the_level_that_costs_more() -> None:
    claim = by_environment({"docker": (0.3, 0.2, 0.1)})["docker"].claim
    assert claim.startswith("costs more with more memory: ")
    assert "% more at 1 GiB than at 256 MiB" in claim


@pytest.mark.parametrize("blocks", [1, 5])
def test_too_few_blocks_claim_nothing(blocks: int) -> None:
    each = by_environment({"docker": GROWS}, blocks=blocks)["docker"]
    assert (each.word, each.p, each.adjusted_p) == (DependenceWord.UNKNOWN, None, None)
    assert "too few to tell whether it depends on memory" in each.claim


def test_a_spike_in_one_block_hides_no_growth_and_moves_no_overhead() -> None:
    verdicts = at_levels({"docker": GROWS})
    log_ratios = list(verdicts[1].overhead.summary.log_ratios)
    log_ratios[4] += 3.0
    spiked = verdict_of(log_ratios, "docker", layout=verdicts[1].overhead.summary.cell.layout)
    (each,) = dependences([verdicts[0], spiked, verdicts[2]], [cells_of(MEMORY)])
    assert each.word is DependenceWord.DEPENDS
    assert each.levels[1].overhead.point == pytest.approx(0.04, abs=0.01)


def test_a_level_that_was_too_busy_withholds_the_claim() -> None:
    first, *others = at_levels({"docker": GROWS})
    (each,) = dependences([replace(first, withheld=Withheld.BUSY), *others], [cells_of(MEMORY)])
    assert (each.word, each.withheld) == (DependenceWord.UNKNOWN, Withheld.BUSY)
    assert each.claim == "too busy to tell whether it depends on memory"


def test_only_the_blocks_that_all_levels_have_count() -> None:
    verdicts = [
        *at_levels({"docker": GROWS[:2]}, MEMORY[:2]),
        *at_levels({"docker": GROWS[2:]}, MEMORY[2:], blocks=7),
    ]
    (each,) = dependences(verdicts, [cells_of(MEMORY)])
    assert each.n == 7


def test_an_environment_that_the_factor_does_not_change_is_not_tested() -> None:
    verdicts = at_levels({"docker": GROWS, "lxc": SAME})
    assert [each.environment for each in dependences(verdicts, [cells_of(MEMORY, ("docker",))])] == ["docker"]


def test_all_tests_of_primary_metrics_are_one_family_and_all_others_another() -> None:
    verdicts = [
        *at_levels({f"e{number}": SAME for number in range(9)}),
        *at_levels({"e0": GROWS}, metric="cpu_s", primary=False),
    ]
    every = dependences(verdicts, [cells_of(MEMORY)])
    primary = [each for each in every if each.family is Family.PRIMARY]
    smallest = min(primary, key=lambda each: each.p or 0)
    assert (len(every), len(primary)) == (10, 9)
    assert smallest.p is not None
    assert smallest.adjusted_p == pytest.approx(min(1.0, 9 * smallest.p))
    (other,) = (each for each in every if each.family is Family.EXPLORATORY)
    assert other.adjusted_p == other.p


def test_each_addition_to_a_finished_result_leaves_half_of_the_error() -> None:
    verdicts = at_levels({"docker": GROWS, "lxc": SAME})
    before, after = (dependences(verdicts, [cells_of(MEMORY)], additions) for additions in (0, 1))
    for first, second in zip(before, after, strict=True):
        assert second.p == pytest.approx(min(1.0, 2 * (first.p or 0)))
        assert second.levels[1].overhead.level == pytest.approx(0.975)
        assert (second.levels[1].overhead.high or 0) > (first.levels[1].overhead.high or 0)


def test_the_verdicts_at_all_levels_are_one_family() -> None:
    judged = in_families(at_levels({"docker": GROWS, "lxc": SAME}))
    assert {verdict.standing.size for verdict in judged if verdict.standing} == {6}


def test_campaigns_without_a_dependence_hardly_ever_claim_one() -> None:
    claimed = sum(
        any(
            each.word is DependenceWord.DEPENDS
            for each in by_environment({"docker": SAME, "lxc": SAME}, seed=seed, blocks=6).values()
        )
        for seed in range(40)
    )
    assert claimed <= 5
