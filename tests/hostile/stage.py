# SPDX-License-Identifier: Apache-2.0
"""A campaign of seconds as its user runs it, in a state folder of its own, and what must hold whatever was done."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tare.image import layout
from tare.image.store import install
from tare.journal.reader import read_journal
from tare.nodes.provider import TOOLS_DIRECTORY
from tests.conftest import BUILD, REPOSITORY

LIMIT_S = 120
TRIALS_PER_BLOCK = 3
"""Natively twice, and in the fake."""
CAMPAIGN = """
name = "hostile"
blocks = BLOCKS
layouts = ["1c1p1i"]
seed = 7

[limits]
memory = "256 MiB"
shm = "16 MiB"
time = "20s"

[[environment]]
technology = "fake"

[[workload]]
kind = "command"
name = "burn"
argv = ["{tools}/burn", "100000"]
"""


@dataclass(frozen=True)
class Ran:
    """How a command of Tare's ended, and all that it said."""

    exit_code: int
    said: str

    def fault(self) -> str | None:
        """What a user must never see; ``None``: nothing of it."""
        if "Traceback" in self.said:
            return "a traceback"
        if self.exit_code not in {0, 1, 2, 3}:
            return f"exit code {self.exit_code}"
        if self.exit_code and not self.said.strip():
            return f"exit code {self.exit_code} without a word"
        return None


@dataclass(frozen=True)
class Stage:
    """A folder with a campaign, a state folder with an image of Tare's programs alone, and a result."""

    folder: Path
    trials: int

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def result(self) -> Path:
        return self.folder / "result"

    def run(self, *before: str, limit_s: float = LIMIT_S) -> Ran:
        """Run or continue the campaign; ``before`` is put before the command."""
        return self.tare(
            "run", self.folder / "campaign.toml", "--output", self.result, before=before, limit_s=limit_s
        )

    def tare(self, *words: object, before: Sequence[str] = (), limit_s: float = LIMIT_S) -> Ran:
        argv = [*before, sys.executable, "-m", "tare", *map(str, words)]
        try:
            done = subprocess.run(
                argv, env=self.variables(), capture_output=True, check=False, timeout=limit_s, cwd=self.folder
            )
        except subprocess.TimeoutExpired as error:
            return Ran(-1, f"no end within {limit_s:g} s; {(error.stderr or b'').decode(errors='replace')}")
        return Ran(done.returncode, (done.stdout + done.stderr).decode(errors="replace"))

    def variables(self) -> dict[str, str]:
        path = f"{REPOSITORY / 'src'}:{REPOSITORY}"
        return {
            **os.environ,
            "TARE_STATE": str(self.state),
            "PYTHONPATH": path,
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def begin_anew(self) -> None:
        shutil.rmtree(self.result, ignore_errors=True)

    def lost(self) -> list[str]:
        """What is wrong with the result of a campaign that was continued to its end."""
        outcomes = read_journal(self.result / "journal").outcomes
        identities = [outcome.trial.identity for outcome in outcomes]
        wrong = (
            [] if len(set(identities)) == self.trials else [f"{len(set(identities))} of {self.trials} trials"]
        )
        doubled = len(identities) - len(set(identities))
        return wrong + ([f"{doubled} trials twice"] if doubled else [])

    def left(self) -> list[str]:
        """Names of nodes that stayed."""
        nodes = self.state / "nodes"
        return sorted(path.name for path in nodes.iterdir()) if nodes.exists() else []


@contextmanager
def staged(blocks: int = 2) -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="tare-hostile-") as name:
        stage = Stage(Path(name), blocks * TRIALS_PER_BLOCK)
        (stage.folder / "campaign.toml").write_text(CAMPAIGN.replace("BLOCKS", str(blocks)))
        _install_image(stage)
        yield stage


def _install_image(stage: Stage) -> None:
    """Of static programs alone, so that reading it takes no time."""
    before = os.environ.get("TARE_STATE")
    os.environ["TARE_STATE"] = str(stage.state)
    try:
        staged_image = stage.state / "images" / ".staged"
        tools = staged_image / "rootfs" / TOOLS_DIRECTORY.lstrip("/")
        tools.mkdir(parents=True)
        for program in ("stopwatch", "burn", "fake", "init", "join", "enter", "pin", "agent", "drop"):
            shutil.copy2(BUILD / "bin" / program, tools / program)
        layout.add_mount_points(staged_image / "rootfs")
        install(staged_image, "default", {"packages": {}, "source": {"kind": "test"}})
    finally:
        if before is None:
            del os.environ["TARE_STATE"]
        else:
            os.environ["TARE_STATE"] = before
