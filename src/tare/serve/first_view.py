# SPDX-License-Identifier: Apache-2.0
"""What the first page of a result shows, kept beside it: reading a large journal takes long, and this a moment.

It is believed only for the very files of which it was made, from the very code, in a file that nobody else can write.
"""

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar
from zlib import crc32

from markupsafe import Markup
from pydantic import ConfigDict, TypeAdapter

import tare
from tare.errors import TareError
from tare.host.own_files import open_own
from tare.journal.result import ResultFolder, distrusted, journal_files, journal_name
from tare.journal.whole import write_whole
from tare.records import Analysis, Outcome, Status
from tare.report.arrange import AnswerSection
from tare.serve.book import Book
from tare.serve.follow import Follower, LiveProgress
from tare.serve.version import Version, size_byte, version_of

FILE = "first-view.json"
LEAST_BYTE = 2 << 20
"""Of what an analysis is made of; less is read within a second."""
MOST_BYTE = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstView:
    """An analysis without trials, and what a page says of these."""

    analysis: Analysis
    """Its outcomes are one of each arm, for their names alone."""
    answers: tuple[AnswerSection, ...]
    lost: str
    """The section as a template made it."""
    counts: Mapping[Status, int]
    samples: int
    joined: bool
    progress: LiveProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeptView:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(ser_json_inf_nan="constants")
    code: str
    version: Version
    view: FirstView


def keep(book: Book, path: Path, progress: LiveProgress) -> None:
    """Keep it beside a large result that is its user's, unless it is being measured or was changed meanwhile.

    Nothing is kept either where there is no room, and where the analysis has something that JSON cannot hold.
    """
    folder, size = ResultFolder(path), size_byte(book.version)
    is_whole = progress.state != "running" and progress.measured == book.trials_read
    if size < LEAST_BYTE or not is_whole or distrusted(folder):
        return
    with suppress(OSError, ValueError):
        text = _text(_KeptView(code=_code(), version=book.version, view=_view(book, progress)))
        if _text(_read(text)) == text and version_of(path) == book.version:
            write_whole(folder.derived / FILE, f"{crc32(text):08x}\n{text.decode()}")


def keep_own(analysis: Analysis, path: Path) -> None:
    """Keep it at the end of a run, unless another runner has begun since; never raises."""
    version, files = version_of(path), journal_files(ResultFolder(path).journal)
    own = [journal_name(session) for session in analysis.sessions[-1:]]
    if size_byte(version) >= LEAST_BYTE and [file.name for file in files[-1:]] == own:
        with suppress(TareError):
            keep(Book(analysis=analysis, version=version), path, Follower(ResultFolder(path)).progress())


def kept_book(path: Path, version: Version) -> Book | None:
    """What was kept of a result of this version; ``None`` also if it cannot be believed, or cannot be read."""
    folder = ResultFolder(path)
    try:
        if distrusted(folder):
            return None
        with os.fdopen(open_own(folder.derived / FILE), "rb") as opened:
            crc, _, text = opened.read(MOST_BYTE).partition(b"\n")
        if crc != b"%08x" % crc32(text):
            return None
        kept = _read(text)
    except (OSError, ValueError):
        return None
    return _book(kept.view, path, version) if (kept.code, kept.version) == (_code(), version) else None


@cache
def _adapter() -> TypeAdapter[_KeptView]:
    """Built on demand: it knows half of all records."""
    return TypeAdapter(_KeptView)


def _text(kept: _KeptView) -> bytes:
    return _adapter().dump_json(kept, warnings="error")


def _read(text: bytes) -> _KeptView:
    return _adapter().validate_json(text)


def _view(book: Book, progress: LiveProgress) -> FirstView:
    return FirstView(
        # What calls MPI is not drawn here, and its keys are more than JSON's may be.
        analysis=replace(book.analysis, outcomes=_one_of_each_arm(book.analysis), call_sites=()),
        answers=tuple(book.answers),
        lost=str(book.lost),
        counts=book.counts,
        samples=book.samples,
        joined=book.joined,
        progress=progress,
    )


def _book(view: FirstView, path: Path, version: Version) -> Book:
    """A book that takes all that rests on trials from the view."""
    book = Book(analysis=replace(view.analysis, result=str(path)), version=version, kept=view.progress)
    lost = Markup(view.lost)  # noqa: S704 - as a template made it, from a file of this user's
    vars(book).update(answers=view.answers, lost=lost, counts=Counter(view.counts), trials={}, beside={})
    vars(book).update(samples=view.samples, joined=view.joined)
    return book


def _one_of_each_arm(analysis: Analysis) -> tuple[Outcome, ...]:
    """As far as names and places depend on them."""
    arms: dict[tuple[str, str, str], Outcome] = {}
    for outcome in analysis.outcomes:
        trial = outcome.trial
        arms.setdefault((trial.workload.name, trial.setting, trial.environment.name), outcome)
    return tuple(_bare(outcome) for outcome in arms.values())


def _bare(outcome: Outcome) -> Outcome:
    return Outcome(
        trial=outcome.trial,
        status=outcome.status,
        reason=None,
        excerpt=None,
        started_utc=outcome.started_utc,
        elapsed_s=outcome.elapsed_s,
        node_start_s=None,
        node_stop_s=None,
        barrier_skew_s=None,
        cpu_s=None,
        samples=(),
        instances=(),
        image_digest=outcome.image_digest,
    )


@cache
def _code() -> str:
    """Tare's version with its files' sizes and times, as other code and templates may give other pages."""
    root = Path(tare.__file__).parent
    names = sorted(file for file in root.rglob("*") if file.suffix in {".py", ".j2"})
    files = [(str(file.relative_to(root)), file.stat()) for file in names]
    stamps = [(name, status.st_size, status.st_mtime_ns) for name, status in files]
    return f"{tare.__version__} {crc32(repr(stamps).encode()):08x}"
