# SPDX-License-Identifier: Apache-2.0
"""What a journal's CRCs show: what is damaged, what is missing, and what could not be checked."""

from dataclasses import dataclass
from enum import StrEnum

_MEANING = (
    "the journal is not as it was written; records that are not used count in no figure, and the next `tare run` of "
    "this result measures lost trials again"
)


class Fault(StrEnum):
    """What is wrong at one place of a result."""

    DAMAGED = "damaged"
    """No record can be read from it."""
    ALTERED = "altered"
    """It reads as a record, but is not what was written."""
    REMOVED = "removed"
    """It was written and is missing."""
    DOUBLED = "doubled"
    """It occurs a second time."""
    MOVED = "moved"
    """It is not where it was written; the only fault whose record is used."""
    FOREIGN = "foreign"
    """It was written to another file, or for another campaign."""
    ORPHANED = "orphaned"
    """It is whole, but the record of its session is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """One place where a result is not as it was written."""

    file: str
    """Its name in the result folder."""
    fault: Fault
    line: int | None
    """The first affected line, from 1, in the file as it is now; what was removed followed it. ``None``: the file."""
    lines: int | None
    """Number of lines; ``None``: not known, or the whole file is affected."""
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a session read of another session's file before its own first trial."""

    lines: int
    crc: str
    """CRC of the last line; in a file without CRCs, of all lines together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrity:
    """The state of all files of a journal."""

    damage: tuple[Damage, ...] = ()
    unchecked: tuple[str, ...] = ()
    """Files of earlier versions, whose lines have no CRC."""
    unended: tuple[str, ...] = ()
    """Files without the end of the session: it is running, was killed, or the last lines are gone."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong, place by place, preceded by what it means; empty when nothing is."""
        if not self.damage:
            return ()
        return (_MEANING, *(damage.sentence for damage in self.damage))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What remains unknown about files that show no fault."""
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
