# SPDX-License-Identifier: Apache-2.0
"""The life of a node on another host's side."""

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.environments.environment_example import described

from tare.environments.fake import Fake
from tare.errors import NodeError
from tare.far import nodes
from tare.far.locks import lock
from tare.host import process
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


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[nodes.HeldNode]:
    """A node that this process keeps; its tools hold the record's lock as well."""
    monkeypatch.setattr(nodes, "start_recorded", lambda *_: None)
    spec = described(tmp_path / "nodes" / "tare-1-0", name="tare-1-0", technology="fake", processors=())
    node = nodes.HeldNode(tmp_path, spec)
    yield node
    node.stop()


@pytest.mark.usefixtures("kept")
def test_a_tool_that_leaves_a_daemon_runs_beside_the_keeper_of_its_node() -> None:
    assert process.run_checked(["echo", "started"], leaves_daemon=True).stdout == "started\n"


@pytest.mark.usefixtures("kept")
def test_a_node_with_a_keeper_is_no_leftover_and_keeps_other_runs_away(tmp_path: Path) -> None:
    assert nodes.remove_leftovers(tmp_path) == []
    nodes._refuse_other_runs(tmp_path, "tare-1-1")
    with pytest.raises(NodeError, match="another run is measuring here \\(node tare-1-0\\)"):
        nodes._refuse_other_runs(tmp_path, "tare-2-0")


def test_two_who_look_at_a_leftover_at_once_do_not_take_each_other_for_its_keeper(tmp_path: Path) -> None:
    make_node_folder(tmp_path / "nodes" / "tare-1-0")
    record = tmp_path / "nodes" / "tare-1-0" / RECORD
    record.touch(mode=0o600)
    looks = lock(record, fcntl.LOCK_EX)
    assert looks is not None
    end = threading.Timer(0.03, os.close, [looks])
    end.start()
    nodes._refuse_other_runs(tmp_path, "tare-2-0")
    end.join(timeout=20)
