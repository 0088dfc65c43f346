# SPDX-License-Identifier: Apache-2.0
import math
from dataclasses import replace
from itertools import cycle

import pytest
from tests.view_example import Planted, analysis_of, nothing

from tare.analyze.published import (
    agreement,
    agreements,
    ticks,
    treated,
)
from tare.analyze.view_evidence import ViewEvidence
from tare.papers import papers, view
from tare.records import (
    Analysis,
    Layout,
    Skipped,
    Treatment,
)
from tare.records.published import Agreement, AgreementWord, ClaimKind, ClaimPlace
from tare.records.scaled import Scaled, Short

CONTRADICTED, REPRODUCED, UNDECIDED, NOT_MEASURED = (
    AgreementWord.CONTRADICTED,
    AgreementWord.REPRODUCED,
    AgreementWord.UNDECIDED,
    AgreementWord.NOT_MEASURED,
)


def agreed(
    name: str, claim: int, loss: float = 0.0, *, of: str = "", noise: float = 0.004, blocks: int = 12
) -> Agreement:
    """One claim of a view, where ``of``, or each but native, loses so much time."""
    chosen = view(name)

    def planted(role: str, place: ClaimPlace) -> float:
        del place
        return math.log1p(loss) if role != "native" and of in {"", role} else 0.0

    analysis = analysis_of(chosen, planted, noise=noise, blocks=blocks)
    return agreements(chosen, analysis)[claim]


@pytest.mark.parametrize("loss", [0.01, 0.02])
def test_a_loss_as_claimed_is_reproduced(loss: float) -> None:
    near = agreed("b16:fig9", 0, loss, of="kvm-pv")
    assert (near.word, near.reason) == (REPRODUCED, "")
    (part,) = near.parts
    assert part.ours is not None
    assert part.ours.point == pytest.approx(1 / (1 + loss) - 1, abs=0.004)


def test_a_loss_beyond_the_claim_contradicts_it() -> None:
    assert agreed("b16:fig9", 0, 0.2, of="kvm-pv").word is CONTRADICTED


@pytest.mark.parametrize(("loss", "word"), [(0.0, UNDECIDED), (-0.1, CONTRADICTED), (1.0, REPRODUCED)])
def test_a_guest_that_loses_nothing_is_no_guest_that_loses_up_to_70_percent(
    loss: float, word: AgreementWord
) -> None:
    lost = agreed("l12:fig4", 1, loss, of="kvm")
    assert [(part.environment, part.word) for part in lost.parts] == [("kvm", word)]
    assert lost.claim.printed == (-0.7, -0.7)


def test_a_printed_number_is_met_from_half_to_twice() -> None:
    words = [agreed("b16:fig10a", 0, loss, of="kvm-pv").word for loss in (0.0, 0.04, 0.3)]
    assert words == [CONTRADICTED, REPRODUCED, CONTRADICTED]


def test_noise_leaves_it_undecided_and_says_why() -> None:
    noisy = agreed("b16:fig9", 0, 0.05, of="kvm-pv", noise=0.05)
    assert noisy.word is UNDECIDED
    assert "across the bound" in noisy.reason


def test_too_few_blocks_leave_it_undecided() -> None:
    few = agreed("b16:fig9", 0, 0.2, of="kvm-pv", blocks=3)
    assert (few.word, few.reason) == (UNDECIDED, "too few blocks for an interval")


def test_one_environment_against_another_is_compared_within_blocks() -> None:
    against = agreed("b16:fig9", 1, 0.14, of="virtualbox-pv")
    assert against.word is REPRODUCED
    assert "against virtualbox-pv" in against.parts[0].what


def test_native_in_two_metrics_is_compared_with_itself() -> None:
    chosen = view("b16:fig11b")

    def planted(role: str, place: ClaimPlace) -> float:
        del role
        return math.log(1 / 0.68) if "star" in place.metric else 0.0

    word = agreements(chosen, analysis_of(chosen, planted))[3]
    assert word.word is REPRODUCED
    assert word.parts[0].environment == "native"


def test_one_environment_in_two_layouts_is_compared_by_its_losses() -> None:
    chosen = view("b16:fig17")

    def planted(role: str, place: ClaimPlace) -> float:
        return 0.05 * Layout.parse(place.layout).nodes if role == "kvm" else 0.001

    assert [each.word for each in agreements(chosen, analysis_of(chosen, planted))] == [REPRODUCED] * 3


def test_two_workloads_with_the_metric_are_not_mixed() -> None:
    chosen = view("b16:fig17")
    claim = chosen.claims[1]
    both = [replace(place, kinds=(kind,)) for kind in ("hpl", "hpcc") for place in claim.places]
    assert claim.against_place is not None
    there = replace(claim.against_place, kinds=("hpl",))
    own = replace(claim, places=(both[0],), against_place=there)
    other = replace(claim, places=(both[1],), against_place=replace(there, kinds=("hpcc",)))
    measured = analysis_of(replace(chosen, claims=(own, other)))
    (agreed,) = agreements(replace(chosen, claims=(claim,)), measured)
    assert sorted(part.what for part in agreed.parts) == [
        "kvm, hpl_flop_per_s of hpcc on 2c2p1i against 1c4p1i",
        "kvm, hpl_flop_per_s of hpl on 2c2p1i against 1c4p1i",
    ]


