# SPDX-License-Identifier: Apache-2.0
"""Kernels for guests: where they are kept, how to find one, and which modules it needs for what.

``kernels_directory()/RELEASE`` holds vmlinux or vmlinuz, about.json, and modules/ with the files of depmod(8).
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tare.errors import NodeError
from tare.guests import unpacked
from tare.guests.modules import ModuleIndex
from tare.host.paths import kernels_directories

DIRECT, PACKED = "vmlinux", "vmlinuz"
"""File names in the store: an ELF file with a PVH entry, and a bzImage."""
_REMEDY = "get one with: tare image kernel"
_HOST_MODULES = Path("/lib/modules")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestKernel:
    """A kernel that a guest can boot."""

    release: str
    """As in the guest's ``uname -r``."""
    image: Path
    """The file that a hypervisor gets as the kernel."""
    modules: Path | None
    """The folder with modules.dep; ``None``: no modules, all it needs is built in."""
    direct: bool
    """Whether ``image`` is an ELF file with a PVH entry, which starts without unpacking itself; else a bzImage."""


def find_kernel(asked: str | None) -> GuestKernel:
    """``None``: the store's newest; else a release in the store, or the path of a kernel's file.

    ``modules_of`` finds the modules of a path. ``NodeError`` with the remedy when there is no such kernel, or an x86-64
    guest cannot start it.
    """
    if asked is not None and "/" in asked:
        return _from_path(Path(asked))
    stored = stored_kernels()
    if asked is None:
        if not stored:
            raise NodeError(f"there is no kernel for guests on this host; {_REMEDY}")
        return stored[-1]
    for kernel in stored:
        if kernel.release == asked:
            return kernel
    there = ", ".join(kernel.release for kernel in stored) or "none"
    raise NodeError(
        f"there is no kernel {asked!r} for guests (there: {there}); name one of these or the path of its file, or "
        f"{_REMEDY} --from VMLINUZ"
    )


def stored_kernels() -> list[GuestKernel]:
    """All kernels in the store, the newest last; an ordinary user's own before root's of the same release."""
    guest_kernels: dict[str, GuestKernel] = {}
    for folder in kernels_directories():
        for kernel in _kept_in(folder):
            guest_kernels.setdefault(kernel.release, kernel)
    return sorted(guest_kernels.values(), key=lambda kernel: _version(kernel.release))


def needed_modules(kernel: GuestKernel, names: Sequence[str]) -> list[Path]:
    """The uncompressed files of these modules and all they need, in load order; built-in modules are left out.

    ``NodeError`` names a module that this kernel lacks. A kernel without modules is assumed to have all built in.
    """
    if kernel.modules is None:
        return []
    index = ModuleIndex(kernel.modules)
    if missing := [name for name in names if not index.has(name)]:
        raise NodeError(
            f"the kernel {kernel.release} has neither built in nor in {kernel.modules}: {', '.join(missing)}; "
            "take another kernel, such as Debian's linux-image-amd64"
        )
    return [unpacked.module(kernel.modules / path) for path in index.load_order(names)]


def modules_of(image: Path, release: str) -> Path | None:
    """Where the modules of a kernel's file are: the first candidate that depmod(8) has processed."""
    return next((place for place in _places(image, release) if (place / "modules.dep").is_file()), None)


def lack_of_modules(asked: str | None) -> str:
    """Why a guest with this kernel may fail to start, and the remedy; empty when the kernel has modules.

    Whether everything needed is built in cannot be seen from outside: a guest of such a kernel starts.
    """
    kernel = find_kernel(asked)
    if kernel.modules is not None:
        return ""
    image = Path(asked) if asked is not None and "/" in asked else kernel.image
    looked_in = ", ".join(map(str, _places(image, kernel.release)))
    return (
        f"the kernel {image} ({kernel.release}) is without modules, as none of these holds a modules.dep: {looked_in}; "
        "unless all drivers that a guest needs are built in, put its modules beside it, or keep both: tare image "
        f"kernel --from {image} --modules FOLDER"
    )


def _places(image: Path, release: str) -> list[Path]:
    """Beside the file, the host's own, or the store's of the same release."""
    kept = [folder / release / "modules" for folder in kernels_directories()]
    return [image.parent / "modules", _HOST_MODULES / release, *kept]


def _from_path(path: Path) -> GuestKernel:
    """The quickest form of a user's own kernel."""
    try:
        kept = unpacked.kernel(path)
    except OSError as error:
        raise NodeError(f"the kernel {path} cannot be read: {error.strerror}") from error
    except NodeError as error:
        raise NodeError(f"{path}: {error}") from error
    return GuestKernel(
        release=kept.release,
        image=kept.image,
        modules=modules_of(path, kept.release),
        direct=kept.direct,
    )


def _kept_in(folder: Path) -> Iterator[GuestKernel]:
    with suppress(OSError):  # not readable by this user
        for about in folder.glob("[!.]*/about.json"):
            if kernel := _kept(about):
                yield kernel


def _kept(about: Path) -> GuestKernel | None:
    """The kernel that this folder describes; ``None`` when this version of Tare did not make it."""
    try:
        release = str(json.loads(about.read_bytes())["release"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    direct, packed, modules = (about.parent / name for name in (DIRECT, PACKED, "modules"))
    image = direct if direct.is_file() else packed
    if not image.is_file():
        return None
    return GuestKernel(
        release=release,
        image=image,
        modules=modules if (modules / "modules.dep").is_file() else None,
        direct=image == direct,
    )


def _version(release: str) -> list[tuple[int, str]]:
    """A key that sorts 6.1.0-56 after 6.1.0-9: by its numbers, then by its words."""
    return [
        (int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|[^\d.-]+", release)
    ]
