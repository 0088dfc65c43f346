# SPDX-License-Identifier: Apache-2.0
"""Files of a guest's work directory, there and back, through any command that enters the guest: nothing is shared.

``tar`` takes them there. A script for the guest's own shell sends files back, and the guest may lie: sizes are
checked, and nothing is written except below the requested names.
"""

import io
import os
import tarfile
from collections.abc import Sequence
from pathlib import Path

from tare.errors import NodeError
from tare.host import process
from tare.host.privileges import ordinary_user
from tare.units import MEBIBYTE

WHOLE_BYTE = 16 * MEBIBYTE
"""Of longer files only the ends are fetched: nobody reads the rest."""
END_BYTE = MEBIBYTE // 2
_LONGEST_BYTE = 1 << 40
"""No file of a benchmark's output is longer."""
_LINE_BYTE = 32
_EXCERPT_BYTE = 2000
_LIMIT_S = 600.0
"""A serial line moves 100 kB/s."""

_TELL = """
cd "$0" || exit
whole=$1 end=$2
shift 2
for name do
    if [ -f "$name" ] && [ ! -L "$name" ]; then
        size=$(wc -c < "$name")
        echo $size
        if [ $size -le $whole ]; then head -c $size "$name"; else head -c $end "$name"; tail -c $end "$name"; fi
    else
        echo -
    fi
done
"""


def send(prefix: Sequence[str], work: Path, names: Sequence[str], inside: str) -> None:
    """Send files, and folders with everything in them, as they are below ``work`` here, with their owners."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in names:
            archive.add(work / name, arcname=name, filter=_owned_by_number)
    _exchange([*prefix, "tar", "-x", "-p", "-C", inside, "-f", "-"], packed.getvalue())


def fetch(prefix: Sequence[str], work: Path, names: Sequence[str], inside: str) -> None:
    """Fetch the regular files that exist among ``names``. The middle of a file that nobody reads whole stays away."""
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return
    answer = _exchange(
        [*prefix, "sh", "-c", _TELL, inside, str(WHOLE_BYTE), str(END_BYTE), *wanted], b"", _most_byte(wanted)
    )
    place(answer, work, wanted)


def _most_byte(names: Sequence[str]) -> int:
    """The most that an honest script sends for so many files, complaints included."""
    return len(names) * (WHOLE_BYTE + _LINE_BYTE) + MEBIBYTE


def place(answer: bytes, work: Path, names: Sequence[str]) -> None:
    """Write the files that the guest's script sent; ``NodeError`` when the answer is torn or something else."""
    stream = io.BytesIO(answer)
    for name in names:
        line = stream.readline(_LINE_BYTE).strip()
        if line == b"-":
            continue
        if not line.isdigit() or int(line) > _LONGEST_BYTE:
            raise NodeError(f"the guest did not report the size of {name}", line.decode(errors="replace"))
        _write(work / name, int(line), stream)
    if stream.read(1):
        raise NodeError("the guest sent more than the files that were asked for")


def _write(path: Path, size: int, stream: io.BytesIO) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for offset, length in _pieces(size):
            content = stream.read(length)
            if len(content) != length:
                raise NodeError(
                    f"{path.name} came out of the guest cut short: does something still write it?"
                )
            file.seek(offset)
            file.write(content)
        os.truncate(file.fileno(), size)


def _pieces(size: int) -> list[tuple[int, int]]:
    """Offset and length of each piece that is sent."""
    if size <= WHOLE_BYTE:
        return [(0, size)]
    return [(0, END_BYTE), (size - END_BYTE, END_BYTE)]


def _owned_by_number(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Keep the runner's owners if the runner is root, else the guest's root; ``None`` for sockets and the like."""
    if not (member.isdir() or member.isreg() or member.issym()):
        return None
    if ordinary_user():
        member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def _exchange(argv: Sequence[str], given: bytes, most_byte: int = process.MOST_PRINTED_BYTE) -> bytes:
    """What a command in the guest prints; ``NodeError`` if the channel is closed, too slow, or flooded."""
    done = process.exchange(argv, given, timeout_s=_LIMIT_S, most_byte=most_byte)
    if done.code != 0:
        said = done.stderr[-_EXCERPT_BYTE:].decode(errors="replace").strip()
        raise NodeError(f"files cannot be brought into or out of the guest: {said or done.code}")
    return done.stdout
