# SPDX-License-Identifier: Apache-2.0
"""Files that are there whole or not at all, and are still there after a crash."""

import os
from pathlib import Path

from tare.journal.writer import keep_names


def write_whole(path: Path, text: str) -> None:
    """Write it beside and put it in its place, with its folder; raises ``OSError``."""
    temporary = path.with_name(f".{path.name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with temporary.open("w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    temporary.replace(path)
    keep_names(path.parent)
