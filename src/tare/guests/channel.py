# SPDX-License-Identifier: Apache-2.0
"""The way into a guest: one keeper on the host per guest (native/keeper), and ``enter`` as the argv prefix.

The keeper holds the guest's end of a channel and serves a socket in the node's folder. When the guest ends, so does
the keeper, and vice versa.
"""

import time
from collections.abc import Sequence
from pathlib import Path

from tare.errors import NodeError
from tare.host import process
from tare.host.told import process_id
from tare.nodes.provider import TOOLS_DIRECTORY, NodeSpec

DESCRIPTOR = 3
"""The number of the guest's end of the channel in a machine's monitor."""

READY_LIMIT_S = 90.0
"""From the start to the guest's first word. Generous: software emulation on a busy host takes ten times as long."""
_SLACK_S = 5.0
_ENDING_LIMIT_S = 2.0
_STEP_S = 0.02
_LOG = "keeper.log"


def prefix(spec: NodeSpec) -> list[str]:
    """The argv to put before a command so that it runs in the guest."""
    return [f"{spec.image_root}{TOOLS_DIRECTORY}/enter", str(_socket(spec)), "--"]


def keep_machine(spec: NodeSpec, before: Sequence[str], monitor: Sequence[str]) -> tuple[int, int]:
    """Have a keeper start a monitor that finds its end of the channel as ``DESCRIPTOR``; return once the guest is up.

    ``before`` is the prefix with which both are started: control group, namespace, directory. Returns the process ids
    of the keeper and the monitor. ``NodeError`` with the keeper's last words.
    """
    pid_file = spec.directory / "machine.pid"
    way = ["--pid-file", str(pid_file), "--descriptor", str(DESCRIPTOR), "--", *monitor]
    keeper = _start(spec, before, way)
    return keeper, process_id(pid_file.read_text(), "the guest's keeper")


def keep_connected(spec: NodeSpec, before: Sequence[str], channel: Path) -> int:
    """The same for a machine that another program started, with its channel as a Unix socket; the keeper's id."""
    return _start(spec, before, ["--connect", str(channel)])


def last_words(spec: NodeSpec) -> str:
    """Why the keeper ended, or everything that it printed before; empty when it printed nothing."""
    try:
        lines = (spec.directory / _LOG).read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1].removeprefix("keeper: ") if lines else ""


def await_last_words(spec: NodeSpec) -> str:
    """The same for a keeper that is about to end, or has ended: why the guest is gone."""
    deadline = time.monotonic() + _ENDING_LIMIT_S
    while not (words := last_words(spec)) and time.monotonic() < deadline:
        time.sleep(_STEP_S)
    return words or "the guest's keeper ended without a word, and the guest with it"


def release(spec: NodeSpec) -> None:
    """Remove what a killed keeper left; it and the monitor are already gone."""
    for left in (_socket(spec), spec.directory / "machine.pid"):
        left.unlink(missing_ok=True)


def _start(spec: NodeSpec, before: Sequence[str], way: Sequence[str]) -> int:
    program = f"{spec.image_root}{TOOLS_DIRECTORY}/keeper"
    limit = ["--ready-limit-s", f"{READY_LIMIT_S:.0f}"]
    argv = [*before, program, "--socket", str(_socket(spec)), *limit, *way]
    try:
        return process.start_idle(argv, log=spec.directory / _LOG, timeout_s=READY_LIMIT_S + _SLACK_S)
    except NodeError as error:
        raise NodeError(f"the guest does not get ready: {last_words(spec) or error}") from error


def _socket(spec: NodeSpec) -> Path:
    return spec.directory / "channel"
