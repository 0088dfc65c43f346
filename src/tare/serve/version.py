# SPDX-License-Identifier: Apache-2.0
"""Of which files an analysis is made, and as they were when."""

import os
from pathlib import Path

from tare.journal.calls import CALLS_FILE
from tare.journal.result import CAMPAIGN_FILE, ResultFolder, journal_files

FileStamp = tuple[str, int, int, int, int, int]
"""Name, size in bytes, times of the last change of content and of the last change at all in ns, inode and device."""
Version = tuple[FileStamp, ...]
"""Of each file that an analysis depends on. Nobody chooses an inode, or a time of last change (inode(7), ctime): equal
versions are of the same files, unchanged, and not of a copy of them."""


def version_of(path: Path) -> Version:
    """Which files a result has now; one that cannot be looked at has the size -1."""
    folder = ResultFolder(path)
    files = [*journal_files(folder.journal), path / CAMPAIGN_FILE, folder.calibration]
    files.append(folder.explanation / CALLS_FILE)
    for child in folder.explanations():
        files += [*journal_files(child.journal), child.path / CAMPAIGN_FILE]
    return tuple(_stamped(path, file) for file in files)


def size_byte(version: Version) -> int:
    """Of all files together."""
    return sum(max(0, size) for _, size, *_ in version)


def _stamped(result: Path, file: Path) -> FileStamp:
    name = str(file.relative_to(result))
    try:
        status = os.stat(file)  # noqa: PTH116 - no slower than Path's
    except OSError:
        return name, -1, 0, 0, 0, 0
    return name, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev
