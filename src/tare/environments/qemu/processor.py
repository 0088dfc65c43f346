# SPDX-License-Identifier: Apache-2.0
"""The CPU flags of a guest's processor, read from QEMU with the very arguments that start the guest.

A machine with these arguments is created but not started, and its first processor's properties are read: the model's
features, minus those that the accelerator cannot provide (QEMU's docs/interop/qmp-spec and qom-get).
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from tare.environments.qemu.command import PROGRAM, accelerator_words, cpu_words
from tare.environments.qemu.options import Accelerator, QemuOptions
from tare.errors import NodeError
from tare.host import process
from tare.host.scratch import scratch_folder
from tare.untrusted import object_from_json

DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")
"""The prefix of a QEMU that would otherwise survive if this process were killed (setpriv(1))."""

_LIMIT_S = 20.0
_MEMORY = "64M"
_PROCESSOR = "/machine/unattached/device[0]"
"""QEMU's place for the first processor; its type is checked before it is believed."""
_TYPE = "type"
_KIND = "-cpu"
_OTHER_NAMES = {"sse4_1": "sse4.1", "sse4_2": "sse4.2"}
"""Flag in /proc/cpuinfo → QEMU's property, where replacing ``_`` by ``-`` does not give it."""
_MOST_SAID_BYTE = 1 << 16
"""The capacity of a pipe (pipe(7)); the answers are less than a tenth of it."""


@cache
def lacking_flags(options: QemuOptions, accelerator: Accelerator, flags: frozenset[str]) -> frozenset[str]:
    """The flags that a guest with these options lacks, read once; ``NodeError`` when QEMU does not report them."""
    argv = machine_words(options, accelerator)
    with scratch_folder("qemu") as folder, _pipes(folder) as (given, said):
        os.write(given, questions(flags))
        done = process.run([*DIES_WITH_US, *argv, *_monitor(folder)], timeout_s=_LIMIT_S)
        if done.code != 0:
            raise NodeError(f"QEMU does not report what its processor has: {done.last_words}")
        return lacking(os.read(said, _MOST_SAID_BYTE).decode(errors="replace"), flags)


def machine_words(options: QemuOptions, accelerator: Accelerator) -> list[str]:
    """The argv of a machine that has only a processor and does not run."""
    return [
        *(PROGRAM, "-nodefaults", "-no-user-config", "-display", "none", "-S", "-m", _MEMORY),
        *("-machine", options.machine, "-accel", accelerator_words(accelerator)),
        *("-cpu", cpu_words(options, accelerator)),
    ]


def questions(flags: frozenset[str]) -> bytes:
    """All commands for QEMU; the last one ends it."""
    asked = [_question(_TYPE, _TYPE), *(_question(flag, _property(flag)) for flag in sorted(flags))]
    spoken = [{"execute": "qmp_capabilities"}, *asked, {"execute": "quit"}]
    return b"".join(json.dumps(command).encode() + b"\n" for command in spoken)


def lacking(said: str, flags: frozenset[str]) -> frozenset[str]:
    """The missing flags, from all of QEMU's answers; a property that it does not know cannot be provided."""
    answers = {entry["id"]: entry for entry in _parsed(said.splitlines()) if isinstance(entry.get("id"), str)}
    kind = answers.get(_TYPE, {}).get("return")
    if not isinstance(kind, str) or not kind.endswith(_KIND) or not flags <= answers.keys():
        raise NodeError(f"QEMU does not report what its processor has: {said[-200:]!r}")
    return frozenset(flag for flag in flags if answers[flag].get("return") is not True)


def _question(name: str, asked: str) -> Mapping[str, object]:
    return {"execute": "qom-get", "id": name, "arguments": {"path": _PROCESSOR, "property": asked}}


def _property(flag: str) -> str:
    return _OTHER_NAMES.get(flag, flag.replace("_", "-"))


def _parsed(lines: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        with suppress(ValueError):
            yield object_from_json(line)


@contextmanager
def _pipes(folder: Path) -> Iterator[tuple[int, int]]:
    """Both of a monitor's pipes, held open here: commands sent before QEMU starts wait there (fifo(7))."""
    ends = []
    try:
        for name in ("monitor.in", "monitor.out"):
            os.mkfifo(folder / name, 0o600)
            ends.append(os.open(folder / name, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
        yield ends[0], ends[1]
    finally:
        for end in ends:
            os.close(end)


def _monitor(folder: Path) -> list[str]:
    return ["-chardev", f"pipe,id=monitor,path={folder / 'monitor'}", "-mon", "chardev=monitor,mode=control"]