def test_a_loss_with_company_is_judged_by_the_experiment() -> None:
    chosen = view("b17:fig6")

    def planted(role: str, place: ClaimPlace) -> float:
        del role
        return 0.1 if place.layout == "1c4p4i" else 0.0

    assert [each.word for each in agreements(chosen, analysis_of(chosen, planted))] == [REPRODUCED] * 3


def test_spread_is_judged_by_its_own_interval() -> None:
    quiet, wild = (agreed("b17:fig3", 1, noise=noise, blocks=30) for noise in (0.01, 0.2))
    assert (quiet.word, wild.word) == (REPRODUCED, CONTRADICTED)


def test_what_was_not_measured_is_said() -> None:
    chosen = view("b16:fig9")
    near, against = agreements(chosen, analysis_of(chosen, roles=["kvm-pv"]))
    assert near.word is REPRODUCED
    assert (against.word, against.reason) == (NOT_MEASURED, "no virtualbox-pv in this result")
    other = agreements(view("b16:fig16"), analysis_of(chosen))
    assert {each.word for each in other} == {NOT_MEASURED}


def test_a_skipped_environment_has_its_reason() -> None:
    chosen = view("b16:fig9")
    skipped = Skipped(environment="virtualbox-pv", reason="VirtualBox is not installed", remedy="install it")
    analysis = replace(analysis_of(chosen, roles=["kvm-pv"]), skipped=(skipped,))
    assert agreements(chosen, analysis)[1].reason == "virtualbox-pv: VirtualBox is not installed"


def test_a_part_of_what_a_claim_speaks_of_decides_nothing() -> None:
    chosen = view("b17:fig3")
    (alike, _) = agreements(chosen, analysis_of(chosen, roles=["lxc"]))
    assert alike.word is UNDECIDED
    assert "no docker" in alike.reason


def test_an_emulated_guest_never_counts_for_kvm() -> None:
    chosen = view("b16:fig9")
    analysis = analysis_of(chosen, roles=["kvm-pv"], facts={"accelerator": "software emulation (TCG)"})
    near, _ = agreements(chosen, analysis)
    assert (near.word, near.here) == (NOT_MEASURED, REPRODUCED)
    assert "TCG" in near.reason


def losing(name: str, loss: float) -> Planted:
    def planted(role: str, place: ClaimPlace) -> float:
        del place
        return loss if role == name else 0.0

    return planted


def scaled(analysis: Analysis, **changes: object) -> Analysis:
    point = Scaled(
        what="hpcc in 1c2p1i",
        asked="20,544",
        here="N 4,992",
        why="memory",
        short_of=Short.MEMORY,
        layouts=("1c2p1i",),
    )
    return replace(analysis, scaled=(replace(point, **changes),))  # type: ignore[arg-type]


def test_a_smaller_point_never_counts_either_way_and_says_what_it_would() -> None:
    chosen = view("b16:fig9")
    for loss, here in ((0.0, REPRODUCED), (0.2, CONTRADICTED)):
        near = agreements(chosen, scaled(analysis_of(chosen, losing("kvm-pv", loss))))[0]
        assert (near.word, near.here) == (NOT_MEASURED, here)
        assert near.reason == "hpcc in 1c2p1i: N 4,992 instead of 20,544: memory"


@pytest.mark.parametrize(
    "changes",
    [
        {"layouts": ("1c4p1i",)},
        {"workloads": ("other",)},
        {"what": "levels of hosts", "asked": "1, 2, 4, 8", "here": "1, 2", "layouts": ()},
        {"short_of": Short.OTHER},
    ],
)
def test_points_that_concern_others_do_not_hinder(changes: dict[str, object]) -> None:
    chosen = view("b16:fig9")
    assert agreements(chosen, scaled(analysis_of(chosen), **changes))[0].word is REPRODUCED


def test_a_layout_on_fewer_hosts_is_found_and_does_not_count() -> None:
    chosen = view("b16:fig24")
    analysis = analysis_of(chosen)
    moved = tuple(
        replace(each, trial=replace(each.trial, layout=Layout.parse("2c4p1i"))) for each in analysis.outcomes
    )
    cells = {each.overhead.summary.cell for each in analysis.verdicts}
    assert len(cells) == 1
    verdicts = tuple(
        replace(
            each,
            overhead=replace(
                each.overhead,
                summary=replace(
                    each.overhead.summary, cell=replace(each.overhead.summary.cell, layout="2c4p1i")
                ),
            ),
        )
        for each in analysis.verdicts
    )
    point = Scaled(
        what="2c4p1i on 2",
        asked="2 hosts",
        here="on 1 host",
        why="this host alone",
        short_of=Short.HOSTS,
        layouts=("2c4p1i",),
    )
    (near,) = agreements(chosen, replace(analysis, outcomes=moved, verdicts=verdicts, scaled=(point,)))
    assert (near.word, near.here) == (NOT_MEASURED, REPRODUCED)


