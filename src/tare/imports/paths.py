# SPDX-License-Identifier: Apache-2.0
"""Which paths can be what another tool wrote. Loads nothing, as every command that takes a result asks."""

import re
from pathlib import Path

from tare.errors import InputError

_RESULT = ("journal", "campaign.json")
_DIGITS = re.compile(r"([0-9]{1,18})", re.ASCII)


def is_imported(path: Path) -> bool:
    """Whether it is a file, or a folder with files that is no result of Tare."""
    try:
        if not path.is_dir():
            return path.is_file()
        return not any((path / name).exists() for name in _RESULT) and bool(files_in(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def files_in(folder: Path) -> list[Path]:
    """The files that are not hidden, with run9 before run10."""
    try:
        files = [entry for entry in folder.iterdir() if entry.is_file() and not entry.name.startswith(".")]
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}") from error
    return sorted(files, key=_natural)


def _natural(path: Path) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(path.name)]
