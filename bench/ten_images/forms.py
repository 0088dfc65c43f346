# SPDX-License-Identifier: Apache-2.0
"""A root filesystem packed as container tools pack it."""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LIMIT_S = 900.0
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
Config = Mapping[str, Any]
"""``Env``, ``Entrypoint``, ``Cmd``, ``WorkingDir``, ``User``, ``Labels``: OCI image-spec 1.1, config.md."""


def run(*argv: str | Path, cwd: Path | None = None, stdin: bytes | None = None) -> str:
    done = subprocess.run(
        list(map(str, argv)), cwd=cwd, input=stdin, capture_output=True, timeout=LIMIT_S, check=False
    )
    if done.returncode:
        raise SystemExit(f"{argv[0]} failed: {done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout.decode(errors="replace")


def tar(root: Path, target: Path, *options: str) -> Path:
    run("tar", "--numeric-owner", "--one-file-system", *options, "-C", root, "-cf", target, ".")
    return target


def oci_layout(layers: Sequence[Path], config: Config, folder: Path, *, compress: bool = True) -> Path:
    """An OCI image layout of some roots, each above the one before."""
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    packed = [_layer(root, blobs, compress=compress) for root in layers]
    document = {
        "architecture": ARCHITECTURE,
        "os": "linux",
        "config": config,
        "rootfs": {"type": "layers", "diff_ids": [diff_id for diff_id, _ in packed]},
    }
    kind = "application/vnd.oci.image"
    described = _described(blobs, document, f"{kind}.config.v1+json")
    manifest = {"schemaVersion": 2, "config": described, "layers": [layer for _, layer in packed]}
    listed = _described(blobs, manifest, f"{kind}.manifest.v1+json")
    listed["platform"] = {"architecture": ARCHITECTURE, "os": "linux"}
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [listed]}))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return folder


def _layer(root: Path, blobs: Path, *, compress: bool) -> tuple[str, dict[str, Any]]:
    plain = tar(root, blobs / "plain").read_bytes()
    (blobs / "plain").unlink()
    content = gzip.compress(plain, 1, mtime=0) if compress else plain
    kind = f"application/vnd.oci.image.layer.v1.tar{'+gzip' if compress else ''}"
    return f"sha256:{hashlib.sha256(plain).hexdigest()}", _blob(blobs, content, kind)


def _described(blobs: Path, document: object, kind: str) -> dict[str, Any]:
    return _blob(blobs, json.dumps(document).encode(), kind)


def _blob(blobs: Path, content: bytes, kind: str) -> dict[str, Any]:
    name = hashlib.sha256(content).hexdigest()
    (blobs / name).write_bytes(content)
    return {"mediaType": kind, "digest": f"sha256:{name}", "size": len(content)}


def oci_archive(root: Path, config: Config, target: Path) -> Path:
    folder = oci_layout([root], config, target.with_suffix(".layout"))
    tar(folder, target)
    shutil.rmtree(folder)
    return target


def docker_archive(root: Path, config: Config, target: Path) -> Path:
    """As ``docker save`` writes it."""
    folder = target.with_suffix(".layout")
    (folder / "layer").mkdir(parents=True)
    layer = tar(root, folder / "layer/layer.tar")
    digest = f"sha256:{hashlib.sha256(layer.read_bytes()).hexdigest()}"
    document = {
        "architecture": ARCHITECTURE,
        "os": "linux",
        "config": config,
        "rootfs": {"diff_ids": [digest]},
    }
    (folder / "config.json").write_text(json.dumps(document))
    images = [{"Config": "config.json", "RepoTags": ["ten:saved"], "Layers": ["layer/layer.tar"]}]
    (folder / "manifest.json").write_text(json.dumps(images))
    tar(folder, target)
    shutil.rmtree(folder)
    return target


def squashfs(root: Path, target: Path) -> Path:
    run("mksquashfs", root, target, "-noappend", "-quiet", "-no-progress", "-comp", "gzip")
    return target


def sif(root: Path, config: Config, target: Path) -> Path:
    """By apptainer build from a container image, as people do it."""
    folder = oci_layout([root], config, target.with_suffix(".layout"))
    run("apptainer", "--silent", "build", "--force", target, f"oci:{folder}")
    shutil.rmtree(folder)
    return target


def engine_image(engine: str, root: Path, changes: Sequence[str], name: str) -> str:
    """An image of the local Docker or Podman; returns its name as ``--image`` takes it."""
    archive = tar(root, root.with_name(f"{root.name}.tar"))
    words = [word for change in changes for word in ("--change", change)]
    run(engine, "import", *words, archive, name)
    archive.unlink()
    return f"{engine}:{name}"
