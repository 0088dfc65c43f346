# SPDX-License-Identifier: Apache-2.0
"""The Go modules of the programs that the tests need: every one has its hash, and what was fetched still has it."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from scripts.supply.finding import Finding

MODULES = {
    "gvisor": ("gvisor.dev/gvisor/runsc",),
    "govc": ("./...",),
    "apptainer": tuple(f"github.com/apptainer/apptainer/cmd/{name}" for name in ("apptainer", "starter")),
}
"""Folder in scripts → what is built there."""
ELSEWHERE = {"apptainer"}
"""Built in their own source, so that Go's cache has less than the whole graph of what the folder's go.mod names."""
TAGS = "containers_image_openpgp,sylog,apptainer_engine,fakeroot_engine"
"""Of Apptainer's build; the others have no such tags."""
LIMIT_S = 120
REQUIRED = re.compile(r"^(?:require|\t)\s*(\S+\.\S+) (v\S+)", re.MULTILINE)
SUM = re.compile(r"^(\S+) (v\S+?)(/go\.mod)? (h1:[A-Za-z0-9+/]{43}=)$")


def required(repository: Path, module: str) -> list[tuple[str, str]]:
    """Module and version, of what scripts/MODULE/go.mod names."""
    return REQUIRED.findall((repository / "scripts" / module / "go.mod").read_text())


def check_sums(repository: Path) -> Finding:
    """Offline: each required module has a hash, and so has the Go that builds them."""
    faults = [fault for module in MODULES for fault in _without_sum(repository, module)]
    toolchains = (repository / "scripts" / "go-toolchain.sum").read_text().splitlines()
    faults += [f"go-toolchain.sum: {line!r} is no hash" for line in toolchains if not SUM.match(line)]
    counts = [f"{module} {len(required(repository, module))} modules" for module in MODULES]
    return Finding("Go locks", f"{', '.join(counts)}, {len(toolchains)} toolchain", faults)


def _without_sum(repository: Path, module: str) -> Iterator[str]:
    lines = (repository / "scripts" / module / "go.sum").read_text().splitlines()
    without_sum = [(line, SUM.match(line)) for line in lines]
    yield from (f"{module}/go.sum: {line!r} is no hash" for line, match in without_sum if match is None)
    there = {(match[1], match[2]) for _, match in without_sum if match and not match[3]}
    yield from (
        f"{module}: {name} {version} has no hash"
        for name, version in set(required(repository, module)) - there
    )


def check_fetched(repository: Path) -> Finding:
    """What lies in Go's cache is what was fetched (``go mod verify``) and what go.sum names (any loading of it)."""
    subject = "Go modules as fetched"
    go = _pinned_go(repository)
    if not go:
        return Finding(
            subject, "0 modules", unchecked="the pinned Go is not on this host and cannot be fetched"
        )
    faults: list[str] = []
    absent: list[str] = []
    for module, built in MODULES.items():
        folder = repository / "scripts" / module
        verified = [] if module in ELSEWHERE else [[go, "mod", "verify"]]
        for argv in (*verified, [go, "list", "-deps", *built]):
            if said := _refused(argv, folder):
                known = any(word in said for word in ("mismatch", "modified", "missing go.sum entry"))
                (faults if known else absent).append(f"{module}: {said}")
    named = sum(len(required(repository, module)) for module in MODULES)
    return Finding(subject, f"of {named} modules those that are built", faults, "; ".join(absent) or None)


def _pinned_go(repository: Path) -> str:
    """Its path; empty when there is none."""
    done = subprocess.run(
        ["scripts/pinned-go"], cwd=repository, check=False, capture_output=True, text=True, timeout=LIMIT_S
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def _refused(argv: list[str], folder: Path) -> str:
    """Last words of a command of Go's that failed, nothing being fetched; empty when it did not."""
    variables = {"GOFLAGS": f"-mod=readonly -tags={TAGS}", "GOTOOLCHAIN": "local", "GOPROXY": "off"}
    done = subprocess.run(
        argv,
        cwd=folder,
        env={**os.environ, **variables},
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    return done.stderr.strip()[-500:] if done.returncode else ""
