# SPDX-License-Identifier: Apache-2.0
"""What lies below a folder, however deep: os.walk and Path.rglob of Python 3.11 call themselves once for each level."""

import os
from collections.abc import Iterator
from pathlib import Path


def entries_below(root: str | Path) -> Iterator["os.DirEntry[str]"]:
    """Every entry, a folder before what is in it; no link is followed.

    What cannot be listed is passed over: a folder that is closed to this user, or gone, or deeper than a path can say.
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
