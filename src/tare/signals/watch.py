# SPDX-License-Identifier: Apache-2.0
"""All signals of one trial: the texts are read before GO and after the last DONE, and parsed when all is over.

So a look costs no more than the reading; ``python -m bench.signals`` prints how long that takes.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import fmean
from typing import TypeAlias

from tare.records import Scope, Signal
from tare.signals.family import Kind, SignalFamily, TextSource, Unreadable
from tare.signals.place import Place

_ELSEWHERE = "the nodes are on another host"
_NOT_COUNTED = "this kernel does not count it"
_STEPPED_BACK = "its count went back or wrapped during the trial"

_Texts: TypeAlias = tuple[bytes, ...] | Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalTexts:
    """One snapshot."""

    at_s: float
    """CLOCK_MONOTONIC."""
    runner_cpu_s: float
    """CPU time of this process, without its children: on native the measured command is one of them."""
    texts: Mapping[int, _Texts]
    """Texts by the family's position in the list."""


@dataclass(slots=True, kw_only=True)
class Found:
    """The signals of one trial, and the missing ones."""

    signals: list[Signal] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    levels: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """Values of each level: before, while the command ran, after."""

    def lack(self, kinds: Sequence[Kind], why: str) -> None:
        self.missing.update(dict.fromkeys((kind.name for kind in kinds), why))


class SignalWatch:
    """The signals of one trial, from ``begin`` to ``end``."""

    def __init__(self, place: Place, families: Sequence[SignalFamily]) -> None:
        self.place = place
        self._families = families
        self._sources = {number: _sources(family, place) for number, family in enumerate(families)}
        self.before: SignalTexts | None = None
        self.after: SignalTexts | None = None
        self._between: list[Mapping[int, _Texts]] = []
        self._glanced = {
            number: self._sources[number]
            for number, family in enumerate(families)
            if family.wraps or all(kind.level for kind in family.kinds)
        }
        self._counted_by_turns = [
            source
            for number, family in enumerate(families)
            if family.wraps and not isinstance(sources := self._sources[number], Unreadable)
            for source in sources
        ]

    def begin(self) -> None:
        self.before = self._look()

    def glance(self) -> None:
        """Read the levels while the command runs, and the counters that wrap."""
        self._between.append({number: _texts(sources) for number, sources in self._glanced.items()})

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Around a turn of this arm among others: what wraps counts only within turns, the rest all the time."""
        for source in self._counted_by_turns:
            source.begin_turn()
        yield
        for source in self._counted_by_turns:
            source.end_turn()

    def end(self) -> None:
        self.after = self._look()

    def close(self) -> None:
        for sources in self._sources.values():
            for source in () if isinstance(sources, Unreadable) else sources:
                source.close()

    @property
    def span_s(self) -> float:
        """From the first look to the second; ``ValueError`` before both were taken."""
        before, after = self.looks()
        return after.at_s - before.at_s

    def looks(self) -> tuple[SignalTexts, SignalTexts]:
        """Both looks; ``ValueError`` before they were taken."""
        if self.before is None or self.after is None:
            raise ValueError("there are not two looks yet")
        return self.before, self.after

    def text_of(self, family: type[SignalFamily]) -> tuple[bytes, bytes] | None:
        """Texts of a family with one source, before and after; ``None`` if unreadable."""
        before, after = self.looks()
        number = next(
            index for index, signal_family in enumerate(self._families) if isinstance(signal_family, family)
        )
        first, second = before.texts[number], after.texts[number]
        if isinstance(first, Unreadable) or isinstance(second, Unreadable):
            return None
        return first[0], second[0]

    def found(self) -> Found:
        """The signals between the two looks."""
        before, after = self.looks()
        readings = Found()
        for number, family in enumerate(self._families):
            between = [texts[number] for texts in self._between if number in texts]
            _tell(family, self.place, [before.texts[number], *between, after.texts[number]], readings)
        return readings

    def _look(self) -> SignalTexts:
        texts = {number: _texts(sources) for number, sources in self._sources.items()}
        return SignalTexts(at_s=time.monotonic(), runner_cpu_s=time.process_time(), texts=texts)


@contextmanager
def watched_signals(place: Place, families: Sequence[SignalFamily]) -> Iterator[SignalWatch]:
    """A watch that releases its resources at the end."""
    watch = SignalWatch(place, families)
    try:
        yield watch
    finally:
        watch.close()


def _sources(family: SignalFamily, place: Place) -> Sequence[TextSource] | Unreadable:
    if place.elsewhere:
        return Unreadable(_ELSEWHERE)
    try:
        return family.sources(place)
    except Unreadable as reason:
        return reason


def _texts(sources: Sequence[TextSource] | Unreadable) -> _Texts:
    if isinstance(sources, Unreadable):
        return sources
    try:
        return tuple(source.read() for source in sources)
    except Unreadable as reason:
        return reason


def _tell(family: SignalFamily, place: Place, taken: Sequence[_Texts], readings: Found) -> None:
    """Add the family's signals; ``taken``: texts before, for levels also in between, and after."""
    reasons = [texts for texts in taken if isinstance(texts, Unreadable)]
    if reasons:
        readings.lack(family.kinds, str(reasons[0]))
        return
    try:
        # Most of the kernel's counts stay the same while a command runs.
        parsed = {texts: _figures(family, place, texts) for texts in dict.fromkeys(taken)}
    except (ValueError, ArithmeticError) as problem:
        readings.lack(family.kinds, f"what the kernel says is not understood: {problem}")
        return
    figures = [parsed[texts] for texts in taken]
    for kind in family.kinds:
        values = tuple(figure[kind.name] for figure in figures if kind.name in figure)
        if len(values) < len(figures):
            readings.lack([kind], _NOT_COUNTED)
        elif kind.level:
            readings.levels[kind.name] = values
            readings.signals.append(_signal(kind, place, fmean(values[1:])))
        elif values[-1] < values[0]:
            readings.lack([kind], _STEPPED_BACK)
        else:
            readings.signals.append(_signal(kind, place, values[-1] - values[0]))


def _figures(family: SignalFamily, place: Place, texts: _Texts) -> Mapping[str, float]:
    """Figures of all sources together; a signal missing in one source is left out."""
    parsed = [family.parse(text, place) for text in (() if isinstance(texts, Unreadable) else texts)]
    names = set.intersection(*map(set, parsed)) if parsed else ()
    return {name: float(family.joined([figures[name] for figures in parsed])) for name in names}


def _signal(kind: Kind, place: Place, value: float) -> Signal:
    shared = kind.of_network and not place.own_network
    scope = Scope.HOST if shared else kind.scope
    return Signal(name=kind.name, unit=kind.unit, scope=scope, value=value, lost_time=kind.lost_time)
