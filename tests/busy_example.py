# SPDX-License-Identifier: Apache-2.0
"""A host that others keep busy: recorded, and for real."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tare.records import BusyProgram, HostLoad

QUIET = HostLoad(processors=2, foreign=0.05)


def busy_load(foreign: float = 1.0, *names: str, processors: int = 2, steal: float = 0.0) -> HostLoad:
    programs = tuple(
        BusyProgram(name=name, user="alice", pid=100 + number, processors=foreign / len(names or "x"))
        for number, name in enumerate(names or ("stress",))
    )
    return HostLoad(processors=processors, foreign=foreign, steal=steal, others=programs)


@contextmanager
def busy_loops(folder: Path, count: int = 2, name: str = "noisyloop") -> Iterator[str]:
    """So many programs of this name that keep a processor each busy, and are nobody's children; 60 s at most."""
    program = folder / name
    program.symlink_to("/bin/sh")
    script = f"timeout 60 {program} -c 'while :; do :; done' >/dev/null 2>&1 & echo $!"
    argv = ["setsid", "sh", "-c", script]
    begun = [
        int(subprocess.run(argv, capture_output=True, text=True, check=True, timeout=10).stdout)
        for _ in range(count)
    ]
    try:
        yield name
    finally:
        for pid in begun:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)  # timeout(1) hands it on
