# SPDX-License-Identifier: Apache-2.0
"""A folder as tar packs and unpacks it on its way to another host, with owners, modes, links, attributes (tar(1))."""

import stat
from pathlib import Path

from tare.host.trees import entries_below

TOKEN_BYTE = 32
"""Random bytes that allow one transfer from host to host."""
_KEPT = ("--numeric-owner", "--xattrs")
_MOST_BESIDE_BYTE = 1 << 13
"""What a file takes beside its content: headers, a long name, extended attributes, padding."""


def pack_argv(root: Path) -> list[str]:
    """Writes the archive to its standard output."""
    return ["tar", *_KEPT, "-C", str(root), "-c", "."]


def unpack_argv(into: str) -> list[str]:
    """Reads it from its standard input. Into an empty folder also what somebody hostile packed: nothing leaves it."""
    return ["tar", *_KEPT, "--xattrs-include=*", "--preserve-permissions", "-C", into, "-x"]


def most_byte(root: Path) -> int:
    """More than the folder's archive can have; the same for the same content, wherever it is."""
    statuses = [entry.stat(follow_symlinks=False) for entry in entries_below(root)]
    content_byte = sum(status.st_size for status in statuses if stat.S_ISREG(status.st_mode))
    return content_byte + _MOST_BESIDE_BYTE * (len(statuses) + 2)
