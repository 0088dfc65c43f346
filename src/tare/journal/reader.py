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
    condensed: bool = False
    """Whether the outcomes hold one joined sample per metric in the place of all that were measured."""

    @property
    def done(self) -> frozenset[str]:
        """Identities of the trials that stand in the journal, however they ended."""
        return frozenset(outcome.trial.identity for outcome in self.outcomes)


def read_journal(directory: Path, pattern: str = "*.jsonl") -> Journal:
    """Every file of ``pattern`` in ``directory``; ``JournalError`` for a broken line or a trial that stands twice."""
    records = [record for path in sorted(directory.glob(pattern)) for record in records_of(path)]
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


def records_of(path: Path) -> Iterator[Session | Outcome]:
    """The records of one file, one in memory at a time."""
    try:
        with path.open("rb") as opened:
            for number, line in enumerate(opened, start=1):
                if line.endswith(b"\n"):  # else it is the torn last one
                    yield decode(line[:-1], f"{path}:{number}")
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from error
