# SPDX-License-Identifier: Apache-2.0
"""The packages that a root filesystem records, from Debian's, Alpine's and RPM's own databases."""

import hashlib
import sqlite3
import struct
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from tare.units import MEBIBYTE

DPKG_STATUS = "var/lib/dpkg/status"
DPKG = (DPKG_STATUS, "var/lib/dpkg/status.d/*")
APK = ("lib/apk/db/installed", "usr/lib/apk/db/installed")
RPM = ("usr/lib/sysimage/rpm/rpmdb.sqlite", "var/lib/rpm/rpmdb.sqlite")
RPM_NAME, RPM_VERSION, RPM_RELEASE = 1000, 1001, 1002
RPM_STRING = 6
TEXT_BYTE = 64 * MEBIBYTE
"""The longest record that is read whole; a full distribution's is a tenth of it."""
_QUERY_STEPS, _QUERY_LIMIT_S, _ROW_BYTE = 100_000, 10.0, 16 * MEBIBYTE
LISTS, ARCHIVES = "var/lib/apt/lists", "var/cache/apt/archives"
Package: TypeAlias = dict[str, str | None]
"""``version``, ``architecture`` and ``sha256`` of a .deb; ``None``: no list names that version."""
Origin: TypeAlias = dict[str, dict[str, Package]]
"""``archives``: suite → ``date`` and ``sha256`` of its InRelease; ``packages``: name → ``Package``, also
``NAME:ARCHITECTURE`` where there is one for a second processor."""
_FIELDS = (b"Package: ", b"Version: ", b"Architecture: ", b"SHA256: ")


def read_packages(root: Path) -> dict[str, str]:
    """Name → version; empty when the image has no readable record of packages."""
    return dict(
        sorted((name, version) for packages in by_kind(root).values() for name, version in packages.items())
    )


def by_kind(root: Path) -> dict[str, dict[str, str]]:
    """``deb``, ``apk`` and ``rpm`` (types of a package URL) → name → version."""
    versions: dict[str, dict[str, str]] = {"deb": {}, "apk": {}, "rpm": {}}
    for file in files_inside(root, DPKG):
        versions["deb"] |= parse_dpkg(_text(file))
    for file in files_inside(root, APK):
        versions["apk"] |= parse_apk(_text(file))
    for file in files_inside(root, RPM):
        versions["rpm"] |= read_rpm(file)
    return versions


def parse_dpkg(text: str) -> dict[str, str]:
    """Name → version of a dpkg status file (deb-control(5)); packages that are not installed are left out."""
    return {fields["Package"]: fields["Version"] for fields in installed_paragraphs(text)}


def installed_paragraphs(text: str) -> Iterator[dict[str, str]]:
    """The fields on one line each, of every package that a dpkg status file lists as installed."""
    for paragraph in text.split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line and not line[0].isspace()]
        fields = dict(line.split(": ", 1) for line in lines if ": " in line)
        if "Package" in fields and "Version" in fields and _is_installed(fields.get("Status")):
            yield fields


def parse_apk(text: str) -> dict[str, str]:
    """Name → version of Alpine's list of installed packages (apk(5)): lines ``P:`` and ``V:``."""
    apk = {}
    for paragraph in text.split("\n\n"):
        fields = dict(line.split(":", 1) for line in paragraph.splitlines() if ":" in line)
        if "P" in fields and "V" in fields:
            apk[fields["P"]] = fields["V"]
    return apk


def read_rpm(database: Path) -> dict[str, str]:
    """Name → version-release of an RPM database in SQLite; empty when it is broken or of another kind."""
    address = f"{database.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(address, uri=True)
        _bound(connection)
        try:
            return dict(
                map(parse_rpm_header, (row[0] for row in connection.execute("SELECT blob FROM Packages")))
            )
        finally:
            connection.close()
    except (sqlite3.Error, struct.error, KeyError, ValueError, TypeError):
        return {}


def _bound(connection: sqlite3.Connection) -> None:
    """Bound its work: a table of a hostile image may be an endless view, with rows of any length."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _ROW_BYTE)
    deadline = time.monotonic() + _QUERY_LIMIT_S
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline), _QUERY_STEPS)


def parse_rpm_header(blob: bytes) -> tuple[str, str]:
    """Name and version-release of one package's header (RPM file format, section "Header": index, then store).

    Raises ``struct.error``, ``KeyError`` or ``ValueError`` when it is not a header.
    """
    count, _ = struct.unpack_from(">II", blob)
    store = 8 + 16 * count
    fields = {}
    for at in range(8, store, 16):
        tag, kind, offset, _ = struct.unpack_from(">IIII", blob, at)
        if tag in (RPM_NAME, RPM_VERSION, RPM_RELEASE) and kind == RPM_STRING:
            start = store + offset
            fields[tag] = blob[start : blob.index(b"\0", start)].decode(errors="replace")
    return fields[RPM_NAME], f"{fields[RPM_VERSION]}-{fields[RPM_RELEASE]}"


def _text(file: Path) -> str:
    """The file's text; empty when it is far too long for a record."""
    return file.read_text(errors="replace") if file.stat().st_size <= TEXT_BYTE else ""


def _is_installed(status: str | None) -> bool:
    """Whether it is installed; images without a package manager record packages without a status."""
    return status is None or status.split()[-1:] == ["installed"]


def files_inside(root: Path, patterns: Sequence[str]) -> Iterator[Path]:
    """The existing files, without leaving the image by a link."""
    inside = root.resolve()
    for pattern in patterns:
        for file in sorted(root.glob(pattern)):
            if file.is_file() and file.resolve().is_relative_to(inside):
                yield file


def read_origin(root: Path) -> Origin:
    """The archives and the packages of ``root``, installed or unpacked; both are empty where apt left no lists.

    Source: sources.list(5), apt-secure(8), and "Debian Repository Format" for InRelease and Packages. The SHA-256
    is the value with which apt compared each package's file.
    """
    lists = root / LISTS
    sums = dict(pair for file in sorted(lists.glob("*_Packages")) for pair in _listed(file))
    packages: dict[str, Package] = {}
    for name, version, architecture in sorted({*_installed(root), *_unpacked(root)}):
        sha256 = sums.get((name, version, architecture))
        packages[f"{name}:{architecture}" if name in packages else name] = {
            "version": version,
            "architecture": architecture,
            "sha256": sha256,
        }
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
