# SPDX-License-Identifier: Apache-2.0
"""Which of our points are a place of a paper's: also in a smaller class, and never two workloads at once."""

import math
from dataclasses import replace

from tests.view_example import analysis_of

from tare.analyze.published import agreements, ticks
from tare.analyze.view_evidence import ViewEvidence
from tare.papers import view
from tare.records import Analysis, Trial, Verdict, Workload
from tare.records.published import AgreementWord, ClaimPlace, View
from tare.records.scaled import Scaled, Short


def kvm_loses(role: str, place: ClaimPlace) -> float:
    """Time per work beyond native's, as a logarithm."""
    del place
    return math.log1p(0.3) if role == "kvm-pv" else 0.0


def test_a_smaller_class_stays_at_its_place_in_the_paper() -> None:
    chosen = view("r15:table1")
    whole = analysis_of(chosen)
    workloads = {each.trial.workload.name for each in whole.outcomes}
    smaller = tuple(replace(each, trial=with_class(each.trial, "A")) for each in whole.outcomes)
    points = [
        Scaled(
            what=f"{name} in 8c2p1i",
            asked=str(next(own.options["problem_class"] for own in all_workloads(whole) if own.name == name)),
            here="class A",
            why="time",
            short_of=Short.TIME,
            workloads=(name,),
        )
        for name in workloads
    ]
    judged = agreements(chosen, replace(whole, outcomes=smaller, scaled=tuple(points)))
    assert {each.word for each in judged} == {AgreementWord.NOT_MEASURED}
    assert all(each.here is not None and "class A" in each.reason for each in judged)


def with_class(trial: Trial, problem_class: str) -> Trial:
    options = {**trial.workload.options, "problem_class": problem_class}
    return replace(trial, workload=replace(trial.workload, options=options))


def all_workloads(analysis: Analysis) -> list[Workload]:
    return [each.trial.workload for each in analysis.outcomes]


def test_ticks_never_compare_times_of_different_workloads() -> None:
    chosen = view("y15:table2")
    whole = analysis_of(chosen, kvm_loses)
    assert beaten_in(chosen, whole)["kvm-pv"]
    verdicts = [
        in_another_cell(each) if each.overhead.summary.environment == "kvm-pv" else each
        for each in whole.verdicts
    ]
    other = replace(whole.outcomes[0].trial.workload, name="another")
    extra = replace(whole.outcomes[0], trial=replace(whole.outcomes[0].trial, workload=other))
    moved = replace(whole, verdicts=tuple(verdicts), outcomes=(*whole.outcomes, extra))
    assert not beaten_in(chosen, moved)["kvm-pv"]


def in_another_cell(verdict: Verdict) -> Verdict:
    summary = verdict.overhead.summary
    cell = replace(summary.cell, workload="another")
    return replace(verdict, overhead=replace(verdict.overhead, summary=replace(summary, cell=cell)))


def beaten_in(chosen: View, analysis: Analysis) -> dict[str, tuple[str, ...]]:
    column = ticks(chosen.claims[0], ViewEvidence(analysis)).ticks
    return {tick.role: tick.beaten_by for tick in column}


def test_processors_that_are_shared_are_not_the_papers() -> None:
    chosen = view("b17:fig3")
    whole = analysis_of(chosen)
    small = replace(whole, sessions=(replace(whole.sessions[0], host={"processors online": "2 (0-1)"}),))
    large = replace(whole, sessions=(replace(whole.sessions[0], host={"processors online": "16 (0-15)"}),))
    assert agreements(chosen, large)[0].word is AgreementWord.REPRODUCED
    crowded = agreements(chosen, small)[0]
    assert (crowded.word, crowded.here) == (AgreementWord.NOT_MEASURED, AgreementWord.REPRODUCED)
    assert "4 processors as 2" in crowded.reason
