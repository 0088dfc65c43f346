# SPDX-License-Identifier: Apache-2.0
"""A machine that was too busy to tell contradicts no paper."""

from dataclasses import replace

import pytest
from tests.view_example import analysis_of

from tare.analyze.published import agreements, ticks
from tare.analyze.view_evidence import ViewEvidence
from tare.papers import view
from tare.records import Analysis, Withheld
from tare.records.published import AgreementWord, ClaimPlace

CONTRADICTED, REPRODUCED, UNDECIDED = (
    AgreementWord.CONTRADICTED,
    AgreementWord.REPRODUCED,
    AgreementWord.UNDECIDED,
)


def busy(analysis: Analysis) -> Analysis:
    return replace(
        analysis,
        verdicts=tuple(replace(each, withheld=Withheld.BUSY) for each in analysis.verdicts),
        curves=tuple(replace(each, withheld=Withheld.BUSY) for each in analysis.curves),
    )


def test_spread_on_a_busy_machine_is_undecided() -> None:
    chosen = view("b17:fig4")
    known = analysis_of(chosen, noise=0.2, blocks=32)
    assert agreements(chosen, busy(known))[1].word is UNDECIDED


@pytest.mark.parametrize(("name", "claim"), [("b16:fig10a", 2), ("b16:fig11b", 3), ("y15:fig3", 0)])
def test_a_busy_machine_contradicts_nothing_of_native_alone_or_of_curves(name: str, claim: int) -> None:
    chosen = view(name)

    def planted(role: str, place: ClaimPlace) -> float:
        return 2.0 if "star" in place.metric or role == "xen-pv" else 0.0

    known = analysis_of(chosen, planted)
    assert agreements(chosen, known)[claim].word is CONTRADICTED
    withheld = agreements(chosen, busy(known))[claim]
    assert (withheld.word, withheld.reason) == (UNDECIDED, "the machine was too busy to tell")


def test_noise_of_one_environment_withholds_nothing_of_native_alone() -> None:
    chosen = view("b16:fig10a")
    known = analysis_of(chosen)
    noisy = tuple(replace(each, withheld=Withheld.NOISE) for each in known.verdicts)
    words = [each.word for each in agreements(chosen, replace(known, verdicts=noisy))]
    assert words[2:4] == [REPRODUCED, UNDECIDED]


def test_on_a_busy_machine_no_environment_loses_a_tick() -> None:
    chosen = view("y15:fig5")

    def planted(role: str, place: ClaimPlace) -> float:
        del place
        return 0.0 if role == "lxc" else 0.5

    known = analysis_of(chosen, planted)
    counts = [
        sum(tick.ours is False for tick in ticks(chosen.claims[0], ViewEvidence(each)).ticks)
        for each in (known, busy(known))
    ]
    assert counts == [7, 0]
