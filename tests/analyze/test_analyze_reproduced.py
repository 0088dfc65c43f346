# SPDX-License-Identifier: Apache-2.0
"""The fate of a paper's claims: what the host lacks, and what only was not run."""

from dataclasses import replace

import pytest
from tests.view_example import analysis_of

from tare.analyze.reproduced import listed, need_of, unmeasured
from tare.papers import PAPERS, paper, view
from tare.records import NATIVE, Analysis, Damage, Fault, Integrity, Skipped, Status
from tare.records.published import Paper
from tare.records.reproduced import ClaimFate, ListedClaim
from tare.records.scaled import Scaled, Short

FIGURE = view("b17:fig3")
ONE = replace(paper("b17"), views=(FIGURE,))
XEN = Skipped(
    environment="docker", reason="dockerd is not running", remedy="start it: systemctl start docker"
)


def claims(analysis: Analysis, of: Paper = ONE) -> tuple[ListedClaim, ...]:
    return listed(of, analysis)


def test_equal_arms_reproduce_that_all_are_close_to_native() -> None:
    first = claims(analysis_of(FIGURE))[0]
    assert (first.fate, first.why, first.needs) == (ClaimFate.REPRODUCED, "", ())


def test_a_planted_loss_contradicts_it() -> None:
    slow = analysis_of(FIGURE, lambda role, _: 0.0 if role == NATIVE else 0.3)
    assert claims(slow)[0].fate is ClaimFate.CONTRADICTED


def test_a_skipped_environment_makes_it_impossible_and_its_remedy_is_what_is_needed() -> None:
    without = replace(analysis_of(FIGURE, roles=()), skipped=(XEN, replace(XEN, environment="lxc")))
    first = claims(without)[0]
    assert (first.fate, first.needs) == (ClaimFate.IMPOSSIBLE, (XEN.remedy,))
    assert "dockerd is not running" in first.why


def test_a_scaled_point_is_impossible_whatever_it_shows() -> None:
    point = Scaled(what="1c4p1i, 2c2p1i, 4c1p1i", asked="", here="4 processors as 2", why="this host has 2",
                   short_of=Short.PROCESSORS, layouts=("1c4p1i", "2c2p1i", "4c1p1i"))  # fmt: skip
    first = claims(replace(analysis_of(FIGURE), scaled=(point,)))[0]
    assert first.fate is ClaimFate.IMPOSSIBLE
    assert first.agreement.here is not None
    assert first.needs == (need_of(point),)


def test_a_lesser_layout_is_impossible_before_it_was_run_too() -> None:
    point = Scaled(what="2c2p1i", asked="", here="4 processors as 2", why="this host has 2",
                   short_of=Short.PROCESSORS, layouts=("2c2p1i",))  # fmt: skip
    begun = analysis_of(FIGURE, roles=())
    first = claims(replace(begun, planned_trials=begun.planned_trials + 1, scaled=(point,)))[0]
    assert (first.fate, first.needs) == (ClaimFate.IMPOSSIBLE, (need_of(point),))


def test_what_an_unfinished_run_lacks_is_not_measured_yet() -> None:
    begun = analysis_of(FIGURE, roles=())
    assert claims(replace(begun, planned_trials=begun.planned_trials + 1))[0].fate is ClaimFate.NOT_YET
    assert claims(begun)[0].fate is ClaimFate.IMPOSSIBLE


def test_trials_that_failed_are_not_called_impossible() -> None:
    whole = analysis_of(FIGURE)
    crashed = tuple(
        replace(each, status=Status.FAILED, reason="exit status 139", samples=())
        if each.trial.environment.name == "lxc"
        else each
        for each in whole.outcomes
    )
    left = tuple(each for each in whole.verdicts if each.overhead.summary.environment != "lxc")
    first = claims(replace(whole, outcomes=crashed, verdicts=left))[0]
    assert first.fate is not ClaimFate.IMPOSSIBLE
    assert first.why.startswith("its trials failed: exit status 139")


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_of_every_paper_is_in_its_list(name: str) -> None:
    each = paper(name)
    none = unmeasured(each, "no host", possible=False)
    assert len(none) == sum(len(own.claims) for own in each.views)
    assert {own.fate for own in none} == {ClaimFate.IMPOSSIBLE}


@pytest.mark.parametrize("short_of", list(Short))
def test_every_lack_has_a_need(short_of: Short) -> None:
    point = Scaled(what="x", asked="", here=None, why="no folder: mkdir x", short_of=short_of)
    assert need_of(point)
    assert Short.OTHER is not short_of or need_of(point) == "mkdir x"


