# SPDX-License-Identifier: Apache-2.0
"""The life of a node on another host's side."""

from pathlib import Path

import pytest
from tests.environments.environment_example import described

from tare.environments.fake import Fake
from tare.far import nodes


def test_while_other_nodes_of_the_run_live_nothing_that_they_share_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another node's LXC monitor may be on its way out there."""
    removals: list[str] = []
    monkeypatch.setattr(nodes, "remove_parent_if_empty", lambda: removals.append("removed"))
    specs = [described(tmp_path / "nodes" / name) for name in ("tare-1", "tare-2")]
    for spec in specs:
        spec.directory.mkdir(parents=True)
        (spec.directory / nodes._RECORD).touch()
    left = []
    for spec in specs:
        nodes._stop(spec, Fake())
        left.append(len(removals))
    assert left == [0, 1]
