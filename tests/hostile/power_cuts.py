# SPDX-License-Identifier: Apache-2.0
"""The power fails between any two system calls of a campaign: what was not fsynced is gone, names as well as contents.

strace(1) records what the runner does to the result's folder. For each moment the folder is made as a disk would hold
it that keeps nothing it was not told to keep (fsync(2): a file's contents, and the names in a folder, each by itself).
Whatever the moment: every trial that the runner had reported stands in the journal, nothing is read that was never
written, and the same command completes the result.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tare.errors import TareError
from tare.journal.reader import read_journal
from tests.hostile.stage import Stage, staged

CALLS = "openat,write,pwrite64,ftruncate,fsync,fdatasync,mkdir,rename,unlink,rmdir"
_CALL = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+)(?:<(.*)>)?")
_TEXT = r'"((?:\\x[0-9a-f]{2})*)"'
_FILE = r"(\d+)<([^>]*)>"


@dataclass
class Kept:
    """A file or folder, as it is, and as the disk holds it."""

    now: bytearray = field(default_factory=bytearray)
    on_disk: bytes = b""
    names: dict[str, "Kept"] | None = None
    names_on_disk: dict[str, "Kept"] = field(default_factory=dict)

    def sync(self) -> None:
        self.on_disk = bytes(self.now)
        self.names_on_disk = dict(self.names or {})


class Disk:
    """The folder ``top`` and all below it; what happens elsewhere is not looked at."""

    def __init__(self, top: Path) -> None:
        self._top = top.parent
        self._root = Kept(names={})

    def at(self, path: str) -> Kept | None:
        """``None``: not there, or not below the folder."""
        parts = self._parts(path)
        entry: Kept | None = self._root if parts is not None else None
        for part in parts or ():
            entry = (entry.names or {}).get(part) if entry else None
        return entry

    def put(self, path: str, entry: Kept | None) -> None:
        parts = self._parts(path)
        folder = self.at(str(Path(path).parent))
        if not parts or folder is None or folder.names is None:
            return
        if entry is None:
            folder.names.pop(parts[-1], None)
        else:
            folder.names[parts[-1]] = entry

    def write_to(self, folder: Path) -> None:
        """As it is after the power has come back."""
        _materialize(self._root, folder)

    def _parts(self, path: str) -> tuple[str, ...] | None:
        place = Path(path)
        return place.relative_to(self._top).parts if place.is_relative_to(self._top) else None


def _materialize(entry: Kept, place: Path) -> None:
    if entry.names is None:
        place.write_bytes(entry.on_disk)
        return
    place.mkdir(exist_ok=True)
    for name, below in entry.names_on_disk.items():
        _materialize(below, place / name)


def apply(line: str, disk: Disk) -> bool:
    """Do to ``disk`` what the call of a line of the trace did; whether it concerned it."""
    called = _CALL.match(line)
    if not called or int(called[3]) < 0:
        return False
    call, arguments = called[1], called[2]
    if call == "openat":
        return _open(arguments, called[4], disk)
    if call in {"mkdir", "rename", "unlink", "rmdir"}:
        return _rename(call, [_decoded(text) for text in re.findall(_TEXT, arguments)], disk)
    file = re.match(_FILE, arguments)
    entry = disk.at(_decoded_name(file[2])) if file else None
    if entry is None:
        return False
    if call in {"fsync", "fdatasync"}:
        entry.sync()
    elif call == "ftruncate":
        size = int(arguments.rpartition(",")[2])
        entry.now = entry.now[:size].ljust(size, b"\0")
    else:
        _write(call, entry, arguments, int(called[3]))
    return True


def _open(arguments: str, path: str | None, disk: Disk) -> bool:
    name = _decoded_name(path or "")
    if not re.search("O_CREAT|O_TRUNC", arguments) or disk.at(str(Path(name).parent)) is None:
        return False
    entry = disk.at(name)
    if entry is None:
        disk.put(name, Kept())
    elif "O_TRUNC" in arguments:
        entry.now = bytearray()
    return True


def _rename(call: str, paths: list[str], disk: Disk) -> bool:
    if not paths or disk.at(str(Path(paths[-1]).parent)) is None:
        return False
    if call == "mkdir":
        disk.put(paths[0], Kept(names={}))
    elif call == "rename":
        disk.put(paths[1], disk.at(paths[0]))
        disk.put(paths[0], None)
    else:
        disk.put(paths[0], None)
    return True


def _write(call: str, entry: Kept, arguments: str, count: int) -> None:
    text = re.search(_TEXT, arguments)
    data = _bytes(text[1])[:count] if text else b""
    start = int(arguments.rpartition(",")[2]) if call == "pwrite64" else len(entry.now)
    entry.now[start : start + len(data)] = data


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace(r"\x", ""))


def _decoded(text: str) -> str:
    return _bytes(text).decode(errors="replace")


def _decoded_name(name: str) -> str:
    """strace writes a descriptor's path in hexadecimal as well."""
    return _decoded(name) if re.fullmatch(r"(?:\\x[0-9a-f]{2})+", name) else name


