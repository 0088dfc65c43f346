# SPDX-License-Identifier: Apache-2.0
"""Starts the compiled kernels as a user would, and reads their line of JSON."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

KERNELS = ("bt", "cg", "ep", "ft", "is", "lu", "mg", "sp")
LIMIT_S = 250


@dataclass(frozen=True, slots=True)
class Run:
    """How a run ended, and what it said."""

    code: int
    stdout: str
    stderr: str

    @property
    def said(self) -> dict[str, Any]:
        """The line of JSON."""
        document: dict[str, Any] = json.loads(self.stdout)
        return document


def run_kernel(
    programs: Path,
    kernel: str,
    *arguments: str,
    ranks: int = 1,
    limit_s: float = LIMIT_S,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Run:
    """Run a kernel on this host; more ranks than processors take turns."""
    argv = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)]
    argv += ["--mca", "mpi_yield_when_idle", "1", str(programs / f"npb-{kernel}"), *arguments]
    return _ended(argv, limit_s, variables)


def run_alone(programs: Path, kernel: str, *arguments: str) -> Run:
    """Run a kernel without mpirun, as one rank."""
    return _ended([str(programs / f"npb-{kernel}"), *arguments], LIMIT_S)


def _ended(argv: Sequence[str], limit_s: float, variables: Mapping[str, str] = MappingProxyType({})) -> Run:
    known = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **variables}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=limit_s, check=False, env=known)
    return Run(done.returncode, done.stdout, done.stderr)
