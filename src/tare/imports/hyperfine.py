# SPDX-License-Identifier: Apache-2.0
"""The JSON that ``hyperfine --export-json`` writes: the wall time of every run of each command, in seconds.

Means, and the user and system time, of which it keeps the mean alone, are not read.
"""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from tare.imports.reading import Document, Format, ImportedValue, Parsed, checked
from tare.records import Direction
from tare.untrusted import of_kind, start_of


class _Command(TypedDict):
    command: str
    times: list[float]
    exit_codes: NotRequired[list[int | None]]


class _Export(TypedDict):
    results: list[_Command]


def _recognizes(document: Document) -> bool:
    return document.has("results") and len(document.json) == 1


def _parse(document: Document) -> Parsed:
    commands = of_kind(_Export, document.json)["results"]
    names = [command["command"] for command in commands]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two commands are called {start_of(name)}; name them apart with hyperfine's -n")
    readings = tuple(
        ImportedValue(
            subject=command["command"],
            metric="wall_s",
            unit="s",
            direction=Direction.LESS,
            value=checked(time_s),
        )
        for command in commands
        for time_s, code in zip(command["times"], _codes(command), strict=True)
        if code == 0
    )
    return Parsed(
        readings=readings, remarks=tuple(_failed(command) for command in commands if _failed(command))
    )


def _codes(command: _Command) -> Sequence[int | None]:
    """The exit code of each run; versions before 1.12 keep none, but end at the first that is not 0."""
    codes = command.get("exit_codes") or [0 for _ in command["times"]]
    if len(codes) != len(command["times"]):
        raise ValueError(
            f"{start_of(command['command'])} has {len(command['times'])} times, {len(codes)} exit codes"
        )
    return codes


def _failed(command: _Command) -> str:
    codes = _codes(command)
    failed = sum(code != 0 for code in codes)
    return f"{command['command']}: {failed} of {len(codes)} runs failed" if failed else ""


HYPERFINE = Format(name="hyperfine", recognizes=_recognizes, parse=_parse, subjects_are_arms=True)
