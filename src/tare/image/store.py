# SPDX-License-Identifier: Apache-2.0
"""The images on this host: ``images_directory()/NAME`` holds rootfs/, manifest.json and listing.jsonl.gz."""

import fcntl
import gzip
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tare.environments.guest.disk import remove_disks_except
from tare.errors import HostError, ImageError, InputError, LockedError
from tare.host import quarantine
from tare.host.paths import distrusted_system, images_directories, images_directory
from tare.host.removal import said
from tare.image import digest as tree_digest
from tare.records import SCHEMA

DEFAULT_NAME = "default"
SHOWN_DIFFERENCES = 10
SINGLE_OWNER = "single_owner"
"""In a manifest: all files belong to the ordinary user who made the image."""


@dataclass(frozen=True, slots=True)
class Image:
    """A root filesystem that environments run, as its manifest describes it; ``verify`` says if that is so."""

    name: str
    root: Path
    digest: str
    manifest: Mapping[str, Any] = field(default_factory=dict)


def find_image(name: str = DEFAULT_NAME) -> Image:
    """Read the manifest only; raises ``ImageError`` when there is no such image.

    An ordinary user's own comes before root's of the same name.
    """
    image_directory(name)
    for folder in images_directories():
        if _is_there(folder / name):
            return _found(name, folder / name)
    raise ImageError(_missing(name))


def _is_there(directory: Path) -> bool:
    try:
        return (directory / "manifest.json").exists()
    except OSError:  # not for this user to see
        return False


def _found(name: str, directory: Path) -> Image:
    try:
        manifest = json.loads((directory / "manifest.json").read_bytes())
        found = Image(name, directory / "rootfs", str(manifest["digest"]), manifest)
        usable = manifest["schema"] == SCHEMA and found.root.is_dir()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ImageError(
            f"The manifest of image {name!r} in {directory} is unreadable ({error}). {_remake(name)}"
        ) from None
    if not usable:
        raise ImageError(f"The image {name!r} in {directory} is not one that this Tare made. {_remake(name)}")
    return found


def list_images() -> list[Image]:
    """All readable images, by name."""
    images = []
    for name in sorted({path.parent.name for path in _manifests()}):
        try:
            images.append(find_image(name))
        except (ImageError, InputError):
            continue
    return images


def _manifests() -> Iterator[Path]:
    for folder in images_directories():
        with suppress(OSError):
            yield from folder.glob("[!.]*/manifest.json")


def verify(image: Image) -> None:
    """Digest the tree again; ``ImageError`` names the first paths that were changed, added or removed.

    An ordinary user cannot read every file of root's image, and then verifies what can be read: nothing else is seen by
    the user's nodes either.
    """
    ordinary = os.geteuid() != 0
    try:
        found = tree_digest.list_tree(
            image.root, single_owner=_has_single_owner(image.manifest), pass_unreadable=ordinary
        )
    except OSError as error:
        raise ImageError(
            f"The image {image.name!r} cannot be read whole ({error}). {_remake(image.name)}"
        ) from None
    if tree_digest.digest(found) == image.digest:
        return
    kept = _kept_listing(image)
    if ordinary:
        kept, found = tree_digest.as_far_as_readable(kept, found)
    changes = tree_digest.differences(kept, found)
    if ordinary and not changes:
        return
    shown = changes[:SHOWN_DIFFERENCES]
    if len(changes) > len(shown):
        shown.append(f"and {len(changes) - len(shown)} more")
    text = "\n  ".join([f"The image {image.name!r} in {image.root} is not as it was built:", *shown])
    raise ImageError(f"{text}\n{_remake(image.name)}")


@contextmanager
def in_use(image: Image) -> Iterator[None]:
    """While this is held, no build or import can replace the image; raises ``LockedError`` during one."""
    message = f"The image {image.name!r} is being replaced; try again in a minute."
    with _lock(image.name, fcntl.LOCK_SH, message, image.root.parent.parent):
        yield


@contextmanager
def building() -> Iterator[None]:
    """One build or import at a time on this host; raises ``LockedError`` during another."""
    with _lock(
        "build", fcntl.LOCK_EX, "Another build or import of an image is going on; try again when it ended."
    ):
        yield


