# SPDX-License-Identifier: Apache-2.0
"""The life of a node on another host's side."""

import json
from pathlib import Path

import pytest
from tests.environments.environment_example import described

from tare.environments.fake import Fake
from tare.far import nodes
from tare.nodes.record import RECORD, make_node_folder, record_text


def test_while_other_nodes_of_the_run_live_nothing_that_they_share_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another node's LXC monitor may be on its way out there."""
    removals: list[str] = []
    monkeypatch.setattr(nodes, "remove_parent_if_empty", lambda: removals.append("removed"))
    specs = [described(tmp_path / "nodes" / name) for name in ("tare-1", "tare-2")]
    for spec in specs:
        spec.directory.mkdir(parents=True)
        (spec.directory / RECORD).touch()
    left = []
    for spec in specs:
        nodes._stop(spec, Fake())
        left.append(len(removals))
    assert left == [0, 1]


def test_a_record_of_another_version_is_kept_and_named_and_the_others_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Something of its node may still run."""
    newer, torn = (tmp_path / "nodes" / name for name in ("tare-1-0", "tare-1-1"))
    for directory in (newer, torn):
        make_node_folder(directory)
    spec = described(newer, name=newer.name, technology="fake")
    (newer / RECORD).write_text(json.dumps({**json.loads(record_text(spec)), "colour": "blue"}))
    (torn / RECORD).write_text('{"name": "ta')
    assert nodes.remove_leftovers(tmp_path) == [torn.name]
    assert newer.exists()
    assert "was not written by this version of Tare" in capsys.readouterr().err
