# SPDX-License-Identifier: Apache-2.0
"""Container image archives, unpacked to a folder: OCI image layouts and what ``docker save`` writes.

Sources: OCI image-spec 1.1 (image-layout.md, image-index.md, manifest.md, layer.md), Docker image spec 1.2.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tare.errors import InputError
from tare.image.archive import unpack
from tare.image.tool import Progress

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""uname(2) → the name in an image's platform, where they differ."""
MAXIMUM_DEPTH = 4


def archive_format(folder: Path) -> str | None:
    """``"oci"``, ``"docker"``, or ``None`` when ``folder`` is a root filesystem."""
    if (folder / "oci-layout").is_file() and (folder / "index.json").is_file():
        return "oci"
    if (folder / "manifest.json").is_file() and (folder / "manifest.json").read_bytes()[:1] == b"[":
        return "docker"
    return None


def unpack_image(folder: Path, root: Path, progress: Progress) -> None:
    """Apply the layers of the one image in ``folder`` to the empty ``root``; digests that differ are refused."""
    try:
        layers, diff_ids = (_oci_layers if archive_format(folder) == "oci" else _docker_layers)(folder)
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise InputError(f"The image archive is broken: {error!r}") from None
    if len(layers) != len(diff_ids):
        raise InputError(
            f"The image archive is broken: {len(layers)} layers, but {len(diff_ids)} digests of them."
        )
    for number, (layer, diff_id) in enumerate(zip(layers, diff_ids, strict=True), 1):
        progress(f"unpacking layer {number} of {len(layers)}")
        if f"sha256:{unpack(layer, root, is_layer=True)}" != diff_id:
            raise InputError(
                f"The image archive is refused: layer {number} does not have the digest {diff_id}."
            )


def _oci_layers(folder: Path) -> tuple[list[Path], list[str]]:
    manifest = _manifest(folder, json.loads((folder / "index.json").read_bytes()), 0)
    config = json.loads(_blob(folder, manifest["config"]).read_bytes())
    return [_blob(folder, layer) for layer in manifest["layers"]], list(config["rootfs"]["diff_ids"])


def _manifest(folder: Path, index: Mapping[str, Any], depth: int) -> dict[str, Any]:
    fitting = [descriptor for descriptor in index["manifests"] if _fits(descriptor.get("platform"))]
    if len(fitting) != 1 or depth == MAXIMUM_DEPTH:
        found = ", ".join(_label(descriptor) for descriptor in index["manifests"]) or "none"
        raise InputError(
            f"The archive must hold one image for {os.uname().machine}; it holds: {found}. Export that one."
        )
    content: dict[str, Any] = json.loads(_blob(folder, fitting[0]).read_bytes())
    return _manifest(folder, content, depth + 1) if "manifests" in content else content


def _fits(platform: Mapping[str, str] | None) -> bool:
    machine = os.uname().machine
    return platform is None or platform.get("architecture") == ARCHITECTURES.get(machine, machine)


def _label(descriptor: Mapping[str, Any]) -> str:
    name = descriptor.get("annotations", {}).get("org.opencontainers.image.ref.name", "unnamed")
    return f"{name} ({descriptor.get('platform', {}).get('architecture', 'any')})"


def _blob(folder: Path, descriptor: Mapping[str, Any]) -> Path:
    """The file of a descriptor, whose size and digest it has; ``InputError`` when it has not."""
    sha256 = re.fullmatch(r"sha256:([0-9a-f]{64})", descriptor["digest"])
    if not sha256:
        raise InputError(
            f"The image archive names a digest that Tare does not know: {descriptor['digest']!r}"
        )
    path = _inside(folder, f"blobs/sha256/{sha256[1]}")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256[1] or path.stat().st_size != descriptor["size"]:
        raise InputError(
            f"The image archive is refused: the content of {descriptor['digest']} is not what it says."
        )
    return path


def _docker_layers(folder: Path) -> tuple[list[Path], list[str]]:
    images = json.loads((folder / "manifest.json").read_bytes())
    if len(images) != 1:
        names = ", ".join(str((image.get("RepoTags") or ["unnamed"])[0]) for image in images) or "none"
        raise InputError(f"The archive must hold one image; it holds: {names}. Save that one alone.")
    config = json.loads(_inside(folder, images[0]["Config"]).read_bytes())
    return [_inside(folder, layer) for layer in images[0]["Layers"]], list(config["rootfs"]["diff_ids"])


def _inside(folder: Path, name: str) -> Path:
    """``docker save`` links equal layers to each other, so links are followed, but only inside ``folder``."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise InputError(f"The image archive is broken: it lacks {name!r}.")
    return path
