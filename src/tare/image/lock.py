# SPDX-License-Identifier: Apache-2.0
"""The lock of an image's Debian packages: the files of which the image and its builder were last known to be made.

One line of JSON each: first the suite, the architecture and the digest of the image's base; then each archive's state;
then each package with its root filesystem. Written by ``make lock``; a build with other packages is not an error, since
mirrors keep only the newest, but reports how it differs.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tare.image.packages import Origin, Package
from tare.records import SCHEMA

FOLDER = Path(__file__).parent / "locks"
BASE, BUILDER = "base", "builder"


@dataclass(frozen=True, slots=True)
class Lock:
    """The state that a build is compared with."""

    suite: str
    architecture: str
    base_digest: str
    """The digest of the image without Tare's own programs."""
    archives: Mapping[str, Package]
    packages: Mapping[str, Mapping[str, Package]]
    """``BASE``, ``BUILDER`` or a builder for another processor → name → package."""


def lock_file(suite: str) -> Path:
    """The lock file of a suite for this host's architecture; it need not exist."""
    return FOLDER / f"{suite}-{os.uname().machine}.jsonl"


def read_lock(suite: str) -> Lock | None:
    """Read it; ``None``: there is none for this host's architecture."""
    file = lock_file(suite)
    return parse_lock(file.read_text()) if file.is_file() else None


def lock_text(lock: Lock) -> str:
    """The content of a lock file."""
    first = {"schema": SCHEMA, "suite": lock.suite, "architecture": lock.architecture}
    lines: list[Mapping[str, object]] = [first | {"base_digest": lock.base_digest}]
    lines += [{"archive": name, **about} for name, about in sorted(lock.archives.items())]
    for root, packages in lock.packages.items():
        lines += [{"root": root, "package": name, **about} for name, about in sorted(packages.items())]
    return "".join(json.dumps(line) + "\n" for line in lines)


def parse_lock(text: str) -> Lock:
    """The inverse of ``lock_text``; ``ValueError`` for any other text."""
    try:
        first, *rest = (json.loads(line) for line in text.splitlines())
        archives = {line.pop("archive"): line for line in rest if "archive" in line}
        packages: dict[str, dict[str, Package]] = {BASE: {}, BUILDER: {}}
        for line in rest:
            if "package" in line:
                packages.setdefault(line.pop("root"), {})[line.pop("package")] = line
        return Lock(first["suite"], first["architecture"], first["base_digest"], archives, packages)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no lock of packages ({error})") from None


def differences(lock: Lock, origins: Mapping[str, Origin], base_digest: str) -> list[str]:
    """One phrase per package that is not as locked, such as ``base: hpcc 1.5.0-4, locked 1.5.0-3``; by name.

    With equal packages, another tree can only come from another host or user; that is then the one phrase.
    """
    said = [
        phrase
        for root, origin in origins.items()
        for phrase in _differing(root, lock.packages[root], origin["packages"])
    ]
    if base_digest != lock.base_digest and not said:
        return [f"base: the same packages gave the tree {base_digest}, locked {lock.base_digest}"]
    return said


def _differing(root: str, locked: Mapping[str, Package], made: Mapping[str, Package]) -> Iterator[str]:
    for name in sorted({*locked, *made}):
        if name not in made:
            yield f"{root}: {name} is missing, locked {locked[name]['version']}"
        elif name not in locked:
            yield f"{root}: {name} {made[name]['version']} is not locked"
        elif made[name]["version"] != locked[name]["version"]:
            yield f"{root}: {name} {made[name]['version']}, locked {locked[name]['version']}"
        elif made[name] != locked[name]:
            yield f"{root}: {name} {made[name]['version']} is another file than was locked"
