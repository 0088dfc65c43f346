# SPDX-License-Identifier: Apache-2.0
"""Everything below a folder, however deep: Python 3.11's os.walk and Path.rglob call themselves once for each level."""

import os
from collections.abc import Iterator
from pathlib import Path


def entries_below(root: str | Path) -> Iterator["os.DirEntry[str]"]:
    """Every entry, a folder before its contents; no link is followed.

    Folders that cannot be listed are skipped: closed to this user, gone, or deeper than a path can say.
    """
    pending = [str(root)]
    while pending:
        try:
            with os.scandir(pending.pop()) as listed:
                entries = list(listed)
        except OSError:
            continue
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
