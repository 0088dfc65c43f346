# SPDX-License-Identifier: Apache-2.0
"""The locks of Python packages: against pyproject.toml, against the registry, and against .venv."""

import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.supply.finding import Finding

LOCKS = ("run", "dev", "tools", "docs")
COMPILE_LIMIT_S = 120
NO_SOLUTION = 1
"""uv's exit code where the locked versions cannot be had together; 2 is for a registry that does not answer."""
WRONG_HASH = "DO NOT MATCH THE HASHES"
"""In what pip says of a file."""
SHOWN_CHARACTERS = 500
HASH = re.compile(r"--hash=(\S+)")
WHOLE_HASH = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Locked:
    """One package of a lock."""

    requirement: Requirement
    hashes: frozenset[str]

    @property
    def version(self) -> str:
        """The one that is pinned; empty when none is."""
        pins = [clause.version for clause in self.requirement.specifier if clause.operator == "=="]
        return pins[0] if len(pins) == 1 else ""


def read_lock(repository: Path, name: str) -> dict[str, Locked]:
    """Name → package, of requirements/NAME.txt."""
    return parse_lock((repository / "requirements" / f"{name}.txt").read_text())


def parse_lock(text: str) -> dict[str, Locked]:
    """Of pip's requirements file format, what ``uv pip compile`` writes."""
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    entries = (Locked(Requirement(HASH.sub("", line)), frozenset(HASH.findall(line))) for line in lines)
    return {canonicalize_name(entry.requirement.name): entry for entry in entries}


def check_locks(repository: Path) -> Finding:
    """Every package is pinned with hashes, within pyproject.toml's ranges, and the two for .venv agree."""
    locks = {name: read_lock(repository, name) for name in LOCKS}
    faults = [f"{name}.txt: {fault}" for name, lock in locks.items() for fault in _unpinned(lock)]
    faults += _out_of_range(repository, locks)
    faults += [
        f"run.txt: {name} is not as in dev.txt"
        for name, entry in locks["run"].items()
        if entry != locks["dev"].get(name)
    ]
    return Finding("Python locks", _counted(locks), faults)


def _counted(locks: Mapping[str, Mapping[str, Locked]]) -> str:
    return ", ".join(
        f"{name} {len(lock)} packages, {sum(len(entry.hashes) for entry in lock.values())} hashes"
        for name, lock in locks.items()
    )


def _unpinned(lock: Mapping[str, Locked]) -> Iterator[str]:
    for name, entry in lock.items():
        if not entry.version or entry.requirement.url:
            yield f"{name} has no one version"
        if not entry.hashes or not all(WHOLE_HASH.fullmatch(value) for value in entry.hashes):
            yield f"{name} has no SHA-256 for each file"


def _out_of_range(repository: Path, locks: Mapping[str, Mapping[str, Locked]]) -> Iterator[str]:
    project = tomllib.loads((repository / "pyproject.toml").read_text())
    for lock, wanted in _wanted(project):
        entry = locks[lock].get(canonicalize_name(wanted.name))
        if entry is None or not wanted.specifier.contains(entry.version, prereleases=True):
            yield f"{lock}.txt: {wanted} of pyproject.toml is not in it; run: make lock"


def _wanted(project: Mapping[str, Any]) -> Iterator[tuple[str, Requirement]]:
    """Lock → what pyproject.toml wants in it."""
    run = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    extra = project["project"]["optional-dependencies"]["dev"]
    groups = project["dependency-groups"].items()
    for lock, lines in (("run", run), ("dev", [*run, *extra]), *groups):
        yield from ((lock, Requirement(line)) for line in lines)


def check_registry(repository: Path) -> Finding:
    """The registry has the locked files under the locked hashes, and nothing is locked that nobody needs."""
    subject = "Python locks against the registry"
    argv = ["scripts/lock-python", "as-locked"]
    try:
        done = subprocess.run(
            argv, cwd=repository, check=False, capture_output=True, text=True, timeout=COMPILE_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return Finding(subject, "0 packages", unchecked=f"it did not answer within {COMPILE_LIMIT_S} s")
    if done.returncode:
        said = done.stderr.strip()
        wrong = done.returncode == NO_SOLUTION or WRONG_HASH in said
        why = f"{argv[0]} ended with {done.returncode}: {said[-SHOWN_CHARACTERS:]}"
        return Finding(subject, "0 packages", [why] if wrong else [], None if wrong else why)
    faults: list[str] = []
    count = 0
    for name in LOCKS:
        lock = read_lock(repository, name)
        there = parse_lock((repository / "build" / "tools" / f"{name}.txt").read_text())
        faults += [f"{name}.txt: {fault}" for fault in against_registry(lock, there)]
        count += len(lock)
    return Finding(subject, f"{count} packages", faults)


def against_registry(lock: Mapping[str, Locked], there: Mapping[str, Locked]) -> Iterator[str]:
    """Newer files of a locked version, such as wheels for one more Python, are no fault."""
    for name in sorted({*lock, *there}):
        if name not in there:
            yield f"{name} is locked, and nothing needs it"
        elif name not in lock:
            yield f"{name} is needed, and not locked"
        elif lock[name].version != there[name].version:
            yield f"{name} {lock[name].version} cannot be had; the registry gives {there[name].version}"
        elif strange := sorted(lock[name].hashes - there[name].hashes):
            yield f"{name} {lock[name].version} has no file {', '.join(strange)}"


def check_environment(repository: Path) -> Finding:
    """``.venv``, which runs this, has what the lock says and nothing more."""
    lock = {
        name: entry.version
        for name, entry in read_lock(repository, "dev").items()
        if entry.requirement.marker is None or entry.requirement.marker.evaluate()
    }
    there: dict[str, str] = {canonicalize_name(entry.name): entry.version for entry in distributions()}
    for own in ("tare", "pip"):  # pip is what python3-venv brings
        there.pop(canonicalize_name(own), None)
    faults = [
        f"{name} is {there.get(name, 'missing')}, locked {lock.get(name, 'nothing')}"
        for name in sorted({*lock, *there})
        if lock.get(name) != there.get(name)
    ]
    again = ["remove .venv and run: scripts/make-venv dev"] if faults else []
    return Finding(".venv", f"{len(there)} packages", [*faults, *again])
