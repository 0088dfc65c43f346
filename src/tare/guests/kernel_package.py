# SPDX-License-Identifier: Apache-2.0
"""Debian's newest kernel package, fetched and unpacked without installing it; an ordinary user can do it too."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.errors import HostError, ImageError, NodeError
from tare.host import process
from tare.host.removal import remove_tree
from tare.image.tool import Progress, require_space, require_tools, run_tool
from tare.units import MEBIBYTE

PACKAGE = "linux-image-amd64"
"""Depends on the newest generic kernel. The cloud kernel would lack e1000 and AHCI."""
_NEEDED_BYTE = 1024 * MEBIBYTE
_UPDATE_LIMIT_S, _DOWNLOAD_LIMIT_S, _UNPACK_LIMIT_S = 180, 600, 120
_DEPENDED = re.compile(r"^Depends:.*?\b(linux-image-\d[\w.+~-]*)", re.MULTILINE)
_VERSION = re.compile(r"^Version: (\S+)", re.MULTILINE)
_TOOLS = {"apt-get": "apt", "apt-cache": "apt", "dpkg-deb": "dpkg", "depmod": "kmod"}


def fetch(folder: Path, progress: Progress) -> tuple[Path, Path, str]:
    """The kernel's file, the folder of its modules, and a description of the package; all below ``folder``.

    Raises ``HostError`` when this host cannot get it.
    """
    if os.uname().machine != "x86_64":
        raise HostError(f"Debian's kernel for guests is for x86_64, and this host is {os.uname().machine}.")
    require_tools(_TOOLS)
    folder.mkdir()
    require_space(folder, _NEEDED_BYTE)
    options, shown = _described(folder, progress)
    name = depended_image(shown)
    if name is None:
        raise HostError(f"The package sources of this host have no {PACKAGE}; is it Debian, with a network?")
    progress(f"fetching {name}")
    _apt(folder, [*options, "download", name], _DOWNLOAD_LIMIT_S)
    archive = next(folder.glob("*.deb"))
    run_tool(["dpkg-deb", "--extract", str(archive), str(folder)], limit_s=_UNPACK_LIMIT_S)
    archive.unlink()
    return _found(folder, name.removeprefix("linux-image-"), f"{name} {_version(shown)}")


def depended_image(shown: str) -> str | None:
    """The package that holds the kernel, according to ``apt-cache show`` for ``PACKAGE``."""
    match = _DEPENDED.search(shown)
    return match[1] if match else None


@contextmanager
def depmod_tree(root: Path, release: str) -> Iterator[Path]:
    """The folder below ``root`` in which depmod(8) looks for modules, wherever it was installed; removed afterwards."""
    folder = root / "usr" / "lib" / "modules" / release
    folder.mkdir(parents=True)
    (root / "lib").symlink_to("usr/lib")
    try:
        yield folder
    finally:
        remove_tree(root)


def _described(folder: Path, progress: Progress) -> tuple[list[str], str]:
    """Options for apt and what it knows about ``PACKAGE``; where it knows nothing, fetch lists just for this."""
    if depended_image(shown := _shown([])):
        return [], shown
    progress("fetching the lists of packages")
    options = _own_lists(folder)
    _apt(folder, [*options, "update"], _UPDATE_LIMIT_S)
    return options, _shown(options)


def _own_lists(folder: Path) -> list[str]:
    """Options that keep apt out of the host's own folders, where an ordinary user could not write (apt.conf(5))."""
    for name in ("lists", "cache"):
        (folder / name / "partial").mkdir(parents=True)
    return ["-o", f"Dir::State::Lists={folder / 'lists'}", "-o", f"Dir::Cache={folder / 'cache'}"]


def _shown(options: list[str]) -> str:
    try:
        return process.run(["apt-cache", *options, "show", "--no-all-versions", PACKAGE]).stdout
    except NodeError:
        return ""


def _version(shown: str) -> str:
    match = _VERSION.search(shown)
    return match[1] if match else "of unknown version"


def _apt(folder: Path, arguments: list[str], limit_s: float) -> None:
    """Run apt-get in ``folder``: it downloads into its working directory."""
    try:
        run_tool(["env", f"--chdir={folder}", "apt-get", "--quiet", *arguments], limit_s=limit_s)
    except ImageError as error:
        raise HostError(f"Debian's kernel could not be fetched: {error}") from error


def _found(folder: Path, release: str, words: str) -> tuple[Path, Path, str]:
    """The contents of the package; its modules still need depmod(8)."""
    image = folder / "boot" / f"vmlinuz-{release}"
    places = (folder / "lib" / "modules" / release, folder / "usr" / "lib" / "modules" / release)
    packed = next((place for place in places if place.is_dir()), None)
    if packed is None or not image.is_file():
        raise HostError(
            f"The package of {words} does not hold a kernel and its modules where they are looked for."
        )
    with depmod_tree(folder / "tree", release) as tree:
        tree.rmdir()
        packed.rename(tree)
        run_tool(["depmod", "--basedir", str(folder / "tree"), release], limit_s=_UNPACK_LIMIT_S)
        modules = tree.rename(folder / "modules")
    return image, modules, words
