# SPDX-License-Identifier: Apache-2.0
"""Container image archives, unpacked to a folder: OCI image layouts and the output of ``docker save``.

Sources: OCI image-spec 1.1 (image-layout.md, image-index.md, manifest.md, layer.md), Docker image spec 1.2.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tare.errors import InputError
from tare.image.archive import unpack
from tare.image.config import ImageConfig
from tare.image.limits import TEXT_BYTE, Account, shown
from tare.image.tool import Progress
from tare.units import format_byte

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""uname(2) → the name in an image's platform, where they differ."""
MAXIMUM_DEPTH = 4
MAXIMUM_LAYERS = 512
"""Four times Docker's limit."""
_MARKS = ("oci-layout", "index.json", "manifest.json")


def archive_format(folder: Path) -> str | None:
    """``"oci"``, ``"docker"``, or ``None`` when ``folder`` is a root filesystem.

    ``InputError`` when the marking entry is a link, which may lead to the host, or is not a file.
    """
    there = {name for name in _MARKS if os.path.lexists(folder / name) and _is_text(folder / name)}
    if there >= {"oci-layout", "index.json"}:
        return "oci"
    if "manifest.json" in there and _begin(folder / "manifest.json") == b"[":
        return "docker"
    return None


def unpack_image(folder: Path, root: Path, progress: Progress, account: Account | None = None) -> ImageConfig:
    """Apply the layers of the one image in ``folder`` to the empty ``root``; return its configuration.

    Digests that differ are refused.
    """
    account = account or Account(root)
    try:
        layers, config = (_oci_layers if archive_format(folder) == "oci" else _docker_layers)(folder)
        diff_ids = list(config["rootfs"]["diff_ids"])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OSError, RecursionError) as error:
        raise InputError(
            f"The image archive is broken: its JSON files describe no image ({repr(error)[:200]})."
        ) from None
    if len(layers) != len(diff_ids) or len(layers) > MAXIMUM_LAYERS:
        raise InputError(
            f"The image archive is broken: {len(layers)} layers, of {MAXIMUM_LAYERS} at most, and {len(diff_ids)} "
            "digests of them."
        )
    for number, (layer, diff_id) in enumerate(zip(layers, diff_ids, strict=True), 1):
        progress(f"unpacking layer {number} of {len(layers)}")
        if f"sha256:{unpack(layer, root, is_layer=True, account=account)}" != diff_id:
            raise InputError(
                f"The image archive is refused: layer {number} does not have the digest {shown(str(diff_id))}."
            )
    return ImageConfig.read(config)


def _is_text(path: Path) -> bool:
    """Whether it is a file; a folder of that name belongs to a root filesystem."""
    mode = path.lstat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(
            f"The import is refused: /{path.name} in it is a link or a pipe, where image archives have a file."
        )
    return stat.S_ISREG(mode)


def _begin(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1)


def _read_json(path: Path) -> Any:
    """``ValueError`` for invalid JSON, ``RecursionError`` for nesting too deep; both are reported as broken."""
    with path.open("rb") as file:
        content = file.read(TEXT_BYTE + 1)
    if len(content) > TEXT_BYTE:
        raise InputError(
            f"The image archive is refused: {path.name} is larger than {format_byte(TEXT_BYTE)}."
        )
    return json.loads(content)


def _oci_layers(folder: Path) -> tuple[list[Path], dict[str, Any]]:
    manifest = _manifest(folder, _read_json(folder / "index.json"), 0)
    config = _read_json(_blob(folder, manifest["config"]))
    return [_blob(folder, layer) for layer in manifest["layers"]], config


def _manifest(folder: Path, index: Mapping[str, Any], depth: int) -> dict[str, Any]:
    fitting = [descriptor for descriptor in index["manifests"] if _fits(descriptor.get("platform"))]
    if len(fitting) != 1 or depth == MAXIMUM_DEPTH:
        text = ", ".join(_label(descriptor) for descriptor in index["manifests"]) or "none"
        raise InputError(
            f"The archive must hold one image for {os.uname().machine}; it holds: {text}. Export that one."
        )
    content: dict[str, Any] = _read_json(_blob(folder, fitting[0]))
    return _manifest(folder, content, depth + 1) if "manifests" in content else content


def _fits(platform: Mapping[str, str] | None) -> bool:
    machine = os.uname().machine
    return platform is None or platform.get("architecture") == ARCHITECTURES.get(machine, machine)


def _label(descriptor: Mapping[str, Any]) -> str:
    name = descriptor.get("annotations", {}).get("org.opencontainers.image.ref.name", "unnamed")
    return f"{name} ({descriptor.get('platform', {}).get('architecture', 'any')})"


def _blob(folder: Path, descriptor: Mapping[str, Any]) -> Path:
    """The file of a descriptor; ``InputError`` unless its size and digest match."""
    sha256 = re.fullmatch(r"sha256:([0-9a-f]{64})", descriptor["digest"])
    if not sha256:
        raise InputError(
            f"The image archive names a digest that Tare does not know: {shown(descriptor['digest'])}"
        )
    path = _inside(folder, f"blobs/sha256/{sha256[1]}")
    with path.open("rb") as file:
        hexdigest = hashlib.file_digest(file, "sha256").hexdigest()
    if hexdigest != sha256[1] or path.stat().st_size != descriptor["size"]:
        raise InputError(f"The image archive is refused: the content of {sha256[0]} is not what it says.")
    return path


def _docker_layers(folder: Path) -> tuple[list[Path], dict[str, Any]]:
    images = _read_json(folder / "manifest.json")
    if len(images) != 1:
        names = ", ".join(str((image.get("RepoTags") or ["unnamed"])[0]) for image in images) or "none"
        raise InputError(f"The archive must hold one image; it holds: {names}. Save that one alone.")
    config = _read_json(_inside(folder, images[0]["Config"]))
    return [_inside(folder, layer) for layer in images[0]["Layers"]], config


def _inside(folder: Path, name: str) -> Path:
    """``docker save`` links equal layers to each other, so links are followed, but only inside ``folder``."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise InputError(f"The image archive is broken: it lacks {shown(name)}.")
    return path
