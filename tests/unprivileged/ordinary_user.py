# SPDX-License-Identifier: Apache-2.0
"""An ordinary user for tests that run as root: a number without a name, with folders of its own."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

USER = 64123
AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become an ordinary user"),
]
PYTHON = sys.executable
TARE = (PYTHON, "-P", "-m", "tare")


@dataclass(frozen=True)
class OrdinaryUser:
    """Who runs a program with nothing of root's but this checkout and the images."""

    home: Path

    @property
    def state(self) -> Path:
        return self.home / "state"

    def argv(self, *argv: str, **variables: str) -> list[str]:
        """The same program, started with the user's rights and variables."""
        own = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.home / "runtime"),
            "TARE_STATE": str(self.state),
            "PYTHONDONTWRITEBYTECODE": "1",
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
        }
        words = [f"{name}={value}" for name, value in {**own, **variables}.items()]
        ids = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
        return ["setpriv", *ids, "env", "-i", "-C", str(self.home), *words, *argv]

    def run(self, *argv: str, timeout_s: float = 120, **variables: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.argv(*argv, **variables),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def tare(self, *words: str, timeout_s: float = 120) -> "subprocess.CompletedProcess[str]":
        return self.run(*TARE, *words, timeout_s=timeout_s)

    def python(self, code: str, *words: str) -> "subprocess.CompletedProcess[str]":
        return self.run(PYTHON, "-P", "-c", code, *words)

    def own(self, path: Path) -> Path:
        """Give a file or a folder to the user."""
        os.chown(path, USER, USER)
        return path


@contextmanager
def made_user() -> Iterator[OrdinaryUser]:
    """One with empty folders, which are gone afterwards; skips where it could not even start Tare."""
    home = Path(tempfile.mkdtemp(prefix="tare-user-"))  # pytest's own folders are root's alone
    try:
        (home / "runtime").mkdir(mode=0o700)
        for path in (home, home / "runtime"):
            os.chown(path, USER, USER)
        user = OrdinaryUser(home)
        _skip_unless_able(user)
        yield user
    finally:
        shutil.rmtree(home)


def _skip_unless_able(user: OrdinaryUser) -> None:
    able: Sequence[str] = (*TARE, "--version")
    done = user.run(*able)
    if done.returncode != 0:
        pytest.skip(f"an ordinary user cannot read this checkout or its Python: {done.stderr[-300:]}")
