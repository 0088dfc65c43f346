# SPDX-License-Identifier: Apache-2.0
"""The script that the scheduler runs for each job: one command, whose place the shell leaves to it."""

import shlex
from collections.abc import Sequence
from pathlib import Path


def script(argv: Sequence[str], directory: Path) -> str:
    """``exec``, so that the scheduler's request to stop reaches the command and not a shell that waits for it."""
    return "\n".join(
        (
            "#!/bin/sh",
            "# One block of a campaign of Tare. All jobs of a result run the same command, which continues it.",
            f"cd {shlex.quote(str(directory))} || exit 3",
            f"exec {shlex.join(argv)}",
            "",
        )
    )
