# SPDX-License-Identifier: Apache-2.0
"""Calls of VBoxManage, VirtualBox's command line, and its output (its manual, and VBoxManageInfo.cpp)."""

import re
import time
from collections.abc import Mapping

from tare.errors import NodeError
from tare.host import process, told

_LIMIT_S = 60.0
_LOCKED_LIMIT_S = 30.0
_PAUSE_S = 0.5
_LOCKED = ("is already locked", "being unlocked", "locked for a session", "locked by a session")
_UNKNOWN = ("VBOX_E_OBJECT_NOT_FOUND", "Could not find a registered machine")
_LINE = re.compile(r'^"?(?P<key>[^"=]+)"?=(?:"(?P<text>.*)"|(?P<plain>[^"]*))$')


def run(*words: str, limit_s: float = _LIMIT_S) -> process.Completed:
    """Run to the end, whatever its exit code. Each call may leave VirtualBox's own server running for a while."""
    return process.run(["VBoxManage", *words], timeout_s=limit_s, leaves_daemon=True)


def ask(*words: str, limit_s: float = _LIMIT_S) -> str:
    """Its output; ``NodeError`` with its complaint.

    A machine that was just switched off stays locked for a moment: the call is repeated until it is not.
    """
    deadline = time.monotonic() + _LOCKED_LIMIT_S
    while (done := run(*words, limit_s=limit_s)).code != 0:
        if not any(sign in done.stderr for sign in _LOCKED) or time.monotonic() > deadline:
            raise NodeError(f"VBoxManage {' '.join(words[:2])} failed: {_complaint(done)}")
        time.sleep(_PAUSE_S)
    return done.stdout


def information(machine: str) -> dict[str, str] | None:
    """``showvminfo --machinereadable``; ``None`` if VirtualBox knows no such machine."""
    done = run("showvminfo", machine, "--machinereadable")
    if done.code == 0:
        return parse(done.stdout)
    if any(sign in done.stderr for sign in _UNKNOWN):
        return None
    raise NodeError(f"VBoxManage showvminfo {machine} failed: {_complaint(done)}")


def parse(text: str) -> dict[str, str]:
    r"""Key → value; some versions print a line between that is neither. ``NodeError`` without a state.

    >>> parse('name="a"\nEncryption:     disabled\ncpus=2\n"SATA-0-0"="/disk.vdi"\nVMState="poweroff"\n')
    {'name': 'a', 'cpus': '2', 'SATA-0-0': '/disk.vdi', 'VMState': 'poweroff'}
    """
    lines = filter(None, (_LINE.match(line.strip()) for line in text.splitlines()))
    values = {line["key"]: line["plain"] if line["text"] is None else line["text"] for line in lines}
    if "VMState" not in values:
        raise NodeError("what VBoxManage showvminfo prints is not understood: it has no VMState")
    return values


def number(values: Mapping[str, str], key: str) -> int:
    """A whole number among the values; ``NodeError`` if there is none."""
    return told.number(values.get(key, ""), f"VBoxManage showvminfo ({key})")


def _complaint(done: process.Completed) -> str:
    """Its first error, without the progress and the source locations around it."""
    lines = [line.strip() for line in done.stderr.splitlines()]
    errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return next(
        (words for words in errors if not words.startswith(("Details:", "Context:"))), done.last_words
    )
