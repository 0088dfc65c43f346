# SPDX-License-Identifier: Apache-2.0
"""Small trees and archives for the tests of images; everything belongs to whoever runs them."""

import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tare.image.oci import ARCHITECTURES

HERE = ARCHITECTURES.get(os.uname().machine, os.uname().machine)
"""This host's architecture, as image platforms call it."""


@dataclass(frozen=True)
class Member:
    """One entry of a tar archive; a name that ends in ``/`` is a directory."""

    name: str
    content: bytes = b""
    link: str = ""
    kind: bytes = tarfile.REGTYPE
    mode: int = 0o644
    attributes: dict[str, str] = field(default_factory=dict)

    def information(self) -> tarfile.TarInfo:
        tar_info = tarfile.TarInfo(self.name)
        tar_info.type = tarfile.DIRTYPE if self.name.endswith("/") else self.kind
        tar_info.mode = 0o755 if tar_info.type == tarfile.DIRTYPE else self.mode
        tar_info.size, tar_info.linkname, tar_info.mtime = len(self.content), self.link, 1_000_000_000
        tar_info.uid, tar_info.gid = os.geteuid(), os.getegid()
        tar_info.pax_headers = {f"SCHILY.xattr.{name}": value for name, value in self.attributes.items()}
        return tar_info


def symlink(name: str, target: str) -> Member:
    return Member(name, link=target, kind=tarfile.SYMTYPE)


def hardlink(name: str, target: str) -> Member:
    return Member(name, link=target, kind=tarfile.LNKTYPE)


def tar_bytes(members: Sequence[Member]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member in members:
            tar.addfile(member.information(), io.BytesIO(member.content))
    return out.getvalue()


def write_tar(path: Path, members: Sequence[Member]) -> Path:
    path.write_bytes(tar_bytes(members))
    return path


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


class OciArchive:
    """Builds an OCI image layout; ``blobs`` may be tampered with before it is written."""

    def __init__(self, architecture: str = "amd64") -> None:
        self.blobs: dict[str, bytes] = {}
        self.diff_ids: list[str] = []
        self.layers: list[dict[str, Any]] = []
        self.platform = {"architecture": architecture, "os": "linux"}

    def add_blob(self, data: bytes) -> dict[str, Any]:
        self.blobs[sha256(data)] = data
        return {"digest": sha256(data), "size": len(data)}

    def add_layer(self, members: Sequence[Member], *, compress: bool = True) -> None:
        plain = tar_bytes(members)
        self.diff_ids.append(sha256(plain))
        self.layers.append(self.add_blob(gzip.compress(plain, mtime=0) if compress else plain))

    def index(self) -> dict[str, Any]:
        config = self.add_blob(json.dumps({"rootfs": {"type": "layers", "diff_ids": self.diff_ids}}).encode())
        manifest = self.add_blob(json.dumps({"config": config, "layers": self.layers}).encode())
        return {"schemaVersion": 2, "manifests": [{**manifest, "platform": self.platform}]}

    def write(self, path: Path, index: dict[str, Any] | None = None) -> Path:
        index = index or self.index()
        members = [
            Member("oci-layout", b'{"imageLayoutVersion": "1.0.0"}'),
            Member("index.json", json.dumps(index).encode()),
        ]
        members += [Member(f"blobs/{name.replace(':', '/')}", data) for name, data in self.blobs.items()]
        return write_tar(path, members)


def write_docker_archive(path: Path, layers: Sequence[Sequence[Member]]) -> Path:
    """What ``docker save`` of Docker 20.10 writes: one folder per layer, links between equal ones."""
    plain = [tar_bytes(layer) for layer in layers]
    config = json.dumps({"rootfs": {"diff_ids": [sha256(layer) for layer in plain]}}).encode()
    names = [f"layer{number}/layer.tar" for number in range(len(plain))]
    manifest = [{"Config": "config.json", "RepoTags": ["example:1"], "Layers": names}]
    members = [Member("manifest.json", json.dumps(manifest).encode()), Member("config.json", config)]
    for number, (name, layer) in enumerate(zip(names, plain, strict=True)):
        same = plain.index(layer)
        members.append(Member(name, layer) if same == number else symlink(name, f"../{names[same]}"))
    return write_tar(path, members)
