# SPDX-License-Identifier: Apache-2.0
"""The model of ``bench.npb_scaling`` gives what the reference's ranks were counted to send."""

from dataclasses import replace
from math import isqrt

import pytest
from bench.npb_scaling import FLOWS, Model, Sent, sent_by

from tests.native.profile.profiles import read_profile
from tests.workloads.recorded import OUTPUTS

FACES = 6
"""Messages of an exchange: there is one more of them than of steps, for the last right-hand side."""


@pytest.mark.parametrize(("kernel", "ranks", "steps"), [("bt", 4, 61), ("bt", 9, 61), ("sp", 9, 101)])
def test_each_rank_of_the_reference_sends_what_the_model_says(kernel: str, ranks: int, steps: int) -> None:
    recorded = read_profile(OUTPUTS / "npb-reference" / f"{kernel}-profiled-{ranks}" / "profile.json")
    model = Model(FLOWS[kernel], FLOWS[kernel].edges["S"], isqrt(ranks), 8)
    no_lines = replace(FLOWS[kernel], forward=0, backward=0)
    for rank, counted in enumerate(recorded.ranks):
        step, faces = model.cells(rank), replace(model, flow=no_lines).cells(rank)
        assert sent_by(counted) == Sent(
            messages=step.messages * steps + FACES, byte=step.byte * steps + faces.byte
        )


def test_pencils_wait_for_their_pipeline_and_cells_do_not() -> None:
    model = Model(FLOWS["bt"], 64, 4, 8)
    own, cells = (
        model.row("bt", way, [send(rank) for rank in range(16)])
        for way, send in (("own", model.own), ("reference", model.cells))
    )
    assert own.fill is not None
    assert 0 < own.fill < 1
    assert cells.fill == 0
