# SPDX-License-Identifier: Apache-2.0
"""The packages that apt installed into a root filesystem, and the state of their archives, by the lists it verified.

Source: sources.list(5), apt-secure(8), and "Debian Repository Format" for InRelease and Packages. The SHA-256 is the
value with which apt compared each package's file.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from tare.image.packages import DPKG_STATUS, installed_paragraphs

LISTS, ARCHIVES = "var/lib/apt/lists", "var/cache/apt/archives"
Package: TypeAlias = dict[str, str | None]
"""``version``, ``architecture`` and ``sha256`` of a .deb; ``None``: no list names that version."""
Origin: TypeAlias = dict[str, dict[str, Package]]
"""``archives``: suite → ``date`` and ``sha256`` of its InRelease; ``packages``: name → ``Package``."""
_FIELDS = (b"Package: ", b"Version: ", b"Architecture: ", b"SHA256: ")


def read_origin(root: Path) -> Origin:
    """The archives and the packages of ``root``, installed or unpacked; both are empty where apt left no lists."""
    lists = root / LISTS
    sums = dict(pair for file in sorted(lists.glob("*_Packages")) for pair in _listed(file))
    packages: dict[str, Package] = {}
    for name, version, architecture in (*_installed(root), *_unpacked(root)):
        sha256 = sums.get((name, version, architecture))
        packages[name] = {"version": version, "architecture": architecture, "sha256": sha256}
    archives = dict(_release(file) for file in sorted(lists.glob("*_InRelease")))
    return {"archives": archives, "packages": dict(sorted(packages.items()))}


def _installed(root: Path) -> Iterator[tuple[str, str, str]]:
    for fields in installed_paragraphs((root / DPKG_STATUS).read_text(errors="replace")):
        yield fields["Package"], fields["Version"], fields.get("Architecture", "")


def _unpacked(root: Path) -> Iterator[tuple[str, str, str]]:
    """The packages of archives left there, which apt names NAME_VERSION_ARCHITECTURE.deb with ``:`` as ``%3a``."""
    for file in (root / ARCHIVES).glob("*.deb"):
        name, version, architecture = unquote(file.stem).split("_")
        yield name, version, architecture


def _listed(file: Path) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Read line by line: Debian's list for a suite has 50 MB."""
    listed: dict[bytes, str] = {}
    with file.open("rb") as lines:
        for line in lines:
            if line.startswith(_FIELDS):
                name, _, value = line.partition(b" ")
                listed[name] = value.decode(errors="replace").strip()
            elif line == b"\n":
                yield from _whole(listed)
                listed = {}
    yield from _whole(listed)


def _whole(fields: dict[bytes, str]) -> Iterator[tuple[tuple[str, str, str], str]]:
    if len(fields) == len(_FIELDS):
        yield (fields[b"Package:"], fields[b"Version:"], fields[b"Architecture:"]), fields[b"SHA256:"]


def _release(file: Path) -> tuple[str, Package]:
    content = file.read_bytes()
    lines = content.decode(errors="replace").splitlines()
    fields = dict(line.split(": ", 1) for line in lines if ": " in line and not line.startswith(" "))
    about: Package = {"date": fields.get("Date"), "sha256": hashlib.sha256(content).hexdigest()}
    return fields.get("Codename", file.name), about
