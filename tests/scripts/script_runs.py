# SPDX-License-Identifier: Apache-2.0
"""The repository's scripts, run in a folder that holds nothing else, with just the programs that they may use."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def checkout(folder: Path, programs: Iterable[str]) -> Path:
    """``folder`` with the scripts and, in ``bin``, these programs of the host."""
    shutil.copytree(SCRIPTS, folder / "scripts")
    (folder / "bin").mkdir()
    for name in programs:
        (folder / "bin" / name).symlink_to(str(shutil.which(name)))
    return folder


def run_script(folder: Path, script: str, **variables: str) -> tuple[int, str]:
    """The exit code, and what was said on standard error; nothing is to be on standard output."""
    done = subprocess.run(
        ["/bin/bash", str(folder / "scripts" / script)],
        env={"PATH": str(folder / "bin"), **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr
