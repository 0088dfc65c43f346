# SPDX-License-Identifier: Apache-2.0
"""``tare image list|verify|sbom|import|kernel``: results on stdout, progress on stderr."""

import json
import sys
from typing import TYPE_CHECKING, Any

from tare.errors import ExitCode
from tare.foreign import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tare.image import Image


def run_list(as_json: bool) -> ExitCode:
    from tare.image import list_images

    images = list_images()
    if as_json:
        print(json.dumps({"schema": 1, "images": [_facts(image) for image in images]}))
    elif images:
        for image in images:
            print_image(image, as_json=False)
    else:
        progress("there is no image yet; make one with: tare image build")
    return ExitCode.DONE


def run_verify(name: str, as_json: bool) -> ExitCode:
    """Recompute the image's digests; ``ImageError`` names the changes."""
    from tare.image import find_image, verify

    image = find_image(name)
    verify(image)
    if as_json:
        print(json.dumps({"schema": 1, "image": _facts(image), "unchanged": True}))
    else:
        print(f"{image.name} is as it was made: {image.digest}")
    return ExitCode.DONE


def run_sbom(name: str) -> ExitCode:
    """Print the image's bill of materials, always as JSON."""
    from tare.image import find_image
    from tare.image.sbom import image_bom

    print(json.dumps(image_bom(find_image(name)), indent=1))
    return ExitCode.DONE


def run_import(source: str, name: str, as_json: bool) -> ExitCode:
    """Import an image from ``source`` (``tare.image.sources``) as image ``name``."""
    from tare.image.importing import import_image

    print_image(import_image(source, name, progress), as_json)
    return ExitCode.DONE


def used_image(asked: str) -> str:
    """The name of the image to use: ``asked`` itself, or an image made now of the source that it names.

    A source that has not changed since is not imported again.
    """
    from tare.image.importing import import_image
    from tare.image.sources import image_name, is_source

    if not is_source(asked):
        return asked
    name = image_name(asked)
    if not _is_current(asked, name):
        import_image(asked, name, progress)
    return name


def _is_current(source: str, name: str) -> bool:
    from tare.errors import ImageError
    from tare.image import find_image
    from tare.image.sources import stamp
    from tare.image.store import PROGRAMS

    try:
        manifest = find_image(name).manifest
    except ImageError:
        return False
    kept = manifest.get("source", {}).get("stamp")
    return kept is not None and kept == stamp(source) and manifest.get("programs") == PROGRAMS


def run_remove(names: "Sequence[str]", as_json: bool) -> ExitCode:
    """Remove images; ``ImageError`` for one that is not there, ``LockedError`` for one that is in use."""
    from tare.image import find_image
    from tare.image.store import remove_image

    images = [find_image(name) for name in dict.fromkeys(names)]
    for image in images:
        remove_image(image)
        if not as_json:
            print(f"removed {image.name}, {size_of(image)}")
    if as_json:
        print(json.dumps({"schema": 1, "removed": [image.name for image in images]}))
    return ExitCode.DONE


def run_kernel(
    source: "Path | None", modules: "Path | None", as_json: bool, *, refresh: bool = False
) -> ExitCode:
    """Fetch a kernel for guests unless there is one; ``refresh`` fetches Debian's newest."""
    from tare.guests.kernel_install import describe, install_kernel

    kernel = install_kernel(progress=progress, source=source, modules=modules, refresh=refresh)
    facts = describe(kernel)
    if as_json:
        print(json.dumps({"schema": 1, "kernel": facts}))
    else:
        start = "starts directly" if kernel.direct else "unpacks itself as it starts"
        print(f"{kernel.release}  {start}  from {one_line(str(facts['origin']))}")
    return ExitCode.DONE


def progress(line: str) -> None:
    print(f"image: {one_line(line)}", file=sys.stderr, flush=True)


def _facts(image: "Image") -> dict[str, Any]:
    return {**image.manifest, "name": image.name, "root": str(image.root), "digest": image.digest}


def _as_locked(manifest: "Mapping[str, Any]") -> str:
    """Remark on the lock; empty without a lock to compare with, as in images of earlier versions."""
    said = manifest.get("differs_from_lock")
    if said is None:
        return ""
    return f", {len(said)} not as locked" if said else ", as locked"


def origin_of(image: "Image") -> str:
    """Where it comes from, in words."""
    source = image.manifest.get("source", {})
    kind, path = source.get("kind"), source.get("path")
    if kind == "build":
        return one_line(f"Debian {image.manifest.get('suite')}{_as_locked(image.manifest)}")
    if kind == "host":
        own = f", for {source['program']}" if "program" in source else ""
        return one_line(f"files of this host, {path}{own}")
    return one_line(str(path) if kind == "distribution" else f"imported from {path}")


def size_of(image: "Image") -> str:
    from tare.units import format_byte

    size_byte = image.manifest.get("size_byte")
    return "unknown size" if size_byte is None else format_byte(size_byte)


def print_image(image: "Image", as_json: bool) -> None:
    """Its line, or its facts as JSON."""
    if as_json:
        print(json.dumps({"schema": 1, "image": _facts(image)}))
        return
    packages = f"{len(image.manifest.get('packages', {}))} packages"
    print(f"{image.name}  {image.digest}  {size_of(image)}  {packages}  {origin_of(image)}")
