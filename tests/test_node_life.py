# SPDX-License-Identifier: Apache-2.0
"""Nodes are written down before they are made, and what is removed is only ever Tare's own."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tare.environments import PROVIDERS
from tare.environments.fake import Fake
from tare.errors import NodeError
from tare.host import mounts
from tare.host.cgroups import own_group
from tare.image.store import Image
from tare.measure.clean import remove_leftovers, remove_quarantined
from tare.measure.running import NodeTimes, running_nodes
from tare.node_life import start_node, stop_node
from tare.nodes.provider import Bind, Node, NodeSpec
from tare.nodes.record import recorded_nodes
from tests.measure.measure_nodes import AS_ROOT, node_spec

FAKES = {"fake": Fake()}


@contextmanager
def mounted(source: Path, point: Path) -> Iterator[None]:
    """A bind mount made by hand, whatever becomes of it."""
    point.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "--bind", str(source), str(point)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(point)], check=False, capture_output=True)


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "data").write_text("years of work")
    return tmp_path / "precious"


class TestRunning:
    def test_a_node_is_on_record_while_it_runs_and_forgotten_afterwards(self, state: Path) -> None:
        spec, times = node_spec(state), NodeTimes()
        with running_nodes([spec], FAKES, times):
            assert recorded_nodes() == [spec.directory]
            assert times.start_s is not None
            assert times.stop_s is None or times.stop_s < 0
        assert recorded_nodes() == []
        assert times.stop_s is not None
        assert times.stop_s >= 0
        assert times.problems == []

    def test_a_start_that_fails_half_way_leaves_neither_this_node_nor_those_before(self, state: Path) -> None:
        good, bad = node_spec(state), node_spec(state, options={"broken": "start"})
        times = NodeTimes()
        with pytest.raises(NodeError, match="told to fail"), running_nodes([good, bad], FAKES, times):
            pytest.fail("it must not run")
        assert list((state / "nodes").iterdir()) == []
        assert (times.start_s, times.stop_s) == (None, None)

    def test_an_error_of_the_trial_still_stops_all_nodes(self, state: Path) -> None:
        specs = [node_spec(state), node_spec(state)]
        with pytest.raises(ZeroDivisionError), running_nodes(specs, FAKES, NodeTimes()):
            1 / 0  # noqa: B018 - the error is wanted
        assert list((state / "nodes").iterdir()) == []

    def test_a_stop_that_fails_is_a_note_and_the_other_nodes_stop(self, state: Path) -> None:
        stuck, good = node_spec(state, options={"broken": "stop"}), node_spec(state)
        times = NodeTimes()
        with running_nodes([stuck, good], FAKES, times):
            pass
        assert [words.split()[0] for words in times.problems] == [stuck.name]
        assert recorded_nodes() == [stuck.directory]

    def test_a_folder_that_is_there_is_refused_and_kept(self, state: Path) -> None:
        spec = node_spec(state)
        spec.directory.mkdir(parents=True)
        (spec.directory / "mine").write_text("kept")
        with (
            pytest.raises(NodeError, match="is there already"),
            running_nodes([spec], FAKES, NodeTimes()),
        ):
            pytest.fail("it must not run")
        assert (spec.directory / "mine").read_text() == "kept"

    def test_an_interrupt_in_the_middle_of_a_stop_does_not_leave_the_node(self, state: Path) -> None:
        class Interrupted(Fake):
            stops = 0

            def stop(self, spec: NodeSpec) -> None:
                self.stops += 1
                if self.stops == 1:
                    os.kill(os.getpid(), signal.SIGINT)
                super().stop(spec)

        provider, times = Interrupted(), NodeTimes()
        with pytest.raises(KeyboardInterrupt), running_nodes([node_spec(state)], {"fake": provider}, times):
            pass
        assert provider.stops == 2
        assert list((state / "nodes").iterdir()) == []

    def test_an_interrupt_is_not_lost_when_the_stop_fails_too(self, state: Path) -> None:
        class Interrupted(Fake):
            stops = 0

            def stop(self, spec: NodeSpec) -> None:
                self.stops += 1
                if self.stops == 1:
                    os.kill(os.getpid(), signal.SIGINT)
                raise NodeError(f"{spec.name} is stuck")

        times = NodeTimes()
        with (
            pytest.raises(KeyboardInterrupt),
            running_nodes([node_spec(state)], {"fake": Interrupted()}, times),
        ):
            pass
        assert len(times.problems) == 1


class TestLeftovers:
    def test_nothing_left_is_nothing_removed(self, state: Path) -> None:
        assert not state.exists()
        assert remove_leftovers().removed == []

    def test_a_node_left_behind_is_removed_with_all_it_wrote(self, state: Path) -> None:
        spec = node_spec(state)
        start_node(spec, FAKES["fake"])
        (spec.work / "output").write_text("x")
        (spec.directory / "init.log").write_text("x")
        assert remove_leftovers().removed == [spec.name]
        assert list((state / "nodes").iterdir()) == []

    @pytest.mark.parametrize("torn", ["", "{", '{"name": "tare-te', "\0" * 40, "null"])
    def test_a_torn_record_is_of_a_node_that_never_started(self, torn: str, state: Path) -> None:
        folder = state / "nodes" / "tare-torn"
        folder.mkdir(parents=True)
        (folder / "node.json").write_text(torn)
        assert remove_leftovers().removed == ["tare-torn"]
        assert not folder.exists()

    def test_an_empty_folder_goes(self, state: Path) -> None:
        (state / "nodes" / "tare-begun").mkdir(parents=True)
        assert remove_leftovers().removed == []
        assert list((state / "nodes").iterdir()) == []

    def test_foreign_files_and_folders_stay(self, state: Path) -> None:
        (state / "nodes" / "mine").mkdir(parents=True)
        (state / "nodes" / "mine" / "thesis").write_text("kept")
        (state / "nodes" / "note").write_text("kept")
        assert remove_leftovers().removed == []
        assert (state / "nodes" / "mine" / "thesis").read_text() == "kept"
        assert (state / "nodes" / "note").read_text() == "kept"

    def test_a_folder_that_was_half_removed_is_still_known(
        self, state: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec = node_spec(state)
        start_node(spec, FAKES["fake"])
        for name in ("a.log", "z.log"):
            (spec.directory / name).touch()
        removed = os.unlink

        def killed_once(name: str | Path, *, dir_fd: int | None = None) -> None:
            removed(name, dir_fd=dir_fd)
            if str(name).endswith(".log"):
                raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(os, "unlink", killed_once)
            with pytest.raises(KeyboardInterrupt):
                stop_node(spec, FAKES["fake"])
        assert remove_leftovers().removed == [spec.name]
        assert not spec.directory.exists()

    @pytest.mark.parametrize(
        "change",
        [
            {"technology": "hovercraft"},
            {"name": "tare-another"},
            {"colour": "blue"},
            {"processors": None},
            {"binds": [{"place": "/data"}]},
        ],
    )
    def test_a_record_of_another_version_is_refused_in_words_and_kept(
        self, change: dict[str, object], state: Path
    ) -> None:
        spec = node_spec(state)
        start_node(spec, FAKES["fake"])
        record = spec.directory / "node.json"
        record.write_text(json.dumps(json.loads(record.read_text()) | change))
        (kept,) = remove_leftovers().kept
        assert (kept.name, kept.may_run) == (spec.name, True)
        assert "not written by this version of Tare; run" in kept.why
        assert record.exists()
        assert spec.work.exists()

    def test_one_that_cannot_be_removed_does_not_keep_the_others(self, state: Path) -> None:
        good, bad = node_spec(state), node_spec(state, technology="hovercraft")
        for spec in (bad, good):
            start_node(spec, FAKES["fake"])
        cleaned = remove_leftovers()
        assert cleaned.removed == [good.name]
        assert [kept.name for kept in cleaned.kept] == [bad.name]
        assert recorded_nodes() == [bad.directory]

    def test_a_record_that_is_a_folder_is_an_error_in_words(self, state: Path) -> None:
        (state / "nodes" / "odd" / "node.json").mkdir(parents=True)
        (kept,) = remove_leftovers().kept
        assert re.search(r"cannot read .*node.json: (it is no plain file|Is a directory)", kept.why)


class TestMounts:
    pytestmark = AS_ROOT

    def test_a_folder_with_a_mount_in_it_is_refused_and_the_bound_file_survives(
        self, state: Path, precious: Path
    ) -> None:
        spec = node_spec(state)
        start_node(spec, FAKES["fake"])
        with mounted(precious, spec.directory / "bound"):
            with pytest.raises(NodeError, match="something is still mounted below"):
                stop_node(spec, FAKES["fake"])
            assert (precious / "data").read_text() == "years of work"
        stop_node(spec, FAKES["fake"])
        assert not spec.directory.exists()
        assert (precious / "data").exists()

    def test_a_state_folder_behind_a_link_does_not_hide_the_mount(
        self, tmp_path: Path, precious: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        monkeypatch.setenv("TARE_STATE", str(tmp_path / "link"))
        spec = node_spec(tmp_path / "link")
        start_node(spec, FAKES["fake"])
        with mounted(precious, spec.directory / "bound"):
            with pytest.raises(NodeError, match="still mounted"):
                stop_node(spec, FAKES["fake"])
            (kept,) = remove_leftovers().kept
            assert "still mounted" in kept.why
            assert kept.place == tmp_path / "real" / "quarantine" / spec.name
            assert "still mounted" in remove_quarantined().kept[0].why
            assert (precious / "data").exists()
            mounts.unmount_below(kept.place)
        assert remove_quarantined().removed == [spec.name]

    def test_a_torn_record_does_not_open_a_way_through_a_mount(self, state: Path, precious: Path) -> None:
        folder = state / "nodes" / "tare-torn"
        folder.mkdir(parents=True)
        (folder / "node.json").write_text("{")
        with mounted(precious, folder / "layer"):
            (kept,) = remove_leftovers().kept
            assert "still mounted" in kept.why
            assert (precious / "data").exists()
            mounts.unmount_below(kept.place)

    def test_a_real_node_left_with_a_bound_folder_goes_and_the_folder_stays(
        self, image: Image, tmp_path: Path, precious: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("TARE_STATE", "relative state")
        binds = (Bind(path=precious, writable=True),)
        spec = node_spec(Path("relative state").absolute(), "native", image, binds=binds)
        start_node(spec, PROVIDERS["native"])
        assert (spec.directory / "root" / str(precious).lstrip("/") / "data").exists()
        assert remove_leftovers().removed == [spec.name]
        assert (precious / "data").read_text() == "years of work"
        assert mounts.mounts_below(tmp_path) == []

    @pytest.mark.parametrize("technology", ["native", "bubblewrap", "systemd-nspawn", "lxc"])
    def test_a_start_that_fails_half_way_is_cleaned(
        self, technology: str, image: Image, state: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        provider = PROVIDERS[technology]
        if not provider.probe().usable:
            pytest.skip(f"{technology} is not usable here")

        def fail(*_: object, **__: object) -> None:
            raise NodeError("planted")

        monkeypatch.setattr("tare.host.process.start_idle", fail)
        monkeypatch.setattr("tare.nodes.confined.first_process", fail)
        spec, times = node_spec(state, technology, image), NodeTimes()
        with (
            pytest.raises(NodeError, match="planted"),
            running_nodes([spec], {technology: provider}, times),
        ):
            pytest.fail("it must not run")
        assert times.problems == []
        assert list((state / "nodes").iterdir()) == []
        assert mounts.mounts_below(state) == []
        assert not any(directory.exists() for directory in own_group(spec.name).directories)
        assert subprocess.run(["pgrep", "-f", spec.name], capture_output=True, check=False).stdout == b""


def test_what_a_record_says_is_what_is_stopped(state: Path) -> None:
    class Remembering(Fake):
        stopped: NodeSpec | None = None

        def stop(self, spec: NodeSpec) -> None:
            self.stopped = spec
            super().stop(spec)

    spec = node_spec(state, binds=(Bind(path=Path("/data"), writable=True),), options={"slowdown": 0.5})
    provider = Remembering()
    start_node(spec, provider)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tare.measure.clean.PROVIDERS", {"fake": provider})
        remove_leftovers()
    assert provider.stopped == spec


def test_a_running_node_knows_where_it_is(state: Path) -> None:
    with running_nodes([node_spec(state)], FAKES, NodeTimes()) as (node,):
        assert isinstance(node, Node)
        assert node.spec.work.is_dir()
