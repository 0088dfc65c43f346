# SPDX-License-Identifier: Apache-2.0
"""A result folder: its campaign, its journals, its raw outputs, and data derived from them."""

from dataclasses import dataclass
from pathlib import Path

from tare.errors import InputError, JournalError
from tare.host.own_files import read_plain
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
