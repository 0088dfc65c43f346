# SPDX-License-Identifier: Apache-2.0
"""Makes an image of the user's own: a directory, an archive, a SIF, or what another tool has (``sources``).

It may be hostile: nothing in it is run, its size is bounded (``limits``), and it gives other users of this host no
rights (``rights``).
"""

import os
import stat
from pathlib import Path

from tare.errors import HostError, InputError
from tare.host.paths import images_directory
from tare.host.privileges import ordinary_user
from tare.image import layout, recipe, rights, sources, squashfs, unprivileged
from tare.image.archive import unpack
from tare.image.build import copy_tree, facts
from tare.image.config import ImageConfig
from tare.image.debian import staging
from tare.image.limits import Account, bounded_memory, shown
from tare.image.native import native_programs, programs_key
from tare.image.oci import archive_format, unpack_image
from tare.image.sif_config import sif_config
from tare.image.store import DEFAULT_NAME, HOST_NAME, Image, building, image_directory, install, remove_tree
from tare.image.tool import Progress, require_space


def import_image(source: Path | str, name: str, progress: Progress) -> Image:
    """Copy ``source`` as image ``name``, with Tare's own programs and the mount points added.

    The manifest keeps how the image wants its commands to be run (``config``). Raises ``InputError`` when ``source`` is
    missing, broken or hostile or ``name`` is not free to take, ``HostError`` when the host cannot do it.
    """
    _check_name(name)
    if not sources.is_fetched(str(source)):
        _check_source(Path(source))
    require_space(images_directory(), recipe.NEEDED_BYTE)
    with building(), staging(images_directory()) as staged:
        staged.chmod(0o700)
        programs = native_programs(recipe.native_source(), progress)
        try:
            with bounded_memory():
                return _import(str(source), name, staged, programs, progress)
        except OSError as error:
            raise HostError(
                f"{source} cannot be imported: {error.filename or images_directory()}: {error.strerror}."
            ) from None


def _import(source: str, name: str, staged: Path, programs: Path, progress: Progress) -> Image:
    root = staged / "rootfs"
    account = Account(staged)
    stamp = sources.stamp(source)
    place = sources.fetched(source, staged, progress)
    kind, config = _bring(place, staged, root, progress, account)
    (staged / sources.FETCHED).unlink(missing_ok=True)
    if account.devices:
        progress(f"left out {len(account.devices)} device nodes below /dev: every environment mounts its own")
    if config.directory is not None:
        layout.add_directory(root, config.directory)
    if ordinary_user():
        unprivileged.make_own(root)
    layout.add_mount_points(root)
    layout.add_tools(root, programs)
    staged.chmod(_mode_for_others(root, progress))
    progress("taking the digest")
    keys = {"native": programs_key(recipe.native_source())}
    origin = {"kind": "import", "format": kind, "path": source, **({"stamp": stamp} if stamp else {})}
    return install(staged, name, facts(root, origin, keys) | config.facts(), progress)


def _mode_for_others(root: Path, progress: Progress) -> int:
    """The mode of the image's folder, once nothing in it gives other users of this host rights that they lack."""
    if not rights.reachable_by_others(images_directory()):
        return 0o755
    findings = rights.find(root)
    if findings.privileged:
        rights.drop(root, findings.privileged)
        progress(
            f"dropped set-user-id bits and capabilities of {len(findings.privileged)} programs, such as "
            f"{shown(findings.privileged[0])}: other users of this host can reach {images_directory()}"
        )
    if findings.changeable and not ordinary_user():
        progress(
            f"kept for root alone: other users of this host could change {len(findings.changeable)} files of it, such "
            f"as {shown(findings.changeable[0])}"
        )
        return 0o700
    return 0o755


def _check_name(name: str) -> None:
    if name in {DEFAULT_NAME, HOST_NAME}:
        raise InputError(f"{name!r} is the image that `tare image build` makes; choose another name.")
    image_directory(name)


def _check_source(source: Path) -> None:
    if not source.is_dir() and not source.is_file():
        raise InputError(f"There is no directory or file {source} to import.")
    if source.is_dir() and images_directory().resolve().is_relative_to(source.resolve()):
        raise InputError(
            f"{source} holds Tare's own images in {images_directory()}; import a directory beside it."
        )


def _bring(
    source: Path, staged: Path, root: Path, progress: Progress, account: Account
) -> tuple[str, ImageConfig]:
    """Fill ``root``; return the format of ``source``, and what it states about its commands."""
    if source.is_dir() and not archive_format(source):
        progress(f"copying {source}")
        _copy(source, root, account)
        return "directory", ImageConfig()
    folder = source
    if source.is_file() and (offset := squashfs.partition_offset(source)) is not None:
        squashfs.unpack_squashfs(source, offset, root, progress, account)
        return ("sif" if offset else "squashfs"), sif_config(root, progress)
    if source.is_file():
        progress(f"unpacking {source}")
        unpack(source, _made(root), account=account)
        if not archive_format(root):
            return "tar", ImageConfig()
        folder = root.rename(staged / "archive")
    kind = str(archive_format(folder))
    config = unpack_image(folder, _made(root), progress, account)
    remove_tree(staged / "archive")
    return kind, config


def _copy(source: Path, root: Path, account: Account) -> None:
    """Copy a directory, once it is clear that all of it may be copied."""
    try:
        _look_over(source, account)
    except OSError as error:
        raise InputError(
            f"{shown(str(error.filename))} in {source} cannot be read: {error.strerror}."
        ) from None
    copy_tree(source, root)
    for path in account.devices:
        (root / path).unlink()


def _look_over(source: Path, account: Account) -> None:
    """Count what will be copied; like ``copy_tree``, without leaving the file system."""
    device, waiting = source.stat().st_dev, [""]
    while waiting:
        folder = waiting.pop()
        with os.scandir(source / folder) as entries:
            for entry in entries:
                path, status = f"{folder}{entry.name}", entry.stat(follow_symlinks=False)
                account.add(path, status.st_blocks * 512)
                if stat.S_ISDIR(status.st_mode) and status.st_dev == device:
                    waiting.append(f"{path}/")
                elif stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
                    _leave_out(path, status, account)
    account.require_free(account.size_byte)


def _leave_out(path: str, status: os.stat_result, account: Account) -> None:
    numbers = {"major": os.major(status.st_rdev), "minor": os.minor(status.st_rdev)}
    if not rights.is_standard_device(path, character=stat.S_ISCHR(status.st_mode), **numbers):
        raise InputError(rights.refuse_device(path))
    account.devices.append(path)


def _made(root: Path) -> Path:
    root.mkdir()
    root.chmod(0o755)
    return root
