# SPDX-License-Identifier: Apache-2.0
"""Starting other programs: argv lists, a clean environment, and a limit on every wait."""

import os
import select
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tare.errors import NodeError

_KEPT_VARIABLES = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONFIG", "XDG_RUNTIME_DIR")
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
USUAL_UMASK = 0o022
"""The umask that daemons give their children: the user's own at the runner's start must not affect a measurement."""
_FLOCK = ("flock", "--shared", "--nonblock", "--close")
_INTERRUPTED_LIMIT_S = 20.0
_KILL_LIMIT_S = 10.0
_CHUNK_BYTE = 1 << 16
MOST_PRINTED_BYTE = 64 << 20
"""The most that a tool may print; nobody reads more, and a program in a node may print forever."""
_idle: dict[int, "subprocess.Popen[bytes]"] = {}
_inherited: list[int] = []


def inherit(descriptor: int | None) -> None:
    """Let every tool of ``run`` hold this descriptor while it works; ``None`` ends that."""
    _inherited[:] = [] if descriptor is None else [descriptor]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A program that ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def last_words(self) -> str:
        """The end of its output, for an error message."""
        said = (self.stderr.strip() or self.stdout.strip()).splitlines()
        return " / ".join(line.strip() for line in said[-3:]) or "it printed nothing"


def tool_environment() -> dict[str, str]:
    """The few variables that a tool on the host needs; no setting of the user's reaches a node through it."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    path = kept.get("PATH", "")
    missing = [part for part in _DEFAULT_PATH.split(":") if part not in path.split(":")]
    return {**kept, "PATH": ":".join(filter(None, [path, *missing])), "LC_ALL": "C.UTF-8"}


def run(
    argv: Sequence[str],
    *,
    timeout_s: float = 60.0,
    variables: Mapping[str, str] | None = None,
    given: str = "",
    leaves_daemon: bool = False,
) -> Completed:
    """Run to the end; ``NodeError`` if the program cannot start or takes too long, never for its exit code.

    ``given`` is its standard input. With ``leaves_daemon``, a daemon that it leaves running does not hold what
    ``inherit`` names: a clean-up would wait for it in vain. After an interrupt the tool may finish first: one killed
    midway leaves things that nobody knows of.
    """
    done = exchange(
        argv, given.encode(), timeout_s=timeout_s, variables=variables, leaves_daemon=leaves_daemon
    )
    return Completed(
        code=done.code,
        stdout=done.stdout.decode(errors="replace"),
        stderr=done.stderr.decode(errors="replace"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """A program that ended, and its output as bytes."""

    code: int
    stdout: bytes
    stderr: bytes


def exchange(
    argv: Sequence[str],
    given: bytes,
    *,
    timeout_s: float,
    variables: Mapping[str, str] | None = None,
    leaves_daemon: bool = False,
    most_byte: int = MOST_PRINTED_BYTE,
) -> Exchanged:
    """As ``run``, with bytes; ``NodeError`` also if it prints more than ``most_byte``."""
    child = _start(
        _held_beside(argv) if leaves_daemon else argv,
        stdin=subprocess.PIPE if given else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=() if leaves_daemon else tuple(_inherited),
        env={**tool_environment(), **(variables or {})},
    )
    try:
        stdout, stderr = _conversed(child, given, timeout_s, most_byte)
    except NodeError as error:
        _kill_session(child)
        raise NodeError(f"{' '.join(argv[:3])} ... {error} and was killed") from error
    except BaseException:
        try:
            with suppress(NodeError):
                _conversed(child, b"", _INTERRUPTED_LIMIT_S, most_byte)
        finally:
            _kill_session(child)
        raise
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()
    return Exchanged(code=child.returncode, stdout=stdout, stderr=stderr)


def _conversed(
    child: "subprocess.Popen[bytes]", given: bytes, limit_s: float, most_byte: int
) -> tuple[bytes, bytes]:
    """Its output until its end; ``NodeError`` when it exceeds a limit.

    ``communicate`` keeps everything, and a program in a node may print forever.
    """
    deadline = time.monotonic() + limit_s
    printed = {stream: bytearray() for stream in (child.stdout, child.stderr) if stream is not None}
    with selectors.DefaultSelector() as selector:
        for stream in printed:
            selector.register(stream, selectors.EVENT_READ)
        if child.stdin is not None:
            os.set_blocking(child.stdin.fileno(), False)
            selector.register(child.stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            for key, _ in selector.select(max(0.0, deadline - time.monotonic())):
                if key.fileobj is child.stdin:
                    given = _gave(child, given, selector)
                elif chunk := os.read(key.fd, _CHUNK_BYTE):
                    printed[key.fileobj] += chunk  # type: ignore[index] # it was registered from these
                else:
                    selector.unregister(key.fileobj)
            if sum(map(len, printed.values())) > most_byte:
                raise NodeError(f"printed more than {most_byte >> 20} MiB")
            if selector.get_map() and time.monotonic() > deadline:
                raise NodeError(f"did not end within {limit_s:.0f} s")
    try:
        child.wait(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise NodeError(f"did not end within {limit_s:.0f} s") from error
    stdout, stderr = (bytes(text) for text in printed.values())
    return stdout, stderr


def _gave(child: "subprocess.Popen[bytes]", given: bytes, selector: selectors.BaseSelector) -> bytes:
    """The input still to write; the pipe is closed when none is left, or when the program takes no more."""
    assert child.stdin is not None  # noqa: S101 - the selector reported it
    left = b""
    with suppress(BrokenPipeError):
        left = given[os.write(child.stdin.fileno(), given[:_CHUNK_BYTE]) :]
    if not left:
        selector.unregister(child.stdin)
        child.stdin.close()
        child.stdin = None
    return left


def _held_beside(argv: Sequence[str]) -> list[str]:
    """The program below flock(1), which holds the same lock until the program ends."""
    locks = [Path(f"/proc/self/fd/{descriptor}").readlink() for descriptor in _inherited]
    return [*(word for lock in locks for word in (*_FLOCK, str(lock))), *argv]


def _start(
    argv: Sequence[str], *, stdin: int = subprocess.DEVNULL, **options: Any
) -> "subprocess.Popen[bytes]":
    """Start a program in its own session, its output in a pipe; ``NodeError`` if it cannot start."""
    try:
        return subprocess.Popen(
            list(argv),
            stdin=stdin,
            stdout=subprocess.PIPE,
            start_new_session=True,
            **options,
        )
    except FileNotFoundError as error:
        raise NodeError(f"the program {argv[0]!r} is not on this host; install it and try again") from error
    except OSError as error:
        raise NodeError(f"the program {argv[0]!r} cannot be started: {error.strerror}") from error


def _kill_session(child: "subprocess.Popen[bytes]") -> None:
    """Kill the program and what it started; its number is its own until it is collected."""
    if child.returncode is None:
        os.killpg(child.pid, signal.SIGKILL)
    try:
        child.wait(timeout=_KILL_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        raise NodeError(f"process {child.pid} does not die; is a file system stuck?") from error
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None:
            stream.close()


def run_checked(argv: Sequence[str], *, timeout_s: float = 60.0, leaves_daemon: bool = False) -> Completed:
    """As ``run``, but a non-zero exit code is a ``NodeError`` with the program's last words."""
    done = run(argv, timeout_s=timeout_s, leaves_daemon=leaves_daemon)
    if done.code != 0:
        raise NodeError(f"{' '.join(argv[:3])} ... ended with {done.code}: {done.last_words}")
    return done


