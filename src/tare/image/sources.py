# SPDX-License-Identifier: Apache-2.0
"""Where an image may come from: a path, or a name that another tool knows, which is asked for an archive.

docker:NAME      an image of the local Docker daemon
podman:NAME      an image of the local Podman
docker://NAME    an image in a registry, by skopeo
PATH             a directory, a tar file, an OCI or docker-save archive, a SIF or squashfs file
"""

import hashlib
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tare.errors import HostError, ImageError, InputError
from tare.host import process
from tare.host.distribution import to_install
from tare.image.tool import Progress, run_tool

FETCHED = "fetched.tar"
"""Where an archive that another tool gave lies during an import."""
_FETCH_LIMIT_S = 1800.0
_ASK_LIMIT_S = 20.0
_REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")
"""Of an image, loosely: the tool has the last word, and none of these begins an option."""


def _docker(name: str, target: Path) -> Sequence[str]:
    return ["docker", "save", "--output", str(target), name]


def _podman(name: str, target: Path) -> Sequence[str]:
    return ["podman", "save", "--quiet", "--format", "docker-archive", "--output", str(target), name]


def _skopeo(name: str, target: Path) -> Sequence[str]:
    return ["skopeo", "copy", "--quiet", f"docker://{name}", f"oci-archive:{target}"]


_SCHEMES: Mapping[str, tuple[Callable[[str, Path], Sequence[str]], str]] = {
    "docker://": (_skopeo, "skopeo"),
    "docker:": (_docker, "docker.io"),
    "podman:": (_podman, "podman"),
}
"""Prefix → the command that fetches, and the package that has it; the longest prefix first."""


def is_source(text: str) -> bool:
    """Whether it names a source rather than an image of Tare's own."""
    return "/" in text or _scheme(text) is not None or Path(text).is_file()


def is_fetched(source: str) -> bool:
    """Whether another tool must be asked for it."""
    return _scheme(source) is not None


def image_name(source: str) -> str:
    """A name for the image of a source: its last part, as far as a name may hold it, and a piece of its digest."""
    whole = source if _scheme(source) else str(Path(source).resolve())
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", whole.rstrip("/").rpartition("/")[2]).strip("-._")
    return f"{plain[:40] or 'image'}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def stamp(source: str) -> str | None:
    """What changes whenever the source does; ``None`` where that is not known without reading all of it."""
    scheme = _scheme(source)
    if scheme == "docker://":
        return None
    if scheme is not None:
        tool, name = scheme.rstrip(":"), source.removeprefix(scheme)
        if not _REFERENCE.fullmatch(name) or shutil.which(tool) is None:
            return None
        asked = process.run([tool, "image", "inspect", "--format", "{{.Id}}", name], timeout_s=_ASK_LIMIT_S)
        return asked.stdout.strip()[:100] or None if asked.code == 0 else None
    path = Path(source)
    if not path.is_file():
        return None
    status = path.stat()
    return f"{status.st_size} byte, {status.st_mtime_ns} ns"


def _scheme(source: str) -> str | None:
    return next((scheme for scheme in _SCHEMES if source.startswith(scheme)), None)


def fetched(source: str, folder: Path, progress: Progress) -> Path:
    """The path of a source: fetched into ``folder`` if another tool has it.

    ``InputError`` for a name that is none, or an image that the tool does not have; ``HostError`` without the tool.
    """
    scheme = _scheme(source)
    if scheme is None:
        return Path(source)
    command, package = _SCHEMES[scheme]
    return _fetched(source.removeprefix(scheme), command, package, folder, progress)


def _fetched(
    name: str,
    command: Callable[[str, Path], Sequence[str]],
    package: str,
    folder: Path,
    progress: Progress,
) -> Path:
    if not _REFERENCE.fullmatch(name):
        raise InputError(f"{name!r} is not the name of a container image; write such as debian:12.")
    target = folder / FETCHED
    argv = command(name, target)
    if shutil.which(argv[0]) is None:
        raise HostError(
            f"{argv[0]} is not on this host, which would fetch {name}; to get it: {to_install(package)}, "
            "or save the image elsewhere and import the archive."
        )
    progress(f"{argv[0]} fetches {name}")
    try:
        run_tool(argv, limit_s=_FETCH_LIMIT_S)
    except ImageError as error:
        raise InputError(f"{argv[0]} does not give the image {name}: {error}") from None
    return target
