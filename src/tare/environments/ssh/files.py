# SPDX-License-Identifier: Apache-2.0
"""Files of a node's work directory, from here to the other host and back."""

import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TypedDict

from tare.environments.ssh.channel import Ask, Channel
from tare.environments.ssh.connection import Far, failed, variables
from tare.errors import NodeError
from tare.host.privileges import ordinary_user
from tare.host.process import tool_environment
from tare.host.trees import entries_below

_CHECK_LIMIT_S = 900.0
_CARRY_LIMIT_S = 4 * 3600.0
_LONGEST_BYTE = 1 << 40
"""No file of a benchmark's output is longer."""
_PAIR = 2
_sending = threading.BoundedSemaphore(8)
"""Images on their way at the same time: more would only share this host's line to the network."""


class _Place(TypedDict):
    into: str | None
    """``None``: it is already there."""


def carry(far: Far, channel: Channel, image_root: Path, image_digest: str) -> None:
    """Copy the image there if needed; ``NodeError`` if it cannot be sent, or arrives changed."""
    seen = far.seen(image_root)
    into = channel.ask("find image", digest=image_digest, seen=seen, limit_s=_CHECK_LIMIT_S).told(_Place)[
        "into"
    ]
    if into is not None:
        with _sending:
            _send(far, image_root, into)
        channel.ask("finish image", limit_s=_CHECK_LIMIT_S)


def _send(far: Far, image_root: Path, into: str) -> None:
    """From tar here to tar there, with owners, modes, links and extended attributes (tar(1))."""
    kept = ("--numeric-owner", "--xattrs")
    pack = ["tar", *kept, "-C", str(image_root), "-c", "."]
    unpack = far.command("tar", *kept, "--xattrs-include=*", "--preserve-permissions", "-C", into, "-x")
    environment = {**tool_environment(), **variables()}
    with tempfile.TemporaryFile() as said:
        # Leaving the inner block closes our end of the pipe, so that a tar without a reader ends too.
        with subprocess.Popen(pack, stdout=subprocess.PIPE, stderr=said, env=environment) as packer:
            code = _unpack([*far.ssh(), unpack], packer, said, environment)
        if code != 0 or packer.returncode != 0:
            said.seek(0)
            words = said.read().decode(errors="replace")
            raise failed(far, code, words) or NodeError(
                f"the image cannot be sent to {far.host}: {_first_error(words)}{_remedy(far)}", words
            )


def _first_error(words: str) -> str:
    """What went wrong first: the last line only says that something did."""
    return next(iter(words.strip().splitlines()), "it said nothing")


def _remedy(far: Far) -> str:
    if not ordinary_user():
        return ""
    return (
        "; an ordinary user can carry only an image of their own (tare image build), or use one that "
        f"{far.host} has at the same place, such as on a shared file system"
    )


def _unpack(
    argv: list[str], packer: "subprocess.Popen[bytes]", said: IO[bytes], environment: Mapping[str, str]
) -> int:
    try:
        done = subprocess.run(
            argv,
            stdin=packer.stdout,
            stdout=subprocess.DEVNULL,
            stderr=said,
            timeout=_CARRY_LIMIT_S,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise NodeError(f"the image did not arrive within {_CARRY_LIMIT_S / 3600:.0f} h") from error
    return done.returncode


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
