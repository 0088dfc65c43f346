# SPDX-License-Identifier: Apache-2.0
"""Unpacks tar archives of root filesystems, with owners, modes, devices and extended attributes, and never outside.

What an ordinary user unpacks is all the user's own, without devices and without the attributes that only root sets.

Names are taken as a chroot would take them; one that is absolute, climbs with ``..`` or passes a link that leads
nowhere in the tree is refused, and so is the whole archive.
"""

import hashlib
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, cast

from tare.errors import HostError, InputError
from tare.host.removal import remove_tree

DECOMPRESSORS = {
    b"\x1f\x8b": ("gzip", "-dc"),
    b"\x1f\x9d": ("gzip", "-dc"),
    b"BZh": ("bzip2", "-dc"),
    b"\xfd7zXZ\x00": ("xz", "-dc"),
    b"\x5d\x00\x00": ("xz", "--format=lzma", "-dc"),
    b"\x28\xb5\x2f\xfd": ("zstd", "-dc"),
    b"LZIP": ("lzip", "-dc"),
    b"\x89LZO": ("lzop", "-dc"),
}
"""First bytes of a compressed file → what writes it plain to its output."""
END_MARK = bytes(1024)
"""The two empty blocks at a tar archive's end (pax(1)); layers may lack them, and have a digest instead."""
STOP_LIMIT_S = 10
ATTRIBUTE = "SCHILY.xattr."
"""Prefix of an extended attribute in a pax header (star(1), written by GNU tar and by all image builders)."""
OWN_ATTRIBUTE = f"{ATTRIBUTE}user."
"""Those that anybody may set (xattr(7))."""
MAXIMUM_LINKS = 40
WHITEOUT = ".wh."
OPAQUE = ".wh..wh..opq"


def unpack(archive: Path, root: Path, *, is_layer: bool = False) -> str:
    """Unpack into the existing ``root``; returns the SHA-256 of the uncompressed archive, in hex.

    ``is_layer``: names that begin with ``.wh.`` remove what lower layers made (OCI image-spec, layer.md).
    Raises ``InputError`` for an archive that is broken or names what is not inside it, ``HostError`` when the
    host lacks the program that decompresses it.
    """
    layer = _Layer(root) if is_layer else None
    try:
        with _plain(archive) as stream, tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|") as tar:
            for member in tar:
                _place(tar, member, root, layer)
            while stream.read(1 << 20):
                pass
            if not is_layer and stream.end != END_MARK:
                raise InputError(f"{archive} is cut short: it does not end as a tar archive does.")
            return stream.sha256.hexdigest()
    except (tarfile.TarError, EOFError, UnicodeError) as error:
        raise InputError(f"{archive} is not a whole tar archive: {error}") from None
    except OSError as error:
        raise InputError(f"{archive} cannot be unpacked: {error}") from None


class _Hashed:
    """A stream that digests all that is read through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()
        self.end = b""

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.sha256.update(data)
        self.end = (self.end + data[-len(END_MARK) :])[-len(END_MARK) :]
        return data


class _Layer:
    """What this layer made, so that its whiteouts spare that."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._made: set[Path] = set()

    def made(self, path: Path) -> None:
        while path != self._root and path not in self._made:
            self._made.add(path)
            path = path.parent

    def remove_lower(self, path: Path) -> None:
        if path not in self._made:
            remove_tree(path)
        elif path.is_dir() and not path.is_symlink():
            for item in path.iterdir():
                self.remove_lower(item)

    def take_whiteout(self, parent: Path, name: str, shown: str) -> bool:
        """Whether ``name`` is a whiteout, which is then done."""
        if not name.startswith(WHITEOUT):
            return False
        hidden = name.removeprefix(WHITEOUT)
        if name == OPAQUE:
            for item in parent.iterdir():
                self.remove_lower(item)
        elif hidden in ("", ".", ".."):
            raise InputError(f"The layer is refused: {shown!r} would remove what is not in it.")
        elif not hidden.startswith(WHITEOUT):
            self.remove_lower(parent / hidden)
        return True


@contextmanager
def _plain(archive: Path) -> Iterator[_Hashed]:
    with archive.open("rb", buffering=0) as file:
        start = file.read(8)
        file.seek(0)
        command = next((argv for magic, argv in DECOMPRESSORS.items() if start.startswith(magic)), None)
        if command is None:
            yield _Hashed(file)
        else:
            with _decompressed(command, file, archive) as output:
                yield _Hashed(output)


