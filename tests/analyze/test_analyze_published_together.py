# SPDX-License-Identifier: Apache-2.0
"""One of several comparisons beyond its bound may be chance (Bonferroni), in claims of every kind."""

from dataclasses import replace

import pytest
from tests.view_example import analysis_of, ordered

from tare.analyze.published import agreements
from tare.papers import view
from tare.records import Analysis
from tare.records.published import AgreementWord, ClaimKind, PublishedClaim

BLOCKS = 12


def several(name: str, kind: ClaimKind, *environments: str) -> PublishedClaim:
    """A claim of this kind, of so many environments in one place."""
    claim = next(each for each in view(name).claims if each.kind is kind)
    return replace(claim, environments=environments, places=claim.places[:1])


def with_orders(analysis: Analysis) -> Analysis:
    return replace(analysis, orders=tuple(ordered(name) for name in ("kvm", "virtualbox")))


@pytest.mark.parametrize(
    ("name", "kind", "environments"),
    [
        ("b17:fig4", ClaimKind.VARIATION, ("lxc", "docker")),
        ("b17:fig6", ClaimKind.LOSS, ("native", "lxc", "docker")),
        ("l12:fig2", ClaimKind.ORDER, ("kvm", "virtualbox")),
        ("b17:fig4", ClaimKind.COMPARISON, ("lxc", "docker")),
    ],
)
def test_one_beyond_its_bound_contradicts_alone_and_not_among_several(
    name: str, kind: ClaimKind, environments: tuple[str, ...]
) -> None:
    claim = several(name, kind, *environments)
    analysis = with_orders(analysis_of(replace(view(name), claims=(claim,)), blocks=BLOCKS))

    def agreed(own: PublishedClaim) -> tuple[AgreementWord, str]:
        (each,) = agreements(replace(view(name), claims=(own,)), analysis)
        return each.word, each.reason

    (known,) = agreements(replace(view(name), claims=(claim,)), analysis)
    ends = {
        part.environment: part.ours.high for part in known.parts if part.ours and part.ours.high is not None
    }
    lowest = min(ends, key=ends.__getitem__)
    beyond = replace(claim, low=ends[lowest] + 1e-9, high=None, either_sign=False)
    assert len(ends) == len(environments)
    assert agreed(replace(beyond, environments=(lowest,)))[0] is AgreementWord.CONTRADICTED
    word, why = agreed(beyond)
    assert word is AgreementWord.UNDECIDED
    assert f"one of {len(environments)} comparisons lies beyond the bound, which may be chance" in why
