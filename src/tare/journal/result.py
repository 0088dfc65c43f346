# SPDX-License-Identifier: Apache-2.0
"""A result folder: the campaign it belongs to, its journals, its raw outputs, and what is derived from them."""

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
    """The file that the session's runner writes: names sort as their runners started."""
    return f"{session.started_utc}-{session.identity}{_JOURNAL_SUFFIX}"


def journal_files(directory: Path) -> list[Path]:
    """Every runner's, in the order in which they started."""
    return sorted(directory.glob(f"*{_JOURNAL_SUFFIX}"))


@dataclass(frozen=True, slots=True)
class ResultFolder:
    """Paths below one folder; only the journal is the truth."""

    path: Path

    @property
    def journal(self) -> Path:
        return self.path / "journal"

    @property
    def journal_byte(self) -> int:
        """How large the journal is."""
        return sum(path.stat().st_size for path in journal_files(self.journal))

    @property
    def derived(self) -> Path:
        """What is made of a large journal to read it quickly; may be deleted."""
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
        """A copy of the calibration that the result cites; there only if one fitted."""
        return self.path / "calibration.json"

    @property
    def noise(self) -> Path:
        """How noisy the host was, for later runs to read in no time; there once a run of some blocks has ended."""
        return self.path / "noise.json"

    @property
    def explanation(self) -> Path:
        """What ``tare explain`` keeps: results of its own, and the calls of traced runs."""
        return self.path / EXPLANATIONS

    def explanations(self) -> list["ResultFolder"]:
        """Result folders below this one that were made to explain it, by name."""
        kept = self.explanation.glob(f"*/{CAMPAIGN_FILE}")
        return [ResultFolder(path.parent) for path in sorted(kept)]

    def exists(self) -> bool:
        return (self.path / CAMPAIGN_FILE).is_file()

    def write_campaign(self, text: str) -> None:
        """Keep the normalized campaign; written whole or not at all."""
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
