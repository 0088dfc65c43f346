# SPDX-License-Identifier: Apache-2.0
"""What a journal's CRCs say of it: what is damaged, what is missing, and what nobody could check."""

from dataclasses import dataclass
from enum import StrEnum

_MEANING = (
    "the journal is not as it was written; what is not used counts in no figure, and the next `tare run` of this "
    "result measures lost trials again"
)


class Fault(StrEnum):
    """What is wrong at a place of a result."""

    DAMAGED = "damaged"
    """No record can be read from it."""
    ALTERED = "altered"
    """It reads as a record, but is not what was written."""
    REMOVED = "removed"
    """It was written and is not there."""
    DOUBLED = "doubled"
    """It stands there a second time."""
    MOVED = "moved"
    """It is not where it was written; the only fault of which the record is used."""
    FOREIGN = "foreign"
    """It was written to another file, or for another campaign."""
    ORPHANED = "orphaned"
    """It is whole, but what says of which session it is is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """One place where a result is not as it was written."""

    file: str
    """Its name in the result folder."""
    fault: Fault
    line: int | None
    """The first line that is meant, from 1, as the file is now; what was removed stood after it. ``None``: the file."""
    lines: int | None
    """How many; ``None``: it is not known, or the file as a whole is meant."""
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a session read of another one's file before its own first trial."""

    lines: int
    crc: str
    """Of the last of the lines; of a file without CRCs, of all of them together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrity:
    """Of all files of a journal."""

    damage: tuple[Damage, ...] = ()
    unchecked: tuple[str, ...] = ()
    """The files of earlier versions, whose lines have no CRC."""
    unended: tuple[str, ...] = ()
    """The files in which the session's end is not written: it runs, or was killed, or the last lines are gone."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong, place by place, and before it what that means; empty when nothing is."""
        if not self.damage:
            return ()
        return (_MEANING, *(damage.sentence for damage in self.damage))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What cannot be known of files that show no fault."""
        said = []
        if self.unchecked:
            said.append(
                f"not checked: {_names(self.unchecked)} of an earlier version, whose lines have no checksum"
            )
        if self.unended:
            said.append(
                f"no end of its session in {_names(self.unended)}: it runs or was killed, or its last lines are gone"
            )
        return tuple(said)


def _names(files: tuple[str, ...]) -> str:
    rest = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{files[0]}{rest}"
