# SPDX-License-Identifier: Apache-2.0
"""Whether this user may safely write a result folder: a link placed by others would redirect what is written."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.errors import JournalError
from tare.host.scratch import scratch_folder
from tare.host.trust import asking_users, distrust
from tare.journal.result import ResultFolder


def require_own(folder: ResultFolder) -> None:
    """``JournalError``, with the remedy, if others could have prepared the folder or one in it."""
    if why := distrusted(folder):
        raise JournalError(
            f"nothing is written to {folder.path}: {why}, so it may lead to other files; choose another --output, or "
            "copy the result and use the copy. If you trust who made it, make a real folder of it that is yours "
            "(chown) and that only you can write (chmod go-w)"
        )


def distrusted(folder: ResultFolder) -> str | None:
    """What is wrong with the folder or one in it, in words; ``None`` if everything there belongs to this user.

    Root's folder is accepted too, and under sudo(8) the invoking user's.
    """
    below = (folder.journal, folder.raw, folder.derived, folder.explanation)
    whys = ((place, _distrusted(place)) for place in (folder.path, *below))
    return next((f"{place} {why}" for place, why in whys if why), None)


@contextmanager
def derived_folder(folder: ResultFolder) -> Iterator[Path]:
    """Where to store data derived from the journal: beside it, but temporarily for another user's result."""
    if distrusted(folder) is None:
        yield folder.derived
    else:
        with scratch_folder("derived") as made:
            yield made


def make_trial_folder(directory: Path) -> None:
    """Make it and the folder of all trials above it; ``JournalError`` for a link, which could lead anywhere."""
    if directory.is_symlink():
        raise JournalError(
            f"{directory} is a link, and nothing is written through it: remove it and run the same command again"
        )
    for folder in (directory.parent, directory):
        folder.mkdir(mode=0o755, exist_ok=True)


def _distrusted(place: Path) -> str | None:
    try:
        status = place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return f"cannot be looked at ({error.strerror})"
    if stat.S_ISLNK(status.st_mode):
        return "is a link"
    if not stat.S_ISDIR(status.st_mode):
        return "is no folder"
    return distrust(status, place, asking_users())
