# SPDX-License-Identifier: Apache-2.0
"""A command of Tare's in a fork of this process, which has imported it all: thousands of cases cost no start."""

import importlib
import os
import pkgutil
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

import tare
from tare.cli import main
from tests.hostile.stage import LIMIT_S, Ran, Stage

_ATTACH_LIMIT_S = 10.0
_STEP_S = 0.002


def import_all() -> None:
    """Whatever a command may import; what cannot be imported here is left to the command."""
    for module in pkgutil.walk_packages(tare.__path__, "tare."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def run_forked(stage: Stage, *tracer: str, limit_s: float = LIMIT_S) -> Ran:
    """Run or continue the campaign; ``tracer`` is an argv that attaches to the process whose id is put last.

    The tracer sees the command's system calls from the first on: the command waits until it has attached.
    """
    words = ["run", str(stage.folder / "campaign.toml"), "--output", str(stage.result)]
    with tempfile.TemporaryFile() as said:
        pid = os.fork()
        if pid == 0:
            _become(stage, words, said.fileno())
        os.waitid(os.P_PID, pid, os.WSTOPPED)
        tracing = subprocess.Popen([*tracer, str(pid)], stderr=subprocess.DEVNULL) if tracer else None
        if tracing is not None:
            _wait_until_traced(pid)
        os.kill(pid, signal.SIGCONT)
        code = _ended(pid, limit_s)
        if tracing is not None:
            tracing.wait(_ATTACH_LIMIT_S)
        said.seek(0)
        words_said = said.read().decode(errors="replace")
    return Ran(code, words_said if code >= 0 else f"no end within {limit_s:g} s; {words_said}")


def _become(stage: Stage, words: Sequence[str], output: int) -> None:
    """Never returns. No exit handler runs: this process inherited the attack's own, which remove its folders."""
    code = 1
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.environ.clear()
        os.environ.update(stage.variables())
        os.chdir(stage.folder)
        sys.argv = ["tare", *words]
        os.kill(os.getpid(), signal.SIGSTOP)
        code = _main()
    finally:
        os._exit(code)


def _main() -> int:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - as the interpreter prints what nobody catches
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _wait_until_traced(pid: int) -> None:
    deadline = time.monotonic() + _ATTACH_LIMIT_S
    while "TracerPid:\t0\n" in Path(f"/proc/{pid}/status").read_text():
        assert time.monotonic() < deadline, "the tracer has not attached"
        time.sleep(_STEP_S)


def _ended(pid: int, limit_s: float) -> int:
    """Its exit code; -1 if it had to be ended."""
    pidfd = os.pidfd_open(pid)
    try:
        in_time = bool(select.select([pidfd], [], [], limit_s)[0])
        if not in_time:
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    finally:
        os.close(pidfd)
    return max(0, os.waitstatus_to_exitcode(status)) if in_time else -1
