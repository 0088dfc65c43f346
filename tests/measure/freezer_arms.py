# SPDX-License-Identifier: Apache-2.0
"""Arms of plain processes in control groups of their own, for the tests and the bench of freezer turns."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from tare.host import cgroups
from tare.host.cgroups.freezer import freezer_of
from tare.measure.freezer_turns import FrozenArm
from tare.measure.stopwatch import Command, Stopwatch
from tare.nodes.group import LocalGroup

_READY_LIMIT_S = 10.0
_LIMIT_S, _WALL_LIMIT_S = 60.0, 600.0


@contextmanager
def arms_of(programs: Path, folder: Path, commands: Sequence[Sequence[str]]) -> Iterator[list[FrozenArm]]:
    """One arm for each command, ready; what it prints is in ``folder / NUMBER``."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(_arm(programs, folder / str(number), argv))
            for number, argv in enumerate(commands)
        ]


@contextmanager
def _arm(programs: Path, folder: Path, argv: Sequence[str]) -> Iterator[FrozenArm]:
    name = f"tare-test-{os.getpid()}-{time.monotonic_ns()}"
    group = cgroups.create_own_group(name)
    folder.mkdir(parents=True)
    command = Command(argv=tuple(argv), directory=str(folder), variables=_variables(), limit_s=_WALL_LIMIT_S)
    way = [str(programs / "join"), *group.process_files, "--", str(programs / "stopwatch")]
    try:
        freezer = freezer_of(group, name)
        assert freezer is not None, "this host has no freezer"
        with Stopwatch([*way, *command.options(str(folder))]) as stopwatch:
            stopwatch.wait_ready(_READY_LIMIT_S)
            yield FrozenArm(
                stopwatches=[stopwatch], freezers=[freezer], groups=[LocalGroup(group)], limit_s=_LIMIT_S
            )
    finally:
        group.remove()


def _variables() -> dict[str, str]:
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {"PATH": os.environ["PATH"], "HOME": "/root", "PYTHONHASHSEED": "0", **allowed}


def with_changes(arm: FrozenArm, **changes: object) -> FrozenArm:
    return replace(arm, **changes)  # type: ignore[arg-type]
