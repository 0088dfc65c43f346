# SPDX-License-Identifier: Apache-2.0
"""From readings to series: which arm each value belongs to, and what is left out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tare.errors import InputError
from tare.imports.files import Source
from tare.imports.reading import ImportedValue
from tare.records import Direction, ImportedMeasurements, ImportedSeries, ImportedSource

_Placed = tuple[str, ImportedValue]
"""An arm and a reading."""
_Key = tuple[str, str, str, str, Direction]
"""Arm, subject, metric, unit and direction."""


def arranged(sources: Sequence[Source]) -> ImportedMeasurements:
    """Give the series of all arms; ``InputError`` if two sources have one name, or if nothing is left.

    An arm is a source; or what a source calls so, with the source's name before it if there are several. If each arm
    has one subject, these are taken for the same work: a command differs where it is run in a container.
    """
    _refuse_twins(sources)
    placed = [each for source in sources for each in _placed(source, alone=len(sources) == 1)]
    subjects = _only_subjects(placed)
    if subjects:
        placed = [(arm, replace(reading, subject="")) for arm, reading in placed]
    left_out = [f"{source.name}: {remark}" for source in sources for remark in source.remarks]
    given = list(_series(placed))
    left_out += [each for each in given if isinstance(each, str)]
    series = tuple(each for each in given if isinstance(each, ImportedSeries))
    if not series:
        raise InputError(f"nothing is left to compare: {left_out[0]}")
    said = tuple(
        ImportedSource(name=each.name, path=str(each.path), kind=each.format.name, facts=each.facts)
        for each in sources
    )
    return ImportedMeasurements(sources=said, series=series, subjects=subjects, left_out=tuple(left_out))


def _refuse_twins(sources: Sequence[Source]) -> None:
    names = [source.name for source in sources]
    for number, source in enumerate(sources):
        if names.count(source.name) > 1:
            raise InputError(
                f"two inputs are called {source.name}; give one another name: NAME={source.path}"
            )
        for other in sources[:number]:
            if other.readings == source.readings:
                raise InputError(
                    f"{other.path} and {source.path} hold the same measurements; leave one of them out"
                )


def _placed(source: Source, *, alone: bool) -> Iterator[_Placed]:
    """Each reading with its arm."""
    arms = {reading.arm for reading in source.readings}
    subjects = {reading.subject for reading in source.readings}
    if alone and len(arms) == 1 < len(subjects) and source.format.subjects_are_arms:
        yield from ((reading.subject, replace(reading, subject="")) for reading in source.readings)
    elif len(arms) == 1:
        yield from ((source.name, reading) for reading in source.readings)
    else:
        before = "" if alone else f"{source.name}: "
        yield from ((f"{before}{reading.arm}", reading) for reading in source.readings)


def _only_subjects(placed: Iterable[_Placed]) -> tuple[str, ...]:
    """The one subject of each arm; empty if some arm has several, or if they are all the same."""
    subjects: dict[str, set[str]] = {}
    for arm, reading in placed:
        subjects.setdefault(arm, set()).add(reading.subject)
    only = tuple(subject for own in subjects.values() if len(own) == 1 for subject in own)
    return only if len(only) == len(subjects) and len(set(only)) > 1 else ()


def _series(placed: Iterable[_Placed]) -> Iterator[ImportedSeries | str]:
    """Each series, or why it is left out."""
    own: dict[_Key, list[ImportedValue]] = {}
    for arm, reading in placed:
        key = (arm, reading.subject, reading.metric, reading.unit, reading.direction)
        own.setdefault(key, []).append(reading)
    for (arm, subject, metric, unit, direction), readings in own.items():
        if any(reading.value == 0 for reading in readings):
            yield f"{arm}: {', '.join(filter(None, (subject, metric)))}: a value is printed as 0"
            continue
        yield ImportedSeries(
            arm=arm,
            subject=subject,
            metric=metric,
            unit=unit,
            direction=direction,
            values=tuple(reading.value for reading in readings),
            rounding=max(reading.half_digit / reading.value for reading in readings),
        )
