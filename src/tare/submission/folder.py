# SPDX-License-Identifier: Apache-2.0
"""``RESULT/jobs``: what was asked of the scheduler, and what each job says of itself. No accounting is needed.

Every job writes its record when it begins and again when it ends; a record without an end is of a job that runs, or
that was killed.
"""

import json
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from tare.errors import JournalError
from tare.host.own_files import read_plain
from tare.journal.result import ResultFolder, require_own
from tare.journal.whole import write_whole
from tare.nodes.codec import decode, encode
from tare.submission.scheduler import Wish
from tare.untrusted import from_json

_Kind = TypeVar("_Kind")
_ELEMENTS = "element-"
OWN_IDENTITY = "TARE_JOB"
"""The variable with a job's identity, where the scheduler has no arrays to tell it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What this result's jobs were submitted with: the next ones are asked for alike."""

    scheduler: str
    name: str
    """Name of all its jobs; the scheduler finds them by it, even if Tare was killed while it submitted them."""
    wish: Wish
    argv: tuple[str, ...]
    """The command of a job."""
    arrays: Mapping[str, int]
    """Identity of each array → number of its jobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One job, by its own words."""

    identity: str
    """As ``QueuedJob.identity``."""
    host: str
    """Where its ``tare run`` is."""
    nodes: str | None
    """The allocation, in the scheduler's form."""
    begun_utc: str
    ended_utc: str | None = None
    """``None``: it runs, or was killed."""
    trials: int | None = None
    """Number of trials that it recorded; ``None`` as long as it has not ended."""
    complete: bool = False
    """Whether it left nothing to run."""
    why: str | None = None
    """Why it could not measure, as a sentence; ``None``: it could."""
    stopped: bool = False
    """Whether it was asked to stop."""
    wrong_input: bool = False
    """Whether another job would fail in the same way."""


@dataclass(frozen=True, slots=True)
class _Numbers:
    of: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class JobsFolder:
    """The files of a result's jobs."""

    result: ResultFolder

    @property
    def path(self) -> Path:
        return self.result.path / "jobs"

    @property
    def campaign(self) -> Path:
        """A copy of the campaign file, for the first job; later ones continue the result's own."""
        return self.path / "campaign.toml"

    @property
    def script(self) -> Path:
        return self.path / "job.sh"

    def exists(self) -> bool:
        return self._asked.is_file()

    def asked(self) -> Asked:
        """``JournalError`` if it was damaged."""
        return _read(Asked, self._asked)

    def keep(self, asked: Asked) -> None:
        """Write what was asked; ``JournalError`` if the folder cannot be written."""
        self.write(self._asked, json.dumps(encode(asked), indent=1))

    def elements(self) -> dict[str, Element]:
        """Identity → record of every job that began."""
        records = (_read(Element, path) for path in sorted(self.path.glob(f"{_ELEMENTS}*.json")))
        return {record.identity: record for record in records}

    def note(self, element: Element) -> None:
        """Write a job's record in the place of its earlier one."""
        self.write(self.path / f"{_ELEMENTS}{element.identity}.json", json.dumps(encode(element), indent=1))

    def numbers(self) -> dict[str, str]:
        """Identity → the scheduler's own name of every job, where that is another one."""
        return dict(_read(_Numbers, self._numbers).of) if self._numbers.is_file() else {}

    def keep_number(self, identity: str, number: str) -> None:
        """Add one to ``numbers``."""
        self.write(
            self._numbers, json.dumps(encode(_Numbers({**self.numbers(), identity: number})), indent=1)
        )

    def write_script(self, argv: Sequence[str], directory: Path) -> None:
        """What the scheduler runs for each job: one command in this directory.

        It takes the shell's place, so that the scheduler's request to stop reaches it. Its arguments, if any, are the
        job's identity and the file for what it prints; of several processes of such a job the first does the work.
        """
        lines = (
            "#!/bin/sh",
            "# One block of a campaign of Tare. All jobs of a result run the same command, which continues it.",
            '[ $# = 0 ] || [ "${FLUX_TASK_RANK:-0}" = 0 ] || exit 0',
            f'[ $# = 0 ] || {{ exec >>"$2" 2>&1 && export {OWN_IDENTITY}="$1"; }} || exit 3',
            f"cd {shlex.quote(str(directory))} || exit 3",
            f"exec {shlex.join(argv)}",
        )
        self.write(self.script, "".join(f"{line}\n" for line in lines))

    def write(self, path: Path, text: str) -> None:
        """Write a file whole; ``JournalError`` if that cannot be, or if others could have prepared the folder."""
        require_own(self.result)
        try:
            write_whole(path, text)
        except OSError as error:
            raise JournalError(
                f"cannot write {path}: {error.strerror}; make it writable, or choose another --output"
            ) from error

    def log(self, identity: str) -> Path:
        """What a job printed."""
        return self.path / f"{identity}.log"

    @property
    def _numbers(self) -> Path:
        return self.path / "numbers.json"

    @property
    def _asked(self) -> Path:
        return self.path / "asked.json"


def new_name() -> str:
    """A name for the jobs of a new result."""
    return f"tare-{secrets.token_hex(5)}"


def with_array(asked: Asked, identity: str, count: int) -> Asked:
    """The same, with an array that was submitted."""
    return replace(asked, arrays={**asked.arrays, identity: count})


def _read(kind: type[_Kind], path: Path) -> _Kind:
    try:
        data: Any = from_json(read_plain(path).decode())
        return decode(kind, data)
    except (OSError, ValueError) as error:
        raise JournalError(
            f"{path} cannot be read ({error}): Tare wrote it for the jobs of this result; restore it, or remove the "
            "folder it is in once no job of this result is left"
        ) from error
