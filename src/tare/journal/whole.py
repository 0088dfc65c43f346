# SPDX-License-Identifier: Apache-2.0
"""Files written atomically that survive a crash; and files that are always new."""

import os
import secrets
from pathlib import Path
from typing import BinaryIO

from tare.journal.writer import keep_names, make_folder


def write_whole(path: Path, text: str) -> None:
    """Write a temporary file and rename it into place, with fsync of the folder; raises ``OSError``.

    The temporary file is new and has an unpredictable name, in case others may write the folder.
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
    """Replace whatever has the name by a new file, for writing and reading; raises ``OSError``.

    A link there is removed and not followed, as is a hard link to another file.
    """
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "w+b")