def record(stage: Stage) -> Path:
    """The runner's calls in an undisturbed run, contents included."""
    trace = stage.folder / "trace"
    ran = stage.run("strace", "-y", "-xx", "-s", "10000000", "-o", str(trace), "-e", f"trace={CALLS}")
    assert ran.exit_code == 0, ran.said
    return trace


def moments(trace: Path, top: Path) -> Iterator[tuple[int, str, Disk, int]]:
    """After each call that concerns the result: its number, its line, the disk, and how many trials were reported."""
    disk, reported = Disk(top), 0
    with trace.open(errors="replace") as lines:
        for number, line in enumerate(lines):
            reported += _is_report(line)
            if apply(line, disk):
                yield number, _shown(line), disk, reported


def _shown(line: str) -> str:
    return re.sub(r"(?:\\x[0-9a-f]{2})+", lambda match: _decoded(match[0]), line.strip())[:120]


def _is_report(line: str) -> bool:
    written = re.match(rf"write\(2<.*?>, {_TEXT}", line)
    return bool(written) and re.match(rb"\[\d+/\d+\]", _bytes(written[1] if written else "")) is not None


def attack(stage: Stage, disk: Disk, reported: int, whole: set[str], *, to_the_end: bool) -> str | None:
    """What is lost at this moment; ``None``: nothing."""
    stage.begin_anew()
    disk.write_to(stage.result.parent)
    try:
        outcomes = read_journal(stage.result / "journal").outcomes
    except TareError as error:
        return f"the journal cannot be read: {error}"
    if len(outcomes) < reported:
        return f"{reported} trials were reported, {len(outcomes)} are there"
    if strange := {outcome.trial.identity for outcome in outcomes} - whole:
        return f"trials that never were: {strange}"
    if not to_the_end:
        return None
    again = stage.run()
    if again.exit_code != 0 or again.fault():
        return f"cannot be continued (exit code {again.exit_code}): {again.said[-600:]}"
    return "; ".join(stage.lost()) or None


def attack_all(completed: int, seed: int) -> tuple[int, int, list[str]]:
    """Every moment is read; ``completed`` of them, drawn by the seed, are continued to the end."""
    faults: list[str] = []
    with staged() as stage:
        trace = record(stage)
        seen = [number for number, *_ in moments(trace, stage.result)]
        whole = {outcome.trial.identity for outcome in read_journal(stage.result / "journal").outcomes}
        chosen = set(random.Random(seed).sample(seen, min(completed, len(seen))))  # noqa: S311 - a choice
        for number, line, disk, reported in moments(trace, stage.result):
            if fault := attack(stage, disk, reported, whole, to_the_end=number in chosen):
                faults.append(f"after call {number} ({line}): {fault}")
                print(faults[-1], flush=True)
    return len(seen), len(chosen), faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="so many are continued to the end")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    read, completed, faults = attack_all(asked.count, asked.seed)
    print(
        f"power cuts: {read} moments read, {completed} continued (seed {asked.seed}), {len(faults)} lost something"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
