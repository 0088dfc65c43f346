# SPDX-License-Identifier: Apache-2.0
"""The results on offer, each read once: what was read stays until its journal changes."""

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tare.errors import InputError, JournalError, TareError
from tare.journal.result import ResultFolder
from tare.pipeline import analyse_result
from tare.serve import first_view
from tare.serve.book import Book
from tare.serve.follow import Follower, is_locked
from tare.serve.heads import MOST_RESULTS, ShelvedResult, begun, find_results
from tare.serve.version import Version, size_byte, version_of

_KEPT = 6
"""Results that stay in memory."""
_KEPT_BYTE = 1 << 30
"""Journals of those that stay in memory, together; the newest stays in any case."""
_LOOKED_EVERY_S = 2.0
_REST = 20
"""A result that grows is read again after so many times the time that it takes: a campaign on this host is disturbed
by a twentieth of a processor at most."""


@dataclass(slots=True)
class _OnShelf:
    """What is known of one result."""

    follower: Follower
    book: Book | None = None
    brief: Book | None = None
    """What an earlier reading kept; looked for as long as there is no ``book``."""
    looked_for: Version | None = None
    """The version of which it was looked for last."""
    reading: "Future[Book] | None" = None
    reading_of: Version = ()


@dataclass(slots=True)
class Shelf:
    """Results below the named places; one is read at a time, as reading takes a processor and memory."""

    places: Sequence[Path]
    _entries: dict[str, ShelvedResult] = field(default_factory=dict)
    _found_s: float = -_LOOKED_EVERY_S
    _known: "OrderedDict[str, _OnShelf]" = field(default_factory=OrderedDict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _turn: threading.Lock = field(default_factory=threading.Lock)
    """Of the one who reads."""
    _looking: threading.Lock = field(default_factory=threading.Lock)
    """Of the one who looks for what was kept."""

    def entries(self) -> tuple[ShelvedResult, ...]:
        """All results there are now."""
        with self._lock:
            if time.monotonic() - self._found_s >= _LOOKED_EVERY_S:
                self._entries = {entry.identity: entry for entry in find_results(self.places)}
                self._found_s = time.monotonic()
            return tuple(self._entries.values())[:MOST_RESULTS]

    def entry(self, identity: str) -> ShelvedResult | None:
        """The result of this identity: only what the places hold can be asked for."""
        self.entries()
        return self._entries.get(identity)

    def follower(self, entry: ShelvedResult) -> Follower:
        with self._lock:
            return self._place(entry).follower

    def trials_read(self, entry: ShelvedResult) -> int:
        """How many trials there were when the result was read; 0: it was not."""
        with self._lock:
            place = self._place(entry)
            book = place.book or place.brief
            return book.trials_read if book else 0

    def begin(self) -> None:
        """Read the newest result before anybody asks, unless a campaign is at work on it; never raises."""
        newest = max(self.entries(), key=begun, default=None)
        if newest and begun(newest) and not is_locked(ResultFolder(newest.path).lock):
            with suppress(TareError, OSError):
                self.first(newest, 0.0)

    def first(
        self, entry: ShelvedResult, patience_s: float, *, anew: bool = False
    ) -> tuple[Book | None, bool]:
        """As ``book``, which is on its way then; until it is there what an earlier reading kept of the same files."""
        brief = self._brief(entry)
        book, is_reading = self.book(entry, 0.0 if brief else patience_s, anew=anew)
        return book or brief, is_reading and book is not None

    def book(
        self, entry: ShelvedResult, patience_s: float, *, anew: bool = False
    ) -> tuple[Book | None, bool]:
        """What was read of a result, and whether it is being read now; ``TareError`` if it cannot be read.

        ``None`` as long as the first reading takes. What is out of date is read again; without a rest if ``anew``, or
        if nobody is measuring.
        """
        now = version_of(entry.path)
        with self._lock:
            place = self._place(entry)
        if place.book is not None and place.book.version != now:
            anew = anew or place.follower.progress().state != "running"
        with self._lock:
            if place.reading is not None and place.reading.done() and place.reading_of != now:
                place.reading = None  # it failed, and the files are others by now
            if place.reading is None and _is_due(place.book, now, anew=anew):
                place.reading, place.reading_of = self._begin(entry.path, now, place), now
            reading = place.reading
        if reading is not None:
            self._wait(entry, reading, patience_s)
        with self._lock:
            return place.book, place.reading is not None

    def _begin(self, path: Path, version: Version, place: _OnShelf) -> "Future[Book]":
        """Read in a thread for which nobody waits at the end; the book is there also if nobody asks again."""
        reading: Future[Book] = Future()

        def read() -> None:
            with suppress(TareError):  # the reading says what is wrong
                place.follower.progress()  # which a page can show meanwhile
            with self._turn:
                try:
                    book = _read(path, version, place.follower)
                except BaseException as error:  # noqa: BLE001 - passed on to whoever asks for the result
                    reading.set_exception(error)
                    return
                is_known = self._keep(place, book)
                reading.set_result(book)
                if not is_known:
                    with suppress(TareError):
                        first_view.keep(book, path, place.follower.progress())

        threading.Thread(target=read, name="tare-reader", daemon=True).start()
        return reading

    def _place(self, entry: ShelvedResult) -> _OnShelf:
        place = self._known.get(entry.identity)
        if place is None:
            place = self._known[entry.identity] = _OnShelf(Follower(ResultFolder(entry.path)))
        self._known.move_to_end(entry.identity)
        return place

    def _brief(self, entry: ShelvedResult) -> Book | None:
        """``None`` where nothing was kept of the present files, and where the whole book is there."""
        with self._lock:
            place = self._place(entry)
            if place.book is not None:
                return None
        now = version_of(entry.path)
        with self._looking:
            if place.looked_for != now:
                place.brief, place.looked_for = first_view.kept_book(entry.path, now), now
            return place.brief

    def _keep(self, place: _OnShelf, book: Book) -> bool:
        """Put it on the shelf; whether its first view was kept before."""
        with self._lock:
            is_known = place.brief is not None and place.brief.version == book.version
            place.book, place.reading = book, None
            place.brief = place.looked_for = None
            self._forget()
            return is_known

    def _wait(self, entry: ShelvedResult, reading: "Future[Book]", patience_s: float) -> None:
        try:
            reading.result(timeout=patience_s)
        except NotYetError:
            return
        except Exception:
            with self._lock:
                self._place(entry).reading = None
            raise

    def _forget(self) -> None:
        """Drop what was not asked for longest."""
        kept_byte = 0
        for number, place in enumerate(reversed(self._known.values())):
            if number >= _KEPT:
                place.brief = place.looked_for = None
            if place.book is not None:
                kept_byte += size_byte(place.book.version)
                if number and (number >= _KEPT or kept_byte > _KEPT_BYTE):
                    place.book = None


def _is_due(book: Book | None, now: Version, *, anew: bool) -> bool:
    if book is None:
        return True
    rested = time.monotonic() - book.read_at_s >= _REST * book.took_s
    return book.version != now and (anew or rested)


def _read(path: Path, version: Version, follower: Follower) -> Book:
    began = time.monotonic()
    try:
        analysis = analyse_result(path)
    except RecursionError as error:
        raise JournalError(f"{path} is nested too deeply to be read") from error
    if not analysis.sessions:
        raise InputError(f"{path} holds a campaign and no measurement yet")
    book = Book(analysis=analysis, version=version)
    book.prepare()
    follower.progress()
    book.took_s, book.read_at_s = time.monotonic() - began, time.monotonic()
    return book
