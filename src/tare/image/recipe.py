# SPDX-License-Identifier: Apache-2.0
"""The contents of the image, and the keys that say whether an earlier build is still the wanted one."""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tare
from tare.errors import InputError
from tare.image.lock import lock_file
from tare.units import GIBIBYTE

SUITE = "bookworm"
PACKAGES = (
    "fio",
    "hpcc",
    "iperf3",
    "iproute2",
    "iputils-ping",
    "libopenblas0-serial",
    "mount",
    "netbase",
    "netpipe-openmpi",
    "netpipe-tcp",
    "openmpi-bin",
    "python3",
    "sockperf",
    "util-linux",
)
BUILDER_PACKAGES = ("cmake", "coreutils", "dash", "g++", "libopenmpi-dev", "ninja-build")
"""The packages of the second root filesystem, without their dependencies: native/ is compiled in it."""
BASE_OPTIONS = ("--variant=essential", "--skip=check/qemu,cleanup/apt/lists", "--dpkgopt=force-unsafe-io")
"""apt's lists stay, since they say which file each package came from."""
BUILDER_OPTIONS = ("--variant=extract", "--skip=check/qemu,cleanup/apt,essential/unlink")
"""Unpacked, not installed, in half the time: a compiler needs no package scripts. The archives stay as well, since
nothing else says which packages there are."""
CMAKE_OPTIONS = (
    *("-DCMAKE_BUILD_TYPE=Release", "-DTARE_TESTS=OFF"),
    *("-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0"),
)
"""Options to compile native/: each library's files as one, so that headers are read once, which is half of the time."""


@dataclass(frozen=True, slots=True)
class Builder:
    """A root filesystem in which native/ is compiled for one processor."""

    name: str
    """Of its folder in the cache."""
    packages: tuple[str, ...]
    options: tuple[str, ...]
    """Of mmdebstrap(1)."""
    cmake: tuple[str, ...] = ()
    """Options beside ``CMAKE_OPTIONS``."""


OWN = Builder("builder", BUILDER_PACKAGES, BUILDER_OPTIONS)
"""For this host's processor."""
_LIBRARIES = "/usr/lib/aarch64-linux-gnu"
AARCH64 = Builder(
    "aarch64",
    (
        *("cmake", "coreutils", "dash", "g++-aarch64-linux-gnu", "ninja-build"),
        *(
            "flang-16:arm64",
            "libopenmpi-dev:arm64",
        ),  # the first as the second wants a Fortran: the smallest that fits
    ),
    (*BUILDER_OPTIONS, "--architectures=amd64,arm64"),
    (
        *("--toolchain", "aarch64.cmake", "-DTARE_AARCH64_ROOT=/"),
        f"-DCMAKE_EXE_LINKER_FLAGS=-B{_LIBRARIES} -L{_LIBRARIES} -Wl,-rpath-link,{_LIBRARIES}",
    ),
)
"""For 64-bit ARM, on x86-64: by a cross compiler of the same version. It links that processor's own C library, since
Debian mends the cross compiler's less often."""
SOURCE_DATE_EPOCH = "1704067200"
"""The clock that the packages' scripts see, so that two builds write the same bytes."""
LAYOUT_VERSION = 3
"""Raise it when ``layout.py`` or ``rights.py`` makes another tree from the same packages."""
NEEDED_BYTE = 3 * GIBIBYTE
MIRROR = "TARE_DEBIAN_MIRROR"
"""Variable with another mirror's address, in which ``{archive}`` is ``debian`` or ``debian-security``."""
_ARCHIVES = {SUITE: "debian", f"{SUITE}-updates": "debian", f"{SUITE}-security": "debian-security"}
"""Suite → archive; mmdebstrap(1) is given the first."""
_PAST = re.compile(r"/\d{8}T\d{6}Z(/|$)")
"""Part of the address of an archive's past state, whose lists are past their date."""


def base_key() -> str:
    """A key over everything that decides which packages are wanted, and what is made of them."""
    lock = lock_file(SUITE)
    locked = lock.read_text() if lock.is_file() else None
    return _key(SUITE, PACKAGES, SOURCE_DATE_EPOCH, LAYOUT_VERSION, os.uname().machine, locked, sources())


def builder_key(builder: Builder = OWN) -> str:
    return _key(base_key(), builder.packages, builder.options)


def mmdebstrap_options(packages: Sequence[str], options: Sequence[str] = BASE_OPTIONS) -> list[str]:
    """Options to make a root filesystem of ``packages``."""
    return [*options, f"--include={','.join(packages)}"]


def sources() -> list[str]:
    """Lines of sources.list(5) for the mirror that ``MIRROR`` names; empty: mmdebstrap(1) uses Debian's own.

    ``InputError`` when the address has no placeholder for the archive's name.
    """
    mirror = os.environ.get(MIRROR)
    if not mirror:
        return []
    if "{archive}" not in mirror:
        raise InputError(
            f"{MIRROR} is {mirror!r}; write {{archive}} where the address has debian or debian-security."
        )
    option = "[check-valid-until=no] " if _PAST.search(mirror) else ""
    return [
        f"deb {option}{mirror.replace('{archive}', archive)} {suite} main"
        for suite, archive in _ARCHIVES.items()
    ]


def native_key(source: Path, builder: Builder = OWN) -> str:
    """A key over the builder, its way to compile, and every file in ``source``."""
    files = sorted(path for path in source.rglob("*") if path.is_file())
    contents = [
        (str(path.relative_to(source)), hashlib.sha256(path.read_bytes()).hexdigest()) for path in files
    ]
    return _key(builder_key(builder), (*CMAKE_OPTIONS, *builder.cmake), contents)


def native_source() -> Path | None:
    """The C++ sources of this checkout; ``None`` when Tare was installed without them."""
    source = Path(tare.__file__).resolve().parents[2] / "native"
    return source if (source / "CMakeLists.txt").is_file() else None


def _key(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
