# SPDX-License-Identifier: Apache-2.0
"""Nothing that a workload, a kill or another user left disables Tare: it goes, or it is said and passed over."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fake_campaign import Listener, fake_campaign, fake_request
from tests.host.hostile_trees import deep_folder
from tests.measure.measure_nodes import AS_ROOT, node_spec
from tests.unprivileged.ordinary_user import USER

from tare.cli import main
from tare.environments.fake import Fake
from tare.errors import NodeError
from tare.host import removal
from tare.measure.campaign import measure_campaign
from tare.measure.clean import remove_leftovers, remove_quarantined
from tare.measure.guardian import watch
from tare.node_life import start_node
from tare.nodes.provider import NodeSpec
from tare.nodes.record import RECORD, read_record
from tare.records import Status

FAKE = Fake()
PLANTED = "touch"


def left(state: Path, **changes: object) -> NodeSpec:
    """A node that a killed run left."""
    spec = node_spec(state, **changes)  # type: ignore[arg-type]
    start_node(spec, FAKE)
    return spec


def rewrite(spec: NodeSpec, **changes: object) -> Path:
    record = spec.directory / RECORD
    record.write_text(json.dumps({**json.loads(record.read_text()), **changes}))
    return record


def tare(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sys.argv", ["tare", *words])
        with pytest.raises(SystemExit) as ended:
            main()
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


@pytest.fixture
def stuck(state: Path) -> Iterator[NodeSpec]:
    """A node whose folder holds what even root cannot remove: something that is in use as a mount point."""
    spec = left(state)
    (spec.work / "busy").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", str(spec.work / "busy")], check=True)
    yield spec
    for place in (spec.work / "busy", state / "quarantine" / spec.name / "layer" / "work" / "busy"):
        subprocess.run(["umount", str(place)], capture_output=True, check=False)


class TestWhatWorkloadsLeave:
    @pytest.mark.usefixtures("fake_image")
    def test_a_deep_folder_of_a_killed_runs_node_goes_and_the_next_run_is_as_any(
        self, state: Path, tmp_path: Path
    ) -> None:
        spec, listener = left(state), Listener()
        deep_folder(spec.work / "deep", 1500)
        measure_campaign(fake_request(fake_campaign(blocks=1), tmp_path / "result"), listener)
        assert f"removed {spec.name}, left by a killed run" in listener.words
        assert {outcome.status for outcome in listener.outcomes} == {Status.OK}
        assert list((state / "nodes").iterdir()) == []

    def test_a_node_whose_workload_made_a_deep_folder_stops(self, state: Path) -> None:
        spec = left(state)
        deep_folder(spec.work / "deep", 1500)
        assert remove_leftovers().removed == [spec.name]
        assert removal.quarantined() == []

    @pytest.mark.parametrize(
        "problem", [RecursionError("deep"), KeyError("x"), OSError(5, "broken"), NodeError("no")]
    )
    def test_whatever_one_raises_the_others_go(
        self, problem: Exception, state: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Broken(Fake):
            def stop(self, spec: NodeSpec) -> None:
                if spec.name == bad.name:
                    raise problem
                super().stop(spec)

        specs = sorted((left(state) for _ in range(3)), key=lambda spec: spec.name)
        bad = specs[1]
        monkeypatch.setattr("tare.measure.clean.PROVIDERS", {"fake": Broken()})
        cleaned = remove_leftovers()
        assert cleaned.removed == [specs[0].name, specs[2].name]
        assert [(kept.name, kept.may_run, kept.place) for kept in cleaned.kept] == [
            (bad.name, True, bad.directory)
        ]
        assert "may still be at work" in cleaned.kept[0].sentence
        assert "spoil what is measured beside it" in cleaned.kept[0].sentence

    def test_a_guardian_is_not_ended_by_it_either(self, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        bad, good = left(state, options={"broken": "stop"}), left(state)
        with Path(os.devnull).open() as ended:  # as when the runner was killed
            monkeypatch.setattr("sys.stdin", ended)
            monkeypatch.setattr("signal.signal", lambda *_: None)  # else all later tests would ignore them
            assert watch() == 1
        assert not good.directory.exists()
        assert bad.directory.exists()


class TestQuarantine:
    pytestmark = AS_ROOT

    def test_what_will_not_go_is_put_away_and_goes_when_it_can(self, stuck: NodeSpec, state: Path) -> None:
        good = left(state)
        cleaned = remove_leftovers()
        assert cleaned.removed == [good.name]
        (kept,) = cleaned.kept
        assert (kept.place, kept.may_run) == (state / "quarantine" / stuck.name, False)
        assert "findmnt, umount" in kept.sentence
        assert remove_leftovers().kept == [], "it is said once"
        assert [kept.name for kept in remove_quarantined().kept] == [stuck.name]
        subprocess.run(["umount", str(kept.place / "layer" / "work" / "busy")], check=True)
        assert remove_quarantined().removed == [stuck.name]
        assert removal.quarantined() == []

    @pytest.mark.usefixtures("fake_image")
    def test_a_run_says_so_and_goes_on(self, stuck: NodeSpec, tmp_path: Path) -> None:
        listener = Listener()
        measure_campaign(fake_request(fake_campaign(blocks=1), tmp_path / "result"), listener)
        (words,) = [words for words in listener.words if stuck.name in words]
        assert words.startswith(f"warning: {stuck.name}, left by an earlier run, was stopped but not removed")
        assert {outcome.status for outcome in listener.outcomes} == {Status.OK}

    def test_clean_names_it_and_ends_with_3_only_while_it_stays(
        self, stuck: NodeSpec, state: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for _ in range(2):
            code, out, err = tare(capsys, "clean")
            assert (code, out) == (3, "")
            assert f"{stuck.name}, left by an earlier run, was stopped but not removed" in err
        code, out, _ = tare(capsys, "clean", "--json")
        said = json.loads(out)
        assert (code, said["schema"], said["removed"]) == (3, 1, [])
        assert [(entry["name"], entry["may_run"]) for entry in said["kept"]] == [(stuck.name, False)]
        subprocess.run(["umount", said["kept"][0]["place"] + "/layer/work/busy"], check=True)
        assert tare(capsys, "clean")[:2] == (0, f"removed {stuck.name}\n")
        assert tare(capsys, "clean")[:2] == (0, "nothing was left behind\n")
        assert list((state / "quarantine").iterdir()) == []

    def test_what_cannot_be_moved_either_is_passed_over(
        self, stuck: NodeSpec, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tare.host.removal.put_away", lambda _: os.rename("/absent", "/absent"))  # noqa: PTH104
        (kept,) = remove_leftovers().kept
        assert kept.place == stuck.directory

    def test_two_of_one_name_have_their_own_places(self, state: Path, tmp_path: Path) -> None:
        places = set()
        for _ in range(2):
            (tmp_path / ".new").mkdir()
            places.add(removal.put_away(tmp_path / ".new"))
        assert set(removal.quarantined()) == places
        assert (state / "quarantine").stat().st_mode & 0o777 == 0o700


HOSTILE = {
    "deep": "[" * 100_000 + "]" * 100_000,
    "digits": '{"name": ' + "9" * 5000 + "}",
    "large": json.dumps({"name": "x" * (1 << 20)}),
    "a list": "[]",
    "a number": "1e400",
    "not a number": "NaN",
}
CHANGES: dict[str, dict[str, object]] = {
    "a name out of the folder": {"name": "../../etc"},
    "another technology": {"technology": "__class__"},
    "no processor": {"processors": []},
    "a processor that is none": {"processors": [-1]},
    "too much memory": {"memory_byte": 1 << 80},
    "a network elsewhere": {"network": {"kind": "veth", "namespace": "/etc/passwd"}},
    "a way up": {"network": {"kind": "veth", "switch": "{nodes}/tare-x/../../../etc/passwd"}},
    "work elsewhere": {"shared_work": "/home"},
    "a bind without a place": {"binds": [{"path": "etc"}]},
    "the host's memory": {"devices": [{"path": "/dev/mem", "major": 1, "minor": 1}]},
    "a device elsewhere": {"devices": [{"path": "/etc/passwd", "major": 1, "minor": 5}]},
    "a device of no number": {"devices": [{"path": "/dev/fuse", "major": -1, "minor": 5}]},
    "a kind for a device": {"devices": [{"path": "nvidia", "major": 195, "minor": 0}]},
    "an end in the middle": {"image_root": "/a\0b"},
    "an option that is no value": {"options": {"stop": {"a": "b"}}},
}


class TestRecords:
    @pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
    def test_a_hostile_record_is_one_problem_in_words(self, text: str, state: Path) -> None:
        bad, good = left(state), left(state)
        (bad.directory / RECORD).write_text(text)
        cleaned = remove_leftovers()
        assert cleaned.removed == [good.name]
        assert "was not written by this version of Tare" in cleaned.kept[0].why
        assert bad.work.exists()

    @pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
    def test_a_record_that_tare_would_not_have_written_is_not_acted_on(
        self, change: dict[str, object], state: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec = left(state)
        text = json.dumps(change).replace("{nodes}", str(state / "nodes"))
        rewrite(spec, **json.loads(text))
        monkeypatch.setattr(Fake, "stop", lambda *_: pytest.fail("it must not be stopped"))
        (kept,) = remove_leftovers().kept
        assert "was not written by this version of Tare" in kept.why

    @given(text=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
    def test_whatever_stands_in_a_record_it_is_torn_or_a_problem_in_words(
        self, text: bytes, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        folder = tmp_path_factory.mktemp("state") / "nodes" / "tare-x"
        folder.mkdir(parents=True)
        (folder / RECORD).write_bytes(text)
        with suppress(NodeError):
            assert read_record(folder, {"fake"}) is None

    def test_what_lies_in_a_records_place_is_not_followed(self, state: Path) -> None:
        specs = [left(state) for _ in range(3)]
        records = [spec.directory / RECORD for spec in specs]
        (state / "real").write_text(records[0].read_text())
        for record in records:
            record.unlink()
        records[0].symlink_to(state / "real")
        os.mkfifo(records[1])
        records[2].mkdir()
        kept = remove_leftovers().kept
        assert sorted(kept.name for kept in kept) == sorted(spec.name for spec in specs)
        assert all("cannot read" in kept.why for kept in kept)

    def test_a_folder_behind_a_link_is_not_a_nodes(self, state: Path) -> None:
        spec = left(state)
        spec.directory.rename(state / "elsewhere")
        spec.directory.symlink_to(state / "elsewhere")
        (kept,) = remove_leftovers().kept
        assert "is a link or no folder" in kept.why
        assert (state / "elsewhere" / RECORD).exists()


def give_away(path: Path) -> None:
    os.chown(path, USER, USER)


class TestOfASecondUser:
    """A record makes whoever cleans up run commands: none that another user can have written counts."""

    pytestmark = AS_ROOT

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda spec: give_away(spec.directory / RECORD), "belongs to user"),
            (lambda spec: give_away(spec.directory), "belongs to user"),
            (lambda spec: (spec.directory / RECORD).chmod(0o666), "can be written by every user"),
            (lambda spec: spec.directory.chmod(0o777), "can be written by every user"),
        ],
    )
    def test_a_planted_record_runs_no_command(
        self, change: Callable[[NodeSpec], None], words: str, state: Path, tmp_path: Path
    ) -> None:
        ran = tmp_path / "ran"
        spec = left(state)
        rewrite(
            spec, technology="custom", options={"start": ["x"], "enter": ["x"], "stop": ["touch", str(ran)]}
        )
        change(spec)
        (kept,) = remove_leftovers().kept
        assert words in kept.why
        assert not ran.exists()
        assert spec.directory.exists()

    def test_ones_own_record_does_run_its_command(self, state: Path, tmp_path: Path) -> None:
        """Else the test above could not fail."""
        ran = tmp_path / "ran"
        spec = left(state)
        rewrite(
            spec, technology="custom", options={"start": ["x"], "enter": ["x"], "stop": ["touch", str(ran)]}
        )
        assert remove_leftovers().removed == [spec.name]
        assert ran.exists()

    def test_root_cleans_up_no_state_folder_of_an_ordinary_users(
        self, state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        ran = tmp_path / "ran"
        spec = left(state)
        rewrite(
            spec, technology="custom", options={"start": ["x"], "enter": ["x"], "stop": ["touch", str(ran)]}
        )
        for path in (spec.directory / RECORD, spec.directory, state / "nodes", state):
            give_away(path)
        code, out, err = tare(capsys, "clean")
        assert (code, out) == (3, "")
        assert f"{state} belongs to user {USER}" in err
        assert "run as that user" in err
        assert not ran.exists()