def install(staged: Path, name: str, facts: Mapping[str, Any]) -> Image:
    """Digest ``staged/rootfs``, write the manifest beside it, and rename ``staged`` into place as image ``name``.

    ``facts`` are the manifest's fields beside schema, name, digest and size. Raises ``LockedError`` when the
    image of that name is in use.
    """
    if os.geteuid() != 0:
        facts = {**facts, SINGLE_OWNER: True}
    listing = tree_digest.list_tree(staged / "rootfs", single_owner=_has_single_owner(facts))
    with gzip.GzipFile(staged / "listing.jsonl.gz", "wb", compresslevel=1, mtime=0) as file:
        file.write(tree_digest.listing_text(listing).encode())
    manifest = {"schema": SCHEMA, "name": name, "digest": tree_digest.digest(listing), **facts}
    manifest["size_byte"] = sum(int(str(entry.get("size", 0))) for entry in listing.values())
    (staged / "manifest.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    final, old = image_directory(name), images_directory() / f".old-{name}"
    with _lock(name, fcntl.LOCK_EX, f"The image {name!r} is in use by a run; try again when it has ended."):
        remove_tree(old)
        if final.exists():
            final.rename(old)
        staged.rename(final)
        remove_tree(old)
    remove_disks_except({image.digest for image in list_images()})
    return find_image(name)


def image_directory(name: str) -> Path:
    """Where the image ``name`` is or will be; ``InputError`` when that is no name."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise InputError(f"{name!r} is not a name of an image; use letters, digits, '.', '_' and '-'.")
    return images_directory() / name


def remove_tree(path: Path) -> None:
    """Remove a directory of ours, if it is there: what will not go is put in quarantine.

    ``ImageError`` when something is mounted in it, or when it can neither be removed nor moved.
    """
    top = str(path.absolute())
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    if mounted := [point for point in points if point == top or point.startswith(f"{top}/")]:
        raise ImageError(
            f"{path} is left over, but has mounts in it. Unmount first: umount -l {' '.join(mounted)}"
        )
    try:
        quarantine.remove(path)
    except OSError as error:
        raise ImageError(f"{path} is left over: {said(error)}.") from error


def _kept_listing(image: Image) -> tree_digest.Listing:
    try:
        text = gzip.decompress((image.root.parent / "listing.jsonl.gz").read_bytes()).decode()
        listing = tree_digest.parse_listing(text)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ImageError(
            f"The image {image.name!r} does not have the digest of its manifest, and the listing that would say "
            f"which file differs is unreadable ({error}). {_remake(image.name)}"
        ) from None
    if tree_digest.digest(listing) != image.digest:
        raise ImageError(
            f"The manifest or the listing of image {image.name!r} was changed. {_remake(image.name)}"
        )
    return listing


def _has_single_owner(manifest: Mapping[str, Any]) -> bool:
    return manifest.get(SINGLE_OWNER) is True


@contextmanager
def _lock(name: str, kind: int, message: str, folder: Path | None = None) -> Iterator[None]:
    """``folder``: where the image lies, if not in this user's own folder of images; it need not be writable."""
    folder = folder or images_directory()
    path = folder / f".lock-{name}"
    try:
        if folder == images_directory():
            folder.mkdir(parents=True, exist_ok=True)
        file = path.open("r" if path.exists() and not os.access(path, os.W_OK) else "a")
    except OSError as error:
        raise HostError(
            f"{folder} cannot be written ({error.strerror}): be root, or set TARE_STATE."
        ) from None
    with file:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockedError(message) from None
        yield


def _missing(name: str) -> str:
    where = " or ".join(str(folder) for folder in images_directories())
    distrusted = distrusted_system()
    remark = f" {distrusted}" if distrusted else ""
    return f"There is no image {name!r} in {where}.{remark} {_remake(name)}"


def _remake(name: str) -> str:
    return f"Make it with: tare image build {'' if name == DEFAULT_NAME else name}".rstrip()
