# SPDX-License-Identifier: Apache-2.0
"""From the command line's words to readings: a file, or a folder with a file for each run. All of it is untrusted."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tare.errors import InputError
from tare.host.own_files import open_regular
from tare.imports.formats import format_of
from tare.imports.paths import files_in
from tare.imports.reading import Document, Format, ImportedValue, Parsed
from tare.untrusted import MOST_CHARACTERS

_MOST_FILES = 1000
_MOST_READINGS = 200_000
"""Of one source: what the statistics do within a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What was read below one name of the command line."""

    name: str
    """Its arm, unless its text names others."""
    path: Path
    format: Format
    readings: tuple[ImportedValue, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def read_source(path: Path, name: str = "") -> Source:
    """Read a file or a folder of files; ``InputError`` if it is not one tool's output, whole, and within the limits."""
    files = files_in(path) if path.is_dir() else [path]
    if len(files) > _MOST_FILES:
        raise InputError(f"{path} holds {len(files)} files; {_MOST_FILES} are the most")
    formats, parsed = zip(*(_parsed(file) for file in files), strict=True)
    if len(set(formats)) > 1:
        names = " and ".join(dict.fromkeys(each.name for each in formats))
        raise InputError(f"{path} holds files of {names}; put those of one tool and one arm into a folder")
    return _source(path, name, formats[0], parsed)


def _source(path: Path, name: str, chosen: Format, parsed: tuple[Parsed, ...]) -> Source:
    readings = tuple(reading for each in parsed for reading in each.readings)
    remarks = tuple(dict.fromkeys(remark for each in parsed for remark in each.remarks))
    if not readings:
        why = remarks[0] if remarks else "it has no single value, or nothing but aggregates"
        raise InputError(f"{path}: nothing in it counts ({chosen.name}): {why}")
    if len(readings) > _MOST_READINGS:
        raise InputError(f"{path} holds {len(readings)} values; {_MOST_READINGS} are the most")
    return Source(
        name=name or (path.resolve().name if path.is_dir() else path.stem),
        path=path,
        format=chosen,
        readings=readings,
        facts=_joined([each.facts for each in parsed]),
        remarks=remarks,
    )


def _joined(facts: list[Mapping[str, str]]) -> Mapping[str, str]:
    """What all files say; where they differ, all of it."""
    labels = dict.fromkeys(label for each in facts for label in each)
    return {
        label: ", ".join(dict.fromkeys(each[label] for each in facts if label in each)) for label in labels
    }


def _parsed(path: Path) -> tuple[Format, Parsed]:
    try:
        document = Document(_text(path))
        chosen = format_of(document)
    except ValueError as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    try:
        return chosen, chosen.parse(document)
    except ValueError as error:
        raise InputError(f"{path} cannot be read as {chosen.name}: {error}") from error


def _text(path: Path) -> str:
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            content = opened.read(MOST_CHARACTERS + 1)
    except OSError as error:
        raise ValueError(error.strerror) from error
    if len(content) > MOST_CHARACTERS:
        raise ValueError(f"it is longer than {MOST_CHARACTERS >> 20} MiB")
    if not content.strip():
        raise ValueError("it is empty")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no text in UTF-8, at byte {error.start}") from error
