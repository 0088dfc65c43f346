# SPDX-License-Identifier: Apache-2.0
"""Reading the small files in which the kernel reports its counts: three system calls, and nothing around them.

A trial reads about two hundred of them; a ``Path`` takes five times as long for each.
"""

import os

_MOST_BYTE = 4096
"""A page, or part of one."""
_SHORT_BYTE = _MOST_BYTE // 2
"""The kernel returns whole lines, as many as fit its page: without lines this long, anything shorter is the end."""


def read_bytes(path: str, most_byte: int = _MOST_BYTE) -> bytes | None:
    """The bytes that one read(2) returns for a file below /proc or /sys; ``None`` when it cannot be opened or read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(descriptor, most_byte)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def read_whole(path: str) -> bytes:
    """The whole file, to its end; raises ``OSError``."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(descriptor, _MOST_BYTE):
            parts.append(part)
            if len(part) < _SHORT_BYTE:
                break
    finally:
        os.close(descriptor)
    return b"".join(parts)


def read_text(path: str) -> str | None:
    """The same as text without surrounding white space; ``None`` when it cannot be opened or read."""
    try:
        return read_whole(path).decode(errors="replace").strip()
    except OSError:
        return None


def inner_numbers(pid: int) -> list[int]:
    """A process's ids from the outermost to the innermost namespace (proc(5), NSpid); empty when it is gone."""
    lines = (read_text(f"/proc/{pid}/status") or "").splitlines()
    return next((list(map(int, line.split()[1:])) for line in lines if line.startswith("NSpid:")), [])


def write_text(path: str, text: str) -> None:
    """Write to an existing file in one call, as the kernel expects; raises ``OSError``."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
