# SPDX-License-Identifier: Apache-2.0
"""Reading a result folder's journals back: intact records of this campaign, and each trial's first outcome."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from tare.errors import JournalError
from tare.host.own_files import read_plain
from tare.journal.chain import Faults, Record
from tare.journal.one_file import OneFile
from tare.journal.result import CAMPAIGN_FILE, journal_files
from tare.records import Damage, Fault, Integrity, Outcome, Sample, Seen, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """Everything that the runners of a result folder wrote, in the order of their starts."""

    sessions: tuple[Session, ...]
    outcomes: tuple[Outcome, ...]
    without: tuple[frozenset[str], ...] = ()
    """For each outcome, the environments that were missing in the session that measured it."""
    repeated: tuple[str, ...] = ()
    """The trial of each outcome that was left out because ``outcomes`` holds an earlier one of the same trial."""
    condensed: bool = False
    """Whether the outcomes hold one joined sample per metric instead of all measured samples."""
    integrity: Integrity = field(default_factory=Integrity)
    """Whether everything that was written is present."""
    seen: Mapping[str, Seen] = field(default_factory=dict)
    """The extent of each of its files, by name."""

    @property
    def done(self) -> frozenset[str]:
        """Identities of the trials in the journal, however they ended."""
        return frozenset(outcome.trial.identity for outcome in self.outcomes)


class Samples(Protocol):
    """The samples of each outcome, by its place in the journal."""

    def __getitem__(self, place: int, /) -> tuple[Sample, ...]: ...


Joining = Callable[..., Samples]
"""Given the outcomes, the kinds of samples and their columns by groups of trials (``tare.records.columns``)."""


class Reading:
    """A journal read once, one record in memory at a time; all but ``records`` is complete when that is exhausted."""

    def __init__(self, directory: Path) -> None:
        """Every file in ``directory``, in the order of their runners' starts, which name them."""
        self._directory = directory
        self._files = {path.name: OneFile(path) for path in journal_files(directory)}
        self._damage: list[Damage] = []

    def records(self) -> Iterator[Record]:
        """``JournalError`` if a file cannot be read or is from a later version, or if nothing can be read at all."""
        self._leave_out_strangers()
        earlier: dict[str, Seen] = {}
        empty = True
        for file in self._files.values():
            for record in file.records():
                empty = False
                if isinstance(record, Session):
                    _keep_furthest(earlier, record.earlier)
                yield record
        self._compare(earlier)
        if empty and (damage := self.integrity.damage):
            raise JournalError(
                f"{self._directory}: not one record can be read ({damage[0].sentence}); restore it from a copy, or "
                "begin a new result"
            )

    @property
    def integrity(self) -> Integrity:
        """What has been seen so far."""
        files = self._files.values()
        return Integrity(
            damage=(*(damage for file in files for damage in file.faults.damage()), *self._damage),
            unchecked=tuple(file.shown for file in files if not file.checked),
            unended=tuple(file.shown for file in files if not file.ended),
        )

    @property
    def seen(self) -> Mapping[str, Seen]:
        """The extent of each file."""
        return {name: file.seen for name, file in self._files.items()}

    def _leave_out_strangers(self) -> None:
        """Leave out files of other campaigns than the stored one; if all are, the stored campaign was changed."""
        kept = campaign_digest(self._directory.parent)
        ran = {name: _campaign_of(name, self._directory) for name in self._files}
        others = [name for name, digest in ran.items() if kept is not None and digest not in {None, kept}]
        if others and kept not in ran.values():
            words = "not what it was when the trials were run; restore it from a copy"
            self._note(CAMPAIGN_FILE, Fault.ALTERED, words)
            return
        for name in others:
            self._note(self._files.pop(name).shown, Fault.FOREIGN, "of another campaign, not used")

    def _compare(self, earlier: Mapping[str, Seen]) -> None:
        for name, seen in earlier.items():
            if file := self._files.get(name):
                file.compare(seen)
            else:
                words = f"missing, with the {seen.lines} lines that a later session saw"
                self._note(f"{self._directory.name}/{name}", Fault.REMOVED, words)

    def _note(self, file: str, fault: Fault, words: str) -> None:
        faults = Faults(file)
        faults.whole(fault, f"{file}: {words}")
        self._damage.extend(faults.damage())


def read_journal(directory: Path) -> Journal:
    """Read all files in ``directory``; ``JournalError`` if they cannot be read, or nothing in them is intact."""
    reading = Reading(directory)
    journal = journal_of(reading.records())
    return replace(journal, integrity=reading.integrity, seen=reading.seen)


def journal_of(records: Iterable[Record]) -> Journal:
    """The journal of ``records``, in their order."""
    repeated: list[str] = []
    sessions: list[Session] = []
    measured: list[tuple[Outcome, frozenset[str]]] = []
    missing = frozenset[str]()
    for record in without_repeats(records, repeated):
        if isinstance(record, Session):
            sessions.append(record)
            missing = frozenset(skipped.environment for skipped in record.skipped)
        else:
            measured.append((record, missing))
    return Journal(
        sessions=tuple(sessions),
        outcomes=tuple(outcome for outcome, _ in measured),
        without=tuple(names for _, names in measured),
        repeated=tuple(repeated),
    )


def without_repeats(records: Iterable[Record], repeated: list[str]) -> Iterator[Record]:
    """Pass on each trial's first outcome; add the trial of every further one to ``repeated``.

    A trial occurs twice when two runners measured into one folder, or two folders were merged.
    """
    seen: set[str] = set()
    for record in records:
        if isinstance(record, Outcome):
            if record.trial.identity in seen:
                repeated.append(record.trial.identity)
                continue
            seen.add(record.trial.identity)
        yield record


def campaign_digest(result: Path) -> str | None:
    """Digest of the campaign stored in a result folder; ``None`` if there is none."""
    try:
        return f"sha256:{hashlib.sha256(read_plain(result / CAMPAIGN_FILE)).hexdigest()}"
    except OSError:
        return None


def _campaign_of(name: str, directory: Path) -> str | None:
    """The campaign of a file's first session; ``None`` if the session does not name it."""
    records = OneFile(directory / name).records()
    return next((record.campaign_digest for record in records if isinstance(record, Session)), None)


def _keep_furthest(known: dict[str, Seen], further: Mapping[str, Seen]) -> None:
    for name, seen in further.items():
        if name not in known or known[name].lines < seen.lines:
            known[name] = seen
