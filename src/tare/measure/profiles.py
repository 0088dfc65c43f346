# SPDX-License-Identifier: Apache-2.0
"""The profiles that a result's trials have left, read anew whenever the result is."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tare.errors import InputError
from tare.host.own_files import read_plain
from tare.image.source_lines import source_lines
from tare.records import Cell, Outcome, Status
from tare.records.profiled import CallSite, ProfiledArm, ProfiledRun
from tare.workloads.call_sites import joined_runs, parse_profiled
from tare.workloads.profile import FILE

_MOST_BYTE = 16 << 20
MOST_LINES = 50
"""Places of an environment, those that cost most, whose lines are looked up: each takes a search of the debug data."""


def read_profile(path: Path) -> ProfiledRun:
    """Read one; ``InputError`` if the file is no whole profile."""
    try:
        return parse_profiled(read_plain(path, _MOST_BYTE).decode())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(
            f"{path} is no whole profile, or one of another version; profile it again with this version's library"
        ) from error


def profiled_arms(
    raw: Path, outcomes: Iterable[Outcome], cell_of: Callable[[Outcome], Cell]
) -> tuple[ProfiledArm, ...]:
    """Join the runs of each environment in each cell: of trials that count and whose raw output is still there."""
    kept: dict[tuple[Cell, str], list[ProfiledRun]] = {}
    for outcome in outcomes:
        if outcome.status is Status.OK:
            key = cell_of(outcome), outcome.trial.environment.name
            for profiled in _of_trial(raw / outcome.trial.identity):
                kept.setdefault(key, []).append(profiled)
    return tuple(_arm(cell, name, runs) for (cell, name), runs in kept.items())


def _of_trial(raw: Path) -> Iterator[ProfiledRun]:
    """Those that tell from where MPI was called."""
    for path in sorted(raw.glob(f"*.{FILE}")):
        try:
            profiled = read_profile(path)
        except InputError:
            continue
        if profiled.sites:
            yield profiled


def _arm(cell: Cell, environment: str, runs: Sequence[ProfiledRun]) -> ProfiledArm:
    sites = joined_runs(run.sites for run in runs)
    return ProfiledArm(
        cell=cell,
        environment=environment,
        runs=len(runs),
        sites=sites,
        lines=lines_of(runs, sites[:MOST_LINES]),
    )


def lines_of(profiled: Iterable[ProfiledRun], sites: Iterable[CallSite]) -> Mapping[tuple[str, int], str]:
    """(Module, offset) \N{RIGHTWARDS ARROW} source file and line, for modules on this host with debug data."""
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