def start_idle(
    argv: Sequence[str],
    *,
    log: Path,
    ready: bytes = b"READY",
    timeout_s: float = 20.0,
    pass_fds: Sequence[int] = (),
) -> int:
    """Start a node's first process and wait until it prints ``ready``; return the id of what ``argv`` started.

    Raises ``NodeError`` if it ends or stays silent; ``log`` receives its standard error. It inherits ``pass_fds``.
    """
    with log.open("wb") as errors:
        child = _start(argv, stderr=errors, env=tool_environment(), pass_fds=pass_fds)
    _idle[child.pid] = child
    seen = _read_until(child, ready, timeout_s)
    if ready not in seen:
        kill_idle(child.pid)
        said = log.read_text(errors="replace").strip().splitlines()[-3:] or ["it printed nothing"]
        raise NodeError(
            f"the node's first process did not get ready ({' '.join(argv[:2])} ...): {' / '.join(said)}"
        )
    return child.pid


def _read_until(child: "subprocess.Popen[bytes]", wanted: bytes, timeout_s: float) -> bytes:
    assert child.stdout is not None  # noqa: S101 - it was requested as a pipe
    seen, deadline = b"", time.monotonic() + timeout_s
    output, readable = child.stdout.fileno(), select.poll()
    readable.register(output, select.POLLIN)
    while wanted not in seen and (left_s := deadline - time.monotonic()) > 0 and readable.poll(left_s * 1000):
        chunk = os.read(output, 4096)
        if not chunk:
            break
        seen = seen[-len(wanted) :] + chunk
    return seen


def ended_within(child: "subprocess.Popen[bytes]", limit_s: float) -> bool:
    """Whether it ends in this time, and collect it; noticed at once, where ``Popen.wait`` polls."""
    if child.poll() is None:
        try:
            handle = os.pidfd_open(child.pid)
            with open(handle, closefd=True), selectors.DefaultSelector() as selector:  # noqa: PTH123 - a descriptor
                selector.register(handle, selectors.EVENT_READ)
                selector.select(limit_s)
        except OSError:  # an old kernel, or too many open files
            with suppress(subprocess.TimeoutExpired):
                child.wait(timeout=limit_s)
    return child.poll() is not None


def end_session(child: "subprocess.Popen[bytes]", limit_s: float) -> None:
    """Wait for its end, then kill it with what it started; ``NodeError`` if it does not die."""
    if not ended_within(child, limit_s):
        _kill_session(child)


def kill_idle(pid: int) -> None:
    """End a process of ``start_idle``, if it is this runner's, and collect it."""
    child = _idle.pop(pid, None)
    if child is not None:
        _kill_session(child)


def reap_idle() -> None:
    """Collect the ended ones among the started first processes."""
    for pid in [pid for pid, child in _idle.items() if child.poll() is not None]:
        kill_idle(pid)
