# SPDX-License-Identifier: Apache-2.0
"""A result folder: the campaign it belongs to, its journals, its raw outputs, and what is derived from them."""

import os
from dataclasses import dataclass
from pathlib import Path

from tare.errors import InputError, JournalError
from tare.journal.writer import keep_names

CAMPAIGN_FILE = "campaign.json"


@dataclass(frozen=True, slots=True)
class ResultFolder:
    """Paths below one folder; only the journal is the truth."""

    path: Path

    @property
    def journal(self) -> Path:
        return self.path / "journal"

    @property
    def raw(self) -> Path:
        return self.path / "raw"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    def exists(self) -> bool:
        return (self.path / CAMPAIGN_FILE).is_file()

    def write_campaign(self, text: str) -> None:
        """Keep the normalized campaign; written whole or not at all."""
        temporary = self.path / f".{CAMPAIGN_FILE}"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with temporary.open("w") as opened:
                opened.write(text)
                opened.flush()
                os.fsync(opened.fileno())
            temporary.replace(self.path / CAMPAIGN_FILE)
            keep_names(self.path)
        except OSError as error:
            raise JournalError(f"cannot write to {self.path}: {error.strerror}") from error

    def read_campaign(self) -> str:
        if not self.path.exists():
            raise InputError(f"{self.path}: there is no such result folder; `tare run` makes one")
        try:
            return (self.path / CAMPAIGN_FILE).read_text()
        except OSError as error:
            raise InputError(
                f"{self.path} is not a result folder of tare (no {CAMPAIGN_FILE}): {error.strerror}"
            ) from error
