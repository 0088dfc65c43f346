# SPDX-License-Identifier: Apache-2.0
"""Nothing is written through a result folder that another user prepared, whoever runs Tare."""

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fake_campaign import Listener, fake_campaign, fake_request
from tests.journal.one_fault import put
from tests.unprivileged.ordinary_user import AS_ROOT, USER

from tare.commands import noise
from tare.commands.explain import run_explain
from tare.commands.explained import ExplainOptions
from tare.commands.report import run_report
from tare.commands.show import run_show
from tare.errors import JournalError
from tare.journal import large as large_journals
from tare.journal.result import ResultFolder, distrusted, make_trial_folder
from tare.measure.campaign import measure_campaign
from tare.measure.kept import kept_campaign
from tare.measure.unforeseen import TRACE, keep_trace
from tare.pipeline import analyse_result, run_campaign
from tare.statistics.blocks import LEAST_BLOCKS

pytestmark = pytest.mark.usefixtures("fake_image")
BELOW = ("raw", "journal", "derived", "explain")
PRECIOUS = "years of work"
_MEASURED: dict[str, bytes] = {}
"""Measured once, by whichever test is the first."""


@pytest.fixture
def result(tmp_path: Path) -> Path:
    if not _MEASURED:
        run_campaign(fake_request(fake_campaign(blocks=LEAST_BLOCKS), tmp_path / "first"), Listener())
        for path in (tmp_path / "first").rglob("*.json*"):
            _MEASURED[path.relative_to(tmp_path / "first").as_posix()] = path.read_bytes()
    put(tmp_path / "result", _MEASURED)
    return tmp_path / "result"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder with a file, outside the result."""
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "file").write_text(PRECIOUS)
    return tmp_path / "victim"


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_journals, "LARGE_JOURNAL_BYTE", 0)


def untouched(victim: Path) -> bool:
    return {path.name: path.read_text() for path in victim.iterdir()} == {"file": PRECIOUS}


def go_on(result: Path) -> None:
    measure_campaign(fake_request(fake_campaign(blocks=LEAST_BLOCKS), result), Listener())


def as_a_link(place: Path, victim: Path) -> None:
    """What is there can be read as before."""
    if place.exists():
        victim = place.rename(place.with_name(f"{place.name}-away"))
    place.symlink_to(victim)


def as_everybodys(place: Path, _: Path) -> None:
    place.mkdir(exist_ok=True)
    place.chmod(0o777)


def as_anothers(place: Path, _: Path) -> None:
    place.mkdir(exist_ok=True)
    os.chown(place, USER, USER)


PREPARED = [
    pytest.param(as_a_link, "is a link", id="link"),
    pytest.param(as_everybodys, "can be written by every user", id="everybody's"),
    pytest.param(as_anothers, f"belongs to user {USER}", id="another's", marks=AS_ROOT),
]


@pytest.mark.parametrize("name", [".", *BELOW])
@pytest.mark.parametrize(("prepare", "words"), PREPARED)
def test_no_run_report_or_explanation_goes_into_a_folder_that_another_prepared(
    prepare: Callable[[Path, Path], None], words: str, name: str, result: Path, victim: Path
) -> None:
    prepare(result / name, victim)
    for attempt in (
        lambda: go_on(result),
        lambda: run_report(result, None),
        lambda: run_explain(result, ExplainOptions(), as_json=False),
    ):
        with pytest.raises(JournalError, match=words) as caught:
            attempt()
        assert str(result / name) in str(caught.value)
        assert "choose another --output" in str(caught.value)
        assert "chown" in str(caught.value)
    assert untouched(victim)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(("prepare", "_words"), PREPARED)
def test_show_reads_it_all_the_same_and_writes_nothing_there(
    prepare: Callable[[Path, Path], None],
    _words: str,
    result: Path,
    victim: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    prepare(result / "derived", victim)
    before = sorted(result.rglob("*"))
    assert run_show(result, as_json=False, show_all=False) == 0
    assert "overhead against native" in " ".join(capsys.readouterr().out.split())
    assert sorted(result.rglob("*")) == before
    assert list((tmp_path / "temporary").iterdir()) == []
    assert untouched(victim)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("name", ["outcomes.parquet", "samples.parquet", "state.json", ".state.json"])
@pytest.mark.parametrize("hard", [False, True])
def test_a_link_in_ones_own_copy_of_a_result_is_replaced_and_not_followed(
    name: str, hard: bool, result: Path, victim: Path
) -> None:
    """tar(1) gives whoever unpacks it all that is in an archive, links too."""
    (result / "derived").mkdir()
    if hard:
        (result / "derived" / name).hardlink_to(victim / "file")
    else:
        (result / "derived" / name).symlink_to(victim / "file")
    assert analyse_result(result).outcomes
    assert untouched(victim)
    assert (result / "derived" / "state.json").is_file()


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("name", ["outcomes.parquet", "state.json"])
def test_a_pipe_among_what_is_derived_is_not_waited_for(name: str, result: Path) -> None:
    analyse_result(result)
    (result / "derived" / name).unlink()
    os.mkfifo(result / "derived" / name)
    assert analyse_result(result).outcomes


def test_the_kept_noise_is_not_written_through_a_link(result: Path, victim: Path) -> None:
    folder, analysis = ResultFolder(result), analyse_result(result)
    folder.noise.symlink_to(victim / "file")
    noise.keep(analysis, kept_campaign(folder), folder)
    assert untouched(victim)
    assert folder.noise.is_file()
    assert not folder.noise.is_symlink()


def test_no_output_of_a_trial_goes_through_a_link(tmp_path: Path, victim: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "trial").symlink_to(victim)
    with pytest.raises(JournalError, match="is a link"):
        make_trial_folder(raw / "trial")
    keep_trace(raw / "trial", ValueError("unforeseen"))
    assert untouched(victim)
    make_trial_folder(raw / "other")
    (raw / "other" / TRACE).symlink_to(victim / "file")
    keep_trace(raw / "other", ValueError("unforeseen"))
    assert untouched(victim)
    assert "unforeseen" in (raw / "other" / TRACE).read_text()


def test_a_run_trusts_what_it_made_itself_whatever_the_mask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        go_on(tmp_path / "result")
        go_on(tmp_path / "result")
    finally:
        os.umask(before)
    folders = [path for path in (tmp_path / "result").rglob("*") if path.is_dir()]
    assert folders
    assert not [path for path in folders if stat.S_IMODE(path.stat().st_mode) & 0o022]


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give folders away")
@pytest.mark.parametrize("pretended", ["", "no number", "0"])
def test_under_sudo_the_folder_of_whoever_asked_is_good_and_no_others(
    pretended: str, result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (result, result / "journal"):
        os.chown(path, USER, USER)
    monkeypatch.setenv("SUDO_UID", pretended)
    assert distrusted(ResultFolder(result)) == f"{result} belongs to user {USER}"
    monkeypatch.setenv("SUDO_UID", str(USER))
    assert distrusted(ResultFolder(result)) is None


def test_a_large_result_without_the_library_that_reads_it_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ResultFolder(tmp_path)
    folder.journal.mkdir()
    monkeypatch.setattr(large_journals, "LARGE_JOURNAL_BYTE", 0)
    monkeypatch.setattr(large_journals, "find_spec", lambda _: None)
    with pytest.raises(JournalError, match=r"tare\[large\]"):
        large_journals.read_result(folder)
