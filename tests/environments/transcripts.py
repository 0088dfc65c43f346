# SPDX-License-Identifier: Apache-2.0
"""Transcripts of tools that are not on this machine, and the fake tools that replay them.

A transcript is a text of calls. ``{name}`` in it stands for a place of the test's own; words are quoted as in a shell.

    # a remark
    $ tool word 'another word'     the call
      a further word               ... which goes on in indented lines
    > what it printed
    ! what it printed to standard error
    @ write PATH TEXT              what it did: write, link, folder or remove
    = 1                            its exit code, unless that is 0
"""

import json
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import REPOSITORY

from tare.host import process

_TOOL = Path(__file__).parent / "fake_tools" / "replay.py"
_OUTPUTS = REPOSITORY / "tests" / "outputs"


def parse(text: str, **places: object) -> list[dict[str, Any]]:
    """The calls of a transcript, its places filled in."""
    calls: list[dict[str, Any]] = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            _read(line, calls, places)
    return calls


def _read(line: str, calls: list[dict[str, Any]], places: dict[str, object]) -> None:
    mark, rest = line[0], line[2:]
    if mark == "$":
        calls.append({"argv": [], "stdout": "", "stderr": "", "code": 0, "acts": []})
    call = calls[-1]
    if mark in "$ ":
        call["argv"] += [word.format(**places) for word in shlex.split(rest)]
    elif mark in ">!":
        for name, place in places.items():
            rest = rest.replace(f"{{{name}}}", str(place))  # no format(): JSON has braces of its own
        call["stdout" if mark == ">" else "stderr"] += f"{rest}\n"
    elif mark == "@":
        kind, path, *text = (word.format(**places) for word in rest.split(maxsplit=2))
        call["acts"].append([kind, path, "".join(text)])
    elif mark == "=":
        call["code"] = int(rest)
    else:
        raise ValueError(f"a transcript has no such line: {line}")


@contextmanager
def replayed(
    monkeypatch: pytest.MonkeyPatch, folder: Path, transcript: str, *tools: str, **places: object
) -> Iterator[None]:
    """The tools of a transcript, such as ``vserver/start.txt``, and no others; all its calls must be made.

    ``tools`` are further ones to be found, which the transcript does not call.
    """
    calls = parse((_OUTPUTS / transcript).read_text(), **places)
    with only_tools(monkeypatch, folder, calls, {*tools, *(call["argv"][0] for call in calls)}):
        yield


@contextmanager
def only_tools(
    monkeypatch: pytest.MonkeyPatch, folder: Path, calls: list[dict[str, Any]], names: set[str]
) -> Iterator[None]:
    """Fake tools of these names, alone on the search path, that know these calls."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text(f"#!{sys.executable} -I\n{_TOOL.read_text()}")
        (folder / name).chmod(0o755)
    (folder / "calls.json").write_text(json.dumps(calls))
    with monkeypatch.context() as patched:
        patched.setenv("PATH", str(folder))
        patched.setattr(process, "_DEFAULT_PATH", str(folder))
        yield
    surprise = folder / "surprise.json"
    assert not surprise.exists(), surprise.read_text()
    assert json.loads((folder / "calls.json").read_text()) == []
