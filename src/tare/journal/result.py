# SPDX-License-Identifier: Apache-2.0
"""A result folder: its campaign, its journals, its raw outputs, and data derived from them."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tare.errors import InputError, JournalError
from tare.host.own_files import read_plain
from tare.host.scratch import scratch_folder
from tare.host.trust import asking_users, distrust
from tare.journal.whole import write_whole
from tare.records import Session

CAMPAIGN_FILE = "campaign.json"
_JOURNAL_SUFFIX = ".jsonl"
EXPLANATIONS = "explain"
"""The folder in a result for the results that explain it."""


def journal_name(session: Session) -> str:
    """The file that the session's runner writes: names sort by the start of the runner."""
    return f"{session.started_utc}-{session.identity}{_JOURNAL_SUFFIX}"


def journal_files(directory: Path) -> list[Path]:
    """The files of all runners, in the order of their starts."""
    return sorted(directory.glob(f"*{_JOURNAL_SUFFIX}"))


@dataclass(frozen=True, slots=True)
class ResultFolder:
    """Paths below one folder; the journal alone is authoritative."""

    path: Path

    @property
    def journal(self) -> Path:
        return self.path / "journal"

    @property
    def journal_byte(self) -> int:
        """Size of the journal."""
        return sum(path.stat().st_size for path in journal_files(self.journal))

    @property
    def derived(self) -> Path:
        """Data derived from a large journal for quick reading; may be deleted."""
        return self.path / "derived"

    @property
    def lock(self) -> Path:
        """Held by the runner that measures into this folder."""
        return self.path / "lock"

    @property
    def raw(self) -> Path:
        return self.path / "raw"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def calibration(self) -> Path:
        """A copy of the calibration that the result cites; present only if one matched."""
        return self.path / "calibration.json"

    @property
    def noise(self) -> Path:
        """The host's noise, for later runs to read quickly; present once a run of some blocks has ended."""
        return self.path / "noise.json"

    @property
    def explanation(self) -> Path:
        """Data stored by ``tare explain``: its own results, and the calls of traced runs."""
        return self.path / EXPLANATIONS

    def explanations(self) -> list["ResultFolder"]:
        """Result folders below this one that explain it, by name."""
        kept = self.explanation.glob(f"*/{CAMPAIGN_FILE}")
        return [ResultFolder(path.parent) for path in sorted(kept)]

    def exists(self) -> bool:
        return (self.path / CAMPAIGN_FILE).is_file()

    def write_campaign(self, text: str) -> None:
        """Store the normalized campaign, atomically."""
        try:
            write_whole(self.path / CAMPAIGN_FILE, text)
        except OSError as error:
            raise JournalError(f"cannot write to {self.path}: {error.strerror}") from error

    def read_campaign(self) -> str:
        if not self.path.exists():
            raise InputError(f"{self.path}: there is no such result folder; `tare run` makes one")
        try:
            return read_plain(self.path / CAMPAIGN_FILE).decode()
        except OSError as error:
            raise InputError(
                f"{self.path} is not a result folder of tare; {CAMPAIGN_FILE}: {error.strerror}"
            ) from error


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
