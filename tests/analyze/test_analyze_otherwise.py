# SPDX-License-Identifier: Apache-2.0
"""A result counts as a paper's by what was measured, not by its campaign's name."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.view_example import analysis_of, ordered

from tare.analyze.otherwise import OTHERWISE, REACH
from tare.analyze.published import agreements
from tare.analyze.reproduced import listed
from tare.environments import PROVIDERS
from tare.papers import paper, view
from tare.records import Analysis, NetworkKind, Ordering, Series, Storage, Trial
from tare.records.published import Agreement, AgreementWord, PresetCell, PresetMatrix, View
from tare.records.reproduced import ClaimFate

REPRODUCED, NOT_MEASURED = AgreementWord.REPRODUCED, AgreementWord.NOT_MEASURED
FIGURE = view("b17:fig3")
Change = Callable[[Trial], Trial]


def matrix_of(analysis: Analysis) -> PresetMatrix:
    """As if the preset asked for what was measured."""
    trials = [outcome.trial for outcome in analysis.outcomes]
    return PresetMatrix(
        environments=tuple({each.environment.name: each.environment for each in trials}.values()),
        cells=tuple(
            {
                (each.workload.name, str(each.layout)): PresetCell(
                    workload=each.workload, layout=each.layout, limits=each.limits
                )
                for each in trials
            }.values()
        ),
    )


def changed(analysis: Analysis, change: Change) -> Analysis:
    return replace(
        analysis,
        campaign="mine",
        outcomes=tuple(replace(each, trial=change(each.trial)) for each in analysis.outcomes),
    )


def judged(change: Change, chosen: View = FIGURE) -> tuple[Agreement, ...]:
    analysis = analysis_of(chosen)
    return agreements(chosen, changed(analysis, change), matrix_of(analysis))


def limited(**limits: Any) -> Change:
    return lambda trial: replace(trial, limits=replace(trial.limits, **limits))


def with_options(**options: Any) -> Change:
    return lambda trial: replace(
        trial, workload=replace(trial.workload, options={**trial.workload.options, **options})
    )


def in_lxc(**values: Any) -> Change:
    """Another environment of the same role."""
    return lambda trial: (
        replace(trial, environment=replace(trial.environment, **values))
        if trial.environment.name == "lxc"
        else trial
    )


def as_it_is(trial: Trial) -> Trial:
    return trial


def test_the_same_under_another_name_counts() -> None:
    assert judged(as_it_is)[0].word is REPRODUCED


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (limited(memory_byte=1 << 29), "memory 512 MiB instead of 1 GiB"),
        (limited(cpu_quota=0.5), "cpu_quota 0.5 instead of unset"),
        (limited(storage=Storage.DISK), "storage disk instead of tmpfs"),
        (with_options(problem_size=1000), "problem_size 1000 instead of unset"),
        (
            lambda trial: replace(trial, workload=replace(trial.workload, iterations=3)),
            "iterations 3 instead of 1",
        ),
    ],
)
def test_another_size_or_limit_never_counts_and_says_what_it_would(change: Change, said: str) -> None:
    first = judged(change)[0]
    assert (first.word, first.here) == (NOT_MEASURED, REPRODUCED)
    assert first.reason == f"{OTHERWISE}{said}"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (in_lxc(network=NetworkKind.HOST), "network host instead of none"),
        (in_lxc(rto_min_s=0.05), "rto_min 0.05 instead of unset"),
        (in_lxc(options={"seccomp": "none"}), "seccomp none instead of unset"),
    ],
)
def test_another_environment_of_the_role_leaves_the_claim_undecided(change: Change, said: str) -> None:
    first = judged(change)[0]
    parts = {part.environment: part for part in reversed(first.parts)}
    assert parts["docker"].word is REPRODUCED
    assert (parts["lxc"].word, parts["lxc"].deviations[0]) == (NOT_MEASURED, f"{OTHERWISE}{said}")
    assert first.word is AgreementWord.UNDECIDED


def test_how_a_machine_is_reached_makes_no_difference() -> None:
    assert judged(in_lxc(options={"host": "root@other", "subnet": "10.0.0.0/8"}))[0].word is REPRODUCED
    names = {name for provider in PROVIDERS.values() for name in provider.option_names}
    assert names >= REACH


def test_another_technology_in_the_same_role_is_said() -> None:
    chosen = view("b16:fig9")
    analysis = analysis_of(chosen, roles=["kvm-pv"])
    asked = matrix_of(analysis)
    (kvm,) = [each for each in asked.environments if each.name == "kvm-pv"]
    other = replace(kvm, technology=({"qemu", "libvirt"} - {kvm.technology}).pop())
    native = tuple(each for each in asked.environments if each != kvm)
    near = agreements(chosen, analysis, replace(asked, environments=(*native, other)))[0]
    assert (near.word, near.here) == (NOT_MEASURED, REPRODUCED)
    assert near.reason == f"{OTHERWISE}{kvm.technology} instead of {other.technology}"


def test_a_loss_with_another_arm_alone_never_counts() -> None:
    chosen = view("b17:fig6")

    def alone(trial: Trial) -> Trial:
        return limited(memory_byte=1 << 29)(trial) if str(trial.layout) == "1c4p1i" else trial

    for change, deviates in ((as_it_is, False), (alone, True)):
        parts = [part for each in judged(change, chosen) for part in each.parts]
        assert parts
        assert all(bool(part.deviations) is deviates for part in parts)


def test_an_order_of_another_problem_never_counts() -> None:
    chosen = view("l12:fig2")
    known = analysis_of(chosen, roles=["virtualbox"])
    first = known.outcomes[0]
    series = Series(option="problem_size", ordering=Ordering.ASCENDING, values=(1000, 2000))
    trial = replace(first.trial, workload=replace(first.trial.workload, name="hpcc"), series=series)
    places = [
        place
        for place, claim in enumerate(chosen.claims)
        if "well over 50 %" in claim.text and "virtualbox" in claim.environments
    ]
    for change, word in ((as_it_is, REPRODUCED), (with_options(ranks=1), NOT_MEASURED)):
        measured = replace(
            known,
            outcomes=(*known.outcomes, replace(first, trial=change(trial))),
            orders=(ordered("virtualbox", descending=0.7),),
        )
        assert agreements(chosen, measured, matrix_of(known))[places[0]].parts[0].word is word


def test_what_the_preset_would_measure_is_not_measured_yet() -> None:
    analysis = analysis_of(FIGURE)
    own = replace(paper("b17"), views=(FIGURE,))
    first = listed(own, changed(analysis, limited(memory_byte=1 << 29)), matrix_of(analysis))[0]
    assert (first.fate, first.needs) == (ClaimFate.NOT_YET, ("a result of the preset as it is: another -o",))
    assert first.why.startswith(OTHERWISE)
