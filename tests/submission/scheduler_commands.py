# SPDX-License-Identifier: Apache-2.0
"""The commands of a scheduler that say what a test wants, and what is submitted with them."""

from pathlib import Path

from tare.submission.scheduler import Submission, Wish


def submission(**wish: object) -> Submission:
    return Submission(
        name="tare-1",
        count=10,
        script=Path("/r/jobs/job.sh"),
        logs=Path("/r/jobs"),
        wish=Wish(nodes=2, **wish),  # type: ignore[arg-type]
    )


class Commands:
    """Slurm's commands as shell scripts on PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def say(self, name: str, stdout: str = "", stderr: str = "", code: int = 0) -> None:
        script = self.folder / name
        (self.folder / f"{name}.out").write_text(stdout)
        (self.folder / f"{name}.err").write_text(stderr)
        files = f"cat {self.folder}/{name}.out; cat {self.folder}/{name}.err >&2"
        script.write_text(f'#!/bin/sh\necho "$@" >{self.folder}/{name}.argv\n{files}\nexit {code}\n')
        script.chmod(0o755)

    def argv(self, name: str) -> str:
        return (self.folder / f"{name}.argv").read_text()
