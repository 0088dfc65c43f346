# SPDX-License-Identifier: Apache-2.0
"""``tare image prune``: what no result needs goes, once the user agrees."""

import json
from pathlib import Path

import pytest

from tare.commands.prune import run_prune
from tare.errors import InputError
from tare.image import Image, find_image, in_use, list_images
from tare.image.store import install
from tare.journal.result import CAMPAIGN_FILE, ResultFolder
from tare.measure.known_results import known_results, remember


def made(state: Path, name: str) -> Image:
    root = state / "images" / ".staged" / "rootfs"
    root.mkdir(parents=True)
    (root / "named").write_text(name)
    return install(root.parent, name, {"source": {"kind": "import", "path": f"{name}.tar"}})


def result(folder: Path, image: Image) -> ResultFolder:
    folder.mkdir()
    (folder / CAMPAIGN_FILE).write_text("{}")
    measured = ResultFolder(folder)
    remember(measured, image.digest)
    return measured


@pytest.fixture
def images(state: Path, tmp_path: Path) -> list[Image]:
    """The default image, one with a result, one whose result was deleted, and one that was never run."""
    made_images = [made(state, name) for name in ("default", "kept", "deleted", "never")]
    result(tmp_path / "of kept", made_images[1])
    (result(tmp_path / "gone", made_images[2]).path / CAMPAIGN_FILE).unlink()
    return made_images


def names() -> list[str]:
    return [image.name for image in list_images()]


@pytest.mark.usefixtures("images")
def test_what_is_kept_and_why_and_what_goes_is_listed_with_sizes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run_prune(as_json=False, asks=True, dry_run=True) == 0
    assert capsys.readouterr().out.splitlines() == [
        "kept default: it is used where no other is named",
        f"kept kept: the result {tmp_path}/of kept needs it",
        "unneeded deleted, 7 B, imported from deleted.tar",
        "unneeded never, 5 B, imported from never.tar",
        "2 images that no result needs, 12 B in all",
    ]
    assert names() == ["default", "deleted", "kept", "never"]


@pytest.mark.usefixtures("images")
def test_where_nobody_can_be_asked_nothing_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    with pytest.raises(InputError, match="add --yes"):
        run_prune(as_json=False, asks=True, dry_run=False)
    assert len(names()) == 4


@pytest.mark.usefixtures("images")
@pytest.mark.parametrize(("answer", "left"), [("y\n", 2), ("\n", 4), ("no\n", 4), ("", 4)])
def test_only_a_yes_removes_them(answer: str, left: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return answer

    monkeypatch.setattr("sys.stdin", Terminal())
    if left == 4:
        with pytest.raises(InputError, match="nothing was removed"):
            run_prune(as_json=False, asks=True, dry_run=False)
    else:
        run_prune(as_json=False, asks=True, dry_run=False)
    assert len(names()) == left


def test_an_image_in_use_stays_and_is_said(images: list[Image], capsys: pytest.CaptureFixture[str]) -> None:
    with in_use(images[3]):
        assert run_prune(as_json=True, asks=False, dry_run=False) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["removed"] == ["deleted"]
    assert [kept["name"] for kept in document["kept"]] == ["default", "kept", "never"]
    assert find_image("never") == images[3]
    run_prune(as_json=False, asks=False, dry_run=False)
    assert capsys.readouterr().out.endswith("removed 1 image, 5 B\n")
    run_prune(as_json=False, asks=True, dry_run=False)
    assert capsys.readouterr().out.endswith("there is nothing to remove\n")


def test_a_result_is_remembered_once_and_a_damaged_line_is_passed_over(
    images: list[Image], state: Path, tmp_path: Path
) -> None:
    with (state / "results.jsonl").open("a") as lines:
        lines.write('{"result": 3\n[]\n{"result": "/", "image": "x"}\n')
    remember(ResultFolder(tmp_path / "of kept"), images[3].digest)
    assert list(known_results()) == [(f"{tmp_path}/of kept", images[3].digest)]
