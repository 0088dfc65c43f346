# SPDX-License-Identifier: Apache-2.0
"""Reading a result folder's journals back; a torn last line is dropped."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tare.errors import JournalError
from tare.journal.lines import decode
from tare.records import Outcome, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """All that the runners of a result folder wrote, in the order of their starts."""

    sessions: tuple[Session, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def done(self) -> frozenset[str]:
        """Identities of the trials that stand in the journal, however they ended."""
        return frozenset(outcome.trial.identity for outcome in self.outcomes)


def read_journal(directory: Path) -> Journal:
    """Every ``*.jsonl`` of ``directory``; ``JournalError`` for a broken line or a trial that stands twice."""
    records = [record for path in sorted(directory.glob("*.jsonl")) for record in _records(path)]
    outcomes = tuple(record for record in records if isinstance(record, Outcome))
    seen: set[str] = set()
    for outcome in outcomes:
        if outcome.trial.identity in seen:
            raise JournalError(
                f"{directory}: the trial {outcome.trial.identity} stands twice; were two folders merged?"
            )
        seen.add(outcome.trial.identity)
    return Journal(
        sessions=tuple(record for record in records if isinstance(record, Session)), outcomes=outcomes
    )


def _records(path: Path) -> Iterator[Session | Outcome]:
    try:
        *lines, _torn = path.read_bytes().split(b"\n")
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        yield decode(line, f"{path}:{number}")
