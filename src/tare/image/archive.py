# SPDX-License-Identifier: Apache-2.0
"""Unpacks tar archives of root filesystems, with owners, modes and extended attributes, and never outside the root.

Everything that an ordinary user unpacks is the user's own, without the attributes that only root sets.

Names are resolved as in a chroot; an absolute name, one that climbs with ``..`` or passes a link that leads nowhere in
the tree makes the whole archive refused. So does a device node (``rights``), or content that would take too much of the
host (``limits``).
"""

import math
import os
import shutil
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, cast

from tare.errors import InputError
from tare.host.privileges import ordinary_user
from tare.host.removal import remove_tree
from tare.image import rights
from tare.image.limits import Account, shown
from tare.image.plain import END_MARK, Plain, plain

ATTRIBUTE = "SCHILY.xattr."
"""Prefix of an extended attribute in a pax header (star(1), written by GNU tar and by all image builders)."""
OWN_ATTRIBUTE = f"{ATTRIBUTE}user."
"""Attributes that anybody may set (xattr(7))."""
MAXIMUM_LINKS = 40
_LAST_ID = 2**32 - 2
"""To chown(2) the next value means no change."""
_TIMES_S = (-(2**31), 2**34)
"""The range that ext4 can hold."""
_COMMON_HEADERS = 64
"""The most entries in a pax header for all that follows, such as git's comment."""
_BROKEN = (
    *(tarfile.TarError, EOFError, ValueError, ArithmeticError, LookupError),
    *(TypeError, AttributeError, RecursionError),
)
"""Exceptions of tarfile for a broken header: its own, and any caused by the header's numbers and words."""
WHITEOUT = ".wh."
OPAQUE = ".wh..wh..opq"


def unpack(archive: Path, root: Path, *, is_layer: bool = False, account: Account | None = None) -> str:
    """Unpack into the existing ``root``; return the SHA-256 of the uncompressed archive, in hex.

    ``is_layer``: names that begin with ``.wh.`` remove what lower layers made (OCI image-spec, layer.md). ``account``
    counts what was unpacked before. Raises ``InputError`` for an archive that is broken, too large or names something
    outside, ``HostError`` when the host lacks the space or the program that decompresses it.
    """
    tree = _Tree(root, account or Account(root), _Layer(root) if is_layer else None)
    name = ""
    try:
        with plain(archive) as stream, _opened(stream) as tar:
            for member in _members(tar, stream):
                name = member.name
                tree.place(tar, member)
            stream.read_to_end()
            if not is_layer and stream.end != END_MARK:
                raise InputError(f"{archive} is cut short: it does not end as a tar archive does.")
            return stream.sha256.hexdigest()
    except _BROKEN as error:
        raise InputError(f"{archive} is not a whole tar archive: {_short(error)}") from None
    except OSError as error:
        where = f" at {shown(name)}" if name else ""
        raise InputError(f"{archive} cannot be unpacked{where}: {error.strerror or error}") from None


def _opened(stream: Plain) -> tarfile.TarFile:
    with stream.header():
        return tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|")


def _members(tar: tarfile.TarFile, stream: Plain) -> Iterator[tarfile.TarInfo]:
    """The members one by one, keeping none: tarfile would keep them all."""
    while True:
        with stream.header():
            member = tar.next()
        if member is None:
            return
        tar.members.clear()  # type: ignore[attr-defined]
        if len(tar.pax_headers) > _COMMON_HEADERS:
            raise InputError(
                f"The archive is refused: it gives more than {_COMMON_HEADERS} facts to all its files."
            )
        yield member


def _short(error: Exception) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__


class _Layer:
    """The entries that this layer made, which its whiteouts must spare."""

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

    def take_whiteout(self, parent: Path, name: str, member: str) -> bool:
        """Whether ``name`` is a whiteout, which is then applied."""
        if not name.startswith(WHITEOUT):
            return False
        hidden = name.removeprefix(WHITEOUT)
        if name == OPAQUE:
            for item in parent.iterdir():
                self.remove_lower(item)
        elif hidden in ("", ".", ".."):
            raise InputError(f"The layer is refused: {shown(member)} would remove what is not in it.")
        elif not hidden.startswith(WHITEOUT):
            self.remove_lower(parent / hidden)
        return True


