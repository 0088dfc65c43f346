# SPDX-License-Identifier: Apache-2.0
"""Reading a result folder's journals back; a torn last line is dropped, and of a trial the first outcome kept."""

from collections.abc import Iterable, Iterator
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
    without: tuple[frozenset[str], ...] = ()
    """Of each outcome, which environments were missing in the session that measured it."""
    repeated: tuple[str, ...] = ()
    """The trial of each outcome that was left out, as an earlier one of that trial is among ``outcomes``."""
    condensed: bool = False
    """Whether the outcomes hold one joined sample per metric in the place of all that were measured."""

    @property
    def done(self) -> frozenset[str]:
        """Identities of the trials that stand in the journal, however they ended."""
        return frozenset(outcome.trial.identity for outcome in self.outcomes)


def read_journal(directory: Path, pattern: str = "*.jsonl") -> Journal:
    """Every file of ``pattern`` in ``directory``; ``JournalError`` for a broken line."""
    repeated: list[str] = []
    sessions: list[Session] = []
    measured: list[tuple[Outcome, frozenset[str]]] = []
    missing = frozenset[str]()
    for record in without_repeats(all_records(directory, pattern), repeated):
        if isinstance(record, Session):
            sessions.append(record)
            missing = frozenset(one.environment for one in record.skipped)
        else:
            measured.append((record, missing))
    return Journal(
        sessions=tuple(sessions),
        outcomes=tuple(outcome for outcome, _ in measured),
        without=tuple(names for _, names in measured),
        repeated=tuple(repeated),
    )


def all_records(directory: Path, pattern: str = "*.jsonl") -> Iterator[Session | Outcome]:
    """File after file in the order in which their runners started, by which they are named."""
    for path in sorted(directory.glob(pattern)):
        yield from records_of(path)


def without_repeats(records: Iterable[Session | Outcome], repeated: list[str]) -> Iterator[Session | Outcome]:
    """Pass on each trial's first outcome; the trial of every further one is added to ``repeated``.

    A trial stands twice where two runners measured into one folder, or two folders were merged.
    """
    seen: set[str] = set()
    for record in records:
        if isinstance(record, Outcome):
            if record.trial.identity in seen:
                repeated.append(record.trial.identity)
                continue
            seen.add(record.trial.identity)
        yield record


def records_of(path: Path) -> Iterator[Session | Outcome]:
    """The records of one file, one in memory at a time."""
    try:
        with path.open("rb") as opened:
            for number, line in enumerate(opened, start=1):
                if line.endswith(b"\n"):  # else it is the torn last one
                    yield decode(line[:-1], f"{path}:{number}")
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from error
