# SPDX-License-Identifier: Apache-2.0
"""Files that are there whole or not at all, and are still there after a crash; and files that are always new ones."""

import os
import secrets
from pathlib import Path
from typing import BinaryIO

from tare.journal.writer import keep_names, make_folder


def write_whole(path: Path, text: str) -> None:
    """Write it beside and put it in its place, with its folder; raises ``OSError``.

    What is beside is a new file under a name that nobody can know before, in case others may write the folder.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    make_folder(path.parent)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "w") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    keep_names(path.parent)


def open_new(path: Path) -> BinaryIO:
    """A new file in the place of whatever had the name, for writing and reading; raises ``OSError``.

    A link there is taken away and not followed, as is a second name of another file.
    """
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "w+b")
