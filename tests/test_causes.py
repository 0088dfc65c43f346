# SPDX-License-Identifier: Apache-2.0
"""Every known cause can be recognised, cites its source, and names only signals and knobs that there are."""

import pytest

from tare.analyze.attribution.known import KNOWN
from tare.causes import CURES, DEARER, KNOWN_CAUSES, KnownCause
from tare.environments import PROVIDERS
from tare.plan.knobs import KNOBS
from tests.conftest import REPOSITORY

CAUSES = list(KNOWN_CAUSES.values())
pytestmark = pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)


def test_it_shows_in_something(cause: KnownCause) -> None:
    assert cause.signals or cause.labels or cause.refused or cause.repeated or cause.dearer


def test_its_signals_are_known(cause: KnownCause) -> None:
    assert {*cause.signals, *filter(None, [cause.dearer])} <= set(KNOWN)
    assert cause.dearer is None or cause.dearer in DEARER


def test_its_knobs_are_there(cause: KnownCause) -> None:
    assert set(cause.knobs) <= set(KNOBS)


def test_it_has_a_cure_for_every_technology_that_can_turn_its_knobs(cause: KnownCause) -> None:
    assert cause.remedy or cause.knobs
    assert cause.cure("docker") or cause.cure("qemu")


def test_it_cites_its_source(cause: KnownCause) -> None:
    assert cause.source


def test_it_is_documented_with_its_knobs(cause: KnownCause) -> None:
    text = (REPOSITORY / "docs" / "causes.md").read_text()
    (row,) = [line for line in text.splitlines() if line.startswith(f"| `{cause.name}`:")]
    assert cause.title in row
    assert all(f"`{knob}`" in row for knob in cause.knobs)


def test_every_knob_of_this_version_has_cures_of_technologies_that_there_are(cause: KnownCause) -> None:
    for knob in cause.knobs:
        assert set(CURES[knob]) <= {*PROVIDERS, "any"}
        assert all(words.strip() for words in CURES[knob].values())
