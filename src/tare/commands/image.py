# SPDX-License-Identifier: Apache-2.0
"""``tare image build|list|verify|sbom|import|kernel``: results on stdout, progress on stderr."""

import json
import sys
from typing import TYPE_CHECKING, Any

from tare.errors import ExitCode
from tare.foreign import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tare.image import Image


def run_build(name: str, as_json: bool, *, refresh: bool = False) -> ExitCode:
    """Build the image ``name`` unless it is current; ``refresh`` fetches the packages anew."""
    from tare.image.build import build_image

    _print_image(build_image(name, progress=_progress, refresh=refresh), as_json)
    return ExitCode.DONE


def run_list(as_json: bool) -> ExitCode:
    from tare.image import list_images

    images = list_images()
    if as_json:
        print(json.dumps({"schema": 1, "images": [_facts(image) for image in images]}))
    elif images:
        for image in images:
            _print_image(image, as_json=False)
    else:
        _progress("there is no image yet; make one with: tare image build")
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


def run_import(source: "Path", name: str, as_json: bool) -> ExitCode:
    """Import a directory, tar archive or container image archive as image ``name``."""
    from tare.image.importing import import_image

    _print_image(import_image(source, name, _progress), as_json)
    return ExitCode.DONE


def run_kernel(
    source: "Path | None", modules: "Path | None", as_json: bool, *, refresh: bool = False
) -> ExitCode:
    """Fetch a kernel for guests unless there is one; ``refresh`` fetches Debian's newest."""
    from tare.guests.kernel_install import describe, install_kernel

    kernel = install_kernel(progress=_progress, source=source, modules=modules, refresh=refresh)
    facts = describe(kernel)
    if as_json:
        print(json.dumps({"schema": 1, "kernel": facts}))
    else:
        start = "starts directly" if kernel.direct else "unpacks itself as it starts"
        print(f"{kernel.release}  {start}  from {one_line(str(facts['origin']))}")
    return ExitCode.DONE


def _progress(line: str) -> None:
    print(f"image: {one_line(line)}", file=sys.stderr, flush=True)


def _facts(image: "Image") -> dict[str, Any]:
    return {**image.manifest, "name": image.name, "root": str(image.root), "digest": image.digest}


def _as_locked(manifest: "Mapping[str, Any]") -> str:
    """Remark on the lock; empty without a lock to compare with, as in images of earlier versions."""
    said = manifest.get("differs_from_lock")
    if said is None:
        return ""
    return f", {len(said)} not as locked" if said else ", as locked"


def _print_image(image: "Image", as_json: bool) -> None:
    from tare.units import format_byte

    if as_json:
        print(json.dumps({"schema": 1, "image": _facts(image)}))
        return
    manifest = image.manifest
    source = manifest.get("source", {})
    origin = (
        f"Debian {manifest.get('suite')}{_as_locked(manifest)}"
        if source.get("kind") == "build"
        else f"imported from {source.get('path')}"
    )
    size = format_byte(manifest["size_byte"]) if "size_byte" in manifest else "unknown size"
    print(
        f"{image.name}  {image.digest}  {size}  {len(manifest.get('packages', {}))} packages  {one_line(origin)}"
    )
