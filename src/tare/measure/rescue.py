# SPDX-License-Identifier: Apache-2.0
"""A result whose folder was deleted or moved during the measurement: the session's data are stored elsewhere."""

import os
from pathlib import Path

from tare.errors import JournalError
from tare.host.paths import rescued_directory
from tare.journal.result import ResultFolder
from tare.journal.writer import JournalWriter, make_folder


def rescue(folder: ResultFolder, campaign: str, name: str, writer: JournalWriter) -> JournalError:
    """Write this session's lines and its ``campaign`` as a separate result; return the error that says where.

    ``name``: of the journal's file, which its lines name too.
    """
    lost = f"{folder.path} was deleted or moved while it was measured"
    kept = ResultFolder(rescued_directory() / f"{folder.path.name or 'result'}-{Path(name).stem}")
    try:
        make_folder(kept.path.parent)
        kept.path.mkdir(mode=0o700)
        kept.write_campaign(campaign)
        make_folder(kept.journal)
        _write_own(kept.journal / name, writer.content())
    except (OSError, JournalError) as error:
        return JournalError(f"{lost}, and what this session measured cannot be kept in {kept.path}: {error}")
    return JournalError(
        f"{lost}; the trials of this session are kept in {kept.path}: `tare show {kept.path}` shows them, and "
        f"`tare run {kept.path}` goes on there. If the folder was moved, it is whole where it is now: continue that"
    )


def _write_own(path: Path, content: bytes) -> None:
    """Write a file that nobody else can read, never over another file."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "wb") as opened:  # noqa: PTH123 - a descriptor, not a path
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