@dataclass(frozen=True, slots=True)
class _Tree:
    """The tree being made from an archive."""

    root: Path
    account: Account
    layer: _Layer | None

    def place(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        path = self._locate(member.name)
        if self.layer and path != self.root:
            if self.layer.take_whiteout(path.parent, path.name, member.name):
                return
            self.layer.made(path)
        if member.ischr() or member.isblk():
            self._leave_out(member, path)
            return
        _check_facts(member)
        self.account.add(self._within(path), member.size if member.isreg() else 0)
        self._make(tar, member, path)
        if not member.islnk():
            _set_metadata(member, path)

    def _within(self, path: Path) -> str:
        return os.fspath(path)[len(os.fspath(self.root)) + 1 :]

    def _leave_out(self, member: tarfile.TarInfo, path: Path) -> None:
        within = self._within(path)
        numbers = {"major": member.devmajor, "minor": member.devminor}
        if not rights.is_standard_device(within, character=member.ischr(), **numbers):
            raise InputError(rights.refuse_device(within))
        self.account.devices.append(within)

    def _make(self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
        if member.isdir():
            _make_directory(path)
            return
        if path == self.root:
            raise InputError(f"The archive is refused: {shown(member.name)} would replace the root.")
        remove_tree(path)
        if member.islnk():
            os.link(self._link_source(member), path, follow_symlinks=False)
        else:
            _make_file(tar, member, path)

    def _link_source(self, member: tarfile.TarInfo) -> Path:
        source = self._locate(member.linkname)
        is_folder = source.is_dir() and not source.is_symlink()
        if source == self.root or not os.path.lexists(source) or is_folder:
            raise InputError(
                f"The archive is refused: {shown(member.name)} is a link to {shown(member.linkname)}, no file in it."
            )
        return source

    def _locate(self, name: str) -> Path:
        """The place of ``name`` under the root: its parents' links followed as in a chroot, missing folders made."""
        parts = PurePosixPath(name).parts
        if name.startswith("/") or ".." in parts or "\0" in name:
            raise InputError(f"The archive is refused: {shown(name)} leads out of it.")
        return self._directory(parts[:-1], name) / parts[-1] if parts else self.root

    def _directory(self, parts: Sequence[str], name: str) -> Path:
        pending, path, links = list(parts), self.root, 0
        while pending:
            part = pending.pop(0)
            if part == "..":
                if path == self.root:
                    raise InputError(
                        f"The archive is refused: {shown(name)} passes a link that leads out of it."
                    )
                path = path.parent
                continue
            path /= part
            if path.is_symlink():
                links += 1
                target = PurePosixPath(path.readlink())
                path = self.root if target.is_absolute() else path.parent
                pending = [step for step in target.parts if step != "/"] + pending
            elif not path.exists() and not links:
                self.account.add(self._within(path))
                path.mkdir()
                path.chmod(0o755)
            if links > MAXIMUM_LINKS or not path.is_dir():
                raise InputError(
                    f"The archive is refused: {shown(name)} is below something that is no directory in it."
                )
        return path


def _check_facts(member: tarfile.TarInfo) -> None:
    if not (0 <= member.uid <= _LAST_ID and 0 <= member.gid <= _LAST_ID):
        raise InputError(f"The archive is refused: the owner of {shown(member.name)} is no user or group.")
    if not (math.isfinite(member.mtime) and _TIMES_S[0] <= member.mtime < _TIMES_S[1]):
        raise InputError(f"The archive is refused: the time of {shown(member.name)} is no time.")


def _make_directory(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        remove_tree(path)
        path.mkdir()


def _make_file(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    if member.isreg():
        content = tar.extractfile(member)
        with path.open("xb") as file:
            shutil.copyfileobj(cast("IO[bytes]", content), file, 1 << 20)
    elif member.issym():
        path.symlink_to(member.linkname)
    elif member.isfifo():
        os.mkfifo(path)
    else:
        raise InputError(
            f"The archive is refused: {shown(member.name)} is of a kind {member.type!r} that Tare does not know."
        )


def _set_metadata(member: tarfile.TarInfo, path: Path) -> None:
    """Set the owner first: changing it clears the set-user-id bit and file capabilities (chown(2))."""
    root = not ordinary_user()
    if root:
        os.chown(path, member.uid, member.gid, follow_symlinks=False)
    if not member.issym():
        # The folder's contents come after it, and its owner must be able to put them there.
        path.chmod(member.mode & 0o7777 | (0o700 if member.isdir() and not root else 0))
    for key, value in member.pax_headers.items():
        if key.startswith(ATTRIBUTE if root else OWN_ATTRIBUTE):
            data = value.encode("utf-8", "surrogateescape")
            os.setxattr(path, key.removeprefix(ATTRIBUTE), data, follow_symlinks=False)
    os.utime(path, (member.mtime, member.mtime), follow_symlinks=False)
