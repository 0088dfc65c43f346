# SPDX-License-Identifier: Apache-2.0
"""Profiles of MPI programs, where a command takes a result: one file by itself, or those of a result's trials."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import ExitCode, InputError
from tare.host.own_files import open_regular, read_plain
from tare.journal.result import ResultFolder

if TYPE_CHECKING:
    from tare.records import Cell, Outcome
    from tare.records.profiled import CallSite, ProfiledRun

_HEAD = b'{"schema":'
_HEAD_BYTE = 4096
_MOST_BYTE = 16 << 20
MOST_SITES = 10
"""Shown unless all are asked for."""


def is_profile(path: Path) -> bool:
    """Whether the file begins as the profiler's do."""
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            head = opened.read(_HEAD_BYTE)
    except OSError:
        return False
    return head.startswith(_HEAD) and b'"library":' in head


def show_profile(path: Path, *, as_json: bool, show_all: bool) -> ExitCode:
    """Print where the time of one run went; ``InputError`` if the file is no whole profile."""
    from tare.commands.console import PlainConsole
    from tare.report.call_sites import print_ranks, print_sites

    if as_json:
        raise InputError(f"{path} is JSON itself; docs/profiler.md has its keys")
    profiled = _read(path)
    console = PlainConsole()
    print_ranks(profiled, console)
    sites = profiled.sites if show_all else profiled.sites[:MOST_SITES]
    print_sites(sites, lines_of([profiled], sites), len(profiled.sites), console)
    return ExitCode.DONE


def print_call_sites(outcomes: Iterable["Outcome"], folder: ResultFolder, *, show_all: bool) -> None:
    """Print, for each environment that was profiled, which places in its programs cost most, over all its trials."""
    from rich.text import Text

    from tare.commands.console import PlainConsole
    from tare.drawing.words import counted
    from tare.foreign import one_line
    from tare.report.arrange import place
    from tare.report.call_sites import TITLE, print_sites
    from tare.workloads.call_sites import joined_runs

    console = PlainConsole()
    for number, ((cell, environment), profiled) in enumerate(_by_environment(outcomes, folder).items()):
        if number == 0:
            console.print(Text(f"\n{TITLE}", style="bold"))
        joined = joined_runs(each.sites for each in profiled)
        sites = joined if show_all else joined[:MOST_SITES]
        runs = counted(len(profiled), "run")
        console.print(Text(f"\n{one_line(environment)}, {place(cell)}, mean over {runs}", style="bold"))
        print_sites(sites, lines_of(profiled, sites), len(joined), console)


def _by_environment(
    outcomes: Iterable["Outcome"], folder: ResultFolder
) -> Mapping[tuple["Cell", str], list["ProfiledRun"]]:
    """Only trials that count, and whose raw output is still there."""
    from tare.records import Status
    from tare.treat.pairing import cell_of

    kept: dict[tuple[Cell, str], list[ProfiledRun]] = {}
    for outcome in outcomes:
        if outcome.status is Status.OK:
            for profiled in _of_trial(folder.raw / outcome.trial.identity):
                key = (cell_of(outcome), outcome.trial.environment.name)
                kept.setdefault(key, []).append(profiled)
    return kept


def _of_trial(raw: Path) -> Iterator["ProfiledRun"]:
    from tare.workloads.profile import FILE

    for path in sorted(raw.glob(f"*/{FILE}")):
        try:
            profiled = _read(path)
        except InputError:
            continue
        if profiled.sites:
            yield profiled


def _read(path: Path) -> "ProfiledRun":
    from tare.workloads.call_sites import parse_profiled

    try:
        return parse_profiled(read_plain(path, _MOST_BYTE).decode())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(
            f"{path} is no whole profile, or one of another version; profile it again with this version's library"
        ) from error


def lines_of(profiled: Iterable["ProfiledRun"], sites: Iterable["CallSite"]) -> Mapping[tuple[str, int], str]:
    """(Module, offset) \N{RIGHTWARDS ARROW} source file and line, for modules on this host with debug data."""
    from tare.image.source_lines import source_lines

    builds = {path: build for each in profiled for path, build in each.builds.items()}
    offsets: dict[str, list[int]] = {}
    for site in sites:
        if site.place.module is not None and site.place.offset is not None:
            offsets.setdefault(site.place.module, []).append(site.place.offset)
    lines: dict[tuple[str, int], str] = {}
    for module, own in offsets.items():
        # The call is what ends at the offset: what is there may be the next line.
        known = source_lines(Path(module), builds.get(module), [offset - 1 for offset in own])
        lines |= {(module, address + 1): line for address, line in known.items()}
    return lines
