# SPDX-License-Identifier: Apache-2.0
"""Files of a node's work directory, from here to the other host and back."""

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from tare.environments.ssh.channel import Ask
from tare.errors import NodeError
from tare.host.privileges import ordinary_user
from tare.host.trees import entries_below

_LONGEST_BYTE = 1 << 40
"""No file of a benchmark's output is longer."""
_PAIR = 2


class _File(TypedDict):
    name: str
    whole: int
    pieces: list[list[int]]
    """Offset and length of each."""


class _Files(TypedDict):
    files: list[_File]


def send(ask: Ask, work: Path, names: Sequence[str]) -> None:
    """Send files, and folders with everything in them, as they are below ``work``; with their owners if we are root."""
    entries, parts = [], []
    for path in (path for name in names for path in _below(work / name)):
        status = path.stat()
        is_folder = stat.S_ISDIR(status.st_mode)
        content = b"" if is_folder else path.read_bytes()
        name, mode = str(path.relative_to(work)), stat.S_IMODE(status.st_mode)
        owner = None if ordinary_user() else (status.st_uid, status.st_gid)
        size = None if is_folder else len(content)
        entries.append({"name": name, "mode": mode, "owner": owner, "size": size})
        parts.append(content)
    ask("put", entries=entries, content=b"".join(parts))


def fetch(ask: Ask, work: Path, names: Sequence[str]) -> None:
    """Fetch the existing files among ``names``. The middle of a file longer than anybody reads stays away."""
    answer = ask("get", names=list(names))
    at = 0
    for entry in answer.told(_Files)["files"]:
        if entry["name"] not in names:
            raise NodeError(f"the other host sent {entry['name']!r}, for which nobody asked")
        path = work / entry["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as opened:
            _refuse_impossible(entry)
            for offset, length in entry["pieces"]:
                opened.seek(offset)
                opened.write(answer.content[at : at + length])
                at += length
            opened.truncate(entry["whole"])


def _refuse_impossible(entry: _File) -> None:
    pairs = [pair for pair in entry["pieces"] if len(pair) == _PAIR]
    fit = len(pairs) == len(entry["pieces"]) and 0 <= entry["whole"] <= _LONGEST_BYTE
    if not fit or not all(0 <= start <= start + length <= entry["whole"] for start, length in pairs):
        raise NodeError(f"the other host sent pieces of {entry['name']!r} that make no file")


def _below(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir():
        yield from sorted(Path(entry.path) for entry in entries_below(path))