def test_a_claim_that_lacks_both_hosts_and_an_environment_needs_both() -> None:
    figure = view("b17:fig12")
    wire = Scaled(what="2c4p1i on 2, 2c1p1i on 2", asked="", here=None, why="no wire", short_of=Short.HOSTS)
    analysis = replace(
        analysis_of(figure, roles=()),
        skipped=(XEN, replace(XEN, environment="lxc")),
        scaled=(wire,),
    )
    first = claims(analysis, replace(paper("b17"), views=(figure,)))[0]
    assert first.needs == (XEN.remedy, need_of(wire))
    assert first.why.endswith("left out: no wire")


def without(role: str, analysis: Analysis) -> Analysis:
    """All trials of an environment failed."""
    crashed = tuple(
        replace(each, status=Status.FAILED, reason="exit status 139", samples=())
        if each.trial.environment.name == role
        else each
        for each in analysis.outcomes
    )
    left = tuple(each for each in analysis.verdicts if each.overhead.summary.environment != role)
    return replace(analysis, outcomes=crashed, verdicts=left)


def test_failed_trials_are_not_the_reason_while_an_environment_is_lacking() -> None:
    lacking = without("lxc", analysis_of(FIGURE, roles=["lxc"]))
    skipped = replace(lacking, skipped=(XEN,))
    first = claims(skipped)[0]
    assert (first.fate, first.needs) == (ClaimFate.IMPOSSIBLE, (XEN.remedy,))
    assert "failed" not in first.why
    assert claims(lacking)[0].fate is ClaimFate.IMPOSSIBLE, "docker is no part of this campaign"


def test_the_other_arms_failed_trials_count_too() -> None:
    figure = view("b17:fig13")
    slower = claims(without("docker", analysis_of(figure)), replace(paper("b17"), views=(figure,)))[0]
    assert slower.agreement.claim.against == "docker"
    assert slower.fate is ClaimFate.NOT_YET
    assert slower.why.startswith("its trials failed: exit status 139")


def test_a_point_that_only_lacked_time_is_not_measured_yet_and_needs_a_longer_budget() -> None:
    point = Scaled(what="hpl in 1c4p1i, 2c2p1i, 4c1p1i", asked="10,176", here="N 4,992", why="time",
                   short_of=Short.TIME, layouts=("1c4p1i", "2c2p1i", "4c1p1i"))  # fmt: skip
    first = claims(replace(analysis_of(FIGURE), scaled=(point,)))[0]
    assert (first.fate, first.needs) == (ClaimFate.NOT_YET, ("a longer --budget, in a new result",))
    memory = replace(point, short_of=Short.MEMORY, why="memory")
    both = claims(replace(analysis_of(FIGURE), scaled=(point, memory)))[0]
    assert (both.fate, both.needs) == (ClaimFate.IMPOSSIBLE, (need_of(point), need_of(memory)))


def test_a_value_of_an_order_that_the_budget_left_out_needs_a_longer_one() -> None:
    figure = view("l12:fig2")
    point = Scaled(what="order of hpcc", asked="4000, 8000", here=None, why="time: the budget holds no more",
                   short_of=Short.TIME, workloads=("hpcc",), layouts=("1c4p1i",))  # fmt: skip
    own = claims(replace(analysis_of(figure), scaled=(point,)), replace(paper("l12"), views=(figure,)))
    fates = {each.agreement.claim.text: (each.fate, each.needs) for each in own}
    for size in (4000, 8000):
        text = f"natively the order makes no difference at N = {size}"
        assert fates[text] == (ClaimFate.NOT_YET, (need_of(point),))
    assert fates["natively the order makes no difference at N = 1000"] == (ClaimFate.IMPOSSIBLE, ())


def test_a_damaged_result_says_so_where_it_is_and_what_to_do() -> None:
    whole = analysis_of(FIGURE, roles=())
    sentence = "journal/1.jsonl, line 7: it reads as a record, but is not what was written"
    damage = Damage(file="journal/1.jsonl", fault=Fault.ALTERED, line=7, lines=1, sentence=sentence)
    torn = replace(whole, planned_trials=whole.planned_trials + 1, integrity=Integrity(damage=(damage,)))
    first = claims(torn)[0]
    assert first.fate is ClaimFate.NOT_YET
    (need,) = first.needs
    assert need == f"the same command again, as the result is damaged ({sentence}) and lost trials run anew"


def test_where_the_preset_itself_differs_more_of_the_run_changes_nothing() -> None:
    figure = view("b17:fig9")
    whole = analysis_of(figure)
    begun = replace(whole, planned_trials=whole.planned_trials + 1)
    (within,) = claims(begun, replace(paper("b17"), views=(figure,)))
    assert (within.fate, within.needs) == (ClaimFate.IMPOSSIBLE, ())
    assert within.why == "2 processors for the container instead of 4"
