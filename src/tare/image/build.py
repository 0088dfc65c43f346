# SPDX-License-Identifier: Apache-2.0
"""Builds an image from Debian packages and native/: each part is built once per key and cached."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tare.errors import ImageError, InputError
from tare.host.paths import images_directory
from tare.host.privileges import ordinary_user
from tare.image import layout, recipe
from tare.image.debian import base, origin, require, staging
from tare.image.digest import digest, list_tree
from tare.image.lock import BASE, BUILDER, differences, read_lock
from tare.image.native import builder_origin, native_programs, programs_key
from tare.image.packages import Origin, read_packages
from tare.image.store import DEFAULT_NAME, Image, building, find_image, image_directory, install
from tare.image.tool import Progress, run_tool, together

COPY_LIMIT_S = 600
SHOWN_DIFFERENCES = 10


def build_image(
    name: str = DEFAULT_NAME, *, progress: Progress, source: Path | None = None, refresh: bool = False
) -> Image:
    """The image ``name`` as this Tare makes it; an existing one is returned at once, for an ordinary user also root's.

    ``source`` replaces the checkout's native/, or a wheel's programs; ``refresh`` fetches the packages' newest
    versions. Raises ``HostError`` when the host lacks something that a build needs, ``ImageError`` when a step fails.
    """
    source = source or recipe.native_source()
    keys = {"base": recipe.base_key(), "native": programs_key(source)}
    current = _current(name, keys)
    if current and not refresh:
        return current
    require()
    with building():
        programs, packages = together(
            lambda: native_programs(source, progress), lambda: base(progress, refresh=refresh)
        )
        progress("putting the image together")
        with staging(images_directory()) as staged:
            root = copy_tree(packages, staged / "rootfs")
            layout.add_tools(root, programs)
            made = facts(root, {"kind": "build"}, keys) | {"suite": recipe.SUITE}
            return install(
                staged, name, made | provenance(packages, builder_origin(source), progress), progress
            )


def copy_tree(source: Path, target: Path) -> Path:
    """Copy with all metadata, without leaving the file system of ``source``; return ``target``."""
    target.mkdir(parents=True)
    run_tool(["cp", "-a", "-x", "--reflink=auto", f"{source}/.", str(target)], limit_s=COPY_LIMIT_S)
    return target


def facts(root: Path, source: Mapping[str, str], keys: Mapping[str, str]) -> dict[str, Any]:
    """The manifest's fields about what an image is and where it comes from."""
    return {
        "packages": read_packages(root),
        "architecture": os.uname().machine,
        "keys": dict(keys),
        "source": dict(source),
        "created_utc": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def provenance(packages: Path, compiler: Origin | None, progress: Progress) -> dict[str, Any]:
    """The manifest's fields about the archives and files an image is made of, and whether they match the lock.

    ``packages`` is the image without Tare's own programs, ``compiler`` what these were compiled with. Differences from
    the lock are also reported as progress.
    """
    origins = {BASE: origin(packages)}
    if compiler:
        origins[BUILDER] = compiler
    base_digest = digest(list_tree(packages, single_owner=ordinary_user()))
    lock = read_lock(recipe.SUITE)
    said = differences(lock, origins, base_digest) if lock else None
    if said:
        progress(f"{len(said)} not as locked: {'; '.join(said[:SHOWN_DIFFERENCES])}")
    return {"origins": origins, "base_digest": base_digest, "differs_from_lock": said}


def _current(name: str, keys: Mapping[str, str]) -> Image | None:
    image = refuse_imported(name)
    return image if image and image.manifest.get("keys") == keys else None


def refuse_imported(name: str) -> Image | None:
    """The image that a build under this name replaces; ``InputError`` for one that was imported, or an invalid name."""
    image_directory(name)
    try:
        image = find_image(name)
    except ImageError:
        return None
    if image.manifest.get("source", {}).get("kind") == "import":
        folder = image.root.parent
        raise InputError(f"The image {name!r} was imported; build under another name, or remove {folder}.")
    return image
