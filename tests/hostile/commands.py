# SPDX-License-Identifier: Apache-2.0
"""One command of Tare's in a fork of a process that has all modules loaded; and what is wrong with its end."""

import atexit
import functools
import importlib
import json
import os
import pkgutil
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import tare.environments
from tare import cli
from tare.journal import large
from tare.nodes.provider import Provider
from tests.fake_campaign import FAKES

LIMIT_S = 5.0
"""Of CPU time."""
RUN_LIMIT_S = 120.0
"""Of a command that measures what a journal lacks, by the clock."""
MEMORY_BYTE = 1 << 30
_KILL_S = 60.0
_ATTACH_LIMIT_S = 10.0
_PAGE_BYTE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    argv: tuple[str, ...]
    code: int
    """Negative: the signal that ended it."""
    said: str
    errors: str
    cpu_s: float
    """Of it and of what it started: another process that takes the processor decides nothing."""
    memory_byte: int


def ended(
    argv: Sequence[str],
    *,
    columns: bool = False,
    here: bool = False,
    tracer: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    real: bool = False,
) -> Ended:
    """Run it to its end, or to where it is beyond all limits; ``columns``: as a large journal is read.

    ``here``: in a fork of this process, with whatever was changed in it. ``tracer`` is an argv that attaches to the
    process whose id is put last; it sees every system call of the command, which waits until it has attached.
    ``variables`` are all that the command's environment has; without them it is this process's. ``real``: native is
    not the fake.
    """
    with tempfile.TemporaryDirectory(prefix="tare-said-") as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        order: dict[str, Any] = {"argv": list(argv), "out": str(out), "err": str(err), "columns": columns}
        order |= {
            "variables": dict(os.environ if variables is None else variables),
            "folder": str(Path.cwd()),
            "tracer": list(tracer),
            "real": real,
        }
        code, cpu_s, memory_byte = _forked(order) if here else _parent().ask(order)
        return Ended(tuple(argv), code, _text(out), _text(err), cpu_s, memory_byte)


class _Parent:
    """A process that has all modules loaded and no thread: only such a one can be forked without risk."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.commands"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        atexit.register(self._process.kill)

    def ask(self, order: Mapping[str, object]) -> tuple[int, float, int]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        code, cpu_s, memory_byte = json.loads(self._process.stdout.readline())
        return int(code), float(cpu_s), int(memory_byte)


@functools.cache
def _parent() -> _Parent:
    return _Parent()


def _serve() -> None:
    """The life of the process that is forked: an order a line, answered by exit code, CPU time and memory."""
    for module in pkgutil.walk_packages(tare.__path__, "tare."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for line in sys.stdin:
        print(json.dumps(_forked(json.loads(line))), flush=True)


def _forked(order: Mapping[str, Any]) -> tuple[int, float, int]:
    child = os.fork()
    if child == 0:
        _become(order)
    limit_s = RUN_LIMIT_S if order["argv"][0] == "run" else _KILL_S
    if not order["tracer"]:
        return _watched(child, limit_s)
    try:
        with subprocess.Popen([*order["tracer"], str(child)], stderr=subprocess.DEVNULL):
            _let_go(child)
            return _watched(child, limit_s)
    except BaseException:  # it stands still, and nobody else would end it
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        raise


def _let_go(child: int) -> None:
    """Of a process that has stopped itself, once it is traced."""
    os.waitid(os.P_PID, child, os.WSTOPPED)
    deadline = time.monotonic() + _ATTACH_LIMIT_S
    while "TracerPid:\t0\n" in Path(f"/proc/{child}/status").read_text():
        assert time.monotonic() < deadline, "the tracer has not attached"
        time.sleep(0.002)
    os.kill(child, signal.SIGCONT)


def _become(order: Mapping[str, Any]) -> NoReturn:
    os.setsid()
    os.environ.clear()
    os.environ.update(order["variables"])
    os.chdir(order["folder"])
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(order[name], os.O_WRONLY | os.O_CREAT, 0o600), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.argv = ["tare", *order["argv"]]
    if not order["real"]:
        fakes: Mapping[str, Provider] = FAKES
        tare.environments.PROVIDERS.update(fakes)  # type: ignore[attr-defined]
    if order["columns"]:
        large.LARGE_JOURNAL_BYTE = 0
    code = 99
    if order["tracer"]:
        os.kill(os.getpid(), signal.SIGSTOP)
    try:
        cli.main()
    except SystemExit as end:
        code = int(end.code or 0)
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001 - as the interpreter would
        sys.stderr.write(traceback.format_exc())
    finally:
        os._exit(code)


def _watched(child: int, limit_s: float) -> tuple[int, float, int]:
    """Exit code, CPU time in seconds and the most memory in bytes."""
    most_byte, deadline = 0, time.monotonic() + limit_s
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            cpu_s = used.ru_utime + used.ru_stime
            return os.waitstatus_to_exitcode(status), cpu_s, max(most_byte, used.ru_maxrss * 1024)
        most_byte = max(most_byte, _resident_byte(child))
        if time.monotonic() > deadline or most_byte > 2 * MEMORY_BYTE:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.005)


def _resident_byte(child: int) -> int:
    try:
        with open(f"/proc/{child}/statm") as opened:  # noqa: PTH123
            return int(opened.read().split()[1]) * _PAGE_BYTE
    except (OSError, IndexError):
        return 0


def _text(file: Path) -> str:
    return file.read_bytes().decode(errors="surrogateescape") if file.exists() else ""


def fault_of(ended: Ended) -> str | None:
    """What a user must never see, worded alike for alike faults; ``None``: all is well."""
    if own := re.search(r"a fault of Tare's own: (\w+): .*\(([^()]*)\)\. Please", ended.errors, re.DOTALL):
        return f"{own[1]} in {own[2]}"
    command = " ".join((ended.argv[0], *ended.argv[2:]))
    fault = next((words for check in (_ugly, _beyond_limits, _raw) if (words := check(ended))), None)
    return fault and f"{command}: {fault}"


def _ugly(ended: Ended) -> str | None:
    lines = ended.errors.strip().splitlines()[-1:]
    if "Traceback" in ended.errors:
        return f"a traceback: {lines}"
    if warned := re.search(r"\w*Warning: .*", ended.errors):
        return warned[0]
    if ended.code not in {0, 1, 2, 3, -signal.SIGKILL}:
        return f"exit code {ended.code}: {lines}"
    return f"exit code {ended.code} without words" if ended.code > 0 and not lines else None


def _beyond_limits(ended: Ended) -> str | None:
    if ended.memory_byte > MEMORY_BYTE:
        return "more than 1 GiB"
    limit_s = RUN_LIMIT_S if ended.argv[0] == "run" else LIMIT_S
    if ended.code == -signal.SIGKILL:
        return "no end"
    return f"more than {limit_s:g} s of CPU time" if ended.cpu_s > limit_s else None


def _raw(ended: Ended) -> str | None:
    for text in (ended.said, ended.errors):
        if wrong := next((each for each in sorted(set(text)) if not is_harmless(each)), None):
            return f"printed {wrong!r}"
    if "--json" in ended.argv and ended.code == 0:
        json.loads(ended.said, parse_constant=_refuse)
        return None if ended.said.isascii() else "JSON that is not ASCII"
    return None


def is_harmless(character: str) -> bool:
    category = unicodedata.category(character)
    return character in "\n\t" or (category[0] != "C" and category not in {"Zl", "Zp"})


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} in JSON")


if __name__ == "__main__":
    _serve()
