# SPDX-License-Identifier: Apache-2.0
"""The fate of a paper's claims: what the host lacks, and what only was not run."""

from dataclasses import replace

import pytest
from tests.view_example import analysis_of

from tare.analyze.reproduced import listed, need_of, unmeasured
from tare.papers import PAPERS, paper, view
from tare.records import NATIVE, Analysis, Skipped, Status
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
