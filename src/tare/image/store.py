# SPDX-License-Identifier: Apache-2.0
"""The images on this host: ``images_directory()/NAME`` holds rootfs/, manifest.json and listing.jsonl.gz."""

import fcntl
import gzip
import json
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tare.errors import HostError, ImageError, InputError, LockedError
from tare.host import removal
from tare.host.own_files import open_own_lock, open_plain
from tare.host.paths import (
    disks_directory,
    distrusted_system,
    images_directories,
    images_directory,
    sarus_directory,
    sifs_directory,
)
from tare.host.privileges import ordinary_user
from tare.host.removal import said
from tare.host.trust import made, trusted
from tare.image import digest as tree_digest
from tare.records import SCHEMA

DEFAULT_NAME = "default"
HOST_NAME = "host"
"""The image of this host's own files; images of single programs have longer names that begin so."""
PROGRAMS = 3
"""Version of Tare's own programs in an image: raised whenever their conversation with the runner changes."""
SHOWN_DIFFERENCES = 10
SINGLE_OWNER = "single_owner"
"""In a manifest: all files belong to the ordinary user who made the image."""


@dataclass(frozen=True, slots=True)
class Image:
    """A root filesystem that environments run, as its manifest describes it; ``verify`` checks that."""

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
    except OSError:  # not readable by this user
        return False


def _found(name: str, directory: Path) -> Image:
    try:
        manifest = json.loads((directory / "manifest.json").read_bytes())
        image = Image(name, directory / "rootfs", str(manifest["digest"]), manifest)
        usable = manifest["schema"] == SCHEMA and image.root.is_dir()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ImageError(
            f"The manifest of image {name!r} in {directory} is unreadable ({error}). {_remake(name)}"
        ) from None
    if not usable:
        raise ImageError(f"The image {name!r} in {directory} is not one that this Tare made. {_remake(name)}")
    return image


def image_at(root: Path) -> Image | None:
    """The image with this root, as its manifest describes it; ``None`` if there is none that this user may trust."""
    try:
        place = trusted(root)
        return _found(place.parent.name, place.parent) if _is_there(place.parent) else None
    except (ImageError, HostError):
        return None


def require_own_programs(image: Image) -> None:
    """Raise ``ImageError`` where the image holds a version of Tare's programs that this one cannot talk to."""
    if image.manifest.get("programs", 1) != PROGRAMS:
        source = image.manifest.get("source")
        is_built = isinstance(source, Mapping) and source.get("kind") != "import"
        raise ImageError(
            f"The image {image.name!r} in {image.root.parent} holds Tare's programs of another version, which this one "
            f"cannot talk to. {_remake(image.name) if is_built else 'Import it again.'}"
        )


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

    An ordinary user cannot read every file of root's image, and then verifies the readable part: the user's nodes see
    nothing else either. Also raised for ``require_own_programs``.
    """
    require_own_programs(image)
    ordinary = ordinary_user()
    try:
        tree = tree_digest.list_tree(
            image.root, single_owner=_has_single_owner(image.manifest), pass_unreadable=ordinary
        )
    except OSError as error:
        raise ImageError(
            f"The image {image.name!r} cannot be read whole ({error}). {_remake(image.name)}"
        ) from None
    if tree_digest.digest(tree) == image.digest:
        return
    kept = _kept_listing(image)
    if ordinary:
        kept, tree = tree_digest.as_far_as_readable(kept, tree)
    changes = tree_digest.differences(kept, tree)
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
    folder = image.root.parent.parent
    descriptor = _own_lock(image.name) if folder == images_directory() else _others_lock(image.name, folder)
    with _held(descriptor, fcntl.LOCK_SH, message):
        yield


@contextmanager
def building() -> Iterator[None]:
    """Allow one build or import of an image at a time on this host; raise ``LockedError`` during another."""
    message = "Another build or import of an image is going on; try again when it ended."
    with _held(_own_lock("build"), fcntl.LOCK_EX, message):
        yield


@contextmanager
def bringing_kernel() -> Iterator[None]:
    """Allow one kernel at a time into the store, beside any build; raise ``LockedError`` during another."""
    message = "Another kernel is being brought into the store; try again when that ended."
    with _held(_own_lock(".kernel"), fcntl.LOCK_EX, message):
        yield


def install(
    staged: Path, name: str, facts: Mapping[str, Any], progress: Callable[[str], None] = lambda _: None
) -> Image:
    """Digest ``staged/rootfs``, write the manifest beside it, and rename ``staged`` into place as image ``name``.

    ``facts`` are the manifest's fields besides schema, name, digest and size. Raises ``LockedError`` when a run of this
    user uses the image of that name. An image that only another user claims to be using is replaced all the same.
    """
    if ordinary_user():
        facts = {**facts, SINGLE_OWNER: True}
    listing = tree_digest.list_tree(staged / "rootfs", single_owner=_has_single_owner(facts))
    with gzip.GzipFile(staged / "listing.jsonl.gz", "wb", compresslevel=1, mtime=0) as file:
        file.write(tree_digest.listing_text(listing).encode())
    manifest = {
        "schema": SCHEMA,
        "programs": PROGRAMS,
        "name": name,
        "digest": tree_digest.digest(listing),
        **facts,
    }
    manifest["size_byte"] = sum(int(str(entry.get("size", 0))) for entry in listing.values())
    (staged / "manifest.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    message = f"The image {name!r} is in use by a run; try again when it has ended."
    with _held(_own_lock(name), fcntl.LOCK_EX, message), _without_others(name) as alone:
        _replace(image_directory(name), staged, progress, alone=alone)
    remove_disks_except({image.digest for image in list_images()})
    return find_image(name)


def _replace(final: Path, staged: Path, progress: Callable[[str], None], *, alone: bool) -> None:
    old = final.with_name(f".old-{final.name}")
    remove_tree(old)
    if final.exists() and not alone:
        place = removal.put_away(final)
        progress(f"another user runs the image that is replaced: it stays in {place} until `tare clean`")
    elif final.exists():
        final.rename(old)
    staged.rename(final)
    remove_tree(old)


def remove_image(image: Image) -> None:
    """Remove an image of this user's; ``LockedError`` while a run uses it, ``HostError`` for another user's."""
    directory = image_directory(image.name)
    if image.root.parent != directory:
        raise HostError(
            f"The image {image.name!r} in {image.root.parent} is root's; only root can remove it."
        )
    message = f"The image {image.name!r} is in use by a run; try again when it has ended."
    with (
        building(),
        _held(_own_lock(image.name), fcntl.LOCK_EX, message),
        _without_others(image.name) as alone,
    ):
        if not alone:
            raise LockedError(message)
        remove_tree(directory)
    remove_disks_except({each.digest for each in list_images()})


def remove_disks_except(digests: Collection[str]) -> None:
    """Remove the disks of images that no longer exist, their SIFs, and what Sarus loaded."""
    kept = {digest.removeprefix("sha256:") for digest in digests}
    for disk in (*disks_directory().glob("*.erofs"), *sifs_directory().glob("*.sif")):
        if disk.stem not in kept:
            with suppress(OSError):  # another user's, or gone
                disk.unlink()
    for loaded in sarus_directory().glob("[!.]*"):
        if loaded.name not in kept:
            removal.remove_what_goes(loaded)


def image_directory(name: str) -> Path:
    """The folder of the image ``name``, existing or not; ``InputError`` for an invalid name."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise InputError(f"{name!r} is not a name of an image; use letters, digits, '.', '_' and '-'.")
    return images_directory() / name