@contextmanager
def _decompressed(command: Sequence[str], file: IO[bytes], archive: Path) -> Iterator[IO[bytes]]:
    if not shutil.which(command[0]):
        raise HostError(f"{archive} is compressed, and {command[0]} is missing: apt-get install {command[0]}")
    with subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield cast("IO[bytes]", process.stdout)
            said = process.communicate(timeout=STOP_LIMIT_S)[1].decode(errors="replace").strip()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise InputError(f"{archive} is not whole: {said or command[0]}")


def _place(tar: tarfile.TarFile, member: tarfile.TarInfo, root: Path, layer: _Layer | None) -> None:
    path = locate(root, member.name)
    if layer and path != root:
        if layer.take_whiteout(path.parent, path.name, member.name):
            return
        layer.made(path)
    if member.isdev() and os.geteuid() != 0:
        return
    if member.isdir():
        _make_directory(path)
    elif path == root:
        raise InputError(f"The archive is refused: {member.name!r} would replace the root.")
    else:
        remove_tree(path)
        _make_file(tar, member, root, path)
    if not member.islnk():
        _set_metadata(member, path)


def locate(root: Path, name: str) -> Path:
    """Where an archive's ``name`` is under ``root``: its parents' links followed as in a chroot, missing ones made."""
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise InputError(f"The archive is refused: {name!r} leads out of it.")
    return _directory(root, parts[:-1], name) / parts[-1] if parts else root


def _directory(root: Path, parts: Sequence[str], name: str) -> Path:
    pending, path, links = list(parts), root, 0
    while pending:
        part = pending.pop(0)
        if part == "..":
            if path == root:
                raise InputError(f"The archive is refused: {name!r} passes a link that leads out of it.")
            path = path.parent
            continue
        path /= part
        if path.is_symlink():
            links += 1
            target = PurePosixPath(path.readlink())
            path = root if target.is_absolute() else path.parent
            pending = [step for step in target.parts if step != "/"] + pending
        elif not path.exists() and not links:
            path.mkdir()
            path.chmod(0o755)
        if links > MAXIMUM_LINKS or not path.is_dir():
            raise InputError(
                f"The archive is refused: {name!r} is below something that is no directory in it."
            )
    return path


def _make_directory(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        remove_tree(path)
        path.mkdir()


def _make_file(tar: tarfile.TarFile, member: tarfile.TarInfo, root: Path, path: Path) -> None:
    if member.isreg():
        content = tar.extractfile(member)
        with path.open("xb") as file:
            shutil.copyfileobj(cast("IO[bytes]", content), file, 1 << 20)
    elif member.issym():
        path.symlink_to(member.linkname)
    elif member.islnk():
        os.link(_link_source(root, member), path, follow_symlinks=False)
    elif member.isfifo():
        os.mkfifo(path)
    elif member.isdev():
        kind = 0o020000 if member.ischr() else 0o060000
        os.mknod(path, kind | 0o600, os.makedev(member.devmajor, member.devminor))
    else:
        raise InputError(
            f"The archive is refused: {member.name!r} is of a kind {member.type!r} that Tare does not know."
        )


def _link_source(root: Path, member: tarfile.TarInfo) -> Path:
    source = locate(root, member.linkname)
    if source == root or not os.path.lexists(source) or (source.is_dir() and not source.is_symlink()):
        raise InputError(
            f"The archive is refused: {member.name!r} is a link to {member.linkname!r}, no file in it."
        )
    return source


def _set_metadata(member: tarfile.TarInfo, path: Path) -> None:
    """Owner first: changing it clears the set-user-id bit and file capabilities (chown(2))."""
    root = os.geteuid() == 0
    if root:
        os.chown(path, member.uid, member.gid, follow_symlinks=False)
    if not member.issym():
        # What the folder holds comes after it, and its owner must be able to put it there.
        path.chmod(member.mode & 0o7777 | (0o700 if member.isdir() and not root else 0))
    for key, value in member.pax_headers.items():
        if key.startswith(ATTRIBUTE if root else OWN_ATTRIBUTE):
            data = value.encode("utf-8", "surrogateescape")
            os.setxattr(path, key.removeprefix(ATTRIBUTE), data, follow_symlinks=False)
    with suppress(OverflowError):
        os.utime(path, (member.mtime, member.mtime), follow_symlinks=False)
