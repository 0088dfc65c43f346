# SPDX-License-Identifier: Apache-2.0
"""``tare show`` of one profile of an MPI program, a file by itself."""

import os
from pathlib import Path

from tare.errors import ExitCode, InputError
from tare.host.own_files import open_regular

_HEAD = b'{"schema":'
_HEAD_BYTE = 4096


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
    from tare.measure.profiles import lines_of, read_profile
    from tare.report.call_sites import print_ranks, print_sites, shown_sites

    if as_json:
        raise InputError(f"{path} is JSON itself; docs/profiler.md has its keys")
    profiled = read_profile(path)
    console = PlainConsole()
    print_ranks(profiled, console)
    sites = shown_sites(profiled.sites, show_all=show_all)
    print_sites(sites, lines_of([profiled], sites), len(profiled.sites), console)
    return ExitCode.DONE
