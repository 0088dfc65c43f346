# SPDX-License-Identifier: Apache-2.0
"""The first view of a result: at once where an earlier reading kept it, and never of other files than there are."""

import fcntl
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bench import fake_results

from tare.journal.result import ResultFolder
from tare.pipeline import analyse_result
from tare.serve import first_view
from tare.serve.book import Book
from tare.serve.follow import Follower
from tare.serve.shelf import Shelf
from tare.serve.version import version_of
from tests.serve.serve_example import (
    LIMIT_S,
    Client,
    GrowingJournal,
    make_result,
    reading_held,
    result_named,
    serving,
)

READING = "are being read; they follow here"


@pytest.fixture(autouse=True)
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_view, "LEAST_BYTE", 0)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result without a first view beside it."""
    return make_result(tmp_path_factory.mktemp("results") / "plain")


@pytest.fixture(scope="module")
def book(plain: Path) -> Book:
    return Book(analysis=analyse_result(plain), version=version_of(plain))


def keep(book: Book, path: Path) -> Path:
    """Keep a view of the result at this path."""
    own = Book(analysis=book.analysis, version=version_of(path))
    first_view.keep(own, path, Follower(ResultFolder(path)).progress())
    return ResultFolder(path).derived / first_view.FILE


def is_believed(path: Path) -> bool:
    return first_view.kept_book(path, version_of(path)) is not None


@pytest.fixture
def copied(plain: Path, book: Book, tmp_path: Path) -> Path:
    """A result with a first view that is believed."""
    path = Path(shutil.copytree(plain, tmp_path / "copied"))
    keep(book, path)
    assert is_believed(path)
    return path


def until(holds: Callable[[], object]) -> None:
    end_s = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.01)


def test_the_next_server_shows_the_same_pages_at_once_and_the_samples_once_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_result(tmp_path / "hostile", is_hostile=True)
    queries = ("", "?metric=%2A", "?environment=arm1", "?block=3", "?environment=nosuch")
    with serving(tmp_path) as client:
        own = result_named(client.enters(), "hostile")
        whole = [client.read(f"{own}{query}").text for query in queries]
        point = re.findall(r"point=([0-9a-f]{12})", whole[0])[0]
        behind = client.get(f"{own}?point={point}").text
        until((path / "derived" / first_view.FILE).is_file)
    with reading_held(monkeypatch) as goes_on, serving(tmp_path) as client:
        client.enters()
        assert [client.get(f"{own}{query}").text for query in queries] == whole
        early = client.get(f"{own}?point={point}").text
        assert READING in early
        assert '<th scope="row">block 3</th>' in early
        assert "<div data-wait>" in client.get(f"{own}/host").text
        goes_on.set()
        until(lambda: READING not in client.get(f"{own}?point={point}").text)
        assert client.get(f"{own}?point={point}").text == behind


def test_while_a_result_is_read_its_page_tells_of_campaign_host_and_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_result(tmp_path / "plain")
    with reading_held(monkeypatch), serving(tmp_path) as client:
        text = client.enters().get(result_named(client, "plain")).text
    assert "<div data-wait>" in text
    assert "<h1>fakes</h1>" in text
    assert "Ended: 40 of 40 trials." in text
    for known in ("<div>native</div>", "<div>arm2 (fake)</div>", "<div>work (fake)</div>", "<div>6.1</div>"):
        assert known in text


def in_place(path: Path) -> None:
    """Change a byte, and put the time of change back."""
    before = path.stat()
    with path.open("r+b") as opened:
        opened.seek(before.st_size // 2)
        byte = opened.read(1)
        opened.seek(-1, os.SEEK_CUR)
        opened.write(b"8" if byte != b"8" else b"9")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(path: Path) -> None:
    """Put an equal file of the same time in its place."""
    other = Path(shutil.copy2(path, path.with_suffix(".copy")))
    other.replace(path)


def grown(path: Path) -> None:
    with path.open("ab") as opened:
        opened.write(b"{}\n")


def new(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (in_place, f"journal/{fake_results._FILE}"),
        (replaced, f"journal/{fake_results._FILE}"),
        (grown, f"journal/{fake_results._FILE}"),
        (Path.unlink, f"journal/{fake_results._FILE}"),
        (in_place, "campaign.json"),
        (new, "journal/20270101T000000.000000Z-later.jsonl"),
        (new, "calibration.json"),
        (new, "explain/calls.json"),
        (new, "explain/child/campaign.json"),
    ],
)
def test_a_view_of_other_files_is_never_shown(
    copied: Path, change: Callable[[Path], None], name: str
) -> None:
    change(copied / name)
    assert not is_believed(copied)


def test_a_view_that_came_with_a_copy_is_not_believed(copied: Path, tmp_path: Path) -> None:
    again = Path(shutil.copytree(copied, tmp_path / "again"))  # with all times
    assert (again / "derived" / first_view.FILE).is_file()
    assert not is_believed(again)


def test_a_view_of_other_code_is_not_believed(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_view, "_code", lambda: "0.0.1 00000000")
    assert not is_believed(copied)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def linked(path: Path) -> None:
    path.symlink_to(path.rename(path.with_suffix(".moved")))


def writable(path: Path) -> None:
    path.chmod(0o666)


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder_linked(path: Path) -> None:
    path.parent.symlink_to(path.parent.rename(path.parent.with_name("elsewhere")))


@pytest.mark.parametrize("spoil", [in_place, cut, empty, linked, writable, pipe, folder_linked, Path.unlink])
def test_a_view_that_is_broken_or_not_this_users_alone_is_not_believed(
    copied: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(copied / "derived" / first_view.FILE)
    assert not is_believed(copied)


def test_a_result_that_is_small_or_being_measured_gets_no_view(
    book: Book, plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = Path(shutil.copytree(plain, tmp_path / "live"))
    GrowingJournal(live).begin(22)
    assert not keep(book, live).exists()
    monkeypatch.setattr(first_view, "LEAST_BYTE", 1 << 20)
    assert not keep(book, Path(shutil.copytree(plain, tmp_path / "small"))).exists()


def test_a_view_is_not_kept_of_files_that_changed_since_they_were_read(
    book: Book, plain: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copytree(plain, tmp_path / "changed"))
    before = Book(analysis=book.analysis, version=version_of(path))
    in_place(path / "campaign.json")
    first_view.keep(before, path, Follower(ResultFolder(path)).progress())
    assert not (path / "derived").exists()


def test_the_end_of_a_run_keeps_the_view_unless_another_runner_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake_results, "_FILE", "2026-01-01T00:00:00.000+00:00-bench.jsonl")
    path = make_result(tmp_path / "run")
    analysis = analyse_result(path)
    new(path / "journal" / "2027-01-01T00:00:00.000+00:00-later.jsonl")
    first_view.keep_own(analysis, path)
    assert not (path / "derived").exists()
    (path / "journal" / "2027-01-01T00:00:00.000+00:00-later.jsonl").unlink()
    first_view.keep_own(analysis, path)
    assert is_believed(path)


def test_the_newest_result_is_read_before_anybody_asks_unless_it_is_being_measured(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copytree(plain, tmp_path / "one"))
    shelf = Shelf([tmp_path])
    (entry,) = shelf.entries()
    with ResultFolder(path).lock.open("w") as lock, monkeypatch.context() as patched:
        patched.setattr(Shelf, "_begin", lambda *_: pytest.fail("is being measured"))
        fcntl.flock(lock, fcntl.LOCK_EX)
        shelf.begin()
    shelf.begin()
    until(lambda: shelf.trials_read(entry) == 40)
    until((path / "derived" / first_view.FILE).is_file)


def test_what_could_not_be_read_is_read_again_once_it_has_changed(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copytree(plain, tmp_path / "mended"))
    (journal,) = path.glob("journal/*.jsonl")
    sound = journal.read_bytes()
    journal.write_bytes(b"x\n" * 100)
    monkeypatch.setattr("tare.serve.pages.PATIENCE_S", 0.0)
    with reading_held(monkeypatch) as goes_on, serving(tmp_path) as client:
        own = result_named(client.enters(), "mended")
        assert "<div data-wait>" in client.get(own).text
        goes_on.set()
        until(lambda: _has_failed(client))
        journal.write_bytes(sound)
        assert client.read(own).status == 200


def _has_failed(client: Client) -> bool:
    (place,) = client.server.shelf._known.values()
    return place.reading is not None and place.reading.done()
