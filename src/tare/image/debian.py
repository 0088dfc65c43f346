# SPDX-License-Identifier: Apache-2.0
"""Debian root filesystems by mmdebstrap(1): the image's base, and the builder that compiles for it."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tare.host.paths import state_directory
from tare.host.privileges import ordinary_user
from tare.image import layout, recipe, rights, unprivileged
from tare.image.packages import ARCHIVES, LISTS, Origin, read_origin
from tare.image.store import remove_tree
from tare.image.tool import CAGE, Progress, require_space, require_tools, run_tool

PACKAGES_LIMIT_S = 1800
SOURCES, BUILD, PROGRAMS = "/mnt/native", "/mnt/build", "/mnt/programs"
"""The builder's paths of native/, its build folder, and the programs."""
_TOOLS = {"mmdebstrap": "mmdebstrap", "setpriv": "util-linux", "unshare": "util-linux"}
ROOT, ORIGIN = "rootfs", "origin.json"
"""In a folder of the cache: the root filesystem, and the packages it was made of."""


def cache_directory() -> Path:
    return state_directory() / "cache"


def base(progress: Progress, *, refresh: bool = False) -> Path:
    """The image without Tare's own programs; from the cache, unless ``refresh`` asks for the newest packages.

    Also without set-user-id bits: no job needs su(1) or mount(8), and copies of them would grow old in the store.
    """
    folder = _base_folder()
    if refresh or not folder.is_dir():
        _make(folder, recipe.mmdebstrap_options(recipe.PACKAGES), progress, _finish_base)
    return folder / ROOT


def why_not() -> str | None:
    """Why Debian's packages cannot be put into a folder here by this user; ``None`` when nothing is in the way."""
    if shutil.which("mmdebstrap") is None:
        return "mmdebstrap is not on this host"
    return unprivileged.why_no_packages() if ordinary_user() else None


def require() -> None:
    """Raise ``HostError`` with the ways out where this user cannot build an image of Debian's packages."""
    if ordinary_user():
        unprivileged.require_packages()
    elif not _base_folder().is_dir():
        require_tools(_TOOLS)


def has_builder() -> bool:
    """Whether the builder is in the cache."""
    return _builder_folder().is_dir()


def _base_folder() -> Path:
    return cache_directory() / f"base-{recipe.base_key()}"


def _builder_folder(wanted: recipe.Builder = recipe.OWN) -> Path:
    return cache_directory() / f"{wanted.name}-{recipe.builder_key(wanted)}"


def builder(progress: Progress, wanted: recipe.Builder = recipe.OWN) -> Path:
    """A compiler and the libraries that the image's programs are linked to, from the cache when available."""
    folder = _builder_folder(wanted)
    if not folder.is_dir():
        options = recipe.mmdebstrap_options(wanted.packages, wanted.options)
        _make(folder, options, progress, _finish_builder)
    return folder / ROOT


def origin(root: Path) -> Origin:
    """The packages that ``base`` or ``builder`` was made of."""
    document: Origin = json.loads((root.parent / ORIGIN).read_bytes())
    return document


@contextmanager
def staging(parent: Path, name: str = ".new") -> Iterator[Path]:
    """An empty folder in ``parent``, removed afterwards unless it was renamed; call it within ``building()``."""
    path = parent / name
    remove_tree(path)
    path.mkdir(parents=True)
    path.chmod(0o755)
    try:
        yield path
    finally:
        remove_tree(path)


def _make(folder: Path, options: Sequence[str], progress: Progress, finish: Callable[[Path], None]) -> None:
    kind = folder.name.partition("-")[0]
    require_space(folder.parent, recipe.NEEDED_BYTE)
    progress(f"fetching Debian {recipe.SUITE} packages for the {kind}")
    with staging(folder.parent, f".new-{kind}") as staged:
        root = staged / ROOT
        root.mkdir()
        root.chmod(0o755)
        _fetch(options, root, progress)
        (staged / ORIGIN).write_text(json.dumps(read_origin(root)))
        rights.drop(root, rights.find(root).privileged)
        finish(root)
        for outdated in folder.parent.glob(f"{kind}-*"):
            remove_tree(outdated)
        staged.rename(folder)


def _fetch(options: Sequence[str], target: Path, progress: Progress) -> None:
    if ordinary_user():
        unprivileged.fetch(
            options, target, limit_s=PACKAGES_LIMIT_S, progress=progress, variables=_variables()
        )
        return
    require_tools(_TOOLS)
    argv = _mmdebstrap(options, target)
    run_tool(argv, limit_s=PACKAGES_LIMIT_S, on_line=progress, variables=_variables())


def _mmdebstrap(options: Sequence[str], target: Path) -> list[str]:
    argv = [*CAGE, "mmdebstrap", "--mode=root", "--format=directory", *options]
    return [*argv, recipe.SUITE, str(target), *recipe.sources()]


def _variables() -> dict[str, str]:
    """A fixed few, so that the host's environment does not shape the image; proxies are for reaching the network."""
    proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": recipe.SOURCE_DATE_EPOCH} | proxies


def _finish_base(root: Path) -> None:
    layout.strip_host(root)
    layout.add_mount_points(root)


def _finish_builder(root: Path) -> None:
    for path in ("dev", "proc", LISTS, ARCHIVES):
        remove_tree(root / path)
    for path in (SOURCES, BUILD, PROGRAMS, "/dev", "/proc"):
        (root / path.strip("/")).mkdir(parents=True)
    (root / "usr/bin/mpicc").symlink_to("mpicc.openmpi")  # as the package's own script would have linked it