def remove_tree(path: Path) -> None:
    """Remove a directory of ours, if it exists: what cannot be removed is put in quarantine.

    ``ImageError`` when something is mounted in it, or when it can neither be removed nor moved.
    """
    top = str(path.absolute())
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    if mounted := [point for point in points if point == top or point.startswith(f"{top}/")]:
        raise ImageError(
            f"{path} is left over, but has mounts in it. Unmount first: umount -l {' '.join(mounted)}"
        )
    try:
        removal.remove_or_put_away(path)
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
def _held(descriptor: int, kind: int, message: str) -> Iterator[None]:
    try:
        if not _taken(descriptor, kind):
            raise LockedError(message)
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _own_lock(name: str) -> int:
    """The lock that only this user can open, so that nobody else can block this user."""
    folder = images_directory()
    try:
        made(folder)
    except OSError as error:
        raise HostError(
            f"{folder} cannot be made ({error.strerror}): set HOME, or TARE_STATE, to a folder of yours."
        ) from None
    return _lock_file(folder / f".own-{name}", open_own_lock)


def _others_lock(name: str, folder: Path) -> int:
    """The lock that every user can hold, and on which its owner does not depend."""
    return _lock_file(folder / f".lock-{name}", open_plain)


def _lock_file(path: Path, opened: Callable[[Path], int]) -> int:
    try:
        return opened(path)
    except OSError as error:
        raise HostError(
            f"{path} cannot be opened ({error.strerror}): be root, or set TARE_STATE to a folder of yours."
        ) from None


@contextmanager
def _without_others(name: str) -> Iterator[bool]:
    """Whether no other user's run claims to use the image; none begins while this is held."""
    descriptor = _lock_file(images_directory() / f".lock-{name}", _made_for_all)
    try:
        yield _taken(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


def _made_for_all(path: Path) -> int:
    descriptor = open_plain(path, os.O_RDONLY | os.O_CREAT)
    if os.fstat(descriptor).st_uid == os.geteuid():
        os.fchmod(descriptor, 0o644)  # despite this user's umask
    return descriptor


def _missing(name: str) -> str:
    where = " or ".join(str(folder) for folder in images_directories())
    distrusted = distrusted_system()
    remark = f" {distrusted}" if distrusted else ""
    return f"There is no image {name!r} in {where}.{remark} {_remake(name)}"


def _remake(name: str) -> str:
    if name.startswith(f"{HOST_NAME}-"):
        return "The next `tare weigh` of its program makes it."
    way = {DEFAULT_NAME: "", HOST_NAME: " --from host"}.get(name, f" {name}")
    return f"Make it with: tare image build{way}"
