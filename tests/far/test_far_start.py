# SPDX-License-Identifier: Apache-2.0
"""The program that ssh starts on the other host."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tare.environments.ssh.code import archive
from tare.far import start


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """The code as it is carried, where nothing else of Tare is."""
    (tmp_path / "code").mkdir()
    subprocess.run(["tar", "-C", str(tmp_path / "code"), "-xz"], input=archive(), check=True)
    return tmp_path / "code" / "tare" / "far" / "start.py"


def test_it_needs_nothing_but_pythons_own_library(unpacked: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(unpacked), str(tmp_path / "state")],
        input=b'{"do": "probe", "number": 7, "size": 0, "technology": "fake", "options": {}}\n',
        capture_output=True,
        check=False,
        timeout=60,
        cwd="/",
    )
    assert (done.returncode, done.stderr) == (0, b"")
    greeting, answer = map(json.loads, done.stdout.splitlines())
    assert set(greeting) == {"host", "kernel", "size"}
    assert (answer["number"], answer["usable"]) == (7, True)


def test_every_technology_is_carried_whole(unpacked: Path) -> None:
    """Each provider loads with Python's own library and the carried code alone."""
    script = f"""
import sys
sys.path.insert(0, {str(unpacked.parents[2])!r})
from tare.environments import PROVIDERS
for name in PROVIDERS:
    try:
        PROVIDERS[name]
    except ModuleNotFoundError as error:
        print(name, error.name)
"""
    argv = [sys.executable, "-I", "-S", "-c", script]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60, cwd="/")
    assert done.stdout == ""


def test_a_question_that_makes_no_sense_is_answered_with_an_error(unpacked: Path, tmp_path: Path) -> None:
    questions = [
        {"do": "dance", "number": 1, "size": 0},
        {"do": "get", "names": [], "number": 2, "size": 0},
        {"do": "finish image", "number": 3, "size": 0},
    ]
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(unpacked), str(tmp_path / "state")],
        input="".join(json.dumps(question) + "\n" for question in questions),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()[1:]]
    assert [answer["number"] for answer in answers] == [1, 2, 3]
    assert [answer["error"] for answer in answers] == [
        "KeyError: 'dance'",
        "no node was started over this connection",
        "no image was begun",
    ]


def test_an_old_python_says_that_it_is_old(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    assert start.main() == 1  # type: ignore[no-untyped-call]
    assert "its python3 is 3.9, and Tare needs 3.11 or newer" in json.loads(capsys.readouterr().out)["error"]


def test_an_old_python_can_read_it_so_far() -> None:
    ast.parse(Path(start.__file__).read_text(), feature_version=(3, 4))


def test_the_code_is_packed_alike_each_time() -> None:
    archive.cache_clear()
    first = archive()
    archive.cache_clear()
    assert archive() == first