def test_one_of_many_comparisons_beyond_its_bound_may_be_chance() -> None:
    chosen = view("y15:fig3")
    words = []
    for seed in range(8):
        noise = 0.004 + 0.0001 * seed
        words.append(agreements(chosen, analysis_of(chosen, noise=noise, blocks=8))[0].word)
    assert words.count(CONTRADICTED) <= 1


def test_ticks_are_shared_by_those_that_cannot_be_told_apart() -> None:
    chosen = view("y15:table2")

    def planted(role: str, place: ClaimPlace) -> float:
        del place
        return {"lxc": 0.0, "openvz": 0.0, "kvm-pv": 0.3}.get(role, 0.5)

    evidence = ViewEvidence(analysis_of(chosen, planted))
    column = ticks(chosen.claims[0], evidence).ticks
    ours = {tick.role: tick.ours for tick in column}
    assert ours == {role: role in {"lxc", "openvz"} for role in ours}
    assert all(tick.published == tick.ours for tick in column)
    assert agreement(chosen.claims[0], evidence).word is REPRODUCED
    (beaten,) = (tick for tick in column if tick.role == "kvm-pv")
    assert beaten.beaten_by == ("lxc", "openvz")


def test_an_environment_without_a_rival_has_no_tick_of_ours() -> None:
    chosen = view("y15:table2")
    column = ticks(chosen.claims[0], ViewEvidence(analysis_of(chosen, roles=["lxc"]))).ticks
    assert {tick.ours for tick in column} == {None}
    assert next(tick for tick in column if tick.role == "openvz").reason == "no openvz in this result"


def test_the_papers_own_treatment_covers_figures_instances_and_losses() -> None:
    chosen = view("b17:fig6")
    rows = treated(chosen, ViewEvidence(analysis_of(chosen)), Treatment.B17)
    assert {(each.against, each.instance) for each in rows} >= {
        ("native", None),
        ("native", 3),
        ("1c4p1i", 3),
    }
    assert {each.cell.layout for each in rows} == {"1c4p4i"}


@pytest.mark.parametrize("paper", papers(), ids=lambda each: each.identity)
def test_a_result_of_everything_leaves_no_claim_of_a_paper_unmeasured(paper: object) -> None:
    chosen = next(each for each in papers() if each is paper)
    unmeasured = [
        (each.identity, agreed.claim.text)
        for each in chosen.views
        for agreed in agreements(each, analysis_of(each, nothing, blocks=4))
        if agreed.word is NOT_MEASURED and agreed.here is None
    ]
    others = {"l12:fig2"}  # by order experiments
    assert {name for name, _ in unmeasured} <= others


def test_what_more_containers_on_a_host_cost_is_judged_by_their_times() -> None:
    chosen = view("r15:fig1c")

    def planted(role: str, place: ClaimPlace) -> float:
        del role
        return math.log(1.4) if place.layout.endswith("on 8") else 0.0

    assert {each.here for each in agreements(chosen, analysis_of(chosen, planted))} == {REPRODUCED}


@pytest.mark.parametrize(("name", "kernel"), [("r15:fig1a", "3.2"), ("r15:fig1c", "4.0")])
def test_what_a_paper_says_of_an_old_kernel_is_not_judged_on_a_later_one(name: str, kernel: str) -> None:
    chosen = view(name)
    other = Scaled(
        what="kernel",
        asked="3.2, 3.16, 4.0",
        here="6.1.0",
        why="a host runs one",
        short_of=Short.OTHER,
    )
    for each in agreements(chosen, replace(analysis_of(chosen), scaled=(other,))):
        assert each.word is NOT_MEASURED
        assert each.reason == f"a later kernel instead of Linux {kernel}"
        assert f"under Linux {kernel}" in each.claim.text


def test_spread_leaves_out_the_extremes_as_the_papers_did() -> None:
    spread = agreed("b17:fig4", 1, blocks=32)
    assert spread.word is REPRODUCED
    assert [part.ours.n for part in spread.parts if part.ours] == [30, 30]


@pytest.mark.parametrize(("name", "claim"), [("b17:fig2", 2), ("b16:fig33", 2)])
def test_how_much_native_varies_is_no_part_of_what_is_said_of_containers(name: str, claim: int) -> None:
    chosen = view(name)

    def planted(role: str, place: ClaimPlace) -> float:
        del place
        return next(swings) if role == "native" else 0.0

    swings = cycle((-0.2, 0.2, 0.0, -0.1, 0.1))
    spread = agreements(chosen, analysis_of(chosen, planted, blocks=32))[claim]
    assert (spread.claim.kind, spread.word) == (ClaimKind.VARIATION, REPRODUCED)


def test_a_preset_that_differs_from_its_paper_is_not_judged_there() -> None:
    within = agreements(view("b17:fig9"), analysis_of(view("b17:fig9")))[0]
    assert (within.word, within.here) == (NOT_MEASURED, REPRODUCED)
    assert within.reason == "2 processors for the container instead of 4"
